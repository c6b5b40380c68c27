//! Zones against a plain model of the rules, command by command.

use flashlane::Time;
use flashlane::config::DeviceConfig;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{
    Command, Completion, Drive, DriveOptions, Operation, Tenant, ZoneRefusal, ZoneState,
};
use flashlane_engine::Rng;
use flashlane_units::Ratio;

/// A drive of 4 KiB pages, a zone of 1 MiB for each row of blocks.
pub(crate) const PAGES: &str = r#"
base = "tiny"
[placement]
mode = "zones"
zones = { max_open = 3, max_active = 5 }
[ftl]
superblock = "drive"
mapping = { ideal = true }
wear_leveling = { static_threshold = 0 }
"#;

/// Three-bit cells, whose word lines are programmed at once, in sets of two dies.
pub(crate) const WORD_LINES: &str = r#"
base = "tiny"
power_loss_protection = true
[placement]
mode = "zones"
zones = { max_open = 3, max_active = 5, size = "4MiB" }
[cache]
capacity = "4MiB"
write_back_pages_per_plane = 8
[ftl]
superblock = "2 dies"
mapping = { ideal = true, unit = "4KiB" }
gc = { threshold = "4 blocks" }
wear_leveling = { static_threshold = 0 }
[flash]
technology = "tlc"
programming = "one-shot"
page_order = "turns"
page_size = "16KiB"
pages_per_block = 48
blocks_per_plane = 64
read_time = ["50us", "60us", "70us"]
program_time = ["700us"]
"#;

pub(crate) fn device(toml: &str) -> DeviceConfig {
    device_from_toml(toml, "device", &Overrides::default()).expect("a device").config
}

fn drive(toml: &str, check: bool) -> Drive {
    // Half of the zones of one tenant are full at the start, and all others empty.
    let full = Tenant { occupancy: Some(Ratio(0.5)), ..Tenant::named("b") };
    let tenants = [Tenant::named("a"), full];
    let options = DriveOptions { check, blame: false };
    Drive::with_options(&device(toml), &tenants, 1, &options).expect("a valid drive")
}

/// The rules of zones, written down once more and as plainly as possible: a list of zones for both
/// tenants together, and no record of anything but their states.
struct Model {
    capacity: u64,
    size: u64,
    max_open: usize,
    max_active: usize,
    /// By tenant: state, and sectors written.
    zones: [Vec<(ZoneState, u64)>; 2],
    /// Implicitly open zones, oldest first.
    opened: Vec<(usize, usize)>,
}

/// What a command does: the place of its data, or the name of the rule that it breaks.
type Outcome = Result<u64, &'static str>;

impl Model {
    fn of(drive: &Drive, config: &DeviceConfig) -> Self {
        let zones = [0, 1].map(|tenant| {
            drive.zones(tenant).iter().map(|zone| (zone.state, zone.pointer - zone.start)).collect()
        });
        let first = drive.zones(0)[0];
        let size = drive.sectors(0) / drive.zones(0).len() as u64;
        Self {
            capacity: first.capacity,
            size,
            max_open: config.placement.zones.max_open as usize,
            max_active: config.placement.zones.max_active as usize,
            zones,
            opened: Vec::new(),
        }
    }

    fn with(&self, is: fn(ZoneState) -> bool) -> usize {
        self.zones.iter().flatten().filter(|(state, _)| is(*state)).count()
    }

    fn set(&mut self, (tenant, zone): (usize, usize), state: ZoneState, written: u64) {
        self.opened.retain(|&one| one != (tenant, zone));
        if state == ZoneState::ImplicitlyOpen {
            self.opened.push((tenant, zone));
        }
        self.zones[tenant][zone] = (state, written);
    }

