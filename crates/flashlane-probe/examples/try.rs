use flashlane::config::load::{self, Overrides};
use flashlane_probe::*;
struct Quiet;
impl Progress for Quiet {
    fn starts(&mut self, p: &battery::Probe, _: usize, _: usize) { eprintln!("{}", p.name); }
    fn kept(&mut self, _: &battery::Probe) {}
    fn skipped(&mut self, _: &battery::Probe, _: &str) {}
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let o = Overrides { sets: args[1..].to_vec(), ..Overrides::default() };
    let config = load::device(&args[0], &o).unwrap().config;
    let mut target = Simulated::new(&config, 5, true).unwrap();
    let b = Battery { destroy_data: true, only: &[], budget: None, seed: 1 };
    let all = b.run(&mut target, None, &mut Quiet).unwrap();
    for (name, list) in &all.probes {
        for m in list {
            if !name.starts_with("page") { println!("{name}/{} n {} mean {:.3} p0 {:.3} p50 {:.3} p100 {:.3} iops {:.0} waf {:?}", m.series.name, m.timings.len(), m.mean_us(), m.quantile_us(0.0), m.quantile_us(0.5), m.quantile_us(1.0), m.iops(), m.write_amplification()); }
        }
    }
    let page = structure::page_size(all.probe("page-boundary"));
    println!("page {page:?}");
    let pattern = structure::pattern(all.probe("conflicts"), page.unwrap_or(4096));
    if let Some(p) = &pattern { println!("period {} {:?}", p.period, &p.conflicts[..p.period.min(40)]);
        let c = structure::candidates(p);
        for g in c.iter().take(12) { println!("{} {} {} {} {}", g.channels, g.chips, g.dies, g.planes, g.order); } println!("{}", c.len()); }
    else { for m in all.probe("conflicts").iter().take(2) { for t in m.timings.chunks(2).take(40) { print!("{:.2}/{:.2} ", t[0].latency.as_us(), t[1].latency.as_us()); } println!(); } }
}
