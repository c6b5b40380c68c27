//! Protocol data units of NVMe/TCP: their headers and digests.

/// Initialize the connection: request.
pub(crate) const IC_REQUEST: u8 = 0x00;
/// Initialize the connection: response.
pub(crate) const IC_RESPONSE: u8 = 0x01;
/// The host ends the connection.
pub(crate) const HOST_TERMINATES: u8 = 0x02;
/// The controller ends the connection.
pub(crate) const CONTROLLER_TERMINATES: u8 = 0x03;
/// A command.
pub(crate) const COMMAND: u8 = 0x04;
/// The completion of a command.
pub(crate) const RESPONSE: u8 = 0x05;
/// Data of a write, from the host.
pub(crate) const HOST_DATA: u8 = 0x06;
/// Data of a read, from the controller.
pub(crate) const CONTROLLER_DATA: u8 = 0x07;
/// The controller is ready to get data.
pub(crate) const READY_TO_TRANSFER: u8 = 0x09;

/// Flag: the header has a digest.
const HEADER_DIGEST: u8 = 1;
/// Flag: the data has a digest.
const DATA_DIGEST: u8 = 1 << 1;
/// Flag: the last data of a command.
pub(crate) const LAST: u8 = 1 << 2;

/// Unit: bytes.
const DIGEST_BYTES: usize = 4;

/// What the two sides have agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) header_digest: bool,
    pub(crate) data_digest: bool,
    /// Data to the host starts at multiples of this. Unit: bytes; 0 before the agreement.
    pub(crate) alignment: usize,
}

/// Reason for which a connection must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fatal {
    /// A field of the header is wrong; its place.
    Field(u32),
    /// The unit comes at the wrong time.
    Sequence,
    /// The digest of the header is wrong.
    HeaderDigest,
    /// Data is outside of what was asked for.
    DataRange,
    /// More data than allowed.
    DataLimit,
    /// A parameter is not supported; its place.
    Parameter(u32),
}

impl Fatal {
    /// Fatal error status and its information.
    pub(crate) fn code(self) -> (u16, u32) {
        match self {
            Self::Field(place) => (1, place),
            Self::Sequence => (2, 0),
            Self::HeaderDigest => (3, 0),
            Self::DataRange => (4, 0),
            Self::DataLimit => (5, 0),
            Self::Parameter(place) => (6, place),
        }
    }
}

/// A unit from the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pdu {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// The header, without its digest.
    pub(crate) header: Vec<u8>,
    pub(crate) data: Vec<u8>,
    /// The data agrees with its digest.
    pub(crate) intact: bool,
}

fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// The length of the header of a unit from a host, and the most data that it may have.
fn shape(kind: u8, data_max: usize) -> Option<(usize, usize)> {
    match kind {
        IC_REQUEST => Some((128, 0)),
        HOST_TERMINATES => Some((24, 128)),
        COMMAND => Some((72, super::IN_CAPSULE_MAX)),
        HOST_DATA => Some((24, data_max)),
        _ => None,
    }
}

/// Takes the first unit from the input; `None` if it is not all there.
pub(crate) fn take(input: &mut Vec<u8>, agreed: Agreed) -> Result<Option<Pdu>, Fatal> {
    let Some(&[kind, flags, header, offset, ..]) = input.get(..8) else { return Ok(None) };
    let (length, header, offset) = (u32_at(input, 4), usize::from(header), usize::from(offset));
    let (expected, most) = shape(kind, super::DATA_MAX).ok_or(Fatal::Field(0))?;
    if header != expected {
        return Err(Fatal::Field(2));
    }
    let has_digest = agreed.header_digest && kind != IC_REQUEST && kind != HOST_TERMINATES;
    let covered = header + if has_digest { DIGEST_BYTES } else { 0 };
    let tail = if agreed.data_digest && flags & DATA_DIGEST != 0 { DIGEST_BYTES } else { 0 };
    // Padding before the data is at most 128 bytes.
    if length < covered || length > covered + 128 + most + tail {
        return Err(Fatal::Field(4));
    }
    if input.len() < length {
        return Ok(None);
    }
    let unit: Vec<u8> = input.drain(..length).collect();
    if has_digest {
        let wrong = u32_at(&unit, header) as u32 != crc32c::crc32c(&unit[..header]);
        if flags & HEADER_DIGEST == 0 || wrong {
            return Err(Fatal::HeaderDigest);
        }
    }
    let start = match kind {
        HOST_TERMINATES => covered,
        _ if length == covered => length,
        _ => offset,
    };
    if start < covered || start > length {
        return Err(Fatal::Field(3));
    }
    let end = if start == length { length } else { length.saturating_sub(tail) };
    let data = unit.get(start..end).ok_or(Fatal::Field(4))?.to_vec();
    if data.len() > most {
        return Err(Fatal::DataLimit);
    }
    let must = agreed.data_digest && !data.is_empty() && kind != HOST_TERMINATES;
    let intact = !must || (tail > 0 && u32_at(&unit, end) as u32 == crc32c::crc32c(&data));
    Ok(Some(Pdu { kind, flags, header: unit[..header].to_vec(), data, intact }))
}

/// Adds a unit to the output. `body` is the header from byte 8 on.
pub(crate) fn put(
    output: &mut Vec<u8>,
    (kind, flags): (u8, u8),
    body: &[u8],
    data: &[u8],
    agreed: Agreed,
) {
    let header = 8 + body.len();
    let plain = kind == IC_RESPONSE || kind == CONTROLLER_TERMINATES;
    let has_digest = agreed.header_digest && !plain;
    let data_digest = agreed.data_digest && !data.is_empty() && !plain;
    let covered = header + if has_digest { DIGEST_BYTES } else { 0 };
    let start = match data.is_empty() {
        true => covered,
        false if plain => covered,
        false => covered.next_multiple_of(agreed.alignment.max(4)),
    };
    let length = start + data.len() + if data_digest { DIGEST_BYTES } else { 0 };
    let digests = u8::from(has_digest) * HEADER_DIGEST + u8::from(data_digest) * DATA_DIGEST;
    let offset = if data.is_empty() || plain { 0 } else { start as u8 };
    let begin = output.len();
    output.extend([kind, flags | digests, header as u8, offset]);
    output.extend((length as u32).to_le_bytes());
    output.extend(body);
    if has_digest {
        let digest = crc32c::crc32c(&output[begin..]);
        output.extend(digest.to_le_bytes());
    }
    output.resize(begin + start, 0);
    output.extend(data);
    if data_digest {
        output.extend(crc32c::crc32c(data).to_le_bytes());
    }
}
