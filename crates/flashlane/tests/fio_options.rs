//! The table of fio's option names in `docs/fio.md`, which is written from the code
//! (`UPDATE_DOCS=1`), and the names that the installed fio prints.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use flashlane::config::fio_job::{Effect, options};

const BEGIN: &str = "<!-- options: written by `make docs` -->\n";
const END: &str = "<!-- end of options -->\n";

/// The table of options, and a list of those without effect.
fn table() -> String {
    let all = options();
    let count = |wanted: fn(&Effect) -> bool| all.iter().filter(|one| wanted(&one.2)).count();
    let mut text = String::new();
    let _ = write!(
        text,
        "Of {} names, aliases included, {} have fio's own effect, {} have none here, {} are warned of and {} are refused.\n\n\
         | option | here |\n| --- | --- |\n",
        all.len(),
        count(|effect| *effect == Effect::Exact),
        count(|effect| *effect == Effect::WithoutEffect),
        count(|effect| matches!(effect, Effect::Warned(_))),
        count(|effect| matches!(effect, Effect::Refused(_))),
    );
    for (name, meant, effect) in &all {
        let what = match effect {
            Effect::Exact => "exact".to_owned(),
            Effect::WithoutEffect => "accepted, without effect".to_owned(),
            Effect::Warned(why) => format!("warned of: {why}"),
            Effect::Refused(why) => format!("refused: {why}"),
        };
        let what = if name == meant { what } else { format!("as `{meant}`") };
        let _ = writeln!(text, "| `{name}` | {what} |");
    }
    text
}

#[test]
fn the_page_has_every_option() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/fio.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the start of the table");
    let (found, after) = rest.split_once(END).expect("the end of the table");
    let expected = format!("\n{}\n", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{before}{BEGIN}{expected}{END}{after}");
        std::fs::write(&path, text).expect("the page can be written");
        return;
    }
    assert!(found == expected, "docs/fio.md differs from the code; make docs");
}

#[test]
fn every_name_that_fio_prints_is_known() {
    let Ok(help) = Command::new("fio").arg("--cmdhelp").output() else {
        return flashlane_testing::skip("fio");
    };
    let known = options();
    let is_known = |name: &str| known.iter().any(|one| one.0 == name);
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    let names = text.lines().filter_map(|line| {
        let (name, _) = line.split_once(':')?;
        let name = name.trim();
        let is_name = !name.is_empty() && !name.contains(' ');
        is_name.then_some(name)
    });
    let mut count = 0;
    let mut missing = Vec::new();
    for name in names {
        count += 1;
        if !is_known(name) {
            missing.push(name.to_owned());
        }
    }
    assert!(missing.is_empty(), "fio prints names that we do not know: {missing:?}");
    assert!(count > 200, "{count} names");
    // fio itself takes the names that we know.
    for alias in ["bs", "rw", "io_size", "nrfiles"] {
        let help =
            Command::new("fio").arg(format!("--cmdhelp={alias}")).output().expect("fio runs");
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        let other = text.lines().find_map(|line| line.trim().strip_prefix("alias:")).map(str::trim);
        let other = other.expect("an alias");
        assert!(is_known(other), "{alias}: {other}");
    }
}
