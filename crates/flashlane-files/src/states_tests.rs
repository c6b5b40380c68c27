use std::io::Read;
use std::sync::Arc;

use super::*;

/// A key that ends in the given letters.
fn key(name: &str) -> String {
    format!("{name:0>64}")
}

fn keep(store: &StateFolder, name: &str, bytes: usize) {
    store.keep(&key(name), bytes as u64, &mut |to| to.write_all(&vec![7; bytes]));
}

fn kept(store: &StateFolder) -> Vec<String> {
    let entries = fs::read_dir(&store.folder).expect("a folder");
    let name = |entry: io::Result<fs::DirEntry>| entry.expect("a file").file_name();
    let short =
        |name: std::ffi::OsString| name.to_string_lossy().trim_start_matches('0').to_owned();
    let mut names: Vec<String> = entries.map(|entry| short(name(entry))).collect();
    names.sort();
    names
}

#[test]
fn what_was_used_last_stays() {
    let root = tempfile::tempdir().expect("a folder");
    let store = StateFolder::prepare(&root.path().join("x/y"), 250).expect("made");
    let mut text = Vec::new();
    for key in ["a", "b"] {
        keep(&store, key, 100);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    store.find(&key("a")).expect("kept").read_to_end(&mut text).expect("readable");
    assert_eq!(text, [7; 100]);
    keep(&store, "c", 100);
    assert_eq!(kept(&store), ["a.state", "c.state"], "b was used least lately");
    keep(&store, "d", 251);
    assert_eq!(kept(&store), ["a.state", "c.state"], "more than there can be room for");
    store.discard(&key("a"));
    assert!(store.find(&key("a")).is_none() && store.find(&key("c")).is_some());
}

#[cfg(unix)]
#[test]
fn a_claim_keeps_others_waiting() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let root = tempfile::tempdir().expect("a folder");
    let open = || StateFolder::prepare(&root.path().join("states"), 1000).expect("made");
    let (inside, made) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let store = open();
                let claim = store.claim(&key("a")).expect("a lock");
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                if store.find(&key("a")).is_none() {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    made.fetch_add(1, Ordering::SeqCst);
                    keep(&store, "a", 10);
                }
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(claim);
            });
        }
    });
    assert_eq!(made.into_inner(), 1, "made once");
    assert_eq!(kept(&open()), ["a.state"], "no lock is left");
    let other = open().claim(&key("b")).expect("a lock");
    drop((open().claim(&key("a")).expect("another key is free"), other));
}

#[test]
fn states_leave_most_of_a_disk_free() {
    assert_eq!(share_of_disk(400, 0), 40);
    assert_eq!(share_of_disk(300, 100), 40, "what they take themselves counts as free");
    assert_eq!(share_of_disk(0, 100), 10, "a disk that others filled gets room back");
    let root = tempfile::tempdir().expect("a folder");
    let free = free_space(root.path()).expect("known");
    let store = StateFolder::prepare(&root.path().join("states"), u64::MAX).expect("made");
    keep(&store, "a", 10);
    assert!(!store.make_room(free).expect("looked"), "more than the share");
    assert_eq!(kept(&store), ["a.state"], "for what cannot be kept nothing is removed");
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let root = tempfile::tempdir().expect("a folder");
    let store = StateFolder::prepare(&root.path().join("states"), 1000).expect("made");
    store.keep(&key("a"), 10, &mut |to| {
        to.write_all(b"half")?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert!(kept(&store).is_empty() && store.find(&key("a")).is_none());
}

#[cfg(unix)]
#[test]
fn a_folder_is_for_its_owner_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let root = tempfile::tempdir().expect("a folder");
    let own = root.path().join("own");
    StateFolder::prepare(&own, 1).expect("made");
    assert_eq!(fs::metadata(&own).expect("it is there").mode() & 0o777, 0o700);
    StateFolder::prepare(&own, 1).expect("as it was");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o750)).expect("changed");
    let error = StateFolder::prepare(&own, 1).expect_err("others may enter it");
    assert_eq!(error.to_string(), "found mode 750, allowed: a folder of mode 700");
}

#[test]
fn files_of_others_are_no_states() {
    let root = tempfile::tempdir().expect("a folder");
    let store = StateFolder::prepare(&root.path().join("states"), 250).expect("made");
    for name in ["terraform.state", "notes.lock"] {
        fs::write(store.folder.join(name), vec![1; 200]).expect("room");
    }
    keep(&store, "a", 200);
    keep(&store, "b", 200);
    store.prune(0).expect("removed");
    assert_eq!(kept(&store), ["notes.lock", "terraform.state"]);
}

#[test]
fn pruning_removes_what_was_used_least_lately() {
    let root = tempfile::tempdir().expect("a folder");
    let store = StateFolder::prepare(&root.path().join("states"), 1000).expect("made");
    for name in ["c", "a", "b"] {
        keep(&store, name, 100);
        std::thread::sleep(Duration::from_millis(20));
    }
    // The file of a killed process, and the file of a live one.
    fs::write(store.folder.join(key("d")).with_extension(LOCK), "process 1\n").expect("room");
    let claim = store.claim(&key("e")).expect("a lock");
    let removed = store.prune(200).expect("removed");
    assert_eq!(removed.iter().map(|file| &file.key).collect::<Vec<_>>(), [&key("c")]);
    assert_eq!(kept(&store), ["a.state", "b.state", "e.lock"]);
    assert_eq!(store.limit().expect("known"), 1000);
    drop(claim);
}

#[test]
fn the_first_state_and_a_long_wait_are_news() {
    use std::sync::Mutex;
    let root = tempfile::tempdir().expect("a folder");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let open = || {
        let mut store = StateFolder::prepare(root.path(), 1000).expect("a folder");
        let heard = Arc::clone(&heard);
        store.tells_first = true;
        store.tell =
            Some(News(Arc::new(move |news| heard.lock().expect("whole").push(news.clone()))));
        store
    };
    #[cfg(unix)]
    fs::set_permissions(root.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("its owner");
    for name in ["a", "b"] {
        keep(&open(), name, 100);
    }
    let first = StateNews::First { folder: root.path().to_owned(), limit: 1000 };
    assert_eq!(std::mem::take(&mut *heard.lock().expect("whole")), [first]);
    let claim = open().claim(&key("c")).expect("a lock");
    std::thread::scope(|scope| {
        scope.spawn(|| open().claim(&key("c")).is_some());
        std::thread::sleep(PATIENCE + Duration::from_millis(500));
        drop(claim);
    });
    let heard = std::mem::take(&mut *heard.lock().expect("whole"));
    assert!(matches!(&heard[..], [StateNews::Waits { .. }]), "said once: {heard:?}");
}
