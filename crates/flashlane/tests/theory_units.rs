//! Against theory: write amplification of uniform random writes on mapping units smaller than a
//! page. A block has 512 units, so that the units with which collection completes its last page of
//! each victim, 1.5 on average, weigh little.

use crate::common::{Scenario, flash_only, random_writes, run_all, utilisation};
use flashlane::Warmup;
use flashlane::policy::Victim;

/// One plane with pages of four units, and uniform random writes of units.
fn drive() -> Scenario {
    let device = flash_only("mapping.unit = \"4KiB\"", [1; 4], [512, 128], "16KiB");
    Scenario::new(&device, &random_writes(64))
}

#[test]
fn random_units_are_amplified_as_the_closed_form_for_units_says() {
    let victims = ["greedy", "rga", "fifo"];
    let spares = [0.125, 0.28];
    let cases: Vec<(&str, f64)> =
        victims.iter().flat_map(|&v| spares.map(|spare| (v, spare))).collect();
    let scenarios: Vec<Scenario> = cases
        .iter()
        .flat_map(|&(victim, spare)| {
            let drive =
                self::drive().set("ftl.gc.victim", victim).set("ftl.over_provisioning", spare);
            let (units, _) = utilisation(&drive);
            let mut timed = drive.set("flow[0].synthetic.requests", 4 * units);
            timed.options.check = false;
            timed.options.warmup = Warmup::Requests(2 * units);
            let mut untimed = timed.clone();
            untimed.options.waf_only = true;
            [timed, untimed]
        })
        .collect();
    let (runs, mut failures) = (run_all(&scenarios), Vec::new());
    for (&(victim, spare), runs) in cases.iter().zip(runs.chunks(2)) {
        let drive = self::drive().set("ftl.over_provisioning", spare);
        let (_, rho) = utilisation(&drive);
        let policy = Victim::by_name(victim).expect("registered");
        let predicted = policy.steady_state(rho, 512, 512).write_amplification;
        for (run, kind) in runs.iter().zip(["timed", "without time"]) {
            let found = run.flash.write_amplification;
            let error = found / predicted - 1.0;
            println!("{victim} {spare} {kind}: {found:.4}, theory {predicted:.4}, {error:+.3}");
            failures.extend(
                (error.abs() > 0.03).then(|| format!("{victim} at {spare} {kind}: {found}")),
            );
        }
    }
    assert!(failures.is_empty(), "outside: {failures:?}");
}
