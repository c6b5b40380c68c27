//! Values under small numbers, which are used again.

/// Values under numbers.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    values: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Keeps a value, and returns its number.
    pub(crate) fn insert(&mut self, value: T) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.values.push(None);
            self.values.len() - 1
        });
        debug_assert!(self.values[number].is_none(), "a free number has no value");
        self.values[number] = Some(value);
        number
    }

    /// The value of a number.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.values.get_mut(number)?.as_mut()
    }

    /// Takes the value of a number, which may then get another value.
    pub(crate) fn remove(&mut self, number: usize) -> Option<T> {
        let value = self.values.get_mut(number)?.take()?;
        self.free.push(number);
        Some(value)
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }
}
