//! How long a large drive takes to its steady state, and how much memory:
//! `cargo test --release -p flashlane-tests --test quick capacity:: -- --ignored --nocapture`.

use crate::common::Scenario;

/// 800 GB of logical pages of 8 KiB, 1.1 TB of flash.
const DRIVE: &str = r#"
base = "fast18"
name = "800 GB"
[ftl]
over_provisioning = 0.374
[flash]
chips_per_channel = 8
page_size = "8KiB"
blocks_per_plane = 2048
pages_per_block = 256
"#;

/// The tpcc trace of the released MQSim where it is present, else its clone.
fn tpcc() -> String {
    let trace = flashlane_testing::shared_path("traces/orig/MQSim_tpcc-small.trace.zst");
    let source = if trace.is_file() {
        format!("[flow.trace]\npath = {:?}\nformat = \"mqsim\"\n", trace.display().to_string())
    } else {
        "[flow.clone]\nof = \"tpcc\"\nrequests = 7000\n".to_owned()
    };
    format!("[[flow]]\nname = \"tpcc\"\n{source}")
}

#[test]
#[ignore = "seconds in a release build, and 1 GB"]
fn an_800_gb_drive_in_steady_state() {
    let mut scenario = Scenario::new(DRIVE, &tpcc());
    scenario.options.check = false;
    let summary = scenario.run();
    let pages = summary.memory.physical_pages as f64;
    let tables = summary.memory.page_table_bytes as f64 / pages;
    println!(
        "{pages} physical pages, steady state in {:.1} s, {tables:.2} bytes of page tables and {:.2} of \
         memory at most per physical page, {} requests in {:.2} s",
        summary.precondition_wall_s,
        summary.peak_rss_bytes as f64 / pages,
        summary.requests_completed,
        summary.wall_s
    );
    assert!(tables <= 8.5, "{tables} bytes a page");
    assert!(summary.requests_completed > 6_000);
}
