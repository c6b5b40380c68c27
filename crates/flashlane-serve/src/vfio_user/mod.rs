//! vfio-user: one connection is an NVMe controller behind PCIe, in the machine of the client.
//!
//! The client reads and writes the memory of the controller by messages. It lends its own memory
//! and its interrupts by files that come with messages.

mod machine;
mod message;
mod space;

use std::fs::File;

use flashlane::{Error, Time};
use flashlane_nvme::pcie::{PcieFunction, PcieOptions};
use flashlane_nvme::{Done, Finished};
use rustix::io::Errno;

use crate::house::House;
use crate::session::{Ended, Session, Wire};
use machine::Machine;
pub(crate) use message::FILES_MAX;
use message::{HEADER, Header, u16_at, u32_at, u64_at, words};
use space::{BAR_BYTES, CONFIG_BYTES, ConfigSpace, PENDING, TABLE};

/// The most I/O queues: the doorbells of more would reach into the table of interrupts.
pub(crate) const QUEUES_MAX: u16 = 511;

/// The most interrupt vectors, which fill the table.
const VECTORS_MAX: u16 = 256;

/// Regions: six memories, a ROM, the configuration space, and VGA.
const REGIONS: u32 = 9;
const BAR: u32 = 0;
const CONFIG: u32 = 7;

/// Kinds of interrupts: by wire, MSI, MSI-X, errors, requests.
const IRQS: u32 = 5;
const MSI_X: u32 = 2;

/// Flags of an order about interrupts.
const NO_DATA: u32 = 1;
const BY_FILES: u32 = 1 << 2;
const TRIGGER: u32 = 1 << 5;

/// The conversation of a client.
pub(crate) struct VfioUserSession {
    /// `None` when the connection is closed.
    function: Option<PcieFunction>,
    vectors: u16,
    space: ConfigSpace,
    /// The table of interrupts, which belongs to the client.
    table: Vec<u8>,
    machine: Machine,
    is_agreed: bool,
    has_rest: bool,
}

impl VfioUserSession {
    /// A conversation of the present connection, with a new controller.
    ///
    /// # Errors
    ///
    /// Those of [`PcieFunction::new`].
    pub(crate) fn new(house: &mut House) -> Result<Self, Error> {
        let vectors = (house.limits.queues + 1).min(VECTORS_MAX);
        let data_max = house.limits.connection_bytes;
        let options = PcieOptions { vectors, data_max, ..PcieOptions::default() };
        let function = PcieFunction::new(&mut house.subsystem, options)?;
        house.functions.insert(function.controller(), house.connection);
        Ok(Self {
            function: Some(function),
            vectors,
            space: ConfigSpace::new(vectors),
            table: vec![0; (PENDING - TABLE) as usize],
            machine: Machine::new(vectors),
            is_agreed: false,
            has_rest: false,
        })
    }

    /// Runs a command, and returns the body of the reply.
    fn command(
        &mut self,
        header: &Header,
        body: &[u8],
        files: Vec<File>,
        house: &mut House,
    ) -> Result<Vec<u8>, Errno> {
        let needed = match header.command {
            message::VERSION => 4,
            message::DMA_MAP => 32,
            message::DMA_UNMAP => 24,
            message::SET_IRQS => 20,
            message::DEVICE_INFO | message::IRQ_INFO => 16,
            message::REGION_READ | message::REGION_WRITE => 16,
            message::REGION_INFO => 32,
            message::RESET => 0,
            _ => return Err(Errno::NOTSUP),
        };
        if body.len() < needed {
            return Err(Errno::INVAL);
        }
        match header.command {
            message::VERSION => self.agree(body),
            message::DMA_MAP => self.lend(body, files),
            message::DMA_UNMAP => self.take_back(body),
            message::DEVICE_INFO => Ok(words(&[16, 0b11, REGIONS, IRQS])),
            message::REGION_INFO => region_info(body),
            message::IRQ_INFO => self.irq_info(body),
            message::SET_IRQS => self.set_irqs(body, files),
            message::REGION_READ => self.read(body, house),
            message::REGION_WRITE => self.write(body, house),
            _ => {
                self.restart(house);
                Ok(Vec::new())
            }
        }
    }

    /// The version of the protocol is 0.0: clients of version 0.1 know it, too.
    fn agree(&mut self, body: &[u8]) -> Result<Vec<u8>, Errno> {
        if self.is_agreed || u16_at(body, 0) != 0 {
            return Err(Errno::INVAL);
        }
        self.is_agreed = true;
        let (files, data) = (FILES_MAX, message::DATA_MAX);
        let able = format!(
            "{{\"capabilities\":{{\"max_msg_fds\":{files},\"max_data_xfer_size\":{data}}}}}\0"
        );
        Ok([&[0; 4], able.as_bytes()].concat())
    }

