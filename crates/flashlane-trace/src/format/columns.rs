//! Parser for text that a [`ColumnMap`] describes.

use super::column_map::{Codes, ColumnMap, Operation, Separator};
use super::five_columns::{next_field, range};
use super::names::Names;
use super::{FormatInfo, LineParser};
use crate::cursor::Cursor;
use crate::date_time::date_time;
use crate::lines::trim;
use crate::number;
use crate::options::Reading;
use crate::record::{Op, RawRecord};
use crate::reject::Reason;
use crate::tags::{TagField, Tags};
use crate::units::TimeUnit;

pub(super) const INFO: FormatInfo = FormatInfo {
    name: "columns",
    description: "any text with a request per line: columns:<map>, for instance as in the example",
    example: "t=1[us],op=3,off=4[B],len=5[B],dev=2;sep=comma;read=R;write=W",
    time_unit: TimeUnit::Microseconds,
    fixed_clock: false,
    ..FormatInfo::PLAIN
};

/// Indices of the five values in [`Fields`], and of a column that is not used.
const TIME: usize = 0;
const OFFSET: usize = 1;
const LENGTH: usize = 2;
const DEVICE: usize = 3;
/// From here on the values are no numbers.
const OP: usize = 4;
const UNUSED: usize = 5;

type Fields<'a> = [&'a [u8]; 6];

/// How a file identifies its devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Devices {
    /// No device was seen yet.
    #[default]
    Unknown,
    /// By number.
    Numbers,
    /// By name. Names are numbered in the order of appearance.
    Named,
}

pub(super) struct Columns {
    unit: TimeUnit,
    /// The index of each column, up to the last one that is used.
    places: Vec<usize>,
    has_device: bool,
    has_dates: bool,
    /// The operation of every line, if all lines have one operation.
    fixed_op: Option<Op>,
    devices: Devices,
    /// Lines may have the usual shape: no dates, and no names of devices so far.
    is_plain: bool,
    names: Names,
    separator: Separator,
    offset_unit_bytes: u64,
    length_unit_bytes: u64,
    codes: Vec<(Vec<u8>, Op)>,
    /// The codes of one byte, by that byte.
    short_codes: [Option<Op>; 256],
    /// Column of the tag, counted from 0, where one is wanted.
    tag: Option<usize>,
    tags: Tags,
    /// Column of the placement identifier, counted from 0, where there is one.
    placement: Option<usize>,
}

pub(super) fn parser(map: &ColumnMap, unit: TimeUnit) -> Columns {
    let mut wanted = vec![(map.time.0, TIME), (map.offset.0, OFFSET), (map.length.0, LENGTH)];
    let fixed_op = match map.op {
        Operation::Column(column) => {
            wanted.push((column, OP));
            None
        }
        Operation::Fixed(op) => Some(op),
    };
    wanted.extend(map.device.map(|column| (column, DEVICE)));
    let last = wanted.iter().map(|(column, _)| usize::from(*column)).max().unwrap_or(0);
    let mut places = vec![UNUSED; last];
    for (column, place) in wanted {
        places[usize::from(column) - 1] = place;
    }
    let codes = codes(&map.codes);
    let mut short_codes = [None; 256];
    for (code, op) in &codes {
        if let [byte] = code[..] {
            short_codes[usize::from(byte)] = Some(*op);
        }
    }
    Columns {
        unit,
        places,
        has_device: map.device.is_some(),
        has_dates: map.has_dates,
        fixed_op,
        devices: Devices::default(),
        is_plain: !map.has_dates,
        names: Names::default(),
        separator: map.separator(),
        offset_unit_bytes: map.offset.1.bytes(),
        length_unit_bytes: map.length.1.bytes(),
        codes,
        short_codes,
        tag: None,
        tags: Tags::default(),
        placement: map.placement.map(|column| usize::from(column) - 1),
    }
}

