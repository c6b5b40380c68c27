//! DRAM timing: one channel, one access at a time, first come first served.

use flashlane_engine::Time;

use crate::config::{CompatConfig, DramConfig};

/// The memory behind the cache.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    free_at: Time,
    config: DramConfig,
    mqsim: bool,
}

impl Dram {
    /// An idle memory.
    pub(crate) fn new(config: &DramConfig, compat: &CompatConfig) -> Self {
        Self { free_at: Time::ZERO, config: config.clone(), mqsim: compat.dram_formula }
    }

    /// Starts an access as soon as the ones before it are over; returns its end.
    pub(crate) fn access(&mut self, now: Time, bytes: u64) -> Time {
        self.free_at = self.free_at.max(now) + Time(self.duration(bytes));
        self.free_at
    }

    /// Time of an access. Unit: picoseconds.
    pub(crate) fn duration(&self, bytes: u64) -> u64 {
        if self.mqsim { self.duration_mqsim(bytes) } else { self.duration_exact(bytes) }
    }

    /// Every row is opened, read and closed; data moves at the rate of the interface.
    fn duration_exact(&self, bytes: u64) -> u64 {
        let c = &self.config;
        let rows = bytes.div_ceil(c.row.0);
        let beats = bytes.div_ceil(c.bus_width.0);
        let data = u128::from(beats) * 1_000_000_000_000 / u128::from(c.data_rate.0);
        rows * (c.t_rcd.0 + c.t_cl.0 + c.t_rp.0) + data as u64
    }

    /// The released MQSim: half of the rows, delays charged once, a tail in the wrong unit.
    fn duration_mqsim(&self, bytes: u64) -> u64 {
        let c = &self.config;
        let (row, burst, rate) = (c.row.0, c.bus_width.0, c.data_rate.0);
        let open = (c.t_rcd.0 + c.t_cl.0) / 1_000;
        // k bursts of 1e9 / rate nanoseconds, cut to whole ones.
        let bursts = |n: u64| (u128::from(n / burst / 2) * 1_000_000_000 / u128::from(rate)) as u64;
        let ns = if bytes <= row {
            open + bursts(bytes)
        } else {
            let tail =
                u128::from(bytes % row) * u128::from(rate) / (u128::from(burst) * 1_000_000_000);
            2 * open + (bursts(row) + c.t_rp.0 / 1_000) * (bytes / row / 2) + tail as u64
        };
        ns * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::units::{ByteSize, TransferRate};

    fn sample(compat: &CompatConfig) -> Dram {
        let config = DramConfig {
            data_rate: TransferRate(100_000_000),
            bus_width: ByteSize(1),
            ..DramConfig::default()
        };
        Dram::new(&config, compat)
    }

    #[test]
    fn exact_time_grows_with_size() {
        let dram = sample(&CompatConfig::default());
        assert_eq!(dram.duration(4096), 39_000 + 4096 * 10_000);
        assert_eq!(dram.duration(16_384), 2 * 39_000 + 16_384 * 10_000);
    }

    #[test]
    fn the_mqsim_formula_is_reproduced() {
        let dram = sample(&CompatConfig::mqsim());
        assert_eq!(dram.duration(4096), 20_506_000);
        assert_eq!(dram.duration(8192), 40_986_000);
        assert_eq!(dram.duration(16_384), (52 + 40_960 + 13) * 1_000);
    }

    #[test]
    fn accesses_queue() {
        let mut dram = sample(&CompatConfig::default());
        let first = dram.access(Time::ZERO, 512);
        assert_eq!(dram.access(Time::ZERO, 512), first + first);
    }
}
