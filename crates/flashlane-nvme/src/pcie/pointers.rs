//! Data pointers: pages of the host (PRP) and scatter-gather lists (SGL).

use super::host::{BadAddress, PcieHost, read_if_there};
use crate::bytes::{u32_at, u64_at};
use crate::entry::Entry;
use crate::status::Status;

/// Unit: bytes. The only page size that the controller supports.
pub(super) const PAGE: u64 = 4096;

/// Unit: bytes.
const DESCRIPTOR: usize = 16;

/// The most descriptors of a list, so that a list that leads to itself ends.
const DESCRIPTORS_MAX: usize = 4096;

/// Why a command cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unready {
    /// The command is refused.
    Refused(Status),
    /// A part of it has not come from host memory yet.
    Later,
}

impl From<Status> for Unready {
    fn from(status: Status) -> Self {
        Self::Refused(status)
    }
}

/// Reads host memory, once it is there.
fn read(address: u64, data: &mut [u8], host: &mut dyn PcieHost) -> Result<(), Unready> {
    match read_if_there(host, address, data) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unready::Later),
        Err(BadAddress) => Err(Status::DATA_TRANSFER_ERROR.into()),
    }
}

/// A range of host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) address: u64,
    /// Unit: bytes.
    pub(super) length: usize,
}

/// Host memory of the data of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segments(Vec<Segment>);

impl Segments {
    /// The host memory for `length` bytes of a command.
    pub(super) fn of(
        entry: &Entry,
        length: usize,
        is_admin: bool,
        host: &mut dyn PcieHost,
    ) -> Result<Self, Unready> {
        if length == 0 {
            return Ok(Self::default());
        }
        match entry.0[1] >> 6 {
            0 => Self::of_pages(entry.qword(6), entry.qword(8), length, host),
            1 | 2 if !is_admin => Self::of_list(&entry.0[24..40], length, host),
            _ => Err(Status::INVALID_FIELD.into()),
        }
    }

    /// Pages: the first one may begin inside of a page. The second pointer is the second page, or a
    /// list of pages.
    fn of_pages(
        first: u64,
        second: u64,
        length: usize,
        host: &mut dyn PcieHost,
    ) -> Result<Self, Unready> {
        if !first.is_multiple_of(4) {
            return Err(Status::PRP_OFFSET_INVALID.into());
        }
        let mut segments = Self::default();
        let mut left = length;
        left -= segments.add(first, left);
        if left == 0 {
            return Ok(segments);
        }
        if left as u64 <= PAGE {
            segments.add_page(second, left)?;
            return Ok(segments);
        }
        if !second.is_multiple_of(8) {
            return Err(Status::PRP_OFFSET_INVALID.into());
        }
        let mut list = second;
        while left > 0 {
            let places = ((PAGE - list % PAGE) / 8) as usize;
            let pages = left.div_ceil(PAGE as usize);
            let mut bytes = vec![0; places.min(pages) * 8];
            read(list, &mut bytes, host)?;
            // The last place of a page of the list leads to the next one, if more pages follow.
            let here = if pages > places { places - 1 } else { pages };
            for place in 0..here {
                left -= segments.add_page(u64_at(&bytes, place * 8), left)?;
            }
            if left > 0 {
                list = u64_at(&bytes, here * 8);
                if !list.is_multiple_of(PAGE) {
                    return Err(Status::PRP_OFFSET_INVALID.into());
                }
            }
        }
        Ok(segments)
    }

    fn add_page(&mut self, address: u64, left: usize) -> Result<usize, Status> {
        match address % PAGE {
            0 => Ok(self.add(address, left)),
            _ => Err(Status::PRP_OFFSET_INVALID),
        }
    }

    /// Adds the rest of a page, and returns how much that is.
    fn add(&mut self, address: u64, left: usize) -> usize {
        let length = left.min((PAGE - address % PAGE) as usize);
        self.0.push(Segment { address, length });
        length
    }

    /// A list of descriptors, which begins in the command.
    fn of_list(first: &[u8], length: usize, host: &mut dyn PcieHost) -> Result<Self, Unready> {
        let mut segments = Self::default();
        let (mut left, mut seen) = (length, 0);
        // Descriptors that are still to be read; the last one may lead to more.
        let mut ahead = first.to_vec();
        let mut is_last = false;
        loop {
            let count = ahead.len() / DESCRIPTOR;
            seen += count;
            if seen > DESCRIPTORS_MAX {
                return Err(Status::INVALID_SGL_COUNT.into());
            }
            let mut more = None;
            for (place, descriptor) in ahead.chunks_exact(DESCRIPTOR).enumerate() {
                let (address, bytes) = (u64_at(descriptor, 0), u32_at(descriptor, 8) as usize);
                match descriptor[15] {
                    0x00 if bytes <= left => {
                        left -= bytes;
                        segments.0.push(Segment { address, length: bytes });
                    }
                    0x00 => return Err(Status::DATA_LENGTH_INVALID.into()),
                    kind @ (0x20 | 0x30) if place + 1 == count && !is_last => {
                        is_last = kind == 0x30;
                        more = Some((address, bytes));
                    }
                    0x20 | 0x30 => return Err(Status::INVALID_SGL_SEGMENT.into()),
                    _ => return Err(Status::DESCRIPTOR_TYPE_INVALID.into()),
                }
            }
            let Some((address, bytes)) = more else { break };
            if bytes == 0 || bytes % DESCRIPTOR != 0 {
                return Err(Status::INVALID_SGL_SEGMENT.into());
            }
            if bytes / DESCRIPTOR > DESCRIPTORS_MAX {
                return Err(Status::INVALID_SGL_COUNT.into());
            }
            ahead = vec![0; bytes];
            read(address, &mut ahead, host)?;
        }
        if left == 0 { Ok(segments) } else { Err(Status::DATA_LENGTH_INVALID.into()) }
    }

    /// Unit: bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|segment| segment.length).sum()
    }

    /// Reads the data of a command from host memory, once all of it is there.
    pub(super) fn gather(&self, host: &mut dyn PcieHost) -> Result<Vec<u8>, Unready> {
        let asked = self.0.iter().map(|it| host.is_there(it.address, it.length));
        if !asked.fold(true, |all, is_there| all & is_there) {
            return Err(Unready::Later);
        }
        let mut data = vec![0; self.bytes()];
        let mut rest = &mut data[..];
        for segment in &self.0 {
            let (now, later) = rest.split_at_mut(segment.length);
            host.read(segment.address, now).map_err(|_| Status::DATA_TRANSFER_ERROR)?;
            rest = later;
        }
        Ok(data)
    }

    /// Writes the data of a command to host memory.
    pub(super) fn scatter(&self, data: &[u8], host: &mut dyn PcieHost) -> Result<(), Status> {
        let mut rest = data;
        for segment in &self.0 {
            let (now, later) = rest.split_at(segment.length.min(rest.len()));
            host.write(segment.address, now).map_err(|_| Status::DATA_TRANSFER_ERROR)?;
            rest = later;
        }
        debug_assert!(rest.is_empty(), "a command has memory for all of its data");
        Ok(())
    }
}
