//! Bytes of a connection of NBD. The first byte says whether an export was chosen before, and
//! whether the rest is bytes, or requests that are put together well.
#![no_main]

use flashlane_fuzz::nvme::{limits, media, take};
use flashlane_serve::{Conversation, Door};
use libfuzzer_sys::fuzz_target;

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u32).to_be_bytes();
    [&b"IHAVEOPT"[..], &number.to_be_bytes(), &length, data].concat()
}

/// The next request of the input.
fn next(input: &mut &[u8]) -> Vec<u8> {
    let [kind, flags, cookie, offset, high, length] = take(input);
    let bytes = u32::from(length) * 512;
    let place = (u64::from(offset) | u64::from(high) << 8) * 512;
    let kind = u16::from(kind % 8);
    let head = [
        &0x2560_9513_u32.to_be_bytes()[..],
        &u16::from(flags).to_be_bytes(),
        &kind.to_be_bytes(),
        &u64::from(cookie).to_be_bytes(),
        &place.to_be_bytes(),
        &bytes.to_be_bytes(),
    ];
    let data = if kind == 1 { vec![flags; bytes as usize] } else { Vec::new() };
    [&head.concat()[..], &data].concat()
}

fuzz_target!(|data: &[u8]| {
    let [bits, input @ ..] = data else { return };
    let mut input = input;
    let mut host = Conversation::new(Door::Nbd, media(*bits), limits());
    let mut say = |bytes: &[u8]| host.say(bytes).expect("the drive goes on").len();
    assert_eq!(say(&[]), 18, "the greeting");
    if bits & 4 != 0 {
        say(&3_u32.to_be_bytes());
        if bits & 8 != 0 {
            say(&option(8, &[]));
        }
        let export = if bits & 1 == 0 { &b""[..] } else { &b"a"[..] };
        let length = (export.len() as u32).to_be_bytes();
        say(&option(7, &[&length, export, &[0, 0]].concat()));
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
    assert_eq!(subsystem.media().outstanding(), 0);
});
