//! Properties: what is rendered is read back, and no input leads to a panic or to endless reading.

use std::fmt::Write as _;
use std::io::Write as _;

use flashlane_trace::{
    ColumnMap, Format, OnDecreasing, Op, Record, SpaceUnit, TimeUnit, TraceError, TraceOptions,
    TraceReader, detect, summarise,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::NamedTempFile;

fn file(content: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("room for a small file");
    file.write_all(content).expect("room for a small file");
    file
}

fn read(content: &[u8], options: &TraceOptions) -> Result<Vec<Record>, TraceError> {
    TraceReader::open(file(content).path(), options)?.collect()
}

/// A request in the units of a file: times count from the request before.
#[derive(Clone, Debug)]
struct Request {
    gap: u64,
    read: bool,
    offset: u64,
    length: u64,
    device: u32,
    /// Varies the looks of the line.
    style: u8,
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let offset = prop_oneof![0..1_u64 << 20, 0..1_u64 << 53];
    let request =
        (0..10_u64.pow(9), any::<bool>(), offset, 1..1_u64 << 52, any::<u32>(), any::<u8>())
            .prop_map(|(gap, read, offset, length, device, style)| Request {
                gap,
                read,
                offset,
                length,
                device,
                style,
            });
    vec(request, 1..40)
}

/// The records that `requests` stand for. The first one is at 0.
fn records(requests: &[Request], gap_ps: u64, offset_bytes: u64, length_bytes: u64) -> Vec<Record> {
    let mut time_ps = 0;
    let record = |(index, request): (usize, &Request)| {
        if index > 0 {
            time_ps += request.gap * gap_ps;
        }
        Record {
            time_ps,
            op: if request.read { Op::Read } else { Op::Write },
            offset_bytes: request.offset * offset_bytes,
            length_bytes: request.length * length_bytes,
            device: request.device,
            placement: None,
        }
    };
    requests.iter().enumerate().map(record).collect()
}

/// A number, sometimes in hexadecimal.
fn number(value: u64, style: u8) -> String {
    match style & 3 {
        0 => format!("0x{value:x}"),
        1 => format!("0X{value:X}"),
        _ => value.to_string(),
    }
}

/// Ends of a line, and lines that hold no record.
fn line_end(style: u8) -> &'static str {
    ["\n", "\r\n", "  \n", "\n\n", "\n# comment\n", "\t\r\n \n"][usize::from(style >> 2) % 6]
}

/// The text, perhaps without its last line end.
fn cut_line_end(text: &mut String, style: u8) {
    if style & 1 == 1 {
        text.truncate(text.trim_end().len());
    }
}

/// Five columns; `time` renders the time, `op` the operation.
fn five_columns(
    requests: &[Request],
    start: u64,
    time: fn(u64) -> String,
    op: fn(&Request) -> u64,
) -> String {
    let mut text = String::new();
    let mut now = start;
    for request in requests {
        now += request.gap;
        let blank = if request.style & 4 == 0 { " " } else { " \t" };
        let offset = number(request.offset, request.style);
        let length = number(request.length, request.style >> 1);
        let fields =
            [time(now), request.device.to_string(), offset, length, op(request).to_string()];
        text += &fields.join(blank);
        text += line_end(request.style);
    }
    cut_line_end(&mut text, requests[0].style);
    text
}

/// A count of millionths as a decimal number.
fn millionths(count: u64) -> String {
    format!("{}.{:06}", count / 1_000_000, count % 1_000_000)
}

fn code(request: &Request) -> u64 {
    u64::from(request.read)
}

