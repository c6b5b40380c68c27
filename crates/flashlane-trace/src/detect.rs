//! Recognition of formats that describe themselves.

use std::path::Path;

use crate::error::TraceError;
use crate::format::Format;
use crate::lines::{LineReader, holds_no_record, trim};
use crate::reject::excerpt;

/// Tells the format of a file, if its first line with content can only belong to one.
///
/// That is so for MSR Cambridge traces: seven columns of which the fourth is `Read` or `Write`. A
/// file of five bare columns is `None`: it may be MQSim, DiskSim or SSDSim, with different clocks.
///
/// # Errors
/// Those of opening and decompressing the file.
pub fn detect(path: impl AsRef<Path>) -> Result<Option<Format>, TraceError> {
    Ok(Format::recognise(&first_line(path.as_ref())?.1))
}

/// As [`detect`], but a file that does not tell its format is [`TraceError::Ambiguous`].
pub(crate) fn detect_or_fail(path: &Path) -> Result<Format, TraceError> {
    let (line, text) = first_line(path)?;
    if line == 0 {
        return Err(TraceError::Empty { path: path.to_owned(), lines: 0 });
    }
    Format::recognise(&text).ok_or_else(|| TraceError::Ambiguous {
        path: path.to_owned(),
        line,
        excerpt: excerpt(&text),
        names: Format::names(),
    })
}

/// The first line that is neither blank nor a comment, with its number; number 0 if there is none.
fn first_line(path: &Path) -> Result<(u64, Vec<u8>), TraceError> {
    let mut lines = LineReader::open(path)?;
    while let Some(line) = lines.next()? {
        if !holds_no_record(line.bytes) {
            return Ok((line.number, trim(line.bytes).to_vec()));
        }
    }
    Ok((0, Vec::new()))
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
    fn five_bare_columns_are_never_guessed() {
        let content = "938513000 4 264719034 16 0\n";
        assert_eq!(detect(TempTrace::new(content).path()).expect("readable"), None);
        let message = message(read(content, &TraceOptions::default()));
        assert!(message.contains("line 1: found `938513000 4 264719034 16 0`"), "{message}");
        assert!(message.contains("name the format, one of mqsim, disksim, ssdsim, msr, columns"));
    }

    #[test]
    fn a_file_without_content_is_empty() {
        assert!(message(read("# only\n\n", &TraceOptions::default())).contains("found no record"));
        assert_eq!(detect(TempTrace::new("").path()).expect("readable"), None);
    }
}
