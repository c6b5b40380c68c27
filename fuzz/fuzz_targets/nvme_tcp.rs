//! Bytes of a connection of NVMe/TCP. The first byte says how far the connection was agreed on
//! before, and whether the rest is bytes, or bodies of units that are put together well.
#![no_main]

use flashlane_fuzz::nvme::{connect, limits, media, take};
use flashlane_serve::{Conversation, Door};
use libfuzzer_sys::fuzz_target;

/// A unit without digests.
fn unit(kind: u8, flags: u8, body: &[u8], data: &[u8]) -> Vec<u8> {
    let header = 8 + body.len();
    let offset = if data.is_empty() { 0 } else { header as u8 };
    let mut bytes = vec![kind, flags, header as u8, offset];
    bytes.extend(((header + data.len()) as u32).to_le_bytes());
    [bytes.as_slice(), body, data].concat()
}

/// Checks that answers are whole units.
fn check(mut answers: &[u8]) {
    while !answers.is_empty() {
        let length = u32::from_le_bytes(answers[4..8].try_into().expect("4 bytes")) as usize;
        assert!(usize::from(answers[2]) <= length, "a header is in its unit");
        answers = &answers[length..];
    }
}

/// The next units of the input: a capsule, or data.
fn next(input: &mut &[u8]) -> Vec<u8> {
    let [how, length] = take(input);
    let data = vec![how; usize::from(length) * 64];
    match how & 3 {
        0 | 1 => {
            let mut entry: [u8; 64] = take(input);
            let inside = how & 1 == 1;
            entry[39] = if inside { 1 } else { 0x5a };
            let bytes = if inside { data.len() as u32 } else { u32::from(length) * 512 };
            entry[28..32].copy_from_slice(&bytes.to_le_bytes());
            unit(4, 0, &entry, if inside { &data } else { &[] })
        }
        2 => {
            let mut body: [u8; 16] = take(input);
            body[8..12].copy_from_slice(&(data.len() as u32).to_le_bytes());
            unit(6, how & 4, &body, &data)
        }
        _ => {
            let body: [u8; 16] = take(input);
            unit(how >> 2, 0, &body, &data)
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [bits, input @ ..] = data else { return };
    let mut input = input;
    let mut host = Conversation::new(Door::NvmeTcp, media(*bits), limits());
    let mut say = |bytes: &[u8]| check(&host.say(bytes).expect("the drive goes on"));
    if bits & 4 != 0 {
        say(&unit(0, 0, &[0; 120], &[]));
    }
    if bits & 8 != 0 {
        let (mut entry, names) = connect(0, 0xffff);
        entry.0[39] = 1;
        entry.0[28..32].copy_from_slice(&(names.len() as u32).to_le_bytes());
        say(&unit(4, 0, &entry.0, &names));
    }
    for _ in 0..200 {
        if input.is_empty() {
            break;
        }
        if bits & 16 != 0 {
            say(&next(&mut input));
        } else {
            let length = usize::from(input[0]) + 1;
            let (now, rest) = input[1..].split_at(length.min(input.len() - 1));
            say(now);
            input = rest;
        }
    }
    let mut subsystem = host.end().expect("the drive goes on");
    assert_eq!((subsystem.controllers(), subsystem.media().outstanding()), (0, 0));
});