/// The parser of a format that is defined by a map. The time unit may differ.
pub(super) fn fixed(map: &str, reading: &Reading) -> Columns {
    let map = map.parse().expect("the maps of formats are good");
    parser(&map, reading.time_unit).tagged(reading.tag)
}

fn codes(codes: &Codes) -> Vec<(Vec<u8>, Op)> {
    let lists = [
        (&codes.read, Op::Read),
        (&codes.write, Op::Write),
        (&codes.trim, Op::Trim),
        (&codes.flush, Op::Flush),
    ];
    let pairs = |(list, op): (&Vec<String>, Op)| {
        list.iter().map(|code| (code.clone().into_bytes(), op)).collect::<Vec<_>>()
    };
    lists.into_iter().flat_map(pairs).collect()
}

impl LineParser for Columns {
    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, Reason> {
        let record = match self.quick(line) {
            Some(record) => {
                if self.devices == Devices::Unknown {
                    self.devices = Devices::Numbers;
                }
                record
            }
            None => self.careful(line)?,
        };
        if self.tag.is_some() || self.placement.is_some() {
            return self.with_more(record, line).map(Some);
        }
        Ok(Some(record))
    }

    fn tags(&self) -> Option<&Tags> {
        Some(&self.tags)
    }
}

impl Columns {
    /// The parser, which also reads the column of a tag.
    pub(super) fn tagged(mut self, tag: Option<TagField>) -> Columns {
        self.tag = match tag {
            Some(TagField::Column(column)) => Some(column),
            _ => None,
        };
        self
    }

    /// From here on a column, counted from 0, has the placement identifiers.
    pub(super) fn place(&mut self, column: Option<usize>) {
        self.placement = column;
    }

    /// The record of a line, with the tag and the placement identifier that the line has.
    #[cold]
    fn with_more(&mut self, record: RawRecord, line: &[u8]) -> Result<RawRecord, Reason> {
        let text = |column| self.field(line, column).ok_or(Reason::FieldCount);
        let placement = match self.placement.map(text).transpose()? {
            Some(text) => number::placement(text)?,
            None => None,
        };
        let tag = match self.tag.map(text).transpose()? {
            Some(text) => self.tags.number(text),
            None => record.tag,
        };
        Ok(RawRecord { tag, placement, ..record })
    }

