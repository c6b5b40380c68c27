//! The newstyle handshake: options until an export is chosen.

use super::{Export, NbdSession, Stage, number, take};
use crate::house::House;
use crate::session::{Ended, Wire};

/// `IHAVEOPT`.
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
/// Magic number of an answer to an option.
const ANSWER_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Flag: fixed newstyle.
const FIXED: u64 = 1;
/// Flag: no zeroes after the answer to [`EXPORT_NAME`].
const NO_ZEROES: u64 = 2;

/// Option: chooses an export, without an answer for errors.
const EXPORT_NAME: u32 = 1;
/// Option: ends the conversation.
const ABORT: u32 = 2;
/// Option: lists the exports.
const LIST: u32 = 3;
/// Option: tells about an export.
const INFO: u32 = 6;
/// Option: chooses an export.
const GO: u32 = 7;
/// Option: structured replies.
const STRUCTURED: u32 = 8;

/// Answer: done.
const ACKNOWLEDGED: u32 = 1;
/// Answer: an export.
const SERVER: u32 = 2;
/// Answer: a fact about an export.
const FACT: u32 = 3;
/// Answer: the option is not supported.
const UNSUPPORTED: u32 = 1 << 31 | 1;
/// Answer: the option is wrong.
const INVALID: u32 = 1 << 31 | 3;
/// Answer: there is no such export.
const UNKNOWN: u32 = 1 << 31 | 6;

/// The longest option. Unit: bytes.
const OPTION_MAX: usize = 64 * 1024;

/// What an export can do: flush, FUA, trim, write zeroes, several connections.
const EXPORT_FLAGS: u16 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8;

/// What the client has asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Negotiated {
    no_zeroes: bool,
    pub(super) structured: bool,
}

/// The first words of the server.
pub(super) fn greet(output: &mut Vec<u8>) {
    output.extend(b"NBDMAGIC");
    output.extend(OPTION_MAGIC.to_be_bytes());
    output.extend(((FIXED | NO_ZEROES) as u16).to_be_bytes());
}

fn answer(output: &mut Vec<u8>, option: u32, kind: u32, data: &[u8]) {
    output.extend(ANSWER_MAGIC.to_be_bytes());
    output.extend(option.to_be_bytes());
    output.extend(kind.to_be_bytes());
    output.extend((data.len() as u32).to_be_bytes());
    output.extend(data);
}

/// The name and the facts that INFO or GO ask for; `None` if the lengths are wrong.
fn wanted(data: &[u8]) -> Option<(&[u8], Vec<u64>)> {
    let length = number(data.get(..4)?) as usize;
    let name = data.get(4..4_usize.checked_add(length)?)?;
    let rest = &data[4 + length..];
    let (count, facts) = (number(rest.get(..2)?) as usize, &rest[2..]);
    (facts.len() == count * 2).then(|| (name, facts.chunks(2).map(number).collect()))
}

impl NbdSession {
    /// Reads the flags of the client. False if they are not all there.
    pub(super) fn flags(&mut self, wire: &mut Wire) -> Result<bool, Ended> {
        let Some(flags) = take(&mut wire.input, 4) else { return Ok(false) };
        let flags = number(&flags);
        if flags & FIXED == 0 || flags & !(FIXED | NO_ZEROES) != 0 {
            return Err(Ended("flags of the client that the server does not know"));
        }
        self.negotiated.no_zeroes = flags & NO_ZEROES != 0;
        self.stage = Stage::Options;
        Ok(true)
    }