    /// Opens a zone if it is not open.
    fn open(&mut self, at: (usize, usize), to: ZoneState) -> Result<(), &'static str> {
        let (state, written) = self.zones[at.0][at.1];
        if state == ZoneState::Empty && self.with(ZoneState::is_active) == self.max_active {
            return Err("active");
        }
        if state.is_open() {
            if to == ZoneState::ExplicitlyOpen && state != to {
                self.set(at, to, written);
            }
            return Ok(());
        }
        if self.with(ZoneState::is_open) == self.max_open {
            let &oldest = self.opened.first().ok_or("open")?;
            let (_, written) = self.zones[oldest.0][oldest.1];
            self.set(oldest, ZoneState::Closed, written);
        }
        self.set(at, to, written);
        Ok(())
    }

    /// Writes to a zone from a place in it on.
    fn write(&mut self, at: (usize, usize), from: u64, sectors: u64) -> Outcome {
        let (state, written) = self.zones[at.0][at.1];
        if state == ZoneState::Full {
            return Err("full");
        }
        if from + sectors > self.capacity {
            return Err("boundary");
        }
        if from != written {
            return Err("pointer");
        }
        self.open(at, ZoneState::ImplicitlyOpen)?;
        let (state, end) = (self.zones[at.0][at.1].0, written + sectors);
        match end == self.capacity {
            true => self.set(at, ZoneState::Full, end),
            false => self.zones[at.0][at.1] = (state, end),
        }
        Ok(at.1 as u64 * self.size + from)
    }

    fn command(&mut self, tenant: usize, command: Command) -> Outcome {
        let zone = (command.sector / self.size) as usize;
        let (at, inside) = ((tenant, zone), command.sector % self.size);
        let (state, written) = self.zones[tenant][zone];
        let sectors = u64::from(command.sectors);
        let writes = matches!(command.operation, Operation::Write | Operation::ZoneAppend);
        if writes && !(command.sector.is_multiple_of(8) && sectors.is_multiple_of(8)) {
            return Err("block");
        }
        match command.operation {
            Operation::Flush => return Ok(0),
            Operation::Trim => return Err("trim"),
            Operation::Read if inside + sectors > self.capacity && self.size > self.capacity => {
                return Err("boundary");
            }
            Operation::Read => return Ok(command.sector),
            Operation::Write => return self.write(at, inside, sectors),
            _ if inside != 0 => return Err("start"),
            Operation::ZoneAppend => return self.write(at, written, sectors),
            Operation::ZoneReset => self.set(at, ZoneState::Empty, 0),
            Operation::ZoneFinish => self.set(at, ZoneState::Full, self.capacity),
            Operation::ZoneOpen if state != ZoneState::Full => {
                self.open(at, ZoneState::ExplicitlyOpen)?;
            }
            Operation::ZoneClose if state.is_active() => self.set(at, ZoneState::Closed, written),
            Operation::ZoneOpen | Operation::ZoneClose | Operation::ZoneCommit => {
                return Err("state");
            }
        }
        Ok(command.sector)
    }
}

fn name_of(refusal: ZoneRefusal) -> &'static str {
    match refusal {
        ZoneRefusal::Boundary { .. } => "boundary",
        ZoneRefusal::Full { .. } => "full",
        ZoneRefusal::ReadOnly { .. } => "read only",
        ZoneRefusal::Offline { .. } => "offline",
        ZoneRefusal::Commit { .. } => "commit",
        ZoneRefusal::Pointer { .. } => "pointer",
        ZoneRefusal::Start { .. } => "start",
        ZoneRefusal::TooManyActive { .. } => "active",
        ZoneRefusal::TooManyOpen { .. } => "open",
        ZoneRefusal::State { .. } => "state",
        ZoneRefusal::Block { .. } => "block",
        ZoneRefusal::Trim => "trim",
    }
}

/// A random command: mostly one that the rules allow, and sometimes one just beside them.
fn random_command(model: &Model, tenant: usize, rng: &mut Rng) -> Command {
    let zones = &model.zones[tenant];
    let zone = rng.below(zones.len().min(12) as u64);
    let (_, written) = zones[zone as usize];
    let start = zone * model.size;
    let left = model.capacity - written.min(model.capacity - 1);
    let sectors = match rng.below(20) {
        0 => left,
        1 => (left + 1).min(model.size - written.min(model.size - 1)),
        2 => 1 + rng.below(64),
        _ => 8 * (1 + rng.below(8)),
    };
    let fits = |sector: u64, sectors: u64| {
        let end = zones.len() as u64 * model.size;
        u32::try_from(sectors.min(end - sector).clamp(1, 1 << 15)).expect("short")
    };
    let at = |sector: u64, operation| Command::new(operation, sector, fits(sector, sectors));
    let manage = |operation, sector| Command::new(operation, sector, 0);
    match rng.below(40) {
        0 => Command::flush(),
        1 => at(start, Operation::Trim),
        2..=7 => at(start + rng.below(model.size), Operation::Read),
        8 => at(start + rng.below(model.size / 8) * 8, Operation::Write),
        9..=18 => at(start + written.min(model.size - 1), Operation::Write),
        19 => at(start + rng.below(2), Operation::ZoneAppend),
        20..=29 => at(start, Operation::ZoneAppend),
        30..=32 => manage(Operation::ZoneReset, start + rng.below(8) / 7),
        33 | 34 => manage(Operation::ZoneFinish, start + rng.below(8) / 7),
        35..=37 => manage(Operation::ZoneOpen, start),
        38 => manage(Operation::ZoneCommit, start),
        _ => manage(Operation::ZoneClose, start),
    }
}