proptest! {
    #[test]
    fn mqsim_and_ssdsim_lines_are_read_back(
        requests in requests(),
        start in 0..10_u64.pow(18),
        format in select(vec![Format::Mqsim, Format::SsdSim]),
    ) {
        let text = five_columns(&requests, start, |now| now.to_string(), code);
        let found = read(text.as_bytes(), &TraceOptions::new(format));
        prop_assert_eq!(found.expect("a good trace"), records(&requests, 1_000, 512, 512));
    }

    #[test]
    fn disksim_lines_are_read_back(requests in requests(), start in 0..10_u64.pow(18)) {
        let flags = |request: &Request| code(request) | u64::from(request.style & 0xfe);
        let text = five_columns(&requests, start, millionths, flags);
        let found = read(text.as_bytes(), &TraceOptions::new(Format::DiskSim));
        // A millionth of a millisecond is 1,000 ps.
        prop_assert_eq!(found.expect("a good trace"), records(&requests, 1_000, 512, 512));
    }

    #[test]
    fn msr_lines_are_read_back(requests in requests(), start in 0..2 * 10_u64.pow(17)) {
        let (mut text, mut now) = (String::new(), start);
        for request in &requests {
            now += request.gap;
            let op = if request.read { "Read" } else { "Write" };
            let Request { device, offset, length, style, .. } = request;
            write!(text, "{now},host,{device},{op},{offset},{length},77").expect("a String grows");
            text += line_end(*style);
        }
        cut_line_end(&mut text, requests[0].style);
        let expected = records(&requests, 100_000, 1, 1);
        let found = read(text.as_bytes(), &TraceOptions::new(Format::Msr));
        prop_assert_eq!(found.expect("a good trace"), &expected[..]);
        let detected = read(text.as_bytes(), &TraceOptions::default());
        prop_assert_eq!(detected.expect("a good trace"), &expected[..]);
    }

    /// Requests take as many microseconds as their style says, so that they overtake each other;
    /// every other one has a start.
    #[test]
    fn msps_events_are_read_back_by_arrival(requests in requests()) {
        let near = |r: Request| Request { gap: r.gap % 100, ..r };
        let requests: Vec<Request> = requests.into_iter().map(near).collect();
        let (mut events, mut now) = (Vec::new(), 0);
        for (irp, request) in requests.iter().enumerate() {
            now += request.gap;
            let op = if request.read { "Read" } else { "Write" };
            let Request { device, offset, length, style, .. } = request;
            let end = now + u64::from(*style);
            let started = style & 1 == 1;
            if started {
                events.push((now, format!("Disk{op}Init, {now}, a ( 1), 1, {irp:#x}")));
            }
            let elapsed = if started { 0 } else { end - now };
            let line = format!(
                "Disk{op}, {end}, a ( 1), 1, {irp:#x}, {offset:#x}, {length:#x}, {elapsed}, {device}, x"
            );
            events.push((end, line));
        }
        events.sort_by_key(|event| event.0);
        let mut text = String::from("BeginHeader\nEndHeader\n");
        for (_, line) in &events {
            text += line;
            text += "\nCSwitch, 1\n";
        }
        let mut found = read(text.as_bytes(), &TraceOptions::default()).expect("a good trace");
        let mut expected = records(&requests, 1_000_000, 1, 1);
        prop_assert!(found.is_sorted_by_key(|record| record.time_ps));
        // Among requests that arrive together the first to complete comes first.
        let key = |r: &Record| (r.time_ps, r.offset_bytes, r.length_bytes, r.device, r.op);
        found.sort_by_key(key);
        expected.sort_by_key(key);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn mapped_columns_are_read_back(
        requests in requests(),
        columns in Just(vec![1_usize, 2, 3, 4, 5, 6, 7]).prop_shuffle(),
        separator in select(vec![("comma", ","), ("space", " "), ("tab", "\t")]),
        unit in select(TimeUnit::ALL.to_vec()),
        offset_unit in select(SpaceUnit::ALL.to_vec()),
        length_unit in select(SpaceUnit::ALL.to_vec()),
        header in 0..3_usize,
    ) {
        let [t, op, off, len, dev, ..] = columns[..] else { unreachable!("seven columns") };
        let map: ColumnMap = format!(
            "t={t}[{unit}],op={op},off={off}[{offset_unit}],len={len}[{length_unit}],dev={dev};\
             sep={};read=R|get;write=put|W;header={header}",
            separator.0
        ).parse().expect("a good map");
        let mut text = "any,thing at all\n".repeat(header);
        let mut now = 0;
        // Gaps and offsets are shorter here, because the largest units would exceed the ranges.
        let gap_ps = unit.picoseconds();
        let shorter = |r: Request| Request {
            gap: r.gap / 10_000,
            offset: r.offset / 32,
            length: (r.length / 32).max(1),
            ..r
        };
        let requests: Vec<Request> = requests.into_iter().map(shorter).collect();
        for request in &requests {
            now += request.gap;
            let mut fields = vec!["-".to_owned(); 7];
            fields[t - 1] = format!("{now}.000");
            fields[op - 1] = if request.read { "get" } else { "W" }.to_owned();
            fields[off - 1] = number(request.offset, request.style);
            fields[len - 1] = request.length.to_string();
            fields[dev - 1] = request.device.to_string();
            text += &fields.join(separator.1);
            text += line_end(request.style);
        }
        let found = read(text.as_bytes(), &TraceOptions::new(Format::Columns(map)));
        let expected = records(&requests, gap_ps, offset_unit.bytes(), length_unit.bytes());
        prop_assert_eq!(found.expect("a good trace"), expected);
    }

    #[test]
    fn column_maps_survive_their_text(
        columns in Just((1_usize..=40).collect::<Vec<_>>()).prop_shuffle(),
        unit in select(TimeUnit::ALL.to_vec()),
        space in select(SpaceUnit::ALL.to_vec()),
        tail in select(vec![
            "",
            ";sep=tab",
            ";read=1;write=0;trim=2;header=9",
            ";sep=space;flush=F|S",
        ]),
    ) {
        let [t, op, off, len, ..] = columns[..] else { unreachable!("forty columns") };
        let text = format!("t={t}[{unit}],op={op},off={off}[{space}],len={len}{tail}");
        let map: ColumnMap = text.parse().expect("a good map");
        prop_assert_eq!(map.to_string().parse::<ColumnMap>().expect("canonical text"), map);
    }
}

/// One format of each kind in the list.
fn formats() -> Vec<Option<Format>> {
    let of_name = |name: &str| Format::by_name(name).expect("a good name");
    let named = Format::ALL.iter().filter(|info| info.name != "columns");
    let mut formats: Vec<_> = named.map(|info| Some(of_name(info.name))).collect();
    for separator in ["comma", "space", "tab"] {
        let map = format!("columns:t=1[s],op=2,off=3[KiB],len=4[sector],dev=5;sep={separator}");
        formats.push(Some(of_name(&map)));
    }
    formats.push(None);
    formats
}

fn options() -> impl Strategy<Value = TraceOptions> {
    let policies = vec![OnDecreasing::Error, OnDecreasing::Clamp, OnDecreasing::Count];
    (select(formats()), select(policies), any::<bool>(), select(vec![0.0, 0.01, 1.0])).prop_map(
        |(format, on_decreasing, rebase, max_rejected_fraction)| TraceOptions {
            format,
            on_decreasing,
            rebase,
            max_rejected_fraction,
            ..TraceOptions::default()
        },
    )
}

/// Bytes of which some look like the start of a codec, some like lines of a trace, some like
/// nothing.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let magic = select(vec![
        &b""[..],
        b"\x1f\x8b\x08\x00",
        b"\x28\xb5\x2f\xfd",
        b"\x50\x2a\x4d\x18",
        b"\xfd7zXZ\0\0\x04",
        b"BZh91AY&SY",
        b"\xef\xbb\xbf",
        b"\xff\xfe1\0",
        b"\x07tae",
        b"eat\x08",
        b"PAR1",
        b"\x01\0\0\0\0\x02\0\0\x01\0\0\0\x28\0\0\x01",
        b"\x2a\0\0\x02",
        b"fio version 3 iolog\n",
        b"fio version 2 iolog\n",
    ]);
    let noise = vec(any::<u8>(), 0..400);
    let traceish = vec(select(b"0019x.,- \t\n\r\nRWead#\"".to_vec()), 0..400);
    let field = select(vec![
        "0",
        "1",
        "9",
        "0.5",
        "0x8",
        "R",
        "W",
        "Read",
        "DiskRead",
        "DiskReadInit",
        "8,0",
        "Q",
        "+",
        "r",
        "wait",
        "read",
        "add",
        "0123456789abcdef0123456789abcdef",
        "BeginHeader",
        "EndHeader",
        "hm",
        "",
        "18446744073709551615",
        "-1",
        "4294967296",
    ]);
    let line = (vec(field, 4..8), select(vec![" ", ",", "\t"]));
    let lines = vec(line.prop_map(|(fields, separator)| fields.join(separator)), 1..20)
        .prop_map(|lines| lines.join("\n").into_bytes());
    (magic, prop_oneof![noise, traceish, lines]).prop_map(|(magic, tail)| [magic, &tail].concat())
}

