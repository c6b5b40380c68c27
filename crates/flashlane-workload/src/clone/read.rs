//! Files of clone parameters.

use std::path::Path;

use super::{CloneFile, validate_clone};
use flashlane_reading::Error;
use flashlane_reading::{parse, read_text};

/// Reads and checks a file of clone parameters.
///
/// # Errors
/// [`Error::Config`] with file, line or key, what was found and what is allowed.
pub fn clone_file(path: &Path) -> Result<CloneFile, Error> {
    let draft = parse(&read_text(path)?, &path.display().to_string())?;
    let file: CloneFile = draft.finish()?;
    let mut problems = validate_clone(&file);
    for problem in &mut problems {
        problem.place = draft.places.locate(&problem.place);
    }
    if problems.is_empty() { Ok(file) } else { Err(Error::Config(problems)) }
}
