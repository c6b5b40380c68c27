//! Operations and addresses of the requests of a job.

use super::reader::Reader;
use super::values::{bytes, directions};
use crate::{
    AddressConfig, FioConfig, FioDistribution, FioExtent, FioRw, FioSkew, HotColdConfig,
    MixedConfig, ZipfConfig,
};
use flashlane_reading::allowed;
use flashlane_units::{ByteSize, Ratio};

/// Most zones.
const ZONES_MAX: usize = 256;

const PATTERNS: [(&str, FioRw, bool); 14] = [
    ("read", FioRw::Read, false),
    ("write", FioRw::Write, false),
    ("trim", FioRw::Trim, false),
    ("randread", FioRw::Read, true),
    ("randwrite", FioRw::Write, true),
    ("randtrim", FioRw::Trim, true),
    ("rw", FioRw::ReadWrite, false),
    ("readwrite", FioRw::ReadWrite, false),
    ("randrw", FioRw::ReadWrite, true),
    ("randreadwrite", FioRw::ReadWrite, true),
    ("trimwrite", FioRw::TrimWrite, false),
    ("randtrimwrite", FioRw::TrimWrite, true),
    ("write,trim", FioRw::TrimWrite, false),
    ("trim,write", FioRw::TrimWrite, false),
];

/// Reads `rw` and the mix.
pub(super) fn pattern(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let rw = reader.text("rw").unwrap_or_else(|| "read".to_owned());
    let (name, modifier) = rw.split_once(':').unwrap_or((&rw, ""));
    let Some(&(_, rw_of, random)) = PATTERNS.iter().find(|one| one.0 == name) else {
        let names: Vec<&str> = PATTERNS.iter().map(|one| one.0).collect();
        return reader.refuse("rw", format!("found {rw:?}; {}", allowed(name, &names)));
    };
    (config.rw, config.random) = (rw_of, random);
    if !modifier.is_empty() {
        self::modifier(reader, config, &rw, modifier);
    }
    let read = reader.number("rwmixread", 0..=100);
    let write = reader.number("rwmixwrite", 0..=100);
    // The later key counts.
    let write_last = reader.line("rwmixwrite") > reader.line("rwmixread");
    config.read_percent = match (read, write) {
        (_, Some(write)) if read.is_none() || write_last => 100 - write as u32,
        (Some(read), _) => read as u32,
        _ => 50,
    };
    let sequencer = reader.text("rw_sequencer").unwrap_or_else(|| "sequential".to_owned());
    match sequencer.as_str() {
        "sequential" => {}
        "identical" => config.identical = true,
        _ => {
            let message = format!("found {sequencer:?}, allowed: sequential, identical");
            reader.refuse("rw_sequencer", message);
        }
    }
}

/// Reads the part behind the colon: requests in a row, or bytes that are left out.
fn modifier(reader: &mut Reader<'_>, config: &mut FioConfig, rw: &str, modifier: &str) {
    if config.random {
        match modifier.parse::<u64>() {
            Ok(count) if count > 0 => config.in_a_row = count,
            _ => reader.refuse(
                "rw",
                format!("found {rw:?}, allowed: a number behind the colon, such as randread:8"),
            ),
        }
        return;
    }
    let (sign, size) = modifier.strip_prefix('-').map_or((1, modifier), |size| (-1, size));
    match bytes(size).and_then(|bytes| i64::try_from(bytes).ok()) {
        Some(bytes) => config.hole = sign * bytes,
        None => reader.refuse(
            "rw",
            format!("found {rw:?}, allowed: bytes behind the colon, such as read:8k or read:-8k"),
        ),
    }
}

/// Reads the keys of addresses.
pub(super) fn addresses(reader: &mut Reader<'_>, config: &mut FioConfig) {
    if reader.flag("norandommap") {
        config.map = false;
    }
    config.repeat = reader.text("randrepeat").is_none_or(|_| reader.flag("randrepeat"));
    config.seed = reader.number("randseed", 0..=u64::MAX);
    if !config.random {
        for key in ["random_distribution", "percentage_random"] {
            if reader.has(key) {
                let line = reader.line(key);
                reader.notes.warn(line, key, "has no effect on a sequential job");
            }
        }
        return;
    }
    let share = reader.value("percentage_random", "0 to 100, or one for each direction", |text| {
        let each = directions(text)?.map(|one| match one {
            Some(one) => one.trim_end_matches('%').parse::<u32>().ok().filter(|it| *it <= 100),
            None => Some(100),
        });
        Some([each[0]?, each[1]?, each[2]?])
    });
    let targets = [&mut config.read, &mut config.write, &mut config.trim];
    for (target, share) in targets.into_iter().zip(share.into_iter().flatten()) {
        target.random_percent = share;
    }
    distribution(reader, config);
    generator(reader, config);
}

/// `random_distribution`.
fn distribution(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let allowed = "random, zipf:THETA (0 to 5, not 1), pareto:POWER (above 0, below 1), normal:DEVIATION (0 to 100), each \
                   with :CENTER (0 to 1); zoned:A/B:C/D (A % of the requests to the first B % of the region), \
                   zoned_abs:A/SIZE:B/SIZE; of zones both columns sum to 100 % at most";
    let found = reader.value("random_distribution", allowed, |text| {
        let Some((kind, zones)) =
            text.split_once([':', '=']).filter(|it| it.0.starts_with("zoned"))
        else {
            return skewed(text).map(|one| [one.clone(), one.clone(), one]);
        };
        let absolute = match kind {
            "zoned" => false,
            "zoned_abs" => true,
            _ => return None,
        };
        let each = directions(zones)?
            .map(|one| one.map_or(Some(FioDistribution::Random), |one| self::zones(one, absolute)));
        let [read, write, trim] = each;
        Some([read?, write?, trim?])
    });
    let Some([read, write, trim]) = found else { return };
    if [&read, &write, &trim].into_iter().all(|one| *one == FioDistribution::Random) {
        return;
    }
    // fio keeps no map if blocks are not equally likely.
    config.map = false;
    if [&read, &write, &trim].into_iter().any(|one| {
        matches!(
            one,
            FioDistribution::Zipf(_) | FioDistribution::Pareto(_) | FioDistribution::Normal(_)
        )
    }) {
        let line = reader.line("random_distribution");
        let message = "the blocks have fio's popularity, but come in another order: fio seeds these draws by the \
                       name of the file";
        reader.notes.warn(line, "random_distribution", message);
    }
    (config.read.distribution, config.write.distribution, config.trim.distribution) =
        (read, write, trim);
}

