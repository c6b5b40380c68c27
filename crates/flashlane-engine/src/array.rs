//! A table of a fixed number of values: the dies of a drive, the flows of a run.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::handle::Number;

/// Values by number. The number of values never changes. `I` is the type of the index. It is made
/// with [`number!`](crate::number), and the table accepts no other type.
///
/// Every look-up is checked, in release builds too: an index beyond the end panics.
///
/// ```compile_fail,E0308
/// flashlane_engine::number! { pub struct ShelfId(u32); }
/// flashlane_engine::number! { pub struct RoomId(u32); }
/// let books: flashlane_engine::Array<ShelfId, u32> = flashlane_engine::Array::of(0, 3);
/// let _ = books[RoomId::new(0)];
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array<I, T> {
    values: Box<[T]>,
    numbers: PhantomData<fn(I)>,
}

impl<I: Number, T: Clone> Array<I, T> {
    /// A table of `count` equal values.
    #[must_use]
    pub fn of(value: T, count: usize) -> Self {
        Self::from(vec![value; count])
    }
}

impl<I: Number, T> Array<I, T> {
    /// The numbers of the values, in order.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.values.len()).map(I::at)
    }

    /// The values with their numbers, in order.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.values.iter().enumerate().map(|(index, value)| (I::at(index), value))
    }
}

impl<I: Number, T> From<Vec<T>> for Array<I, T> {
    fn from(values: Vec<T>) -> Self {
        Self { values: values.into_boxed_slice(), numbers: PhantomData }
    }
}

impl<I: Number, T> FromIterator<T> for Array<I, T> {
    fn from_iter<V: IntoIterator<Item = T>>(values: V) -> Self {
        Self { values: values.into_iter().collect(), numbers: PhantomData }
    }
}

impl<I: Number, T> Index<I> for Array<I, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, number: I) -> &T {
        let index = number.index();
        // `[index]` would take two more instructions, because its panic needs the length in a
        // register.
        self.values.get(index).unwrap_or_else(|| beyond(index))
    }
}

impl<I: Number, T> IndexMut<I> for Array<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, number: I) -> &mut T {
        let index = number.index();
        self.values.get_mut(index).unwrap_or_else(|| beyond(index))
    }
}

/// Ends the run after a fault of the simulator: it used an index beyond the end of a table.
#[cold]
#[inline(never)]
fn beyond(index: usize) -> ! {
    panic!("index {index} lies beyond the end of a table");
}

impl<I, T> Deref for Array<I, T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<I, T> DerefMut for Array<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<'a, I, T> IntoIterator for &'a Array<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Array<I, T> {
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
            let mut array: Array<usize, usize> = (0..len).collect();
            array[len - 1] += 100;
            assert_eq!(array.len(), len);
            assert_eq!(array.iter().sum::<usize>(), (0..len).sum::<usize>() + 100);
            assert_eq!(array.get(len), None);
            assert_eq!((&array).into_iter().count() + (&mut array).into_iter().count(), 2 * len);
        }
        let five: Array<usize, i32> = Array::of(3, 5);
        assert_eq!(five.to_vec(), [3; 5]);
        assert!(Array::<usize, i32>::of(3, 0).is_empty());
        assert_eq!(five.numbers().rev().collect::<Vec<_>>(), [4, 3, 2, 1, 0]);
        assert_eq!(five.numbered().last(), Some((4, &3)));
    }

    // The tests below run in release builds too, where an index beyond the end once returned
    // another value.

    #[test]
    #[should_panic(expected = "index 3 lies beyond the end")]
    fn reading_beyond_the_end_panics() {
        let _ = Array::<usize, i32>::of(0, 3)[std::hint::black_box(3)];
    }

    #[test]
    #[should_panic(expected = "index 5 lies beyond the end")]
    fn writing_beyond_the_end_panics() {
        Array::<usize, i32>::of(0, 3)[std::hint::black_box(5)] = 1;
    }
}
