//! Numbers of devices that a file calls by names.

use std::collections::HashMap;

use crate::reject::Reason;

/// Most names of one file. A device beyond them is rejected.
const NAMES_MAX: usize = 65_536;

/// Names, numbered from 0 in the order in which they appear.
#[derive(Default)]
pub(super) struct Names {
    /// Never iterated over.
    numbers: HashMap<Vec<u8>, u32>,
    /// The one that came last, which mostly is the next one as well.
    last: Option<(Vec<u8>, u32)>,
}

impl Names {
    /// The number of a name. Not of an empty one.
    pub(super) fn number(&mut self, name: &[u8]) -> Result<u32, Reason> {
        if let Some((last, number)) = &self.last
            && last == name
        {
            return Ok(*number);
        }
        let next = self.numbers.len();
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None if name.is_empty() || next == NAMES_MAX => return Err(Reason::BadDevice),
            None => {
                self.numbers.insert(name.to_vec(), next as u32);
                next as u32
            }
        };
        self.last = Some((name.to_vec(), number));
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_as_they_appear() {
        let mut names = Names::default();
        let found: Vec<_> = [b"sdb", b"sda", b"sda", b"sdb"].map(|name| names.number(name)).into();
        assert_eq!(found, [Ok(0), Ok(1), Ok(1), Ok(0)]);
        assert_eq!(names.number(b""), Err(Reason::BadDevice));
    }
}
