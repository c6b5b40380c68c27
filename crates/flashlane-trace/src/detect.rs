//! Detects formats that describe themselves.

use std::path::Path;

use crate::error::TraceError;
use crate::format::{CSV_HEADER, CSV_PLACED_HEADER, Format, HEAD_BYTES};
use crate::lines::{LineReader, holds_no_record, trim};
use crate::options::Spelling;
use crate::place::Unit;
use crate::reject::excerpt;

/// Detects the format of a file, if the start of the file fits only one format.
///
/// Binary formats have a magic number, or codes at known places in their first two records. A text
/// is recognised by its first line with content: a header, a version, or columns that no other
/// format has in those places. A file of five columns without a header gives `None`, because it may
/// be MQSim, DiskSim or SSDSim, whose clocks differ. A file may also describe its columns itself,
/// in a comment above the first record: `# columns:`, followed by the text of a
/// [`ColumnMap`](crate::ColumnMap).
///
/// # Errors
/// The errors of opening and decompressing the file. A description of columns that is not a column
/// map.
pub fn detect(path: impl AsRef<Path>) -> Result<Option<Format>, TraceError> {
    match head(path.as_ref())? {
        Head::Binary(format) => Ok(Some(format)),
        Head::Text(head) => head.format(),
    }
}

/// Does what [`detect`] does, but returns [`TraceError::Ambiguous`] if the format is not clear.
pub(crate) fn detect_or_fail(path: &Path, spelling: Spelling) -> Result<Format, TraceError> {
    let head = match head(path)? {
        Head::Binary(format) => return Ok(format),
        Head::Text(head) => head,
    };
    if head.line == 0 {
        return Err(TraceError::Empty { path: path.to_owned(), unit: Unit::Line, lines: 0 });
    }
    head.format()?.ok_or_else(|| TraceError::Ambiguous {
        path: path.to_owned(),
        line: head.line,
        excerpt: excerpt(&head.text),
        names: Format::names(),
        option: spelling.format(),
    })
}

/// Start of the comment in which a file describes its columns.
const COLUMNS: &[u8] = b"# columns:";

/// The content of the start of a file.
enum Head {
    Binary(Format),
    Text(TextHead),
}

/// The content of the start of a text.
#[derive(Debug, Default)]
struct TextHead {
    /// The text after the first `# columns:`.
    columns: Option<Vec<u8>>,
    /// True if a comment names the columns of Flashlane's CSV.
    is_csv: bool,
    /// Number of the first line that is neither blank nor a comment; 0 if there is none.
    line: u64,
    /// The text of that line.
    text: Vec<u8>,
    /// The format of a later line, for formats that allow other lines before their records.
    late: Option<Format>,
}

/// Number of lines after the first one in which a format is looked for.
const PREAMBLE_LINES_MAX: usize = 64;

impl TextHead {
    fn format(&self) -> Result<Option<Format>, TraceError> {
        match &self.columns {
            Some(map) => Ok(Some(Format::Columns(String::from_utf8_lossy(map).parse()?))),
            None if self.is_csv => Ok(Some(Format::Csv)),
            None => Ok(Format::recognise(&self.text).or_else(|| self.late.clone())),
        }
    }
}

fn head(path: &Path) -> Result<Head, TraceError> {
    let mut lines = LineReader::open(path)?;
    if let Some(format) = Format::recognise_binary(lines.peek(HEAD_BYTES)?) {
        return Ok(Head::Binary(format));
    }
    let mut head = TextHead::default();
    while let Some(line) = lines.next()? {
        if !holds_no_record(line.bytes) {
            head.line = line.number;
            head.text = trim(line.bytes).to_vec();
            if head.columns.is_none() && Format::recognise(&head.text).is_none() {
                head.late = late_format(&mut lines)?;
            }
            break;
        }
        if let Some(map) = trim(line.bytes).strip_prefix(COLUMNS) {
            head.columns.get_or_insert_with(|| trim(map).to_vec());
        }
        head.is_csv |= [CSV_HEADER, CSV_PLACED_HEADER]
            .iter()
            .any(|header| trim(line.bytes) == header.as_bytes());
    }
    Ok(Head::Text(head))
}

/// The format of one of the next lines.
fn late_format(lines: &mut LineReader) -> Result<Option<Format>, TraceError> {
    for _ in 0..PREAMBLE_LINES_MAX {
        let Some(line) = lines.next()? else { break };
        if let Some(format) = Format::recognise_late(trim(line.bytes)) {
            return Ok(Some(format));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::TraceOptions;
    use crate::test_support::{TempTrace, message, read};

    const MSR: &str = "\n# note\n128166385295514663,hm,0,Write,9056014336,2048,2833\r\n";

    #[test]
    fn an_msr_file_describes_itself() {
        let file = TempTrace::new(MSR);
        assert_eq!(detect(file.path()).expect("readable"), Some(Format::Msr));
        assert_eq!(read(MSR, &TraceOptions::default()).expect("an MSR file").len(), 1);
    }

    #[test]
    fn a_file_may_describe_its_columns() {
        let content =
            "# any words\n# columns: t=1[us],op=2,off=3,len=4;sep=comma\n1.5,R,4096,512\n";
        let format = detect(TempTrace::new(content).path()).expect("readable").expect("described");
        assert_eq!(format.name(), "columns");
        let records = read(content, &TraceOptions::default()).expect("a trace");
        assert_eq!((records.len(), records[0].offset_bytes), (1, 4096));
        let wrong = "# columns: t=1[parsec],op=2,off=3,len=4\n1,R,0,512\n";
        assert!(message(read(wrong, &TraceOptions::default())).contains("parsec"));
        // After the first record this is an ordinary comment, and the named format applies.
        let late = "5 1 0 8 1\n# columns: t=1[us],op=2,off=3,len=4\n";
        assert_eq!(detect(TempTrace::new(late).path()).expect("readable"), None);
        let named = "# columns: t=1[us],op=2,off=3,len=4\n5 1 0 8 1\n";
        assert_eq!(read(named, &TraceOptions::new(Format::Mqsim)).expect("a trace").len(), 1);
    }

    #[test]
    fn five_bare_columns_are_never_guessed() {
        let content = "938513000 4 264719034 16 0\n";
        assert_eq!(detect(TempTrace::new(content).path()).expect("readable"), None);
        let message = message(read(content, &TraceOptions::default()));
        assert!(message.contains("line 1: found `938513000 4 264719034 16 0`"), "{message}");
        assert!(
            message
                .contains("name the format (format), one of mqsim, disksim, ssdsim, msr, msps, ")
        );
    }

    #[test]
    fn a_file_without_content_is_empty() {
        assert!(message(read("# only\n\n", &TraceOptions::default())).contains("found no record"));
        assert_eq!(detect(TempTrace::new("").path()).expect("readable"), None);
    }
}
