//! Tencent CBS traces of 2018.
//!
//! Source: SNIA IOTTA: `timestamp,offset,size,type,volume`, no header; the timestamp in whole
//! seconds since 1970, offset and size in 512-byte sectors, type 0 = read and 1 = write (the other
//! way round than MQSim). All requests of a second carry the same time: within it they keep the
//! order of the file. Five bare columns do not tell what they are, so the format has to be named.

use super::FormatInfo;
use super::columns::{self, Columns};
use crate::options::Reading;
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "tencent",
    description: "timestamp,offset,size,type,volume: s, 512-byte sectors, 0 = read, 1 = write",
    example: "1538323200,12910952,128,0,1063",
    time_unit: TimeUnit::Seconds,
    ..FormatInfo::PLAIN
};

const MAP: &str = "t=1[s],op=4,off=2[sector],len=3[sector],dev=5;sep=comma;read=0;write=1";

pub(super) fn parser(reading: &Reading) -> Columns {
    columns::fixed(MAP, reading)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Op, Record};
    use crate::test_support::{message, read};
    use crate::{Format, TraceOptions};

    #[test]
    fn reads_are_0_and_writes_are_1() {
        let text = format!("{}\n1538323202,8,16,1,5\n", INFO.example);
        let found = read(&text, &TraceOptions::new(Format::Tencent)).expect("a trace");
        let second = Record {
            time_ps: 2_000_000_000_000,
            op: Op::Write,
            offset_bytes: 4096,
            length_bytes: 8192,
            device: 5,
            placement: None,
        };
        assert_eq!((found[0].op, found[0].device, found[1]), (Op::Read, 1063, second));
        assert!(message(read(text, &TraceOptions::default())).contains("does not tell its format"));
    }
}
