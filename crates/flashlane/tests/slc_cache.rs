//! The SLC cache (`[slc_cache]`): the three phases of a long write, reads of both kinds of pages,
//! folding, and what is refused.

use crate::common::{Scenario, flash_only, mixed, problems, run_all, watched_in_four_ways};
use flashlane::Time;
use flashlane::config::load::{Overrides, device_from_toml};
use flashlane::drive::{Command, Completion, Drive, DriveOptions, Tenant};
use flashlane::metrics::SlcCacheSummary;

const US: u64 = 1_000_000;
/// Pages of a block, and of one in SLC mode.
const PAGES: u64 = 96;
const SLC_PAGES: u64 = 32;
/// A page over the channel with command and address. Unit: ps.
const SENT: u64 = 5_120_000 + 361_000;
const READ_BACK: u64 = 5_120_000 + 290_000 + 20_000;
const PROGRAM: u64 = 500 * US;
const SLC_PROGRAM: u64 = 150 * US;
const SLC_READ: u64 = 20 * US;
const ERASE: u64 = 3000 * US + 220_000;
/// One page that moves out of the cache.
const MOVED: u64 = SLC_READ + READ_BACK + PROGRAM + SENT;

/// One die of TLC, empty, with a cache of a quarter of its blocks.
fn device(blocks: u32, sets: &[&str]) -> flashlane::config::DeviceConfig {
    let text = flash_only("over_provisioning = \"10%\"", [1, 1, 1, 1], [blocks, 96], "4KiB");
    let size = format!("slc_cache.size={}KiB", blocks / 4 * 128);
    let sets: Vec<String> = [
        "flash.technology=tlc",
        "ftl.precondition.enabled=false",
        "cache.capacity=0B",
        &size,
        "slc_cache.read_time=20us",
        "slc_cache.program_time=150us",
    ]
    .iter()
    .chain(sets)
    .map(|&set| set.to_owned())
    .collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    device_from_toml(&text, "device", &overrides).unwrap_or_else(|e| panic!("{e}")).config
}

fn drive(blocks: u32, sets: &[&str]) -> Drive {
    let options = DriveOptions { check: true, ..DriveOptions::default() };
    Drive::with_options(&device(blocks, sets), &[Tenant::named("one")], 1, &options)
        .expect("a drive")
}

/// Writes pages in a row, eight at a time. Returns the time at which each one ended.
fn write_pages(drive: &mut Drive, at: Time, pages: std::ops::Range<u64>) -> Vec<u64> {
    let (mut done, mut now, mut next) = (Vec::new(), at, pages.start);
    let over = |done: &Vec<Completion>| pages.start + done.len() as u64;
    while over(&done) < pages.end {
        while next < pages.end && next < over(&done) + 8 {
            drive.submit(now, 0, Command::write(8 * next, 8), next).expect("accepted");
            next += 1;
        }
        now += Time(100 * US);
        drive.advance(now, &mut done).expect("the writes end");
    }
    done.iter().map(|completion| completion.at().0).collect()
}

fn cache_of(drive: &mut Drive) -> SlcCacheSummary {
    drive.summary().expect("a summary").slc_cache.expect("the drive has a cache")
}

/// The speed falls when the cache is full, and again when free blocks are few. The cache takes
/// 2,048 pages; then ordinary blocks are written until the threshold of 4 free blocks; then every
/// block needs a fold. Three folds free three blocks and fill one, so that two blocks of the host
/// cost three blocks' work and three erases.
#[test]
fn a_long_write_has_three_speeds() {
    let mut drive = drive(256, &[]);
    let ends = write_pages(&mut drive, Time::ZERO, 0..22_300);
    let per_page = |from: usize, to: usize| (ends[to] - ends[from]) as f64 / (to - from) as f64;
    let folding = (2 * PAGES * (PROGRAM + SENT) + PAGES * MOVED + 3 * ERASE) as f64;
    for (name, found, expected) in [
        ("cache", per_page(10, 2040), (SLC_PROGRAM + SENT) as f64),
        ("around it", per_page(2060, 20_000), (PROGRAM + SENT) as f64),
        ("folding", per_page(20_200, 20_200 + 1920), folding / (2 * PAGES) as f64),
    ] {
        let difference = found / expected - 1.0;
        println!("{name}: {found:.0} ps a page, {expected:.0} expected, {difference:+.4}");
        assert!(difference.abs() < 0.015, "{name}: {found} and not {expected}");
    }
    let summary = cache_of(&mut drive);
    assert_eq!((summary.written, summary.direct), (2048, 22_300 - 2048), "{summary:?}");
    assert!(summary.folds > 30 && summary.idle_folds == 0, "{summary:?}");
    assert_eq!(summary.folded, summary.folds * SLC_PAGES, "a row of pages is all valid");
}