/// Reads to the end. Returns the records, which cannot be more than the file can have lines.
fn drain(content: &[u8], options: &TraceOptions) -> Result<u64, TraceError> {
    let file = file(content);
    let mut reader = TraceReader::open(file.path(), options)?;
    let result = loop {
        match reader.next() {
            Ok(Some(record)) => assert!(record.length_bytes > 0 || record.op == Op::Flush),
            Ok(None) => break Ok(reader.delivered_count()),
            Err(error) => break Err(error),
        }
        assert!(reader.delivered_count() <= reader.line());
    };
    assert!(reader.next().expect("a reader that has ended stays so").is_none());
    result
}

fn assert_one_line(error: &TraceError) {
    let message = error.to_string();
    assert_eq!(message.lines().count(), 1, "{message:?}");
    assert!(!message.contains('\0'), "{message:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn no_content_leads_to_a_panic_or_endless_reading(content in contents(), options in options()) {
        match drain(&content, &options) {
            Ok(count) => prop_assert!(count > 0),
            Err(error) => assert_one_line(&error),
        }
        let file = file(&content);
        if let Err(error) = detect(file.path()) {
            assert_one_line(&error);
        }
    }

    #[test]
    fn no_name_of_a_format_leads_to_a_panic(
        name in "(columns:|csv:)?[a-zµ0-9=,;|\\[\\]\n\\PC]{0,60}",
    ) {
        if let Err(error) = Format::by_name(&name) {
            assert_one_line(&error);
        }
    }

    #[test]
    fn no_altered_column_map_leads_to_a_panic(
        at in 0..80_usize,
        removed in 0..4_usize,
        inserted in "[0-9=,;|\\[\\]a-z]{0,3}",
    ) {
        let text = "t=1[us],op=3,off=4[B],len=5[B],dev=2;sep=comma;read=R;write=W;header=1";
        let (from, to) = (at.min(text.len()), (at + removed).min(text.len()));
        let altered = format!("{}{inserted}{}", &text[..from], &text[to..]);
        match altered.parse::<ColumnMap>() {
            Ok(map) => {
                let again: ColumnMap = map.to_string().parse().expect("canonical text");
                prop_assert_eq!(again, map);
            }
            Err(error) => assert_one_line(&error),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_altered_compressed_file_leads_to_a_panic(
        codec in 0..4_usize,
        changes in vec((any::<usize>(), any::<u8>()), 0..4),
        cut in any::<usize>(),
    ) {
        let line = |n: u64| format!("{n} 0 {} 8 {}\n", n * 7919 % 1000, n % 2);
        let text: String = (0..200).map(line).collect();
        let mut packed = Vec::new();
        match codec {
            0 => flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast())
                .write_all(text.as_bytes()),
            1 => zstd::encode_all(text.as_bytes(), 1).map(|bytes| packed = bytes),
            2 => xz2::write::XzEncoder::new(&mut packed, 0).write_all(text.as_bytes()),
            _ => bzip2::write::BzEncoder::new(&mut packed, bzip2::Compression::fast())
                .write_all(text.as_bytes()),
        }.expect("compressing in memory cannot fail");
        for (at, byte) in changes {
            let at = at % packed.len();
            packed[at] = byte;
        }
        packed.truncate(packed.len() - cut % packed.len() / 8);
        if let Err(error) = drain(&packed, &TraceOptions::new(Format::Mqsim)) {
            assert_one_line(&error);
        }
    }

    #[test]
    fn a_summary_agrees_with_its_records(requests in requests()) {
        let text = five_columns(&requests, 0, |now| now.to_string(), code);
        let options = TraceOptions::new(Format::Mqsim);
        let records = read(text.as_bytes(), &options).expect("a good trace");
        let summary = summarise(file(text.as_bytes()).path(), &options).expect("a good trace");
        let bytes = |op| {
            let lengths = records.iter().filter(|r| r.op == op).map(|r| r.length_bytes);
            lengths.fold(0, u64::saturating_add)
        };
        let end = records.iter().map(Record::end_bytes).max();
        prop_assert_eq!(summary.request_count, records.len() as u64);
        prop_assert_eq!(summary.read_bytes, bytes(Op::Read));
        prop_assert_eq!(summary.write_bytes, bytes(Op::Write));
        prop_assert_eq!(Some(summary.end_bytes_max), end);
        prop_assert_eq!(summary.span_ps(), records.last().map_or(0, |record| record.time_ps));
        let listed: u64 = summary.devices.iter().map(|device| device.request_count).sum();
        prop_assert_eq!(listed, summary.request_count);
    }
}
