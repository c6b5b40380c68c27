//! States of drives that are kept on disk, because making a state takes most of the time of a short
//! run.
//!
//! A state is kept under a key: a digest of the program and of everything that [`precondition`]
//! reads. The file begins with a page with the lengths and checksums of its parts. Each part is a
//! table of 32-bit numbers in the byte order of the machine. A run maps the tables, and shares them
//! with the file except for the parts that it changes. A file that does not match its first page is
//! removed, and the state is made again.
//!
//! States are kept for drives with page-level mapping and without MQSim's arithmetic, if making
//! them takes a noticeable time.
//!
//! [`precondition`]: super::precondition

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use flashlane_engine::{Frozen, KeptFile, Table};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use twox_hash::XxHash3_64;

use crate::digest::{InputFiles, fingerprints, hex};
use flashlane_config::units::{ByteSize, Ratio, Span};
use flashlane_config::{DeviceConfig, SlcCacheConfig, WorkloadConfig};
use flashlane_device::compat::CompatConfig;
use flashlane_device::ftl::{FrozenState, FtlState};
use flashlane_device::layout::Layout;
use flashlane_workload::footprint::Footprint;

/// Name of the format. Another format has another name.
const SCHEMA: &str = "flashlane.kept-state/2";

/// Smallest tables that are kept. Unit: bytes. Smaller ones are made within some tens of
/// milliseconds.
const SMALLEST: u64 = 16 << 20;

/// Bytes of the first page: a checksum of the rest of it, then JSON, then spaces.
const FIRST_PAGE: usize = 4096;

/// Parts begin at multiples of this. This is a multiple of the page size of every machine. Unit:
/// bytes.
const ALIGNMENT: u64 = 1 << 16;

/// Bytes that are written between two reports of progress.
const PIECE: usize = 8 << 20;

/// Place where states are kept. Several threads and programs may use it at the same time.
pub trait StateStore: fmt::Debug + Send + Sync {
    /// The file under a key, open to be read.
    fn find(&self, key: &str) -> Option<File>;

    /// Keeps `bytes` bytes, which `write` writes, under a key: completely or not at all. If that
    /// fails, the next run makes the state again.
    fn keep(&self, key: &str, bytes: u64, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>);

    /// Removes a file that is damaged.
    fn discard(&self, key: &str);

    /// Waits until no other process makes the state of a key. Other processes wait until the claim
    /// is dropped. `None` if there can be no claim: two processes may then make the same state.
    fn claim(&self, _key: &str) -> Option<Box<dyn std::any::Any + Send>> {
        None
    }
}

/// Keeps states of drives between runs. Never changes a result.
#[derive(Debug)]
pub struct KeptStates {
    store: Arc<dyn StateStore>,
    program: PathBuf,
    files: InputFiles,
}

/// Contents of the first page of a file.
#[derive(Deserialize, Serialize)]
struct FirstPage {
    schema: String,
    key: String,
    parts: Vec<Part>,
}

/// A part of a file.
#[derive(Deserialize, Serialize)]
struct Part {
    /// 32-bit numbers.
    numbers: u64,
    /// XXH3 checksum of the bytes of these numbers.
    checksum: u64,
}

/// Everything that decides a state.
#[derive(Serialize)]
struct Identity<'a> {
    schema: &'a str,
    version: &'a str,
    program: String,
    seed: u64,
    device: &'a DeviceConfig,
    policies: Vec<String>,
    layout: String,
    occupancies: Vec<Option<f64>>,
    footprints: Vec<String>,
}

impl KeptStates {
    /// `program`: the file with the code of the simulator (the running executable or the loaded
    /// library), so that another build never finds the states of this one.
    #[must_use]
    pub fn new(store: Arc<dyn StateStore>, program: PathBuf) -> Self {
        Self { store, program, files: InputFiles::new() }
    }

    /// The key of a state; `None` if the state is not kept.
    pub(crate) fn key(
        &self,
        device: &DeviceConfig,
        workload: &WorkloadConfig,
        layout: &Layout,
        footprints: &[Footprint],
        seed: u64,
    ) -> Option<String> {
        let entries = layout.logical_pages + layout.geometry.pages();
        if device.compat != CompatConfig::default() || entries * 4 < SMALLEST {
            return None;
        }
        let identity = Identity {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            program: self.files.digest(&self.program).ok()?,
            seed,
            policies: fingerprints(device),
            device: &decisive(device),
            layout: format!("{layout:?}"),
            occupancies: workload.flows.iter().map(|flow| flow.occupancy.map(|of| of.0)).collect(),
            footprints: footprints.iter().map(digest).collect(),
        };
        Some(hex(&Sha256::digest(serde_json::to_vec(&identity).ok()?)))
    }

    /// The state under a key, if it exists and is complete. `empty`: a drive with the same
    /// configuration.
    pub(crate) fn find(&self, key: &str, empty: FtlState) -> Option<FrozenState> {
        let found = read(self.store.find(key)?, key, empty);
        if found.is_none() {
            self.store.discard(key);
        }
        found
    }

    /// Waits until nobody else makes the state of a key, on this machine or on another machine with
    /// the same folder. Others wait until the claim is dropped.
    pub(crate) fn claim(&self, key: &str) -> Option<Box<dyn std::any::Any + Send>> {
        self.store.claim(key)
    }

