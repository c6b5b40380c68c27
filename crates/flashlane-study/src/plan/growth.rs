//! Multiplies the load of a tenant.

use flashlane::Error;
use flashlane::config::FlowConfig;

/// Refuses a tenant whose load is not given by a number that can be multiplied.
pub(super) fn check(flow: &FlowConfig) -> Result<(), Error> {
    match flow.mqsim {
        None => Ok(()),
        Some(_) => Err(Error::config(
            "--load",
            format!(
                "found `{}`, a flow of an MQSim file; allowed: synthetic flows, traces and clones of a \
                 TOML file",
                flow.name
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(keys: &str, factor: f64) -> FlowConfig {
        let text = format!("[[flow]]\nname = 'a'\n{keys}");
        let overrides = flashlane::config::load::Overrides::default();
        let loaded = flashlane::config::load::workload_from_toml(&text, "test", &overrides);
        let mut flow = loaded.expect("valid").config.flows.remove(0);
        check(&flow).expect("it has a load");
        flow.scale_load(factor);
        flow
    }

    #[test]
    fn every_kind_of_load_is_multiplied() {
        let depth = |keys: &str, factor| scaled(keys, factor).synthetic.expect("given").queue_depth;
        assert_eq!(depth("[flow.synthetic]\nqueue_depth = 8\nrequests = 1", 1.55), Some(12));
        assert_eq!(depth("[flow.synthetic]\nqueue_depth = 8\nrequests = 1", 0.01), Some(1));
        let open = scaled("[flow.synthetic]\niops = 100.0\nrequests = 1", 2.5).synthetic;
        assert_eq!(open.expect("given").iops, Some(250.0));
        let open = scaled("[flow.synthetic]\nbandwidth = '10MB/s'\nrequests = 1", 0.5).synthetic;
        assert_eq!(open.expect("given").bandwidth.map(|one| one.0), Some(5_000_000));
        let clone = scaled("[flow.clone]\nof = 'tpcc'\nrequests = 1\ntime_scale = 0.5", 2.0).clone;
        assert_eq!(clone.expect("given").time_scale, 0.25);
        let trace = scaled("[flow.trace]\npath = 'x'\nqueue_depth = 2", 4.0).trace;
        let trace = trace.expect("given");
        assert_eq!((trace.time_scale, trace.queue_depth), (0.25, Some(8)));
    }
}
