//! Random scenarios of two to four tenants. A seed says all of a scenario.

use flashlane_engine::Rng;

/// Requests on pages that the dies of a drive could do in the time of a run.
const PAGES: f64 = 24_000.0;

/// Schedulers that are drawn.
pub(crate) const SCHEDULERS: [&str; 8] = [
    "out-of-order",
    "fcfs",
    "read-priority",
    "host-first",
    "priority-out-of-order",
    "sprinkler",
    "sprinkler-fairness",
    "flin",
];

/// A tenant, for the table.
#[derive(Clone, Debug)]
pub(crate) struct Tenant {
    pub(crate) closed: bool,
    pub(crate) read_ratio: f64,
    pub(crate) cached: bool,
}

/// A scenario: texts and changes, as the command takes them.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) preset: &'static str,
    pub(crate) scheduler: &'static str,
    pub(crate) sets: Vec<String>,
    pub(crate) tenants: Vec<Tenant>,
    pub(crate) workload: String,
    /// Length of the load. Unit: microseconds.
    pub(crate) duration_us: u64,
}

/// Random choices.
struct Draw(Rng);

impl Draw {
    fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    /// Uniform in the logarithm. Range: `low..=high`.
    fn scale(&mut self, low: u64, high: u64) -> u64 {
        let ratio = (high as f64 + 1.0) / low as f64;
        ((low as f64 * libm::pow(ratio, self.0.unit())) as u64).clamp(low, high)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize]
    }
}

/// What a drive can do. Unit of times: microseconds.
struct Power {
    dies: f64,
    read: f64,
    program: f64,
    page_kib: u64,
}

/// The presets that are drawn, with blocks few enough to fill them in no time.
const PRESETS: [(&str, Power); 4] = [
    ("tiny", Power { dies: 4.0, read: 25.0, program: 205.0, page_kib: 4 }),
    ("fast18", Power { dies: 64.0, read: 197.0, program: 775.0, page_kib: 8 }),
    ("flin", Power { dies: 32.0, read: 100.0, program: 1325.0, page_kib: 8 }),
    ("p4510", Power { dies: 40.0, read: 55.0, program: 326.0, page_kib: 4 }),
];

/// A drive of random size and speed.
fn geometry(draw: &mut Draw) -> (Vec<String>, Power) {
    let (channels, chips) = (draw.pick(&[1, 2, 4, 8]), draw.pick(&[1, 2, 4]));
    let (dies, planes) = (draw.pick(&[1, 1, 2]), draw.pick(&[1, 2, 2, 4]));
    let (read, program) = (draw.pick(&[10, 20, 50, 80]), draw.pick(&[100, 200, 500, 1000]));
    let page_kib = draw.pick(&[4, 4, 8, 16]);
    let rate = draw.pick(&[200, 400, 800, 1200]);
    let sets = vec![
        format!("flash.channels={channels}"),
        format!("flash.chips_per_channel={chips}"),
        format!("flash.dies_per_chip={dies}"),
        format!("flash.planes_per_die={planes}"),
        format!("flash.read_time=[\"{read}us\"]"),
        format!("flash.program_time=[\"{program}us\"]"),
        format!("flash.page_size=\"{page_kib}KiB\""),
        format!("flash.channel_rate=\"{rate}MT/s\""),
    ];
    let transfer = page_kib as f64 * 1024.0 / f64::from(rate);
    let number = f64::from(channels * chips * dies);
    // A channel that moves pages more slowly than its dies read them bounds the drive.
    let behind = f64::from(chips * dies);
    let time = |array: i32| (f64::from(array) + transfer).max(transfer * behind);
    (sets, Power { dies: number, read: time(read), program: time(program), page_kib })
}

