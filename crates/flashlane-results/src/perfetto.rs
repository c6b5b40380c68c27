//! `timeline.pftrace`: a trace for Perfetto's viewer (ui.perfetto.dev), as protocol buffers.
//!
//! It has only the parts that a timeline needs: a descriptor for each track, begin and end of each
//! slice, and each name once. Times are truncated to whole nanoseconds. Field numbers are those of
//! Perfetto's `trace_packet.proto`, `track_descriptor.proto`, `track_event.proto` and
//! `interned_data.proto`.

use std::collections::BTreeMap;

use flashlane::observe::{Slice, Timeline};

/// All packets come from one writer.
const SEQUENCE: u64 = 1;
/// Names are valid from the first packet on.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;
const BEGIN: u64 = 1;
const END: u64 = 2;
/// Child tracks in the order of their ranks.
const EXPLICIT_ORDER: u64 = 3;

/// A message of protocol buffers as it grows.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn fixed(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

/// The file.
#[must_use]
pub fn pftrace(timeline: &Timeline) -> Vec<u8> {
    let mut trace = Message::default();
    let mut packet = |packet: Message| trace.bytes(1, &packet.0);
    let names = names(timeline);
    packet(interned(timeline, &names));
    for (at, track) in (0_u64..).zip(&timeline.tracks) {
        let mut descriptor = Message::default();
        descriptor.number(1, uuid(at));
        descriptor.bytes(2, track.name.as_bytes());
        if let Some(parent) = track.parent {
            descriptor.number(5, uuid(u64::from(parent)));
        }
        descriptor.number(11, EXPLICIT_ORDER);
        descriptor.number(12, at);
        let mut made = Message::default();
        made.bytes(60, &descriptor.0);
        made.number(10, SEQUENCE);
        packet(made);
    }
    // Begins and ends of a track in order of time; inner slices end first.
    let mut open: Vec<&Slice> = Vec::new();
    for slice in &timeline.slices {
        while let Some(last) =
            open.pop_if(|last| last.track != slice.track || last.end <= slice.start)
        {
            packet(end(last));
        }
        packet(begin(slice, names[&(slice.flow, slice.name)]));
        open.push(slice);
    }
    while let Some(last) = open.pop() {
        packet(end(last));
    }
    trace.0
}

/// Numbers of tracks; 0 is taken.
fn uuid(track: u64) -> u64 {
    track + 1
}

/// A number, from 1 on, for every name of a slice: its flow and its work.
fn names(timeline: &Timeline) -> BTreeMap<(u16, &'static str), u64> {
    let mut names: BTreeMap<(u16, &'static str), u64> =
        timeline.slices.iter().map(|slice| ((slice.flow, slice.name), 0)).collect();
    (1..).zip(names.values_mut()).for_each(|(number, name)| *name = number);
    names
}

/// The packet that introduces the names.
fn interned(timeline: &Timeline, names: &BTreeMap<(u16, &'static str), u64>) -> Message {
    let mut data = Message::default();
    let entry = |number: u64, name: &str| {
        let mut entry = Message::default();
        entry.number(1, number);
        entry.bytes(2, name.as_bytes());
        entry.0
    };
    for (number, flow) in (1..).zip(&timeline.flows) {
        data.bytes(1, &entry(number, flow));
    }
    for (&(flow, name), &number) in names {
        let flow = &timeline.flows[flow as usize];
        data.bytes(2, &entry(number, &format!("{flow}: {name}")));
    }
    let mut packet = Message::default();
    packet.bytes(12, &data.0);
    packet.number(10, SEQUENCE);
    packet.number(13, STATE_CLEARED | NEEDS_STATE);
    packet
}

fn begin(slice: &Slice, name: u64) -> Message {
    let mut event = Message::default();
    event.number(9, BEGIN);
    event.number(11, uuid(u64::from(slice.track)));
    event.number(10, name);
    // The flow as category.
    event.number(3, u64::from(slice.flow) + 1);
    if slice.request > 0 {
        // Arrows join the slices of a request.
        event.fixed(47, slice.request);
    }
    packet_at(slice.start, &event)
}

fn end(slice: &Slice) -> Message {
    let mut event = Message::default();
    event.number(9, END);
    event.number(11, uuid(u64::from(slice.track)));
    packet_at(slice.end, &event)
}

fn packet_at(ps: u64, event: &Message) -> Message {
    let mut packet = Message::default();
    packet.number(8, ps / 1_000);
    packet.bytes(11, &event.0);
    packet.number(10, SEQUENCE);
    packet.number(13, NEEDS_STATE);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::observe::Track;

    #[test]
    fn numbers_are_encoded_as_the_format_says() {
        let mut message = Message::default();
        message.number(1, 150);
        message.bytes(2, b"testing");
        message.fixed(47, 1);
        let text = [0x12, 7, b't', b'e', b's', b't', b'i', b'n', b'g'];
        let fixed = [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(message.0, [&[0x08, 0x96, 0x01], &text[..], &fixed].concat());
    }

    #[test]
    fn every_slice_begins_and_ends_and_inner_ones_end_first() {
        let slice =
            |track, start, end| Slice { track, start, end, name: "read", flow: 0, request: 3 };
        let timeline = Timeline {
            flows: vec!["one".into()],
            tracks: vec![
                Track { name: "a".into(), parent: None },
                Track { name: "b".into(), parent: Some(0) },
            ],
            slices: vec![
                slice(0, 0, 9_000),
                slice(0, 0, 4_000),
                slice(0, 4_000, 9_000),
                slice(1, 1_000, 2_000),
            ],
            ..Timeline::default()
        };
        // Packets: time, and whether a slice begins (1) or ends (2) on which track.
        let mut found = Vec::new();
        let bytes = pftrace(&timeline);
        for (field, packet) in fields(&bytes) {
            assert_eq!(field, 1);
            let packet = fields(packet);
            let of = |number| packet.iter().find(|(field, _)| *field == number).map(|(_, b)| *b);
            if let Some(event) = of(11) {
                let event = fields(event);
                let of = |n| value(event.iter().find(|(field, _)| *field == n).unwrap().1);
                found.push((of_time(&packet), of(9), of(11)));
            }
        }
        assert_eq!(
            found,
            [
                (0, 1, 1),
                (0, 1, 1),
                (4, 2, 1),
                (4, 1, 1),
                (9, 2, 1),
                (9, 2, 1),
                (1, 1, 2),
                (2, 2, 2)
            ]
        );
    }

    fn of_time(packet: &[(u64, &[u8])]) -> u64 {
        value(packet.iter().find(|(field, _)| *field == 8).unwrap().1)
    }

    fn value(bytes: &[u8]) -> u64 {
        bytes.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }

    /// The fields of a message; of a number, its bytes.
    fn fields(bytes: &[u8]) -> Vec<(u64, &[u8])> {
        let (mut at, mut found) = (0, Vec::new());
        let varint = |at: &mut usize| {
            let start = *at;
            while bytes[*at] & 0x80 != 0 {
                *at += 1;
            }
            *at += 1;
            &bytes[start..*at]
        };
        while at < bytes.len() {
            let key = value(varint(&mut at));
            let content = match key & 7 {
                0 => varint(&mut at),
                1 => {
                    at += 8;
                    &bytes[at - 8..at]
                }
                _ => {
                    let length = value(varint(&mut at)) as usize;
                    at += length;
                    &bytes[at - length..at]
                }
            };
            found.push((key >> 3, content));
        }
        found
    }
}
