//! A host that writes what it likes to registers, doorbells, queues and memory.
#![no_main]

use flashlane::Time;
use flashlane_fuzz::nvme::{media, take};
use flashlane_nvme::pcie::{BadAddress, PcieController, PcieHost, PcieOptions};
use flashlane_nvme::{Identity, Subsystem};
use libfuzzer_sys::fuzz_target;

/// Unit: bytes.
const MEMORY: usize = 1 << 16;

struct Machine(Vec<u8>);

impl Machine {
    fn range(&self, address: u64, length: usize) -> Result<std::ops::Range<usize>, BadAddress> {
        let from = usize::try_from(address).map_err(|_| BadAddress)?;
        let to = from.checked_add(length).filter(|&to| to <= MEMORY).ok_or(BadAddress)?;
        Ok(from..to)
    }
}

impl PcieHost for Machine {
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), BadAddress> {
        let range = self.range(address, data.len())?;
        data.copy_from_slice(&self.0[range]);
        Ok(())
    }

    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), BadAddress> {
        let range = self.range(address, data.len())?;
        self.0[range].copy_from_slice(data);
        Ok(())
    }

    fn interrupt(&mut self, _: Time, _: u16) {}
}

/// Enables a controller with admin queues of 16 entries at 1000h and 2000h.
fn enable(controller: &mut PcieController, machine: &mut Machine) {
    for (offset, bytes, value) in
        [(0x24, 4, 15 | 15 << 16), (0x28, 8, 0x1000), (0x30, 8, 0x2000), (0x14, 4, 0x0046_0001)]
    {
        controller.mmio_write(Time::ZERO, offset, bytes, value, machine);
    }
}

fuzz_target!(|data: &[u8]| {
    let [bits, input @ ..] = data else { return };
    let (mut input, mut now) = (input, Time::ZERO);
    let subsystem = Subsystem::new(media(*bits), Identity::of("tiny"));
    let controller = PcieController::new(subsystem, PcieOptions::default());
    let mut controller = controller.expect("a free place");
    let mut machine = Machine(vec![0; MEMORY]);
    if bits & 4 == 0 {
        enable(&mut controller, &mut machine);
    }
    for _ in 0..500 {
        if input.is_empty() {
            break;
        }
        let [how, low, high] = take(&mut input);
        let place = u64::from(low) | u64::from(high) << 8;
        let bytes = [1, 2, 4, 8][usize::from(how >> 3 & 3)];
        match how & 7 {
            // A register or a doorbell.
            0 | 1 => {
                let value = u64::from_le_bytes(take(&mut input));
                controller.mmio_write(now, place & 0x1fff, bytes, value, &mut machine);
            }
            2 => {
                controller.mmio_read(place, bytes);
            }
            // An entry of a queue, or any memory.
            3 | 4 => {
                let entry: [u8; 64] = take(&mut input);
                let _ = machine.write(place & !63, &entry);
            }
            // The doorbell of the admin queue, or of the first I/O queue.
            5 | 6 => {
                let queue = u64::from(how & 7 == 6) * 8;
                controller.mmio_write(now, 0x1000 + queue, 4, place & 0x3f, &mut machine);
            }
            _ => {
                for _ in 0..place & 0xff {
                    let Some(at) = controller.next_event() else { break };
                    controller.advance(at, &mut machine).expect("the drive goes on");
                    now = now.max(at);
                }
            }
        }
    }
    while let Some(at) = controller.next_event() {
        controller.advance(at, &mut machine).expect("the drive goes on");
    }
    assert_eq!(controller.subsystem().media().outstanding(), 0);
});
