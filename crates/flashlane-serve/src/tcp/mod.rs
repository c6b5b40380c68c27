//! NVMe/TCP: one connection is one queue.

mod pdu;
mod transfers;

use flashlane_nvme::{
    CompletionEntry, DataPointer, Done, Entry, FabricsCommand, Finished, QueueKey, Status,
    Transfer, fabrics_type as fabrics,
};

use crate::house::House;
use crate::session::{Ended, Session, Wire};
use pdu::{Agreed, Fatal, Pdu};
use transfers::Transfers;

/// The most data in a capsule. Unit: bytes.
const IN_CAPSULE_MAX: usize = 8192;

/// The most data in a unit from the host. Unit: bytes.
const DATA_MAX: usize = 128 * 1024;

/// The most data in a unit to the host. Unit: bytes.
const DATA_TO_HOST_MAX: usize = 64 * 1024;

/// Transient transport error: the digest of the data was wrong.
const DIGEST_STATUS: Status = Status(0x022);

/// Where a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The parameters are not agreed yet.
    Initial,
    /// The parameters are agreed; Connect comes next.
    Agreed,
    /// A queue, with its number of entries.
    Queue(QueueKey, u16),
}

/// The conversation of a queue.
#[derive(Debug)]
pub(crate) struct TcpSession {
    stage: Stage,
    /// The host has ended the connection: no more PDUs are read.
    is_over: bool,
    agreed: Agreed,
    transfers: Transfers,
    has_rest: bool,
}

impl TcpSession {
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::Initial,
            is_over: false,
            agreed: Agreed::default(),
            transfers: Transfers::default(),
            has_rest: false,
        }
    }

    fn unit(&mut self, unit: Pdu, wire: &mut Wire, house: &mut House) -> Result<(), Fatal> {
        match (unit.kind, self.stage) {
            (pdu::IC_REQUEST, Stage::Initial) => self.agree(&unit.header, wire),
            (pdu::HOST_TERMINATES, _) => {
                self.is_over = true;
                Ok(())
            }
            (pdu::COMMAND, Stage::Agreed) => self.connect(&unit, wire, house),
            (pdu::COMMAND, Stage::Queue(key, size)) => self.command(key, size, unit, wire, house),
            (pdu::HOST_DATA, Stage::Queue(key, _)) => {
                let complete = self.transfers.data(&unit)?;
                if let Some((entry, data, intact)) = complete {
                    self.submit(key, &entry, data, intact, house)?;
                    self.transfers.grant(house.limits.connection_bytes, wire, self.agreed);
                }
                Ok(())
            }
            _ => Err(Fatal::Sequence),
        }
    }

    fn agree(&mut self, header: &[u8], wire: &mut Wire) -> Result<(), Fatal> {
        if header[8..10] != [0, 0] {
            return Err(Fatal::Parameter(8));
        }
        if header[10] > 31 {
            return Err(Fatal::Parameter(10));
        }
        let wanted = header[11] & 3;
        let mut body = [0; 120];
        body[3] = wanted;
        body[4..8].copy_from_slice(&(DATA_MAX as u32).to_le_bytes());
        pdu::put(&mut wire.output, (pdu::IC_RESPONSE, 0), &body, &[], self.agreed);
        self.agreed = Agreed {
            header_digest: wanted & 1 != 0,
            data_digest: wanted & 2 != 0,
            alignment: (usize::from(header[10]) + 1) * 4,
        };
        self.stage = Stage::Agreed;
        Ok(())
    }

    fn connect(&mut self, unit: &Pdu, wire: &mut Wire, house: &mut House) -> Result<(), Fatal> {
        let entry = entry_of(unit);
        let is_connect = entry.opcode() == fabrics::OPCODE
            && matches!(FabricsCommand::of(&entry), Ok(FabricsCommand::Connect { .. }));
        let connected = match (is_connect, unit.intact) {
            (true, true) => house.subsystem.connect(&entry, &unit.data),
            (true, false) => Err(DIGEST_STATUS),
            (false, _) => Err(Status::COMMAND_SEQUENCE_ERROR),
        };
        let (status, result, queue) = match connected {
            Ok(connected) => {
                self.stage = Stage::Queue(connected.key, connected.size);
                house.queues.insert(connected.key, house.connection);
                (Status::SUCCESS, connected.key.controller.into(), connected.key.queue)
            }
            Err(status) => (status, 0, 0),
        };
        let command_id = entry.command_id();
        let response = CompletionEntry { result, queue_head: 0, queue, command_id, status };
        self.respond(&response, wire);
        Ok(())
    }

    fn respond(&self, completion: &CompletionEntry, wire: &mut Wire) {
        let kind = (pdu::RESPONSE, 0);
        pdu::put(&mut wire.output, kind, &completion.encode(), &[], self.agreed);
    }

    fn command(
        &mut self,
        key: QueueKey,
        size: u16,
        unit: Pdu,
        wire: &mut Wire,
        house: &mut House,
    ) -> Result<(), Fatal> {
        let entry = entry_of(&unit);
        let expected = house.subsystem.transfer(key, &entry);
        let checked = expected.and_then(|transfer| pointer(&entry, transfer, unit.data.len()));
        match checked {
            Err(status) => {
                house.subsystem.refuse(house.now, key, &entry, status, &mut house.done);
                Ok(())
            }
            Ok(Data::Here) => self.submit(key, &entry, unit.data, unit.intact, house),
            Ok(Data::ToCome(bytes)) => {
                if self.transfers.len() >= usize::from(size) {
                    return Err(Fatal::Sequence);
                }
                self.transfers.wait(entry, bytes);
                self.transfers.grant(house.limits.connection_bytes, wire, self.agreed);
                Ok(())
            }
        }
    }

    fn submit(
        &mut self,
        key: QueueKey,
        entry: &Entry,
        data: Vec<u8>,
        intact: bool,
        house: &mut House,
    ) -> Result<(), Fatal> {
        house.arrivals += 1;
        if !intact {
            house.subsystem.refuse(house.now, key, entry, DIGEST_STATUS, &mut house.done);
            return Ok(());
        }
        let taken = house.subsystem.submit(house.now, key, entry, data, &mut house.done);
        taken.map_err(|_| Fatal::Sequence)
    }
}

