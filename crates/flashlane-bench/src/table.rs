//! The table on the terminal.

use crate::cases;
use crate::measure::Row;

const MIB: f64 = 1_048_576.0;

pub(crate) fn head() {
    println!(
        "{:<18} {:>9} {:>10} {:>10} {:>10} {:>7} {:>8} {:>9} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>9}",
        "whole process",
        "requests",
        "requests/s",
        "transact/s",
        "events/s",
        "ev/req",
        "ns/req",
        "req/hold",
        "CPU s",
        "MiB",
        "allocs/M",
        "precond.",
        "B/page",
        "pg/hold",
        "slowest"
    );
}

pub(crate) fn line(row: &Row) {
    let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.1}"));
    println!(
        "{:<18} {:>9} {:>10.0} {:>10.0} {:>10.0} {:>7.2} {:>8.0} {:>9.4} {:>7} {:>7.0} {:>8} {:>6.2} s {:>6.2} \
         {:>8.3} {:>8.0}%",
        row.case,
        row.requests,
        row.requests_per_s,
        row.transactions_per_s,
        row.events_per_s,
        row.events_per_request,
        row.ns_per_request,
        row.requests_per_hold,
        or_dash(row.cpu_s),
        row.peak_rss_bytes as f64 / MIB,
        or_dash(row.allocations_per_million),
        row.precondition_s,
        row.table_bytes_per_page,
        row.precondition_pages_per_hold,
        100.0 * (row.slowest_over_fastest - 1.0),
    );
}

/// Explains the cases, and why some are shorter.
pub(crate) fn foot(rows: &[Row]) {
    println!();
    for row in rows.iter().filter(|row| cases::find(&row.case).is_some_and(|case| case.waf_only)) {
        println!(
            "{}: {:.2} million page writes per CPU second, amplification {:.3}",
            row.case,
            row.page_writes_per_s / 1e6,
            row.write_amplification
        );
    }
    for case in rows.iter().filter_map(|row| cases::find(&row.case)) {
        match case.most {
            Some((most, why)) => {
                println!("{}: {}; at most {most} requests: {why}", case.name, case.about);
            }
            None => println!("{}: {}", case.name, case.about),
        }
    }
}
