//! Five columns of numbers without a header: the formats that they may be in.

use std::path::Path;

use crate::error::TraceError;
use crate::format::{ColumnMap, Format};
use crate::lines::{LineReader, holds_no_record, trim};
use crate::options::{OnDecreasing, TraceOptions};
use crate::reader::TraceReader;
use crate::record::Op;
use crate::statistics::{Meter, TraceStatistics};
use crate::units::{SpaceUnit, TimeUnit};

/// Five columns of numbers without a header. The first column may have decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareColumns {
    /// True if commas separate the columns, and not blanks.
    pub has_commas: bool,
    /// True if the first column has a decimal point.
    pub has_decimals: bool,
}

/// A way to read five columns of numbers, with the statistics that the file then has.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The format of the file.
    pub format: Format,
    /// Unit of the times. `None` stands for the unit of the format.
    pub time_unit: Option<TimeUnit>,
    /// Unit of offsets and lengths. `None` stands for the unit of the format.
    pub size_unit: Option<SpaceUnit>,
    /// Statistics of the first requests of the file.
    pub statistics: TraceStatistics,
    /// Highest end of these requests. Unit: bytes.
    pub end_bytes_max: u64,
}

/// Units of time that the candidates use.
const TIME_UNITS: [TimeUnit; 4] =
    [TimeUnit::Nanoseconds, TimeUnit::Microseconds, TimeUnit::Milliseconds, TimeUnit::Seconds];
/// Units of space that the candidates use.
const SIZE_UNITS: [SpaceUnit; 2] = [SpaceUnit::Sectors, SpaceUnit::Bytes];

impl BareColumns {
    /// Looks at the first line with content of a file. Returns `None` if the line has other
    /// content.
    ///
    /// # Errors
    /// Those of opening and reading the file.
    pub fn of(path: impl AsRef<Path>) -> Result<Option<BareColumns>, TraceError> {
        let mut lines = LineReader::open(path.as_ref())?;
        while let Some(line) = lines.next()? {
            if !holds_no_record(line.bytes) {
                return Ok(BareColumns::of_line(trim(line.bytes)));
            }
        }
        Ok(None)
    }