/// Random commands to a drive and to the model of it. Each completion has to say what the model
/// says, and at the end of each batch the zones have to be the same.
fn conforms(toml: &str, seed: u64, commands: u64, check: bool) {
    let (config, mut drive) = (device(toml), drive(toml, check));
    let mut model = Model::of(&drive, &config);
    let mut rng = Rng::stream(seed, "test.zones", 0);
    let mut done: Vec<Completion> = Vec::new();
    let mut expected: Vec<(Operation, Outcome)> = Vec::new();
    let (mut seen, mut refused) = (0, 0_u64);
    while (expected.len() as u64) < commands {
        for _ in 0..16 {
            let tenant = rng.below(2) as usize;
            let command = random_command(&model, tenant, &mut rng);
            let now = drive.now();
            let cookie = expected.len() as u64;
            drive.submit(now, tenant, command, cookie).expect("a command in the space");
            expected.push((command.operation, model.command(tenant, command)));
        }
        while drive.outstanding() > 0 {
            drive.step(&mut done).expect("the drive goes on");
        }
        for completion in &done[seen..] {
            let (operation, outcome) = &expected[completion.cookie as usize];
            let found = completion.refusal.map_or(Ok(()), |refusal| Err(name_of(refusal)));
            assert_eq!(found, outcome.map(|_| ()), "{operation:?}");
            refused += u64::from(found.is_err());
            if let (Operation::Write | Operation::ZoneAppend, Ok(place)) = (operation, outcome) {
                assert_eq!(completion.record.offset_bytes, place * 512, "{operation:?}");
            }
        }
        seen = done.len();
        assert_eq!(seen, expected.len(), "every command is complete");
        for tenant in 0..2 {
            let found = drive.zones(tenant);
            let found = found.iter().map(|zone| (zone.state, zone.pointer - zone.start));
            assert!(found.eq(model.zones[tenant].iter().copied()), "zones of tenant {tenant}");
        }
    }
    let all = expected.len() as u64;
    assert!(refused > all / 50 && refused < all * 3 / 4, "{refused} of {all} were refused");
    let summary = drive.summary().expect("a summary");
    assert_eq!(summary.flash.gc_reads, 0, "a drive with zones copies nothing");
}

#[test]
fn zones_keep_the_rules_of_a_plain_model() {
    conforms(PAGES, 1, 20_000, true);
    conforms(WORD_LINES, 2, 20_000, true);
}

/// Also long: one million commands.
#[test]
fn a_million_commands_keep_the_rules() {
    conforms(PAGES, 3, 500_000, false);
    conforms(WORD_LINES, 4, 500_000, false);
}

#[test]
fn appends_of_many_clients_lose_nothing() {
    for toml in [PAGES, WORD_LINES] {
        let mut drive = drive(toml, true);
        let capacity = drive.zones(0)[0].capacity;
        let size = drive.sectors(0) / drive.zones(0).len() as u64;
        // 64 clients, each with one append of 4 KiB under way, over three zones.
        let per_zone = capacity / 8;
        let appends = 3 * per_zone;
        let mut done = Vec::new();
        let append = |nth: u64| Command::new(Operation::ZoneAppend, nth % 3 * size, 8);
        for client in 0..64 {
            drive.submit(Time(client), 0, append(client), client).expect("an append");
        }
        let (mut submitted, mut seen) = (64, 0);
        while drive.outstanding() > 0 {
            drive.step(&mut done).expect("the drive goes on");
            for _ in seen..done.len() {
                if submitted < appends {
                    let now = drive.now();
                    drive.submit(now, 0, append(submitted), submitted).expect("an append");
                    submitted += 1;
                }
            }
            seen = done.len();
        }
        assert_eq!(done.len() as u64, appends);
        let mut places: Vec<u64> = Vec::new();
        for completion in &done {
            assert_eq!(completion.refusal, None, "every append has room");
            let zone = completion.cookie % 3 * size;
            let place = completion.record.offset_bytes / 512;
            assert!((zone..zone + capacity).contains(&place), "an append stays in its zone");
            places.push(place);
        }
        places.sort_unstable();
        let zones = (0..3).flat_map(|zone| (0..per_zone).map(move |nth| zone * size + nth * 8));
        assert!(places.into_iter().eq(zones), "the places are all sectors of the zones, each once");
        assert!(drive.zones(0)[..3].iter().all(|zone| zone.state == ZoneState::Full));
        let summary = drive.summary().expect("a summary");
        assert!(summary.flash.write_amplification < 1.001, "{}", summary.flash.write_amplification);
    }
}