fn tenant(draw: &mut Draw, power: &Power, index: usize) -> (Tenant, String, f64) {
    let closed = draw.chance(0.6);
    let read_ratio = draw.pick(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.7, 0.3]);
    let kib = draw.pick(&[4, 4, 4, 8, 16, 64]);
    let address = draw.pick(&["uniform", "uniform", "uniform", "streaming", "hot"]);
    let address = match address {
        "hot" => "{ hot-cold = { hot_region = \"20%\", hot_traffic = \"80%\" } }".to_owned(),
        other => format!("\"{other}\""),
    };
    let cached = draw.chance(0.2);
    let depth = draw.scale(1, 64);
    let share = 0.03 + 0.27 * draw.0.unit();
    let pages = (f64::from(kib as u32) / power.page_kib as f64).max(1.0);
    let merges = f64::from(u8::from(kib < power.page_kib)) * power.read;
    let time = pages * (read_ratio * power.read + (1.0 - read_ratio) * (power.program + merges));
    let load = if closed {
        format!("queue_depth = {depth}")
    } else {
        // Collection takes a part of what writes leave over.
        let of_drive = if read_ratio < 1.0 { share / 2.5 } else { share };
        format!("iops = {:.1}", of_drive * power.dies / time * 1e6)
    };
    let text = format!(
        "[[flow]]\nname = \"t{index}\"\ncache = \"{}\"\non_end = \"stop\"\n[flow.synthetic]\n{load}\n\
         read_ratio = {read_ratio:.1}\nsize = \"{kib}KiB\"\nalign = \"{kib}KiB\"\naddress = {address}\n",
        if cached { "write" } else { "off" }
    );
    (Tenant { closed, read_ratio, cached }, text, time / pages)
}

/// The scenario of a seed.
pub(crate) fn drawn(seed: u64) -> Drawn {
    let mut draw = Draw(Rng::stream(seed, "blame against runs without", 0));
    let number = draw.pick(&[2, 2, 3, 4]);
    let (preset, mut sets, power) = if draw.chance(0.5) {
        let (sets, power) = geometry(&mut draw);
        ("tiny", sets, power)
    } else {
        let (preset, power) = &PRESETS[draw.0.below(4) as usize];
        let Power { dies, read, program, page_kib } = *power;
        (*preset, Vec::new(), Power { dies, read, program, page_kib })
    };
    // The usual ones twice as often.
    let of = draw.0.below(SCHEDULERS.len() as u64 + 2) as usize;
    let scheduler = SCHEDULERS[if of < 4 { of / 2 } else { of - 2 }];
    sets.push(format!("scheduler=\"{scheduler}\""));
    sets.push("flash.blocks_per_plane=64".to_owned());
    sets.push("flash.pages_per_block=64".to_owned());
    sets.push("ftl.unwritten_read=\"flash\"".to_owned());
    sets.push("ftl.over_provisioning=\"40%\"".to_owned());
    let (mut tenants, mut parts, mut slowest) = (Vec::new(), Vec::new(), 0.0_f64);
    for index in 0..number {
        let (tenant, text, time) = tenant(&mut draw, &power, index);
        slowest = slowest.max(time);
        tenants.push(tenant);
        parts.push(text);
    }
    let duration_us = (PAGES * slowest / power.dies) as u64;
    let parts = parts.iter().map(|part| format!("{part}duration = \"{duration_us}us\"\n"));
    let workload = format!("window = \"whole-run\"\n{}", parts.collect::<String>());
    Drawn { preset, scheduler, sets, tenants, workload, duration_us }
}

/// Two closed loops of reads on a tiny drive, for 200 ms.
pub(crate) fn loops(depths: [u32; 2]) -> Drawn {
    let duration_us = 200_000;
    let part = |name: &str, depth: u32| {
        format!(
            "[[flow]]\nname = \"{name}\"\non_end = \"stop\"\n[flow.synthetic]\nqueue_depth = {depth}\n\
             read_ratio = 1.0\nsize = \"4KiB\"\nduration = \"{duration_us}us\"\n"
        )
    };
    let [first, second] =
        [("a", depths[0]), ("b", depths[1])].map(|(name, depth)| part(name, depth));
    Drawn {
        preset: "tiny",
        scheduler: "out-of-order",
        sets: vec!["ftl.unwritten_read=\"flash\"".to_owned()],
        tenants: vec![Tenant { closed: true, read_ratio: 1.0, cached: false }; 2],
        workload: format!("window = \"whole-run\"\n{first}{second}"),
        duration_us,
    }
}