/// `random`, or a popularity with its parameter and its center.
fn skewed(text: &str) -> Option<FioDistribution> {
    let mut parts = text.split(':');
    let kind = parts.next()?;
    if kind == "random" {
        return parts.next().is_none().then_some(FioDistribution::Random);
    }
    let mut number = || parts.next().map_or(Some(None), |part| part.parse::<f64>().ok().map(Some));
    let (parameter, center) = (number()??, number()?);
    if parts.next().is_some() || center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return None;
    }
    let skew = FioSkew { parameter, center };
    match kind {
        "zipf" if (0.0..=5.0).contains(&parameter) && parameter != 1.0 => {
            Some(FioDistribution::Zipf(skew))
        }
        "pareto" if parameter > 0.0 && parameter < 1.0 => Some(FioDistribution::Pareto(skew)),
        "normal" | "gauss" if parameter > 0.0 && parameter <= 100.0 => {
            Some(FioDistribution::Normal(skew))
        }
        _ => None,
    }
}

/// Shares of the requests, and the end of each zone as a share of the space. Blank shares divide
/// the rest equally.
fn zones(text: &str, absolute: bool) -> Option<FioDistribution> {
    let mut zones = Vec::new();
    let mut end = 0_u64;
    let parts: Vec<(&str, &str)> =
        text.split(':').map(|zone| zone.split_once('/')).collect::<Option<_>>()?;
    let number = |text: &str| text.trim().trim_end_matches('%').parse::<u32>();
    let rest = |values: Vec<&str>| -> Option<u32> {
        let given = values.iter().filter(|text| !text.trim().is_empty());
        let sum = given.map(|text| number(text)).sum::<Result<u32, _>>().ok()?;
        let open = values.iter().filter(|text| text.trim().is_empty()).count() as u32;
        100_u32.checked_sub(sum).map(|rest| rest / open.max(1))
    };
    let share_left = rest(parts.iter().map(|zone| zone.0).collect())?;
    let size_left = if absolute { 0 } else { rest(parts.iter().map(|zone| zone.1).collect())? };
    for (share, size) in parts {
        let share = if share.trim().is_empty() { share_left } else { number(share).ok()? };
        let size = match (absolute, size.trim()) {
            (true, size) => bytes(size)?,
            (false, "") => u64::from(size_left),
            (false, size) => u64::from(number(size).ok()?),
        };
        end = end.checked_add(size).filter(|_| size > 0)?;
        let to = match absolute {
            true => FioExtent::Bytes(ByteSize(end)),
            false => FioExtent::Percent(u32::try_from(end).ok().filter(|end| *end <= 100)?),
        };
        zones.push((share, to));
    }
    (zones.len() <= ZONES_MAX).then_some(FioDistribution::Zoned(zones))
}

/// `random_generator`.
fn generator(reader: &mut Reader<'_>, config: &FioConfig) {
    let Some(name) = reader.text("random_generator") else { return };
    let line = reader.line("random_generator");
    match name.as_str() {
        "tausworthe" => {}
        "lfsr" | "tausworthe64" => {
            let once = if config.map { " (each once a pass)" } else { "" };
            let message =
                format!("the same blocks{once} come in the order of tausworthe, fio's default");
            reader.notes.warn(line, "random_generator", &message);
        }
        _ => {
            let message = format!("found {name:?}, allowed: tausworthe, tausworthe64, lfsr");
            reader.refuse("random_generator", message);
        }
    }
}

/// The addresses for reports.
pub(super) fn described(config: &FioConfig) -> AddressConfig {
    let one = match config.rw {
        FioRw::Read | FioRw::ReadWrite => &config.read,
        FioRw::Write | FioRw::TrimWrite => &config.write,
        FioRw::Trim => &config.trim,
    };
    if !config.random {
        return AddressConfig::Streaming;
    }
    let streaming = match (one.random_percent, config.in_a_row) {
        (100, 1) => 0.0,
        (100, count) => (count - 1) as f64 / count as f64,
        (random, _) => f64::from(100 - random) / 100.0,
    };
    match &one.distribution {
        FioDistribution::Zipf(skew) => {
            let extent = ByteSize(one.smallest.0.max(512));
            AddressConfig::Zipf(ZipfConfig { theta: skew.parameter, extent, stands_for: None })
        }
        FioDistribution::Zoned(zones) => match zones[..] {
            [(share, FioExtent::Percent(size)), ..] if (1..100).contains(&size) => {
                AddressConfig::HotCold(HotColdConfig {
                    hot_region: Ratio(f64::from(size) / 100.0),
                    hot_traffic: Ratio(f64::from(share) / 100.0),
                    scattered: false,
                })
            }
            _ => AddressConfig::Uniform,
        },
        _ if streaming > 0.0 => AddressConfig::Mixed(MixedConfig {
            streaming: Ratio(streaming),
            stream_space: Ratio(1.0),
            phase: None,
        }),
        _ => AddressConfig::Uniform,
    }
}