    /// Keeps a state under a key. Calls `progress` with the share that is written.
    pub(crate) fn keep(&self, key: &str, state: &FtlState, progress: &dyn Fn(f64)) {
        let Some(numbers) = state.numbers() else { return };
        let numbers: Vec<u8> = numbers.into_iter().flat_map(u32::to_ne_bytes).collect();
        let mut parts = vec![&numbers[..]];
        parts.extend(state.pages.tables().into_iter().map(Table::as_bytes));
        let (starts, end) = places(parts.iter().map(|part| part.len() as u64));
        let Some(page) = first_page(key, &parts) else { return };
        self.store.keep(key, end, &mut |to| {
            to.write_all(&page)?;
            let mut at = FIRST_PAGE as u64;
            for (part, start) in parts.iter().zip(&starts) {
                to.write_all(&vec![0; (start - at) as usize])?;
                at = *start;
                for piece in part.chunks(PIECE) {
                    progress(at as f64 / end as f64);
                    to.write_all(piece)?;
                    at += piece.len() as u64;
                }
            }
            Ok(())
        });
    }
}

/// Start of each part, from the lengths of the parts in bytes, and the end of the file.
fn places(lens: impl Iterator<Item = u64>) -> (Vec<u64>, u64) {
    let mut end = FIRST_PAGE as u64;
    let mut place = |len: u64| {
        let start = end.next_multiple_of(ALIGNMENT);
        end = start + len;
        start
    };
    let starts = lens.map(&mut place).collect();
    (starts, end)
}

fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

fn first_page(key: &str, parts: &[&[u8]]) -> Option<Vec<u8>> {
    let part = |part: &&[u8]| Part { numbers: part.len() as u64 / 4, checksum: checksum(part) };
    let parts = parts.iter().map(part).collect();
    let page = FirstPage { schema: SCHEMA.to_owned(), key: key.to_owned(), parts };
    let mut text = serde_json::to_vec(&page).ok()?;
    assert!(text.len() <= FIRST_PAGE - 8, "a first page has room for few parts");
    text.resize(FIRST_PAGE - 8, b' ');
    Some([&checksum(&text).to_le_bytes()[..], &text].concat())
}

/// Reads a file. `None` if it is damaged.
fn read(file: File, key: &str, empty: FtlState) -> Option<FrozenState> {
    let file = KeptFile::new(file).ok()?;
    let page = file.table(0, FIRST_PAGE / 4).ok()?.copy();
    let (sum, text) = page.as_bytes().split_first_chunk()?;
    if u64::from_le_bytes(*sum) != checksum(text) {
        return None;
    }
    let page: FirstPage = serde_json::from_slice(text).ok()?;
    if page.schema != SCHEMA || page.key != key {
        return None;
    }
    let (starts, end) = places(page.parts.iter().map(|part| part.numbers * 4));
    if end != file.len() {
        return None;
    }
    let tables = page.parts.iter().zip(starts).map(|(part, start)| {
        let table = file.table(start, part.numbers as usize).ok()?;
        (checksum(table.copy().as_bytes()) == part.checksum).then_some(table)
    });
    let mut tables = tables.collect::<Option<Vec<Frozen>>>()?.into_iter();
    let numbers = tables.next()?.copy();
    let (words, _) = numbers.as_bytes().as_chunks();
    empty.take(tables, words.iter().map(|&word| u32::from_ne_bytes(word)))
}

/// The device, with every key replaced that does not affect its state. Preconditioning gets this
/// device, so the replaced keys cannot matter.
pub(crate) fn decisive(device: &DeviceConfig) -> DeviceConfig {
    DeviceConfig {
        name: String::new(),
        source: String::new(),
        power_loss_protection: false,
        link: flashlane_config::LinkConfig::default(),
        interface: flashlane_config::InterfaceConfig::default(),
        cache: flashlane_config::CacheConfig::default(),
        ftl: device.ftl.clone(),
        scheduler: flashlane_device::config::default_scheduler(),
        isolation: device.isolation.clone(),
        flash: device.flash.clone(),
        slc_cache: device.slc_cache.as_ref().and_then(decisive_cache),
        placement: device.placement,
        errors: None,
        energy: flashlane_config::EnergyConfig::default(),
        endurance: flashlane_config::EnduranceConfig::default(),
        compat: device.compat.clone(),
    }
}

/// What an SLC cache means for the state at the start: the blocks of its static part.
fn decisive_cache(cache: &SlcCacheConfig) -> Option<SlcCacheConfig> {
    (cache.static_size.0 > 0).then_some(SlcCacheConfig {
        size: ByteSize(0),
        static_size: cache.static_size,
        dynamic_program_time: None,
        fold_time: Span(0),
        free_share: Ratio(1.0),
        read_time: Span(1),
        program_time: Span(1),
        fold_after: None,
    })
}

fn digest(footprint: &Footprint) -> String {
    match footprint {
        Footprint::Pages(set) => {
            let mut hash = Sha256::new();
            set.words().iter().for_each(|word| hash.update(word.to_le_bytes()));
            format!("pages {}", hex(&hash.finalize()))
        }
        simple => format!("{simple:?}"),
    }
}
