//! Commands of the admin queue and of an I/O queue: 64 bytes each, and a byte that says which
//! queue.
#![no_main]

use flashlane::Time;
use flashlane_fuzz::nvme::{connect, media, set_property, take};
use flashlane_nvme::{Done, Entry, Identity, QueueKey, Subsystem, Transfer};
use libfuzzer_sys::fuzz_target;

fn advance(subsystem: &mut Subsystem, done: &mut Vec<Done>) -> Time {
    let (mut now, mut finished) = (Time::ZERO, Vec::new());
    while let Some(at) = subsystem.next_event() {
        subsystem.advance(at, done, &mut finished).expect("the drive goes on");
        now = at;
    }
    assert!(finished.is_empty(), "no other door has asked for anything");
    now
}

fuzz_target!(|data: &[u8]| {
    let [bits, input @ ..] = data else { return };
    let mut input = input;
    let mut subsystem = Subsystem::new(media(*bits), Identity::of("tiny"));
    let (mut now, mut done, mut asked) = (Time::ZERO, Vec::new(), 0_usize);
    let (entry, names) = connect(0, 0xffff);
    let controller = subsystem.connect(&entry, &names).expect("a free place").key.controller;
    let admin = QueueKey { controller, queue: 0 };
    let enable = set_property(0x14, 0x0046_0001);
    subsystem.submit(now, admin, &enable, Vec::new(), &mut done).expect("a queue with room");
    let (entry, names) = connect(1, controller);
    subsystem.connect(&entry, &names).expect("a free queue");
    done.clear();
    while !input.is_empty() && asked < 200 {
        let [how] = take(&mut input);
        let mut entry = Entry(take(&mut input));
        entry.0[2..4].copy_from_slice(&(asked as u16).to_le_bytes());
        let key = QueueKey { controller, queue: u16::from(how & 1) };
        let answered = match subsystem.transfer(key, &entry) {
            Ok(Transfer::FromHost(bytes)) => {
                let sent = vec![how; bytes];
                subsystem.submit(now, key, &entry, sent, &mut done).is_ok()
            }
            Ok(_) => subsystem.submit(now, key, &entry, Vec::new(), &mut done).is_ok(),
            Err(status) => {
                subsystem.refuse(now, key, &entry, status, &mut done);
                true
            }
        };
        asked += usize::from(answered);
        if how & 2 != 0 {
            now = now.max(advance(&mut subsystem, &mut done));
        }
    }
    advance(&mut subsystem, &mut done);
    assert!(done.len() <= asked, "each command is answered once");
    for one in &done {
        assert_eq!(one.key.controller, controller);
    }
    subsystem.disconnect(admin);
    assert_eq!((subsystem.controllers(), subsystem.media().outstanding()), (0, 0));
});
