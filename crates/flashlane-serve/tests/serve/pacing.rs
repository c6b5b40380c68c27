//! How late completions leave when the clock is that of real time.

use std::io::Write;
use std::time::{Duration, Instant};

use flashlane_nvme::Tenancy;
use flashlane_serve::{Lateness, Pace};

use crate::nbd_client::request;
use crate::run::{Draw, Running, config, response_times};

/// Length of a read. Unit: bytes.
const READ: u32 = 4096;

/// Shares of the commands whose lateness is reported.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// What a rate did.
struct Measured {
    /// Commands for each second of real time, from the first to the last.
    rate: f64,
    /// Median of the simulated response times. Unit: nanoseconds.
    response: f64,
    lateness: Lateness,
    /// The median of the lateness is below a tenth of the latency.
    is_punctual: bool,
}

/// Sends `count` random reads at a rate, whether or not the earlier ones are complete.
fn measure(rate: u32, count: u32) -> Measured {
    let server = Running::start(config(Pace::Real, Tenancy::Queue));
    let mut client = server.nbd("", false);
    let mut sending = client.stream.try_clone().expect("a socket");
    let blocks = client.bytes / u64::from(READ);
    let sender = std::thread::spawn(move || {
        let (mut draw, started) = (Draw(rate.into()), Instant::now());
        for number in 0..count {
            let due = Duration::from_secs(1) * number / rate;
            std::thread::sleep(due.saturating_sub(started.elapsed()));
            let offset = draw.below(blocks) * u64::from(READ);
            let read = request((0, 0), number.into(), (offset, READ), &[]);
            sending.write_all(&read).expect("the server reads");
        }
        f64::from(count) / started.elapsed().as_secs_f64()
    });
    for _ in 0..count {
        assert_eq!(client.reply(|_| READ as usize).1, 0, "a read succeeds");
    }
    let rate = sender.join().expect("no panic");
    let kept = server.kept.clone();
    let lateness = server.stop().lateness;
    let times = response_times(&kept);
    assert_eq!(times.len(), count as usize);
    let response = times[times.len() / 2] as f64 / 1000.0;
    let is_punctual = (lateness.quantile(0.5).as_nanos() as f64) < response / 10.0;
    Measured { rate, response, lateness, is_punctual }
}

#[test]
fn every_completion_in_real_time_has_a_lateness() {
    let measured = measure(1000, 300);
    assert_eq!(measured.lateness.count(), 300);
    let late = SHARES.map(|share| measured.lateness.quantile(share));
    assert!(late.is_sorted() && late[0] > Duration::ZERO, "{late:?}");
    assert!(measured.rate <= 1100.0, "a client is not faster than its rate");
    assert!(measured.response > 0.0);
}

/// Prints a table: lateness in percent of the median simulated latency.
#[test]
#[ignore = "a measurement; docs/serve.md has the command and a table"]
fn lateness_over_rates() {
    println!("asked  reached      p50      p90      p99    p99.9  punctual");
    for rate in [1000, 2000, 5000, 10_000, 20_000, 40_000] {
        let measured = measure(rate, rate * 3);
        let percent = SHARES.map(|share| {
            let late = measured.lateness.quantile(share).as_nanos() as f64;
            format!("{:7.1}%", late / measured.response * 100.0)
        });
        let (reached, punctual) = (measured.rate, measured.is_punctual);
        println!("{rate:5}  {reached:7.0} {}  {punctual}", percent.join(" "));
    }
}