    fn lend(&mut self, body: &[u8], mut files: Vec<File>) -> Result<Vec<u8>, Errno> {
        if files.len() > 1 {
            return Err(Errno::INVAL);
        }
        let (flags, offset) = (u32_at(body, 4), u64_at(body, 8));
        let place = (u64_at(body, 16), u64_at(body, 24));
        self.machine.map(place, offset, flags, files.pop())?;
        Ok(Vec::new())
    }

    fn take_back(&mut self, body: &[u8]) -> Result<Vec<u8>, Errno> {
        /// "All memory": clients differ in the bit.
        const ALL: u32 = 0b110;
        /// The client asks which pages were changed.
        const CHANGES: u32 = 1;
        let (flags, address, size) = (u32_at(body, 4), u64_at(body, 8), u64_at(body, 16));
        if flags & CHANGES != 0 {
            return Err(Errno::NOTSUP);
        }
        match flags & ALL != 0 && (address, size) == (0, 0) {
            true => self.machine.unmap_all(),
            false => self.machine.unmap(address, size)?,
        }
        Ok(body[..24].to_vec())
    }

    fn irq_info(&self, body: &[u8]) -> Result<Vec<u8>, Errno> {
        /// The number of vectors is fixed, and they are files.
        const FIXED: u32 = 0b1001;
        let index = u32_at(body, 8);
        if index >= IRQS {
            return Err(Errno::INVAL);
        }
        let count = if index == MSI_X { u32::from(self.vectors) } else { 0 };
        Ok(words(&[16, FIXED, index, count]))
    }

    fn set_irqs(&mut self, body: &[u8], files: Vec<File>) -> Result<Vec<u8>, Errno> {
        let [flags, index, start, count] = [4, 8, 12, 16].map(|at| u32_at(body, at));
        if index >= IRQS {
            return Err(Errno::INVAL);
        }
        match (index, flags) {
            // Nothing to disarm.
            (_, _) if index != MSI_X && count == 0 => {}
            (MSI_X, flags) if flags == TRIGGER | BY_FILES => {
                self.machine.arm(start, count, files)?;
            }
            (MSI_X, flags) if flags == TRIGGER | NO_DATA && count == 0 => self.machine.disarm(),
            (MSI_X, flags) if flags == TRIGGER | NO_DATA => {
                let end = start.checked_add(count).filter(|&end| end <= self.vectors.into());
                (start..end.ok_or(Errno::INVAL)?).for_each(|it| self.machine.fire(it as usize));
            }
            _ => return Err(Errno::NOTSUP),
        }
        Ok(Vec::new())
    }

    /// Resets the function. The memory and the interrupts of the client stay lent.
    fn restart(&mut self, house: &mut House) {
        if let Some(function) = &mut self.function {
            function.restart(&mut house.subsystem);
        }
        self.space = ConfigSpace::new(self.vectors);
        self.table.fill(0);
    }

    fn read(&mut self, body: &[u8], house: &mut House) -> Result<Vec<u8>, Errno> {
        let (offset, count) = (u64_at(body, 0), u32_at(body, 12) as usize);
        let data = match inside(body)? {
            CONFIG => self.space.read(offset as usize, count),
            _ => self.read_bar(offset, count, house),
        };
        Ok([&body[..16], &data].concat())
    }

    fn read_bar(&mut self, offset: u64, count: usize, house: &mut House) -> Vec<u8> {
        let Some(function) = &mut self.function else { return vec![0; count] };
        let mut data = Vec::with_capacity(count);
        for (at, bytes) in aligned(offset, count) {
            let value = match at {
                TABLE.. => 0,
                _ => function.mmio_read(at, bytes, &mut house.subsystem),
            };
            data.extend(&value.to_le_bytes()[..bytes]);
        }
        for (at, byte) in (offset..).zip(&mut data) {
            if (TABLE..PENDING).contains(&at) {
                *byte = self.table[(at - TABLE) as usize];
            }
        }
        data
    }

    fn write(&mut self, body: &[u8], house: &mut House) -> Result<Vec<u8>, Errno> {
        let (offset, count) = (u64_at(body, 0), u32_at(body, 12) as usize);
        let region = inside(body)?;
        let data = body.get(16..16 + count).ok_or(Errno::INVAL)?;
        if region == CONFIG {
            if self.space.write(offset as usize, data) {
                self.restart(house);
            }
            return Ok(body[..16].to_vec());
        }
        for (at, &byte) in (offset..).zip(data) {
            if (TABLE..PENDING).contains(&at) {
                self.table[(at - TABLE) as usize] = byte;
            }
        }
        let Some(function) = &mut self.function else { return Err(Errno::INVAL) };
        for (at, bytes) in aligned(offset, count).filter(|it| it.0 < TABLE) {
            let value = u64_at(&data[(at - offset) as usize..][..bytes], 0);
            let order = (at, bytes, value);
            function.mmio_write(house.now, order, &mut house.subsystem, &mut self.machine);
        }
        Ok(body[..16].to_vec())
    }