    fn of_line(line: &[u8]) -> Option<BareColumns> {
        let has_commas = line.contains(&b',');
        let is_separator = |byte: &u8| match has_commas {
            true => *byte == b',',
            false => matches!(byte, b' ' | b'\t'),
        };
        let fields = line.split(is_separator).map(trim).filter(|f| has_commas || !f.is_empty());
        let fields: Vec<&[u8]> = fields.take(6).collect();
        let [time, rest @ ..] = &fields[..] else { return None };
        let is_number = |field: &&[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
        let mut parts = time.splitn(2, |byte| *byte == b'.');
        let is_time = parts.next().as_ref().is_some_and(is_number)
            && parts.next().as_ref().is_none_or(is_number);
        let has_decimals = time.contains(&b'.');
        (fields.len() == 5 && is_time && rest.iter().all(is_number))
            .then_some(BareColumns { has_commas, has_decimals })
    }

    /// The format that reads such columns once their units are known. For commas it is a column map
    /// with the columns in MQSim's order.
    #[must_use]
    pub fn format(self, time_unit: TimeUnit, size_unit: SpaceUnit) -> Format {
        if self.has_commas {
            let map = format!(
                "t=1[{time_unit}],dev=2,off=3[{size_unit}],len=4[{size_unit}],op=5;sep=comma;read=1;write=0"
            );
            return Format::Columns(map.parse::<ColumnMap>().expect("a good map"));
        }
        if self.has_decimals { Format::DiskSim } else { Format::Mqsim }
    }

    /// The unit of time that is assumed if none is given.
    #[must_use]
    pub fn usual_time_unit(self) -> TimeUnit {
        if self.has_decimals { TimeUnit::Milliseconds } else { TimeUnit::Nanoseconds }
    }

    /// Every way to read the file, with the statistics of the first `limit` requests. A way that
    /// reads no record is left out.
    ///
    /// # Errors
    /// The errors of opening the file.
    pub fn candidates(
        self,
        path: impl AsRef<Path>,
        limit: u64,
    ) -> Result<Vec<Candidate>, TraceError> {
        let path = path.as_ref();
        let mut candidates = Vec::new();
        let mut add = |format: Format, time_unit, size_unit| -> Result<(), TraceError> {
            let options = TraceOptions {
                time_unit,
                size_unit,
                limit: Some(limit),
                on_decreasing: OnDecreasing::Clamp,
                max_rejected_fraction: 0.5,
                ..TraceOptions::new(format.clone())
            };
            let mut reader = TraceReader::open(path, &options)?;
            let (mut meter, mut end_bytes_max) = (Meter::default(), 0);
            loop {
                match reader.next() {
                    Ok(Some(record)) => {
                        meter.add(&record);
                        if matches!(record.op, Op::Read | Op::Write) {
                            end_bytes_max = record.end_bytes().max(end_bytes_max);
                        }
                    }
                    Ok(None) => break,
                    // This format cannot read the file.
                    Err(_) => return Ok(()),
                }
            }
            let statistics = meter.finish();
            candidates.push(Candidate { format, time_unit, size_unit, statistics, end_bytes_max });
            Ok(())
        };
        for size_unit in SIZE_UNITS {
            for time_unit in TIME_UNITS {
                let format = self.format(time_unit, size_unit);
                match format {
                    Format::Columns(_) => add(format, None, None)?,
                    _ => add(format, Some(time_unit), Some(size_unit))?,
                }
            }
        }
        if self.has_commas {
            add(Format::Tencent, None, None)?;
        }
        Ok(candidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempTrace;

    #[test]
    fn only_five_numbers_are_bare_columns() {
        let of = |line: &str| BareColumns::of_line(line.as_bytes());
        let bare = |has_commas, has_decimals| Some(BareColumns { has_commas, has_decimals });
        assert_eq!(of("0 5 162947904 16 1"), bare(false, false));
        assert_eq!(of("0.221\t5  162947904 16 1"), bare(false, true));
        assert_eq!(of("1538323200,12910952,128,0,1063"), bare(true, false));
        for line in
            ["0 5 16 1", "0 5 16 1 1 1", "0 5 16 1 R", "0. 5 16 1 1", "a 5 16 1 1", ",,,,", ""]
        {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn every_unit_gives_its_own_rate_and_footprint() {
        let text: String =
            (0..100).map(|n| format!("{} 0 {} 8 {}\n", n * 50, n * 8, n % 2)).collect();
        let file = TempTrace::new(&text);
        let bare = BareColumns::of(file.path()).expect("readable").expect("bare columns");
        let candidates = bare.candidates(file.path(), 1000).expect("readable");
        assert_eq!(candidates.len(), 8);
        let found: Vec<_> = candidates
            .iter()
            .map(|c| (c.time_unit.map(TimeUnit::name), c.statistics.span_s, c.end_bytes_max))
            .collect();
        assert_eq!(found[1], (Some("us"), 0.00495, 800 * 512));
        assert_eq!(found[6], (Some("ms"), 4.95, 800));
        assert_eq!(candidates[0].statistics.pages.count, 100);
        assert_eq!(candidates[4].statistics.pages.count, 1);
    }

    #[test]
    fn columns_between_commas_may_be_of_tencent() {
        let file = TempTrace::new("1538323200,12910952,128,0,1063\n1538323201,1291,128,1,1063\n");
        let bare = BareColumns::of(file.path()).expect("readable").expect("bare columns");
        let candidates = bare.candidates(file.path(), 1000).expect("readable");
        // One format is left, because the last column is not an operation.
        assert_eq!(candidates.len(), 1);
        assert_eq!(candidates[0].format, Format::Tencent);
        assert_eq!(candidates[0].statistics.read_ratio, 0.5);
    }
}