/// The dynamic part has a program time of its own, and folding takes the time that it is given.
#[test]
fn the_dynamic_part_and_folding_have_times_of_their_own() {
    let sets = ["slc_cache.dynamic_program_time=250us", "slc_cache.fold_time=400us"];
    let mut drive = drive(256, &sets);
    let ends = write_pages(&mut drive, Time::ZERO, 0..22_300);
    let per_page = |from: usize, to: usize| (ends[to] - ends[from]) as f64 / (to - from) as f64;
    let moved = MOVED + 400 * US;
    let folding = (2 * PAGES * (PROGRAM + SENT) + PAGES * moved + 3 * ERASE) as f64;
    for (name, found, expected) in [
        ("cache", per_page(10, 2040), (250 * US + SENT) as f64),
        ("folding", per_page(20_200, 20_200 + 1920), folding / (2 * PAGES) as f64),
    ] {
        let difference = found / expected - 1.0;
        assert!(difference.abs() < 0.015, "{name}: {found} and not {expected}");
    }
}

/// A static part keeps the ordinary time of the cache.
#[test]
fn the_static_part_keeps_the_program_time() {
    let sets = ["slc_cache.static_size=1MiB", "slc_cache.dynamic_program_time=250us"];
    let mut drive = drive(256, &sets);
    let ends = write_pages(&mut drive, Time::ZERO, 0..600);
    let per_page = |from: usize, to: usize| (ends[to] - ends[from]) as f64 / (to - from) as f64;
    for (from, to, program) in [(10, 240, SLC_PROGRAM), (270, 590, 250 * US)] {
        let (found, expected) = (per_page(from, to), (program + SENT) as f64);
        assert!((found / expected - 1.0).abs() < 0.015, "{from}: {found} and not {expected}");
    }
}

/// Left idle, the drive empties the cache in the time of its moves and erases. Then writes are fast
/// again.
#[test]
fn idle_time_folds_the_cache_at_the_speed_of_its_moves() {
    let mut drive = drive(64, &["slc_cache.fold_after=5ms"]);
    let ends = write_pages(&mut drive, Time::ZERO, 0..560);
    let begun = ends[559] + 5000 * US;
    let work = 16 * (SLC_PAGES * MOVED + ERASE);
    let mut none = Vec::new();
    drive.advance(Time(begun + work * 99 / 100), &mut none).expect("no error");
    let early = cache_of(&mut drive);
    assert!(early.erases < 16, "folding takes its time: {early:?}");
    drive.advance(Time(begun + work * 101 / 100), &mut none).expect("no error");
    let late = cache_of(&mut drive);
    assert_eq!((late.erases, late.folds, late.idle_folds, late.blocks), (16, 16, 16, 0));
    assert_eq!(late.folded, 512);
    let again = write_pages(&mut drive, Time(begun + 2 * work), 1000..1400);
    let found = (again[399] - again[0]) as f64 / 399.0;
    let expected = (SLC_PROGRAM + SENT) as f64;
    assert!((found / expected - 1.0).abs() < 0.01, "{found} and not {expected}");
}

/// A page in the cache is read in the time of SLC; after folding, in that of its new page.
#[test]
fn reads_take_the_time_of_the_block_that_they_find() {
    let mut drive = drive(64, &["slc_cache.fold_after=5ms"]);
    write_pages(&mut drive, Time::ZERO, 0..64);
    let mut done = Vec::new();
    let mut array_time = |at: u64, page: u64| {
        drive.submit(Time(at * US), 0, Command::read(8 * page, 8), 9).expect("accepted");
        drive.advance(Time((at + 1000) * US), &mut done).expect("the read ends");
        done.pop().expect("one read").record.flash_array_ps
    };
    assert_eq!(array_time(11_000, 3), SLC_READ + 20_000, "in the cache");
    assert_eq!(array_time(500_000, 3), 50 * US + 20_000, "in an ordinary block");
    assert_eq!(cache_of(&mut drive).reads, 1);
}

