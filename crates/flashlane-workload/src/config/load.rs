//! A tenant with a multiple of its load.

use super::FlowConfig;
use super::warps::{WARP_READS_MAX, WARPS_MAX};

impl FlowConfig {
    /// Multiplies the load: rates, depths and warps are multiplied, gaps are divided. Flows of
    /// MQSim files stay as they are.
    pub fn scale_load(&mut self, factor: f64) {
        let depth = |depth: &mut u32| {
            let scaled = libm::round(f64::from(*depth) * factor);
            *depth = scaled.clamp(1.0, 65_535.0) as u32;
        };
        if let Some(synthetic) = &mut self.synthetic {
            synthetic.queue_depth.iter_mut().for_each(depth);
            synthetic.iops.iter_mut().for_each(|iops| *iops *= factor);
            if let Some(warps) = &mut synthetic.warps {
                let most = (WARP_READS_MAX / warps.reads.max(1)).min(WARPS_MAX);
                let scaled = libm::round(f64::from(warps.count) * factor);
                warps.count = scaled.clamp(1.0, f64::from(most.max(1))) as u32;
            }
            if let Some(bandwidth) = &mut synthetic.bandwidth {
                bandwidth.0 = libm::round(bandwidth.0 as f64 * factor) as u64;
            }
            if let Some(job) = &mut synthetic.fio {
                for one in [&mut job.read, &mut job.write, &mut job.trim] {
                    let faster = |rate: &mut u64| *rate = libm::round(*rate as f64 * factor) as u64;
                    one.rate.iter_mut().for_each(faster);
                }
                job.think.iter_mut().for_each(|think| {
                    think.time.0 = libm::round(think.time.0 as f64 / factor) as u64;
                });
            }
        }
        if let Some(trace) = &mut self.trace {
            trace.time_scale /= factor;
            trace.queue_depth.iter_mut().for_each(depth);
        }
        if let Some(clone) = &mut self.clone {
            clone.time_scale /= factor;
        }
    }

    /// Ends each pass after at most `requests` requests. Replayed traces stay as they are.
    pub fn end_after(&mut self, requests: u64) {
        let counts = [
            self.synthetic.as_mut().map(|synthetic| &mut synthetic.requests),
            self.clone.as_mut().map(|clone| &mut clone.requests),
        ];
        for count in counts.into_iter().flatten() {
            *count = Some(count.map_or(requests, |own| own.min(requests)));
        }
    }
}
