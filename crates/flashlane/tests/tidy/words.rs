//! Words that are not used.

use crate::reached::reached;
use crate::sources::{Finding, SOURCES, Source, ratchet};

/// Words in two parts, so that this list is not found, and what to do instead.
const BANNED: &[([&str; 2], &str)] = &[
    (["TO", "DO"], "do it, or write down what is missing where users read it"),
    (["FIX", "ME"], "do it, or write down what is missing where users read it"),
    (["X", "XX"], "do it, or write down what is missing where users read it"),
    (["simp", "ly"], "leave it out"),
    (["obvious", "ly"], "leave it out"),
    (["of co", "urse"], "leave it out"),
    (["blaz", "ing"], "give a number"),
    (["seam", "less"], "say what happens"),
    (["lever", "age"], "use"),
    (["util", "ize"], "use"),
    (["util", "ise"], "use"),
    (["in ord", "er to"], "to"),
    // Words that GLOSSARY.md has another one for.
    (["victim", "ize"], "GLOSSARY.md: a policy chooses a victim"),
    (["NAND page ", "address"], "GLOSSARY.md: PPA"),
    (["LP", "N"], "GLOSSARY.md: LPA"),
    (["LH", "A"], "GLOSSARY.md: LPA"),
    // Programs that write text do not belong into it.
    (["chat", "gpt"], "leave it out"),
    (["cop", "ilot"], "leave it out"),
    (["open", "ai"], "leave it out"),
    (["anthro", "pic"], "leave it out"),
];

/// Banned words in a file.
fn banned(source: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let line = line.to_lowercase();
        for (parts, instead) in BANNED {
            let word = parts.concat();
            if has_word(&line, &word.to_lowercase()) {
                found.push(source.finding(number, format!("the words \"{word}\": {instead}")));
            }
        }
    }
    found
}

/// Whether a word stands in a line by itself.
fn has_word(line: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(of_word) && !after.starts_with(of_word)
    })
}

/// Calls of `unwrap` in a file that is compiled outside of tests.
fn unwraps(source: &Source) -> Vec<Finding> {
    let finding = |&line| source.finding(line, "unwrap(): expect(\"why it is there\") or an error");
    source.unwraps.iter().map(finding).collect()
}

pub(crate) fn banned_words_are_not_used() {
    let found: Vec<Finding> = SOURCES.iter().flat_map(banned).collect();
    ratchet("Some words are not used in sources:", &found, &[]);
}

pub(crate) fn code_outside_of_tests_does_not_unwrap() {
    let reached = reached(&SOURCES);
    let of_library = |source: &&Source| {
        source.path.contains("/src/") && reached.get(&source.path) == Some(&false)
    };
    let found: Vec<Finding> = SOURCES.iter().filter(of_library).flat_map(unwraps).collect();
    ratchet("Code outside of tests says why a value is there:", &found, &[]);
}

#[test]
fn banned_words_and_unwraps_are_found() {
    let word = BANNED[0].0.concat();
    let text = format!("// {}: more\nfn f{word}s() {{}}\n", word.to_lowercase());
    let found = banned(&Source::of("a.rs", &text));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].path.as_str(), found[0].line), ("a.rs", 1));
    let text = "/// `x.unwrap()`\nfn f() {\n    vec![g().unwrap()];\n    unwrap();\n}\n\
                #[cfg(test)]\nmod tests {\n    fn f() { g().unwrap(); }\n}\n";
    let lines: Vec<usize> = unwraps(&Source::of("a.rs", text)).iter().map(|it| it.line).collect();
    assert_eq!(lines, [3]);
}
