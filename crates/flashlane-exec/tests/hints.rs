//! Programs that tell how long the data of their files lives.

use std::path::Path;

use flashlane::drive::Operation;

use crate::common::{config, run, testing};
use flashlane_exec::{ExecConfig, ExecOptions, Hints, trace};

/// A drive of superblocks with four handles.
const PLACED: &str = "set = [\"placement.mode='fdp'\", \"placement.handles=4\", \
                      \"ftl.superblock='drive'\", \"ftl.precondition.enabled=false\"]";

#[test]
fn files_go_where_their_hints_say() {
    let Some(program) = testing("hints") else { return };
    let mut config = config(&[("one", &program, &[])], PLACED);
    config.programs[0].placement = Some(1);
    config.programs[0].hints = Hints { short: Some(2), extreme: Some(3), ..Hints::default() };
    let options = ExecOptions { capture: true, check: true, ..ExecOptions::default() };
    let shared = run(&config, &options).expect("the program ends").shared;
    let written = |identifier| {
        let writes = shared.captured.iter().map(|one| one.command);
        let own = writes
            .filter(|one| one.operation == Operation::Write && one.placement == Some(identifier));
        own.map(|one| u64::from(one.sectors) / 8).sum::<u64>()
    };
    // Behind the files without a lifetime, or with one that has no identifier, is a page of the
    // journal for each `fsync`.
    assert_eq!([0, 1, 2, 3].map(written), [0, 30 + 40 + 4, 10, 20]);
    let placement = shared.summary.placement.as_ref().expect("the drive has handles");
    let bytes: Vec<u64> = placement.handles.iter().map(|one| one.host_bytes / 4096).collect();
    assert_eq!(bytes, [0, 74, 10, 20]);
    let text = trace(&shared.captured, &["one"]);
    let first = text.lines().next().expect("a line");
    assert!(first.contains(",dev=5,placement=8;"), "{first}");
    assert!(text.lines().skip(2).all(|line| line.split(',').count() == 8), "{text}");
}

#[test]
fn identifiers_that_the_drive_lacks_are_refused() {
    let Some(program) = testing("hints") else { return };
    let refused = |config: &ExecConfig| {
        run(config, &ExecOptions::default()).expect_err("it is refused").to_string()
    };
    let mut one = config(&[("one", &program, &[])], PLACED);
    one.programs[0].hints.long = Some(4);
    assert_eq!(refused(&one), "program `one`: hints.long: found 4, allowed: 0 to 3");
    let zones = "set = [\"placement.mode='zones'\", \"ftl.superblock='drive'\", \
                 \"ftl.mapping.ideal=true\"]";
    let message = refused(&config(&[("one", &program, &[])], zones));
    assert!(message.starts_with("placement.mode: found `zones`, allowed: none, fdp"), "{message}");
    let text = "device = 'tiny'\n[[program]]\nname = 'a'\nelf = 'a'\nhints = { brief = 1 }\n";
    let error = ExecConfig::from_toml(text, Path::new("x.toml")).expect_err("no such hint");
    assert!(error.to_string().contains("unknown field `brief`"), "{error}");
}
