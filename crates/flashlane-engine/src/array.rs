//! A table of a fixed number of values: the dies of a drive, the flows of a run.

use std::ops::{Deref, DerefMut, Index, IndexMut};

/// Values by number, as many as there were in the beginning.
///
/// Every look-up is checked, in release builds too: an index beyond the end panics.
#[derive(Clone, Debug)]
pub struct Array<T> {
    values: Box<[T]>,
}

impl<T: Clone> Array<T> {
    /// A table of `count` equal values.
    #[must_use]
    pub fn of(value: T, count: usize) -> Self {
        Self::from(vec![value; count])
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        Self { values: values.into_boxed_slice() }
    }
}

impl<T> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

impl<T> Index<usize> for Array<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        // `[index]` would be two instructions dearer: its panic needs the length in a register.
        self.values.get(index).unwrap_or_else(|| beyond(index))
    }
}

impl<T> IndexMut<usize> for Array<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.values.get_mut(index).unwrap_or_else(|| beyond(index))
    }
}

/// Ends the run: the simulator asked a table for a value that the table does not have.
#[cold]
#[inline(never)]
fn beyond(index: usize) -> ! {
    panic!("index {index} lies beyond the end of a table");
}

impl<T> Deref for Array<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<'a, T> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Array<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_its_values_and_no_more() {
        for len in 1..=9 {
            let mut array: Array<usize> = (0..len).collect();
            array[len - 1] += 100;
            assert_eq!(array.len(), len);
            assert_eq!(array.iter().sum::<usize>(), (0..len).sum::<usize>() + 100);
            assert_eq!(array.get(len), None);
            assert_eq!((&array).into_iter().count() + (&mut array).into_iter().count(), 2 * len);
        }
        assert_eq!(Array::of(3, 5).to_vec(), [3; 5]);
        assert!(Array::of(3, 0).is_empty());
    }

    // These run in release builds too, where an index beyond the end once found another value.

    #[test]
    #[should_panic(expected = "index 3 lies beyond the end")]
    fn reading_beyond_the_end_panics() {
        let _ = Array::of(0, 3)[std::hint::black_box(3)];
    }

    #[test]
    #[should_panic(expected = "index 5 lies beyond the end")]
    fn writing_beyond_the_end_panics() {
        Array::of(0, 3)[std::hint::black_box(5)] = 1;
    }
}
