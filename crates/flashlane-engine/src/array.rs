//! A table of a fixed number of values: the dies of a drive, the flows of a run.

use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::places::Places;

/// Values by number, as many as there were in the beginning.
///
/// A look-up by index checks nothing but in builds with assertions: an index beyond the end finds some value of the
/// table or one beside them. As a slice it has its values only, and checks as slices do.
#[derive(Clone, Debug)]
pub struct Array<T> {
    /// The values, and others beside them up to a power of two.
    places: Places<T>,
    len: usize,
}

impl<T: Clone> Array<T> {
    /// So many equal values, at least one.
    ///
    /// # Panics
    /// Without a value.
    #[must_use]
    pub fn of(value: T, count: usize) -> Self {
        Self::from(vec![value; count])
    }
}

impl<T> Array<T> {
    /// These values, at least one; `fill` makes those that are needed beside them.
    ///
    /// # Panics
    /// Without a value.
    #[must_use]
    pub fn filled(mut values: Vec<T>, fill: impl FnMut() -> T) -> Self {
        let len = values.len();
        assert!(len > 0, "a table has a value");
        values.resize_with(len.next_power_of_two(), fill);
        Self { places: Places::new(values), len }
    }
}

impl<T: Clone> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        let last = values.last().cloned();
        Self::filled(values, || last.clone().expect("a table has a value"))
    }
}

impl<T: Clone> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().collect::<Vec<T>>())
    }
}

impl<T> Index<usize> for Array<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.len, "index {index} of a table of {}", self.len);
        self.places.at(index)
    }
}

impl<T> IndexMut<usize> for Array<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.len, "index {index} of a table of {}", self.len);
        self.places.at_mut(index)
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.places.all()[..self.len]
    }
}

impl<T> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.places.all_mut()[..self.len]
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
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "index 3 of a table of 3")]
    fn tests_notice_an_index_beyond_the_end() {
        let _ = Array::of(0, 3)[3];
    }
}