/// The old part of a page that is written in part is read by the drive, and not by the host.
#[test]
fn reads_of_the_drive_itself_are_not_counted() {
    let mut drive = drive(64, &[]);
    write_pages(&mut drive, Time::ZERO, 0..8);
    let mut done = Vec::new();
    drive.submit(Time(10_000 * US), 0, Command::write(8 * 3, 4), 9).expect("accepted");
    drive.advance(Time(20_000 * US), &mut done).expect("the write ends");
    let summary = drive.summary().expect("a summary");
    assert_eq!(summary.flash.user_reads, 1, "the old part is read");
    assert_eq!(cache_of(&mut drive).reads, 0);
    drive.submit(Time(30_000 * US), 0, Command::read(8 * 3, 8), 10).expect("accepted");
    drive.advance(Time(40_000 * US), &mut done).expect("the read ends");
    assert_eq!(cache_of(&mut drive).reads, 1);
}

/// The cache takes its share of the free blocks above the threshold, and no more.
#[test]
fn the_share_of_free_blocks_bounds_the_cache() {
    for (share, blocks) in [("100%", 16), ("20%", 12), ("5%", 3)] {
        let set = format!("slc_cache.free_share={share}");
        let mut drive = drive(64, &[&set]);
        write_pages(&mut drive, Time::ZERO, 0..600);
        let found = cache_of(&mut drive);
        // 60 blocks are above the threshold; the cache and the pool share them.
        assert_eq!(u64::from(found.blocks), blocks, "{share}: {found:?}");
        assert_eq!(found.written, blocks * SLC_PAGES, "{share}: {found:?}");
    }
}

/// Blocks of the static part are used first, are not folded under pressure, and are filled again
/// after idle time.
#[test]
fn the_static_part_stays_apart() {
    // Four of 64 blocks. The others have to suffice for the logical pages.
    let sets = [
        "slc_cache.size=0B",
        "slc_cache.static_size=512KiB",
        "slc_cache.fold_after=5ms",
        "ftl.over_provisioning=30%",
    ];
    let mut drive = drive(64, &sets);
    let ends = write_pages(&mut drive, Time::ZERO, 0..4700);
    let found = cache_of(&mut drive);
    assert_eq!((found.written, found.folds, found.blocks), (128, 0, 4), "{found:?}");
    // Each page is written twice, so that ordinary blocks are collected.
    let ends = write_pages(&mut drive, Time(ends[4699] + 100 * US), 0..2000);
    let found = cache_of(&mut drive);
    assert_eq!((found.written, found.folds), (128, 0), "{found:?}");
    assert!(drive.summary().expect("a summary").flash.erases > 4);
    let mut none = Vec::new();
    let later = Time(ends[1999] + 3000 * 1000 * US);
    drive.advance(later, &mut none).expect("no error");
    let found = cache_of(&mut drive);
    assert_eq!((found.folds, found.idle_folds, found.erases, found.blocks), (4, 4, 4, 0));
    write_pages(&mut drive, later, 0..200);
    assert_eq!(cache_of(&mut drive).written, 256, "four blocks again");
}

/// With copyback a page that is folded never crosses the channel.
#[test]
fn copyback_folds_on_the_die() {
    let mut drive = drive(64, &["slc_cache.fold_after=5ms", "ftl.gc.copyback=true"]);
    let ends = write_pages(&mut drive, Time::ZERO, 0..512);
    let begun = ends[511] + 5000 * US;
    // Commands of a read and of a program, without data.
    let moved = SLC_READ + 290_000 + 20_000 + PROGRAM + 361_000;
    let work = 16 * (SLC_PAGES * moved + ERASE);
    let mut none = Vec::new();
    drive.advance(Time(begun + work * 99 / 100), &mut none).expect("no error");
    assert!(cache_of(&mut drive).erases < 16, "folding takes its time");
    drive.advance(Time(begun + work * 101 / 100), &mut none).expect("no error");
    let late = cache_of(&mut drive);
    assert_eq!((late.erases, late.idle_folds, late.blocks), (16, 16, 0), "{late:?}");
    assert_eq!(drive.summary().expect("a summary").flash.copybacks, 512);
}