    /// Tells the house when the function wants to act without a command.
    fn note(&mut self, token: usize, house: &mut House) {
        match self.function.as_ref().and_then(PcieFunction::due) {
            Some(due) => house.due.insert(token, due),
            None => house.due.remove(&token),
        };
    }
}

/// The region of an access, all of which is inside of it.
fn inside(body: &[u8]) -> Result<u32, Errno> {
    let (offset, region, count) = (u64_at(body, 0), u32_at(body, 8), u64::from(u32_at(body, 12)));
    let size = match region {
        BAR => BAR_BYTES,
        CONFIG => CONFIG_BYTES as u64,
        _ => return Err(Errno::INVAL),
    };
    match offset.checked_add(count) {
        Some(end) if end <= size => Ok(region),
        _ => Err(Errno::INVAL),
    }
}

fn region_info(body: &[u8]) -> Result<Vec<u8>, Errno> {
    /// The client may read and write.
    const BOTH: u32 = 0b11;
    let index = u32_at(body, 8);
    let (flags, size) = match index {
        BAR => (BOTH, BAR_BYTES as u32),
        CONFIG => (BOTH, CONFIG_BYTES as u32),
        _ if index < REGIONS => (0, 0),
        _ => return Err(Errno::INVAL),
    };
    Ok(words(&[32, flags, index, 0, size, 0, 0, 0]))
}

/// The places of an access of any length, each of 1, 2, 4 or 8 bytes at a multiple of its length.
fn aligned(offset: u64, count: usize) -> impl Iterator<Item = (u64, usize)> {
    let (mut at, mut left) = (offset, count);
    std::iter::from_fn(move || {
        let fits = |&bytes: &usize| bytes <= left && at.is_multiple_of(bytes as u64);
        let bytes = [8, 4, 2, 1].into_iter().find(fits)?;
        let place = (at, bytes);
        (at, left) = (at + bytes as u64, left - bytes);
        Some(place)
    })
}

impl Session for VfioUserSession {
    fn receive(&mut self, wire: &mut Wire, house: &mut House) -> Result<(), Ended> {
        let token = house.connection;
        loop {
            let header = Header::of(&wire.input);
            let header = header.map_err(|()| Ended("a message of a length that is not allowed"))?;
            let whole = header.filter(|header| wire.input.len() >= header.length);
            let Some(header) = whole else {
                self.has_rest = !wire.input.is_empty();
                return Ok(());
            };
            let bytes: Vec<u8> = wire.input.drain(..header.length).collect();
            let files = std::mem::take(&mut wire.files);
            if !header.is_command() {
                continue;
            }
            if !self.is_agreed && header.command != message::VERSION {
                return Err(Ended("a command before the version"));
            }
            let answer = self.command(&header, &bytes[HEADER..], files, house);
            header.answer(answer, &mut wire.output);
            if !self.is_agreed {
                return Err(Ended("another version"));
            }
            house.arrivals += self.function.as_mut().map_or(0, PcieFunction::take_fetched);
            self.note(token, house);
        }
    }

    fn done(&mut self, done: Done, _: &mut Wire, house: &mut House) {
        let Some(function) = &mut self.function else { return };
        let token = house.functions.get(&function.controller()).copied();
        function.done(vec![done], &mut house.subsystem, &mut self.machine);
        if let Some(token) = token {
            self.note(token, house);
        }
    }

    fn finished(&mut self, _: Finished, _: &mut Wire) {}

    fn pass(&mut self, until: Time, house: &mut House) {
        let Some(function) = &mut self.function else { return };
        let token = house.functions.get(&function.controller()).copied();
        function.pass(until, &mut house.subsystem, &mut self.machine);
        if let Some(token) = token {
            self.note(token, house);
        }
    }

    fn closed(&mut self, house: &mut House) {
        if let Some(function) = self.function.take() {
            if let Some(token) = house.functions.remove(&function.controller()) {
                house.due.remove(&token);
            }
            function.detach(&mut house.subsystem);
        }
    }

    fn is_established(&self) -> bool {
        self.is_agreed
    }

    fn is_mid_command(&self) -> bool {
        self.has_rest
    }

    /// The function leaves commands in the memory of the client when it has enough data.
    fn held(&self) -> usize {
        0
    }

    fn wanted(&self, wire: &Wire) -> Option<usize> {
        Some(message::wanted(&wire.input))
    }
}
