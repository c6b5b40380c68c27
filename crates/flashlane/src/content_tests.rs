use super::*;
use flashlane_config::load::{self, Overrides};
use flashlane_measure::rules::Warmup;

struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let place = Self { folder, program };
        place.write("program", "one");
        place.write("t.trace", "0 0 0 8 0\n");
        place
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn workload(&self, flow: &str) -> WorkloadConfig {
        let text = format!("[[flow]]\nname = 'a'\n{flow}\n");
        let mut loaded = load::workload_from_toml(&text, "w", &Overrides::default()).unwrap();
        load::resolve_paths(&mut loaded, self.folder.path()).unwrap();
        loaded.config
    }

    fn key(&self, files: &InputFiles, workload: &WorkloadConfig, options: &RunOptions) -> String {
        let device = load::device("tiny", &Overrides::default()).unwrap().config;
        content_key(&self.program, &device, workload, options, files).unwrap()
    }
}

const TRACE: &str = "trace = { path = 't.trace', format = 'mqsim' }";

#[test]
fn the_key_follows_the_bytes_of_files_and_not_their_place() {
    let (one, other) = (Place::new(), Place::new());
    let options = RunOptions::default();
    let key = |place: &Place| place.key(&InputFiles::new(), &place.workload(TRACE), &options);
    let first = key(&one);
    assert_eq!(first.len(), 64);
    assert_eq!(first, key(&other), "the same input in another folder");
    other.write("t.trace", "0 0 0 8 1\n");
    assert_ne!(first, key(&other), "another trace of the same length");
    one.write("program", "two");
    assert_ne!(first, key(&one), "another program");
}

#[test]
fn options_that_change_a_summary_are_in_the_key_and_others_are_not() {
    let (place, files) = (Place::new(), InputFiles::new());
    let workload = place.workload(TRACE);
    let key = |options: RunOptions| place.key(&files, &workload, &options);
    let plain = key(RunOptions::default());
    assert_eq!(plain, key(RunOptions { threads: 7, ..RunOptions::default() }));
    let changed = [
        RunOptions { seed: 2, ..RunOptions::default() },
        RunOptions { alone: true, ..RunOptions::default() },
        RunOptions { waf_only: true, ..RunOptions::default() },
        RunOptions { warmup: Warmup::Time(5), ..RunOptions::default() },
        RunOptions { warmup: Warmup::Requests(5), ..RunOptions::default() },
        RunOptions { windows: Some(5), ..RunOptions::default() },
    ];
    let mut keys: Vec<String> = changed.into_iter().map(key).collect();
    keys.push(plain);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 7);
}

#[test]
fn a_file_is_read_once_and_again_after_it_changed() {
    let (place, files) = (Place::new(), InputFiles::new());
    let workload = place.workload(TRACE);
    let first = place.key(&files, &workload, &RunOptions::default());
    for seed in 1..20 {
        place.key(&files, &workload, &RunOptions { seed, ..RunOptions::default() });
    }
    assert_eq!(files.files_read(), 2, "program and trace");
    place.write("t.trace", "0 0 0 8 0\n5 0 0 8 0\n");
    assert_ne!(first, place.key(&files, &workload, &RunOptions::default()));
    assert_eq!(files.files_read(), 3);
}

#[test]
fn every_file_of_a_trace_and_files_of_clones_count() {
    let place = Place::new();
    let options = RunOptions::default();
    place.write("sda.blktrace.0", "x");
    let blktrace = place.workload("trace = { path = 'sda.blktrace.0', format = 'blktrace' }");
    let alone = place.key(&InputFiles::new(), &blktrace, &options);
    place.write("sda.blktrace.1", "y");
    let both = place.key(&InputFiles::new(), &blktrace, &options);
    assert_ne!(alone, both, "a second processor's file");
    place.write("sda.blktrace.1", "z");
    assert_ne!(both, place.key(&InputFiles::new(), &blktrace, &options));
    let clone = || {
        let file = place.folder.path().join("c.toml");
        let text = format!("[[flow]]\nname = 'a'\nclone = {{ of = '{}' }}\n", file.display());
        let loaded = load::workload_from_toml(&text, "w", &Overrides::default()).unwrap();
        place.key(&InputFiles::new(), &loaded.config, &options)
    };
    place.write("c.toml", "x");
    let first = clone();
    place.write("c.toml", "y");
    assert_ne!(first, clone());
}

#[test]
fn what_cannot_be_read_twice_is_refused_by_name() {
    let (place, files) = (Place::new(), InputFiles::new());
    let refused = |path: &Path| files.digest(path).unwrap_err().to_string();
    let said = refused(place.folder.path());
    assert!(said.contains("is no regular file"), "{said}");
    let said = refused(&place.folder.path().join("nowhere"));
    assert!(said.contains("nowhere: cannot be read"), "{said}");
    files.stop();
    assert!(matches!(files.digest(&place.program), Err(Error::Interrupted)));
}