#[test]
fn everything_beside_the_cache_still_holds() {
    let device = flash_only("over_provisioning = \"60%\"", [1, 1, 1, 2], [64, 24], "8KiB");
    let base = Scenario::new(&device, &mixed(6000))
        .set("cache.capacity", "128KiB")
        .set("ftl.precondition.enabled", false)
        .set("slc_cache.read_time", "20us")
        .set("slc_cache.program_time", "100us")
        .set("slc_cache.fold_after", "10us");
    let mut scenarios = Vec::new();
    for technology in ["mlc", "tlc", "qlc"] {
        let base = base.set("flash.technology", technology).set("slc_cache.size", "1MiB");
        scenarios.extend(watched_in_four_ways(&base).into_iter().map(|scenario| {
            if scenario.load().0.ftl.gc.read_wait_max().is_some() {
                scenario.set("ftl.gc.idle_after", "10us")
            } else {
                scenario
            }
        }));
        scenarios
            .push(base.set("ftl.mapping.ideal", false).set("ftl.mapping.cmt_capacity", "8KiB"));
        scenarios.push(base.set("ftl.read_scrubbing.limit", 500).set("flash.cache_program", true));
        scenarios.push(base.set("slc_cache.static_size", "1MiB").set("ftl.gc.copyback", true));
    }
    for summary in run_all(&scenarios) {
        let cache = summary.slc_cache.expect("the drive has a cache");
        assert!(cache.written > 0 && cache.folds > 0 && cache.reads > 0, "{cache:?}");
        assert!(summary.flash.erases >= cache.erases, "{cache:?}");
    }
}

#[test]
fn what_the_cache_does_not_work_with_is_refused_by_name() {
    let device = flash_only("", [1; 4], [64, 96], "16KiB");
    let found = |sets: &[&str]| {
        let fixed = [
            "flash.technology=tlc",
            "slc_cache.size=32MiB",
            "slc_cache.read_time=20us",
            "slc_cache.program_time=100us",
        ];
        problems(&device, &[&fixed, sets].concat()).join("\n")
    };
    assert_eq!(found(&[]), "");
    for (set, part) in [
        (
            "flash.technology=slc",
            "slc_cache: found the section, allowed: not with flash.technology",
        ),
        ("ftl.mapping.unit=4KiB", "an ftl.mapping.unit other than the page"),
        ("ftl.superblock=drive", "not with superblocks"),
        ("ftl.gc.victim=none", "victim none"),
        ("isolation=upi", "isolation policies that move sets of chips"),
        ("errors.model=tlc-3d", "[errors]"),
        ("slc_cache.size=100KiB", "found 100KiB, allowed: 0 or 524288 to 33554432 bytes"),
        ("slc_cache.size=64MiB", "one to 64 blocks in SLC mode of each plane"),
        ("slc_cache.size=0B", "found 0 and no static_size"),
        ("slc_cache.static_size=17MiB", "one to 32 blocks in SLC mode of each plane"),
        ("slc_cache.free_share=0%", "slc_cache.free_share"),
        ("slc_cache.program_time=0us", "slc_cache.program_time"),
        ("slc_cache.fold_after=1ns", "slc_cache.fold_after"),
        ("slc_cache.fold_time=2s", "slc_cache.fold_time"),
        ("slc_cache.dynamic_program_time=0us", "slc_cache.dynamic_program_time"),
    ] {
        let found = found(&[set]);
        assert!(found.contains(part), "{set}: {found}");
    }
    let none = ["slc_cache.size=0B", "slc_cache.static_size=1MiB"];
    assert_eq!(found(&none), "");
    let found = found(&[&none[..], &["slc_cache.dynamic_program_time=1ms"]].concat());
    assert!(found.contains("found 1ms without a dynamic part"), "{found}");
}
