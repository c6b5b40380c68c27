//! Files of clone parameters.

use std::path::Path;

use super::source::{self, read_text};
use crate::config::validate;
use crate::error::Error;
use crate::workload::clone::CloneFile;

/// Reads and checks a file of clone parameters.
///
/// # Errors
/// [`Error::Config`] with file, line or key, what was found and what is allowed.
pub fn clone_file(path: &Path) -> Result<CloneFile, Error> {
    let draft = source::parse(&read_text(path)?, &path.display().to_string())?;
    let file: CloneFile = draft.finish()?;
    let mut problems = validate::validate_clone(&file);
    for problem in &mut problems {
        problem.place = draft.places.locate(&problem.place);
    }
    if problems.is_empty() { Ok(file) } else { Err(Error::Config(problems)) }
}
