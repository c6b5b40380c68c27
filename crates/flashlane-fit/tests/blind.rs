//! Random devices, measured as black boxes and fitted.

mod hidden;

use flashlane_fit::drive::{Request, fit};
use flashlane_probe::battery::Probe;
use flashlane_probe::{Battery, Progress, Simulated, Target};
use hidden::Hidden;

struct Quiet;

impl Progress for Quiet {
    fn starts(&mut self, _: &Probe, _: usize, _: usize) {}
    fn kept(&mut self, _: &Probe) {}
    fn skipped(&mut self, _: &Probe, _: &str) {}
}

#[test]
fn ten() {
    for seed in 0..10 {
        let start = std::time::Instant::now();
        let hidden = Hidden::random(seed);
        let mut drive = Simulated::new(&hidden.config, 99 + seed, true).expect("it is allowed");
        let battery = Battery { destroy_data: true, only: &[], budget: None, seed };
        let data = battery.run(&mut drive, None, &mut Quiet).expect("it runs");
        let probed = start.elapsed();
        let found = fit(&data, &Request::of("fast18"), &|| {}).expect("it fits");
        println!("--- {seed}: {} commands, {:?} s simulated, probe {probed:?}, all {:?}", found.commands, drive.now().as_s(), start.elapsed());
        println!("{}", hidden.sets.join(" "));
        println!("page {:?} levels {:?}", found.inside.page, found.inside.levels);
        for g in &found.inside.geometries {
            println!("  {} {} {} {} {}", g.channels, g.chips, g.dies, g.planes, g.order);
        }
        let c = &found.calibration;
        println!("fits {} geometry {} as good {:?} chi2 {:.1}/{} evals {}", c.fits, found.geometry, found.as_good, c.chi2, c.degrees, c.evaluations);
        for (at, p) in c.parameters.iter().enumerate() {
            println!("  {} {} [{} {}] told {}", p.key, p.unit.text(c.values[at]), p.unit.text(c.intervals[at].low), p.unit.text(c.intervals[at].high), c.tells(at));
        }
        for (f, r) in found.features.iter().zip(&c.residuals) {
            if r.sigmas.abs() > 2.0 {
                println!("   {} measured {:.2} fitted {:.2} sigma {:.4} off {:.1}", f.name(), f.value, r.fitted, f.sigma, r.sigmas);
            }
        }
    }
}
