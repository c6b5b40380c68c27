//! Isolation and scheduling are orthogonal: in every combination each still does what it is for.

use crate::common::{SMALL_DRIVE, Scenario};
use flashlane::metrics::{AloneBasis, Summary};

/// A light reader beside a heavy one and a writer that keeps collection busy.
const TENANTS: &str = r#"
[[flow]]
name = "light"
cache = "off"
[flow.synthetic]
iops = 1000.0
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
duration = "400ms"

[[flow]]
name = "heavy"
cache = "off"
on_end = "stop"
[flow.synthetic]
queue_depth = 64
read_ratio = 1.0
size = "4KiB"
align = "4KiB"
duration = "400ms"

[[flow]]
name = "writer"
cache = "off"
on_end = "stop"
[flow.synthetic]
queue_depth = 16
read_ratio = 0.0
size = "4KiB"
align = "4KiB"
duration = "400ms"
"#;

const SCHEDULERS: [&str; 4] = ["out-of-order", "sprinkler", "sprinkler-fairness", "flin"];

/// UPI that settles within these runs: short windows, of which it remembers only the last. The
/// second configuration also has chips to which all flows write.
const UPI: &str = "{ upi = { window = \"10ms\", past_reads = \"window\" } }";
const UPI_SHARED: &str =
    "{ upi = { window = \"10ms\", past_reads = \"window\", shared_chips = [0, 3, 4] } }";

fn run(scheduler: &str, isolation: &str) -> Summary {
    run_seed(scheduler, isolation, 1)
}

fn run_seed(scheduler: &str, isolation: &str, seed: u64) -> Summary {
    let mut scenario = Scenario::new(SMALL_DRIVE, TENANTS)
        .seed(seed)
        .set("ftl.over_provisioning", "120%")
        .set("scheduler", scheduler)
        .set("isolation", isolation);
    scenario.options.alone = true;
    // What tenants cost each other within an isolation.
    scenario.options.alone_basis = AloneBasis::SameIsolation;
    scenario.run()
}

fn slowdown_of_light(summary: &Summary) -> f64 {
    summary.flows[0].slowdown.expect("it ran alone too")
}

#[test]
fn partitions_isolate_under_every_scheduler() {
    for scheduler in SCHEDULERS {
        let [unified, partitioned] = ["unified", "partitioned"]
            .map(|isolation| slowdown_of_light(&run(scheduler, isolation)));
        // Budgets take a part of it off the light tenant by themselves.
        let least = if scheduler == "sprinkler-fairness" { 4.0 } else { 5.0 };
        assert!(unified > least, "{scheduler}: {unified}");
        assert!(partitioned < 1.05, "{scheduler}: {partitioned}");
    }
}

#[test]
fn sets_follow_the_load_under_every_scheduler() {
    for scheduler in SCHEDULERS {
        let found = run(scheduler, UPI).isolation_sets.expect("sets that change");
        assert!(found.transfers > 0, "{scheduler}");
        assert!(found.sets[2].len() > 2, "{scheduler}: the writer gets chips, {:?}", found.sets);
        assert!(found.relocated_pages[0] > 0, "{scheduler}: data of the reader comes home");
    }
}

/// Where tenants still meet on a chip, its scheduler decides how fair that is. In partitions they
/// do not. Sets that move make the figure of one seed a matter of chance: the mean of eight counts.
#[test]
fn flin_is_fairer_wherever_tenants_share_chips() {
    for isolation in ["unified", UPI, UPI_SHARED] {
        let [plain, flin] = ["out-of-order", "flin"].map(|scheduler| {
            let of_seed = |seed| run_seed(scheduler, isolation, seed).fairness.fairness;
            (1..=8).map(|seed| of_seed(seed).expect("all flows ran alone too")).sum::<f64>() / 8.0
        });
        println!("{isolation}: {flin} against {plain}");
        assert!(flin > 1.2 * plain, "{isolation}: {flin} against {plain}");
    }
}

#[test]
fn sprinkler_covers_more_planes_under_every_isolation() {
    for isolation in ["unified", "partitioned", UPI] {
        let [plain, sprinkler] = ["out-of-order", "sprinkler"].map(|scheduler| {
            let reads = run(scheduler, isolation).commands.read;
            reads.multiplane as f64 / (reads.single + reads.multiplane) as f64
        });
        assert!(sprinkler > 1.03 * plain, "{isolation}: {sprinkler} against {plain}");
    }
}
