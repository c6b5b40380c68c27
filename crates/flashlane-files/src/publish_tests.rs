use std::io::Write;

use super::*;

const RULES: Rules<'static> =
    Rules { overwrite: false, set: Some("run"), hint: Some("--overwrite") };

fn write(folder: &Path, files: &[(&str, &str)], rules: &Rules<'_>) -> Result<(), String> {
    let stage = |&(path, text): &(&str, &str)| {
        let path = PathBuf::from(path);
        let beside = folder.join(&path).parent().expect("a folder").to_owned();
        fs::create_dir_all(&beside).expect("room");
        let mut file = crate::stage(&beside).expect("room");
        file.write_all(text.as_bytes()).expect("room");
        Staged { path, file }
    };
    let staged = files.iter().map(stage).collect();
    publish(folder, staged, rules).map_err(|refusal| refusal.to_string())
}

fn text(folder: &Path, path: &str) -> Option<String> {
    fs::read_to_string(folder.join(path)).ok()
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn only_what_was_written_is_replaced_and_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let first = [("summary.json", "1"), ("report.html", "1"), ("scenario-2/summary.json", "1")];
    write(folder, &first, &RULES).expect("nothing is there");
    fs::write(folder.join("scenario-2/notes"), "mine").expect("room");
    write(folder, &[("other.json", "1")], &Rules { set: None, ..RULES }).expect("free");
    write(folder, &[("summary.json", "2")], &RULES).expect("it is ours");
    assert_eq!(names(folder), [MANIFEST, "other.json", "scenario-2", "summary.json"]);
    assert_eq!(names(&folder.join("scenario-2")), ["notes"]);
    assert_eq!(text(folder, "summary.json").as_deref(), Some("2"));
    // A file that the user changed belongs to the user.
    fs::write(folder.join("summary.json"), "3").expect("room");
    let refused = write(folder, &[("a", "1"), ("summary.json", "4")], &RULES);
    let refused = refused.expect_err("it was changed");
    assert!(refused.contains("summary.json: changed since flashlane wrote it"), "{refused}");
    assert!(refused.contains("--overwrite"), "{refused}");
    assert_eq!((text(folder, "summary.json").as_deref(), text(folder, "a")), (Some("3"), None));
    let overwrite = Rules { overwrite: true, ..RULES };
    write(folder, &[("summary.json", "4")], &overwrite).expect("it may be replaced");
    write(folder, &[("summary.json", "5")], &RULES).expect("it is ours again");
}

#[test]
fn files_of_others_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("a"), "mine").expect("room");
    std::os::unix::fs::symlink("a", folder.join("b")).expect("room");
    fs::write(folder.join("c"), "").expect("room");
    let refused = write(folder, &[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")], &RULES);
    let refused = refused.expect_err("three are the user's");
    assert_eq!(refused.lines().count(), 3, "{refused}");
    for line in refused.lines() {
        assert!(line.contains(": flashlane did not write it; allowed: another place"), "{line}");
    }
    assert_eq!(text(folder, "a").as_deref(), Some("mine"));
    assert_eq!(names(folder), ["a", "b", "c"], "nothing is left of the try");
    // Only our files are removed, even with `overwrite`.
    let overwrite = Rules { overwrite: true, ..RULES };
    write(folder, &[("c", "1")], &overwrite).expect("free");
    assert_eq!(text(folder, "a").as_deref(), Some("mine"));
}

#[test]
fn a_kill_between_two_steps_leaves_nothing_that_is_taken_for_the_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, &[("a", "1"), ("b", "1")], &RULES).expect("free");
    // The manifest names the new contents before any file gets its name.
    fs::write(folder.join("new"), "2").expect("room");
    let mut meanwhile = Manifest::read(folder);
    for path in ["a", "b"] {
        meanwhile.add(Path::new(path), Content::of(&folder.join("new"), Some("run")).expect("ok"));
    }
    write_manifest(folder, &meanwhile).expect("room");
    fs::rename(folder.join("new"), folder.join("a")).expect("room");
    write(folder, &[("a", "3")], &RULES).expect("both are ours");
    assert_eq!(names(folder), [MANIFEST, "a"]);
}

#[test]
fn a_folder_has_one_writer_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = hold_folder(folder.path()).expect("free");
    let refused = hold_folder(folder.path()).expect_err("it is taken").to_string();
    assert!(refused.contains("writes results there; allowed: another folder"), "{refused}");
    drop(held);
    assert!(hold_folder(folder.path()).is_ok_and(|lock| lock.is_some()));
    assert!(names(folder.path()).is_empty(), "nothing is left");
}

#[test]
fn a_folder_waits_for_a_writer_that_is_about_to_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = hold_folder(folder.path()).expect("free");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(ENDING / 10);
            drop(held);
        });
        assert!(hold_folder(folder.path()).is_ok_and(|lock| lock.is_some()));
    });
}
