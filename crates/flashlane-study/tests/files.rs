//! A sweep reads each file once for its digests, however many points and threads use it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use flashlane::RunOptions;
use flashlane::content::InputFiles;
use flashlane_study::sweep::{Outcome, Point, Source, Store, Sweep};

#[test]
fn each_file_is_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.trace");
    let line = |n: u64| format!("{} 0 {} 8 1\n", n * 20_000, 8 * n);
    std::fs::write(&trace, (0..50).map(line).collect::<String>()).expect("written");
    let workload = format!(
        "[[flow]]\nname = 'replay'\ntrace = {{ path = '{}', format = 'mqsim' }}\n",
        trace.display()
    );
    let sweep = Sweep {
        source: Source::Texts { device: "base = 'tiny'".to_owned(), workload },
        options: RunOptions::default(),
        store: Some(Store::open(&folder.path().join("kept")).expect("made")),
        program: std::env::current_exe().expect("this program"),
        files: InputFiles::new(),
        memory: u64::MAX,
        stop: Arc::new(AtomicBool::new(false)),
        describe: |_| None,
    };
    let point = |seed: u64| -> Point { vec![("seed".to_owned(), seed.into())] };
    let points: Vec<Point> = (0..12).map(point).collect();
    let found = sweep.run(&points, 4, &|_, _| {}).expect("nothing fails");
    assert!(found.iter().all(|one| matches!(one.outcome, Outcome::Done(_))), "{found:?}");
    assert_eq!(sweep.files.files_read(), 2, "the program and the trace");
}