    /// The text of a column, counted from 0.
    fn field<'a>(&self, line: &'a [u8], column: usize) -> Option<&'a [u8]> {
        match self.separator {
            Separator::Space => {
                let mut rest = line;
                std::iter::from_fn(|| next_field(&mut rest)).nth(column)
            }
            other => {
                let mut rest = Some(line);
                std::iter::from_fn(|| next_cell(&mut rest, other.byte())).nth(column)
            }
        }
    }

    /// Reads a line of the usual shape: plain decimal numbers, one separator, no blanks around it.
    /// Invariant: [`Columns::careful`] reads every such line as the same record.
    #[inline]
    fn quick(&self, line: &[u8]) -> Option<RawRecord> {
        if !self.is_plain {
            return None;
        }
        let separator = self.separator.byte();
        let mut cursor = Cursor::new(line);
        let mut values = [0_u64; OP];
        let (mut fraction_ps, mut op) = (0, self.fixed_op);
        let mut is_first = true;
        for &place in &self.places {
            if !is_first {
                cursor.expect(separator)?;
            }
            is_first = false;
            let Some(value) = values.get_mut(place) else {
                if place == OP {
                    op = self.quick_operation(&mut cursor, separator);
                } else {
                    self.quick_text(&mut cursor, separator)?;
                }
                continue;
            };
            *value = cursor.number()?;
            if place == TIME && cursor.take(b'.') {
                fraction_ps = cursor.fraction(self.unit.fraction_digits())?;
            }
        }
        if !cursor.rest().is_empty() {
            cursor.expect(separator)?;
        }
        let op = op?;
        let time_ps = u128::from(values[TIME]) * u128::from(self.unit.picoseconds());
        let (offset_bytes, length_bytes) = self.range(op, values[OFFSET], values[LENGTH]).ok()?;
        Some(RawRecord {
            time_ps: time_ps + u128::from(fraction_ps),
            op,
            offset_bytes,
            length_bytes,
            device: u32::try_from(values[DEVICE]).ok()?,
            tag: 0,
            placement: None,
        })
    }

    /// Steps over an operation of the usual shape. Most have one letter.
    #[inline]
    fn quick_operation(&self, cursor: &mut Cursor<'_>, separator: u8) -> Option<Op> {
        if let [code, end, ..] = cursor.rest()
            && *end == separator
            && let Some(op) = self.short_codes[usize::from(*code)]
        {
            cursor.take(*code);
            return Some(op);
        }
        let field = self.quick_text(cursor, separator)?;
        self.operation(field)
    }

    /// Steps over a field of any text without quotes.
    #[inline]
    fn quick_text<'a>(&self, cursor: &mut Cursor<'a>, separator: u8) -> Option<&'a [u8]> {
        let field = cursor.until(separator);
        let is_quoted = field.first() == Some(&b'"');
        let is_blank = || field.is_empty() || field.contains(&b'\t');
        let is_unusual = is_quoted || self.separator == Separator::Space && is_blank();
        (!is_unusual).then_some(field)
    }

    /// Reads any line, or says why it is none.
    #[cold]
    fn careful(&mut self, line: &[u8]) -> Result<RawRecord, Reason> {
        let fields = self.fields(line).ok_or(Reason::FieldCount)?;
        let time_ps = if self.has_dates {
            date_time(fields[TIME])?
        } else {
            number::fractional_time(fields[TIME], self.unit)?
        };
        let op = match self.fixed_op {
            Some(op) => op,
            None => self.operation(fields[OP]).ok_or(Reason::UnknownOp)?,
        };
        let offset =
            number::decimal_or_hex(fields[OFFSET]).map_err(|f| f.reason(Reason::BadOffset))?;
        let length =
            number::decimal_or_hex(fields[LENGTH]).map_err(|f| f.reason(Reason::BadLength))?;
        let (offset_bytes, length_bytes) = self.range(op, offset, length)?;
        let device = if self.has_device { self.device(fields[DEVICE])? } else { 0 };
        Ok(RawRecord::of(time_ps, op, (offset_bytes, length_bytes), device))
    }

    /// The number of a device. The first device decides whether devices are numbers or names.
    fn device(&mut self, field: &[u8]) -> Result<u32, Reason> {
        if self.devices != Devices::Named {
            match number::device(field) {
                Err(Reason::BadDevice) if self.devices == Devices::Unknown && !field.is_empty() => {
                    self.devices = Devices::Named;
                    self.is_plain = false;
                }
                found => {
                    if found.is_ok() {
                        self.devices = Devices::Numbers;
                    }
                    return found;
                }
            }
        }
        self.names.number(field)
    }

    /// Offset and length in bytes, checked.
    #[inline]
    fn range(&self, op: Op, offset: u64, length: u64) -> Result<(u64, u64), Reason> {
        range(op, offset, length, self.offset_unit_bytes, self.length_unit_bytes)
    }

    /// The wanted fields in their places; `None` if the line has too few.
    #[inline]
    fn fields<'a>(&self, line: &'a [u8]) -> Option<Fields<'a>> {
        let mut fields: Fields<'a> = [b""; 6];
        match self.separator {
            Separator::Space => {
                let mut rest = line;
                for place in &self.places {
                    fields[*place] = next_field(&mut rest)?;
                }
            }
            other => self.split(line, other.byte(), &mut fields)?,
        }
        Some(fields)
    }

    #[inline]
    fn split<'a>(&self, line: &'a [u8], separator: u8, fields: &mut Fields<'a>) -> Option<()> {
        let mut rest = Some(line);
        for place in &self.places {
            fields[*place] = next_cell(&mut rest, separator)?;
        }
        Some(())
    }

    #[inline]
    fn operation(&self, field: &[u8]) -> Option<Op> {
        if let [byte] = field {
            return self.short_codes[usize::from(*byte)];
        }
        self.codes.iter().find(|(code, _)| code == field).map(|(_, op)| *op)
    }
}

