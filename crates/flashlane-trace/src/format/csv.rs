//! The layout in which `flashlane trace convert` writes CSV.
//!
//! `t_us,op(R/W),offset_bytes,size_bytes,device`, this header as a comment above the first line;
//! times in decimal microseconds. Operations are `R` and `W`, and `T` and `F` for trims and
//! flushes.

use super::FormatInfo;
use super::columns::{self, Columns};
use crate::options::Reading;
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

const MAP: &str = "t=1[us],op=2,off=3[B],len=4[B],dev=5;sep=comma;read=R;write=W;trim=T;flush=F";

pub(super) fn parser(reading: &Reading) -> Columns {
    columns::fixed(MAP, reading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Op;
    use crate::test_support::{TempTrace, read};
    use crate::{Format, TraceOptions, detect};

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
}