#[test]
fn a_random_write_area_is_written_when_it_is_committed() {
    let toml = PAGES.replace(
        "max_active = 5",
        "max_active = 5, random_write_area = \"64KiB\", random_write_granularity = \"16KiB\"",
    );
    let mut drive = drive(&toml, true);
    let capacity = drive.zones(0)[0].capacity;
    let mut done = Vec::new();
    let mut submit = |drive: &mut Drive, command: Command| {
        let now = drive.now();
        drive.submit(now, 0, command, 0).expect("a command");
        while drive.outstanding() > 0 {
            drive.step(&mut done).expect("the drive goes on");
        }
        assert_eq!(done.last().expect("it is complete").refusal, None, "{command:?}");
    };
    submit(&mut drive, Command::new(Operation::ZoneOpen, 0, 0));
    // Each page of the area twice, in backward order, then the next area.
    for area in (0..capacity).step_by(128) {
        for _ in 0..2 {
            for page in (0..16).rev() {
                submit(&mut drive, Command::write(area + page * 8, 8));
            }
        }
        // A write behind the area moves the write pointer over all of it.
        if area + 256 <= capacity {
            submit(&mut drive, Command::write(area + 248, 8));
        }
    }
    submit(&mut drive, Command::new(Operation::ZoneFinish, 0, 0));
    submit(&mut drive, Command::flush());
    let summary = drive.summary().expect("a summary");
    let pages = capacity / 8;
    let programs = summary.flash.user_programs;
    assert!(programs >= pages && programs <= pages + pages / 16, "{programs} for {pages} pages");
}

/// Both tenants hold all that they may. Zones are reset and filled again at any time, while earlier
/// commands to them are under way.
#[test]
fn a_full_drive_goes_on_whatever_is_reset() {
    for toml in [PAGES, WORD_LINES] {
        let tenant = |name| Tenant { occupancy: Some(Ratio(1.0)), ..Tenant::named(name) };
        let tenants = [tenant("a"), tenant("b")];
        let options = DriveOptions { check: true, blame: true };
        let mut drive =
            Drive::with_options(&device(toml), &tenants, 1, &options).expect("a valid drive");
        assert!(drive.zones(1).iter().all(|zone| zone.state == ZoneState::Full));
        let count = drive.zones(0).len() as u64;
        let size = drive.sectors(0) / count;
        let mut rng = Rng::stream(9, "test.zones", 0);
        let (mut done, mut submitted) = (Vec::new(), 0_u64);
        while submitted < 30_000 || drive.outstanding() > 0 {
            while submitted < 30_000 && drive.outstanding() < 64 {
                let zone = rng.below(count.min(6)) * size;
                let command = match rng.below(12) {
                    0 => Command::new(Operation::ZoneReset, zone, 0),
                    1 => Command::new(Operation::ZoneFinish, zone, 0),
                    2 => Command::read(zone + rng.below(64) * 8, 8),
                    _ => Command::new(Operation::ZoneAppend, zone, 8 * (1 + rng.below(64)) as u32),
                };
                let (now, tenant) = (drive.now(), rng.below(2) as usize);
                drive.submit(now, tenant, command, submitted).expect("a command in the space");
                submitted += 1;
            }
            drive.step(&mut done).expect("the drive goes on");
        }
        let seen = done.iter().filter(|done| done.refusal.is_none()).count();
        assert_eq!(done.len(), 30_000);
        assert!(seen > 10_000, "{seen} commands had an effect");
        assert_eq!(drive.summary().expect("a summary").flash.gc_reads, 0);
    }
}
