//! The layout in which `flashlane trace convert` writes CSV.
//!
//! `t_us,op(R/W),offset_bytes,size_bytes,device`, this header as a comment above the first line;
//! times in decimal microseconds. Operations are `R` and `W`, and `T` and `F` for trims and
//! flushes.
//!
//! Below the comment `# t_us,op(R/W),offset_bytes,size_bytes,device,placement` lines have a sixth
//! column: the placement identifier of the request, or nothing.

use super::columns::{self, Columns};
use super::{FormatInfo, LineParser};
use crate::options::Reading;
use crate::record::RawRecord;
use crate::reject::Reason;
use crate::tags::Tags;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "csv",
    description: "t_us,op,offset,size,device: decimal us, R|W|T|F, bytes",
    example: "315.000,W,101156131840,8192,3",
    time_unit: TimeUnit::Microseconds,
    ..FormatInfo::PLAIN
};

/// The comment that such a file starts with.
pub(crate) const HEADER: &str = "# t_us,op(R/W),offset_bytes,size_bytes,device";

/// The comment above lines with placement identifiers.
pub(crate) const PLACED_HEADER: &str = "# t_us,op(R/W),offset_bytes,size_bytes,device,placement";

/// The column of placement identifiers, counted from 0.
const PLACEMENT: usize = 5;

const MAP: &str = "t=1[us],op=2,off=3[B],len=4[B],dev=5;sep=comma;read=R;write=W;trim=T;flush=F";

pub(super) struct Csv(Columns);

pub(super) fn parser(reading: &Reading) -> Csv {
    Csv(columns::fixed(MAP, reading))
}

impl LineParser for Csv {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        self.0.parse(line)
    }

    fn comment(&mut self, line: &[u8]) {
        if line == PLACED_HEADER.as_bytes() {
            self.0.place(Some(PLACEMENT));
        } else if line == HEADER.as_bytes() {
            self.0.place(None);
        }
    }

    fn tags(&self) -> Option<&Tags> {
        self.0.tags()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;
    use crate::test_support::{TempTrace, read};
    use crate::{Format, TraceOptions, TraceReader, detect};

    #[test]
    fn the_header_tells_the_format() {
        let text = format!("{HEADER}\n0.000,R,0,512,0\n1.500001,F,0,0,2\n2,T,8,8,2\n");
        let found = read(&text, &TraceOptions::default()).expect("a trace");
        assert_eq!((found[1].time_ps, found[1].op, found[2].op), (1_500_001, Op::Flush, Op::Trim));
        let bare = TempTrace::new("0.000,R,0,512,0\n");
        assert_eq!(detect(bare.path()).expect("readable"), None);
        assert_eq!(
            read("0,R,0,512,0\n", &TraceOptions::new(Format::Csv)).expect("a trace").len(),
            1
        );
    }

    #[test]
    fn a_header_tells_of_placement_identifiers() {
        let text = format!(
            "{PLACED_HEADER}\n0,W,0,512,0,3\n1,W,0,512,0,\n2,R,8,8,2,64\n{HEADER}\n3,W,0,8,0,7\n"
        );
        let ids = |options: &TraceOptions| {
            let found = read(&text, options).expect("a trace");
            found.iter().map(|record| record.placement).collect::<Vec<_>>()
        };
        let expected = [Some(3), None, Some(64), None];
        assert_eq!(ids(&TraceOptions::default()), expected, "other columns are ignored");
        assert_eq!(ids(&TraceOptions::new(Format::Csv)), expected);
        for (field, reason) in [
            (",65", Reason::BadPlacement),
            (",-1", Reason::BadPlacement),
            (",x", Reason::BadPlacement),
            (",300", Reason::BadPlacement),
            ("", Reason::FieldCount),
        ] {
            let text = format!("{PLACED_HEADER}\n0,W,0,512,0,3\n1,W,0,512,0{field}\n");
            let options = TraceOptions { max_rejected_fraction: 0.5, ..TraceOptions::default() };
            let file = TempTrace::new(&text);
            let mut reader = TraceReader::open(file.path(), &options).expect("a trace");
            assert_eq!(reader.by_ref().count(), 1);
            let rejected = &reader.rejected().first()[0];
            assert_eq!((rejected.line, rejected.reason), (3, reason), "{field}");
        }
    }

    #[test]
    fn maps_name_the_column_of_placement_identifiers() {
        let text = "# columns: t=1[s],placement=2,op=3,off=4,len=5;sep=tab\n0\t9\tW\t0\t512\n";
        let found = read(text, &TraceOptions::default()).expect("a trace");
        assert_eq!(found[0].placement, Some(9));
    }
}