/// Cuts the next field off `rest`. In double quotes it may hold the separator; a quote is doubled
/// there, and stays so. `None`: there is none, or its quotes do not end.
fn next_cell<'a>(rest: &mut Option<&'a [u8]>, separator: u8) -> Option<&'a [u8]> {
    let text = (*rest)?;
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    let mut end = blanks;
    let is_quoted = text.get(blanks) == Some(&b'"');
    if is_quoted {
        end += 1;
        loop {
            end += text[end..].iter().position(|byte| *byte == b'"')? + 1;
            if text.get(end) != Some(&b'"') {
                break;
            }
            end += 1;
        }
    }
    let quoted = &text[blanks..end];
    let length = text[end..].iter().position(|byte| *byte == separator);
    *rest = length.map(|length| &text[end + length + 1..]);
    let behind = &text[end..length.map_or(text.len(), |length| end + length)];
    if !is_quoted {
        return Some(trim(behind));
    }
    trim(behind).is_empty().then(|| &quoted[1..quoted.len() - 1])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn parse(map: &str, line: &str) -> Result<Option<RawRecord>, Reason> {
        let map: ColumnMap = map.parse().expect("a good map");
        parser(&map, map.time_unit()).parse(line.as_bytes())
    }

    fn record(map: &str, line: &str) -> RawRecord {
        parse(map, line).expect("a good line").expect("a request")
    }

    #[test]
    fn columns_in_any_order_and_unit() {
        let expected = RawRecord {
            time_ps: 1_500_000,
            op: Op::Read,
            offset_bytes: 4096,
            length_bytes: 1024,
            device: 7,
            tag: 0,
            placement: None,
        };
        let comma = "t=5[us],op=2,off=3[B],len=4[KiB],dev=1";
        assert_eq!(record(comma, "7, R ,4096,1,1.5,more,columns"), expected);
        let space = "t=1[us],op=5,off=3[sector],len=4[sector],dev=2;sep=space;read=1;write=0";
        assert_eq!(record(space, "  1.5  7\t0x8 2 1"), expected);
        let tab = "t=3[ns],op=2,off=4,len=5,dev=6;sep=tab";
        assert_eq!(record(tab, "\tRead\t1500\t4096\t1024\t7"), expected);
    }

    #[test]
    fn a_map_without_a_device_column_gives_device_0() {
        assert_eq!(record("t=1[s],op=2,off=3,len=4", "1,W,0,1").device, 0);
    }

    #[test]
    fn trim_and_flush_have_codes_of_their_own() {
        let map = "t=1[s],op=2,off=3,len=4;trim=D;flush=F";
        assert_eq!(record(map, "1,D,0,512").op, Op::Trim);
        assert_eq!(record(map, "1,F,0,0").op, Op::Flush);
        assert_eq!(parse(map, "1,D,0,0"), Err(Reason::ZeroLength));
    }

    #[test]
    fn bad_lines_give_their_reason() {
        let map = "t=1[s],op=2,off=3[KiB],len=4,dev=5";
        let cases = [
            ("1,R,0,1", Reason::FieldCount),
            ("1 R 0 1 5", Reason::FieldCount),
            (",R,0,1,0", Reason::BadTime),
            ("1,X,0,1,0", Reason::UnknownOp),
            ("1,,0,1,0", Reason::UnknownOp),
            ("1,R,a,1,0", Reason::BadOffset),
            ("1,R,0,1.5,0", Reason::BadLength),
            ("1,R,0,0,0", Reason::ZeroLength),
            ("1,R,0,1,", Reason::BadDevice),
            ("1,R,18014398509481984,1,0", Reason::TooLarge),
        ];
        for (line, reason) in cases {
            assert_eq!(parse(map, line), Err(reason), "{line}");
        }
    }

    #[test]
    fn devices_may_have_names() {
        let map: ColumnMap = "t=1[s],op=2,off=3,len=4,dev=5".parse().expect("a good map");
        let mut named = parser(&map, map.time_unit());
        let mut device = |line: &str| {
            named.parse(line.as_bytes()).map(|record| record.expect("a request").device)
        };
        assert_eq!(device("1,R,0,1,sdb"), Ok(0));
        assert_eq!(device("1,R,0,1,sda"), Ok(1));
        assert_eq!(device("1,R,0,1,7"), Ok(2), "a name like any other");
        assert_eq!(device("1,R,0,1,sdb"), Ok(0));
        let mut numbered = parser(&map, map.time_unit());
        assert!(numbered.parse(b"1,R,0,1,7").is_ok());
        assert_eq!(numbered.parse(b"1,R,0,1,sda"), Err(Reason::BadDevice));
    }

    #[test]
    fn operations_may_be_fixed_and_offsets_blocks() {
        let found = record("t=1[s],op=write,off=2[4KiB],len=3", "1,3,512");
        assert_eq!((found.op, found.offset_bytes, found.length_bytes), (Op::Write, 12_288, 512));
        assert_eq!(record("t=1[s],op=flush,off=2,len=3", "1,0,0").op, Op::Flush);
    }

    #[test]
    fn quoted_fields_may_hold_the_separator() {
        let map = "t=1[datetime],op=3,off=4,len=5,dev=2";
        let line = r#""2016-02-22 11:25:45","vol, ""a""", "R" ,4096,"512","x"#;
        let found = record(map, line);
        assert_eq!((found.op, found.offset_bytes, found.length_bytes), (Op::Read, 4096, 512));
        assert_eq!(found.time_ps, 1_456_140_345_000_000_000_000);
        for bad in [r#""2016-02-22 11:25:45,a,R,0,512"#, r#""2016-02-22 11:25:45"x,a,R,0,512"#] {
            assert_eq!(parse(map, bad), Err(Reason::FieldCount), "{bad}");
        }
        // Columns that are not used may be quoted, too.
        assert_eq!(record("t=1[s],op=3,off=4,len=5", r#"1,"a,b",W,0,512"#).length_bytes, 512);
    }

    #[test]
    fn usual_lines_go_the_quick_way() {
        let quick = |map: &str, line: &[u8]| {
            let map: ColumnMap = map.parse().expect("a good map");
            parser(&map, map.time_unit()).quick(line)
        };
        assert!(
            quick("t=1[ms],op=3,len=4,off=5", b"0.000,134,R,4096,42242048,0.100,4096").is_some()
        );
        assert!(quick("t=1[s],op=2,off=3,len=4", b"1455591804.310701,W,0,1").is_some());
        assert!(quick("t=1[ms],dev=2,off=3,len=4,op=5;sep=space", b"0.5 0 512 4096 R").is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn both_ways_agree(
            fields in prop::collection::vec(
                r"[0-9]{1,3}|[0-9]{1,21}|[0-9]{0,2}\.[0-9]{0,14}|R|W|W W|0x1f| 7|",
                4..8,
            ),
            blank in select(vec![",", "\t", " "]),
            separator in select(vec!["comma", "tab", "space"]),
            columns in select(vec![
                "t=1[us],op=2,off=3,len=4",
                "op=1,t=3[s],len=4,off=5[KiB],dev=2",
            ]),
        ) {
            let codes = "read=R|0|9;write=W|1|22;flush=2";
            let map: ColumnMap =
                format!("{columns};sep={separator};{codes}").parse().expect("a good map");
            let mut parser = parser(&map, map.time_unit());
            let line = fields.join(blank);
            if let Some(record) = parser.quick(line.as_bytes()) {
                prop_assert_eq!(parser.careful(line.as_bytes()), Ok(record), "{}", line);
            }
        }
    }
}