/// Where the data of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Data {
    /// In the capsule, or the command has none from the host.
    Here,
    /// The host sends it when it is asked. Unit: bytes.
    ToCome(usize),
}

fn entry_of(unit: &Pdu) -> Entry {
    let mut bytes = [0; 64];
    bytes.copy_from_slice(&unit.header[8..72]);
    Entry(bytes)
}

/// Checks the data pointer of a command against its transfer.
fn pointer(entry: &Entry, transfer: Transfer, sent: usize) -> Result<Data, Status> {
    let DataPointer { address, length, kind } = entry.data();
    match (transfer, kind) {
        (Transfer::None, _) if sent == 0 => Ok(Data::Here),
        (Transfer::ToHost(bytes), DataPointer::TRANSPORT) if sent == 0 => {
            if length as usize == bytes { Ok(Data::Here) } else { Err(Status::DATA_LENGTH_INVALID) }
        }
        (Transfer::FromHost(bytes), DataPointer::IN_CAPSULE) => {
            let fits = address == 0 && length as usize == bytes && sent == bytes;
            if fits { Ok(Data::Here) } else { Err(Status::DATA_LENGTH_INVALID) }
        }
        (Transfer::FromHost(bytes), DataPointer::TRANSPORT) if sent == 0 => {
            let fits = length as usize == bytes;
            if fits { Ok(Data::ToCome(bytes)) } else { Err(Status::DATA_LENGTH_INVALID) }
        }
        (_, DataPointer::TRANSPORT | DataPointer::IN_CAPSULE) => Err(Status::DATA_LENGTH_INVALID),
        _ => Err(Status::DESCRIPTOR_TYPE_INVALID),
    }
}

impl Session for TcpSession {
    fn receive(&mut self, wire: &mut Wire, house: &mut House) -> Result<(), Ended> {
        let mut units = || -> Result<(), (Fatal, Vec<u8>)> {
            loop {
                let begin: Vec<u8> = wire.input.iter().take(128).copied().collect();
                let unit = pdu::take(&mut wire.input, self.agreed);
                let Some(unit) = unit.map_err(|fatal| (fatal, begin))? else { return Ok(()) };
                let header = unit.header.clone();
                self.unit(unit, wire, house).map_err(|fatal| (fatal, header))?;
                if self.is_over {
                    return Ok(());
                }
            }
        };
        if let Err((fatal, header)) = units() {
            let (status, place) = fatal.code();
            let mut body = [0; 16];
            body[..2].copy_from_slice(&status.to_le_bytes());
            body[2..6].copy_from_slice(&place.to_le_bytes());
            let kind = (pdu::CONTROLLER_TERMINATES, 0);
            pdu::put(&mut wire.output, kind, &body, &header, self.agreed);
            return Err(Ended("a unit that the protocol does not allow"));
        }
        self.has_rest = !wire.input.is_empty();
        if self.is_over {
            return Err(Ended("the host has ended the connection"));
        }
        Ok(())
    }

    fn done(&mut self, done: Done, wire: &mut Wire, _: &mut House) {
        let command_id = done.completion.command_id;
        let pieces = done.data.len().div_ceil(DATA_TO_HOST_MAX);
        for (number, piece) in done.data.chunks(DATA_TO_HOST_MAX).enumerate() {
            let mut body = [0; 16];
            body[..2].copy_from_slice(&command_id.to_le_bytes());
            let offset = (number * DATA_TO_HOST_MAX) as u32;
            body[4..8].copy_from_slice(&offset.to_le_bytes());
            body[8..12].copy_from_slice(&(piece.len() as u32).to_le_bytes());
            let flags = if number + 1 == pieces { pdu::LAST } else { 0 };
            let kind = (pdu::CONTROLLER_DATA, flags);
            pdu::put(&mut wire.output, kind, &body, piece, self.agreed);
        }
        self.respond(&done.completion, wire);
    }

    fn finished(&mut self, _: Finished, _: &mut Wire) {}

    fn closed(&mut self, house: &mut House) {
        if let Stage::Queue(key, _) = self.stage
            && house.queues.get(&key) == Some(&house.connection)
        {
            house.disconnect(key);
        }
    }

    fn is_established(&self) -> bool {
        matches!(self.stage, Stage::Queue(..))
    }

    fn is_mid_command(&self) -> bool {
        self.has_rest || self.transfers.len() > 0
    }

    fn held(&self) -> usize {
        self.transfers.granted()
    }
}
