//! A command line of fio as the text of a job.

/// Options of the command that are about its output.
const OUTPUT: &[&str] = &[
    "append-terse",
    "bandwidth-log",
    "debug",
    "eta",
    "eta-interval",
    "eta-newline",
    "max-jobs",
    "minimal",
    "output",
    "output-format",
    "parse-only",
    "readonly",
    "status-interval",
    "terse-version",
    "warnings-fatal",
];

/// True for a command line: `fio --name=a --rw=read`.
pub(super) fn is_command(text: &str) -> bool {
    let mut words = words(text).into_iter().map(|word| word.1).skip_while(|word| {
        word == "$" || word == "sudo" || word.split_once('=').is_some_and(|it| is_variable(it.0))
    });
    let is_fio = words.next().is_some_and(|word| word.rsplit('/').next() == Some("fio"));
    is_fio && words.next().is_some_and(|word| word.starts_with('-'))
}

fn is_variable(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// The lines of the job file that the command stands for, each with the line of its option. A word
/// that is not an option is an error: its line and the word.
pub(super) fn lines(text: &str) -> Result<Vec<(usize, String)>, (usize, String)> {
    let words = words(text);
    let first = words.iter().position(|word| word.1.starts_with('-')).unwrap_or(words.len());
    let mut lines = vec![(1, "[global]".to_owned())];
    let mut rest = words.into_iter().skip(first).peekable();
    while let Some((line, word)) = rest.next() {
        let Some(option) = word.strip_prefix('-').map(|word| word.trim_start_matches('-')) else {
            return Err((line, word));
        };
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => {
                // The value may be the next word.
                let value = rest.next_if(|next| !next.1.starts_with('-')).map(|next| next.1);
                (option.to_owned(), value)
            }
        };
        if OUTPUT.contains(&key.as_str()) {
            continue;
        }
        match (key.as_str(), value) {
            ("name", Some(name)) => lines.push((line, format!("[{name}]"))),
            (key, Some(value)) => lines.push((line, format!("{key}={value}"))),
            (key, None) => lines.push((line, key.to_owned())),
        }
    }
    Ok(lines)
}

/// The words of a shell's command line, each with its line. Handles quotes, backslashes, and
/// continued lines.
fn words(text: &str) -> Vec<(usize, String)> {
    let (mut words, mut word, mut line) = (Vec::new(), None::<(usize, String)>, 1);
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let begun = line;
        line += usize::from(letter == '\n');
        match (letter, quote) {
            ('\\', None | Some('"')) => {
                let next = rest.next();
                line += usize::from(next == Some('\n'));
                if let Some(next) = next.filter(|next| *next != '\n' && *next != '\r') {
                    word.get_or_insert((begun, String::new())).1.push(next);
                }
            }
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert((begun, String::new()));
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert((begun, String::new())).1.push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(text: &str) -> String {
        let lines = lines(text).expect("options only");
        lines.into_iter().map(|line| line.1 + "\n").collect()
    }

    #[test]
    fn a_command_is_told_from_other_text() {
        for text in [
            "fio --name=a",
            "$ sudo fio -rw=read",
            "/usr/bin/fio \\\n --name a",
            "\nX=1 fio --rw=read",
        ] {
            assert!(is_command(text), "{text}");
        }
        for text in ["", "fio", "[fio]\nrw=read", "fio job.fio", "[[flow]]\nname = 'fio --x'"] {
            assert!(!is_command(text), "{text}");
        }
    }

    #[test]
    fn options_become_lines_and_names_become_jobs() {
        let text = "fio --rw=read -bs 4k \\\n  --name='a b' --direct=1 --time_based \\\n\
                    --output-format=json --name=c --size \"1 m\"";
        let expected = "[global]\nrw=read\nbs=4k\n[a b]\ndirect=1\ntime_based\n[c]\nsize=1 m\n";
        assert_eq!(job(text), expected);
        let places: Vec<usize> = lines(text).expect("it").iter().map(|line| line.0).collect();
        assert_eq!(places, [1, 1, 1, 2, 2, 2, 3, 3]);
        assert_eq!(lines("fio --name=a --thread x.fio y"), Err((1, "y".to_owned())));
    }
}