    /// Reads an option. False if it is not all there.
    pub(super) fn option(&mut self, wire: &mut Wire, house: &mut House) -> Result<bool, Ended> {
        let Some(header) = wire.input.get(..16) else { return Ok(false) };
        let (magic, option) = (number(&header[..8]), number(&header[8..12]) as u32);
        let length = number(&header[12..16]) as usize;
        if magic != OPTION_MAGIC {
            return Err(Ended("an option without its magic number"));
        }
        if length > OPTION_MAX {
            return Err(Ended("an option that is too long"));
        }
        let Some(whole) = take(&mut wire.input, 16 + length) else { return Ok(false) };
        let (data, output) = (&whole[16..], &mut wire.output);
        match option {
            EXPORT_NAME => return self.choose_at_once(data, output, house),
            ABORT => {
                answer(output, option, ACKNOWLEDGED, &[]);
                return Err(Ended("the client has ended the handshake"));
            }
            LIST if length == 0 => {
                for namespace in 1..=house.subsystem.media().namespaces() {
                    let name = house.subsystem.media().name(namespace).as_bytes();
                    let data = [&(name.len() as u32).to_be_bytes(), name].concat();
                    answer(output, option, SERVER, &data);
                }
                answer(output, option, ACKNOWLEDGED, &[]);
            }
            STRUCTURED if length == 0 => {
                self.negotiated.structured = true;
                answer(output, option, ACKNOWLEDGED, &[]);
            }
            INFO | GO => self.choose(option, data, output, house),
            LIST | STRUCTURED => answer(output, option, INVALID, b"this option has no data"),
            _ => answer(output, option, UNSUPPORTED, b"this option is not supported"),
        }
        Ok(true)
    }

    /// EXPORT_NAME: an unknown name ends the connection, for there is no answer that says so.
    fn choose_at_once(
        &mut self,
        name: &[u8],
        output: &mut Vec<u8>,
        house: &mut House,
    ) -> Result<bool, Ended> {
        let (namespace, bytes) = find(name, house).ok_or(Ended("there is no such export"))?;
        output.extend(bytes.to_be_bytes());
        output.extend(EXPORT_FLAGS.to_be_bytes());
        if !self.negotiated.no_zeroes {
            output.extend([0; 124]);
        }
        self.open(namespace, bytes, house);
        Ok(true)
    }

    fn choose(&mut self, option: u32, data: &[u8], output: &mut Vec<u8>, house: &mut House) {
        let Some((name, facts)) = wanted(data) else {
            return answer(output, option, INVALID, b"the lengths in this option are wrong");
        };
        let Some((namespace, bytes)) = find(name, house) else {
            return answer(output, option, UNKNOWN, b"there is no such export");
        };
        let size = bytes.to_be_bytes();
        let export = [&[0, 0], &size[..], &EXPORT_FLAGS.to_be_bytes()].concat();
        answer(output, option, FACT, &export);
        if facts.contains(&1) {
            let name = house.subsystem.media().name(namespace).as_bytes();
            answer(output, option, FACT, &[&[0, 1], name].concat());
        }
        if facts.contains(&3) {
            let preferred = house.subsystem.media().config().block_bytes.max(4096);
            let sizes = [512, preferred, house.limits.request_bytes as u32];
            let sizes: Vec<u8> = sizes.into_iter().flat_map(u32::to_be_bytes).collect();
            answer(output, option, FACT, &[&[0, 3], &sizes[..]].concat());
        }
        answer(output, option, ACKNOWLEDGED, &[]);
        if option == GO {
            self.open(namespace, bytes, house);
        }
    }

    fn open(&mut self, namespace: u32, bytes: u64, house: &mut House) {
        let tenants = house.subsystem.media().open_queue();
        self.stage = Stage::Requests(Export { namespace, bytes, tenants });
    }
}

/// The export of a name and its length in bytes. The empty name is the first export.
fn find(name: &[u8], house: &mut House) -> Option<(u32, u64)> {
    let media = house.subsystem.media();
    let mut all = 1..=media.namespaces();
    let is_it = |&it: &u32| name.is_empty() || media.name(it).as_bytes() == name;
    let namespace = all.find(is_it)?;
    Some((namespace, media.sectors(namespace)? * flashlane_nvme::SECTOR_BYTES))
}
