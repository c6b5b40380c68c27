//! Typed numbers: a handle of a value in a slab, or the index of one of many similar things. Types
//! that are made here are not interchangeable, although each is only a number in memory.

use std::fmt::{Debug, Display};
use std::hash::Hash;

/// The handle of a value in a [`Slab`](crate::Slab). [`handle!`](crate::handle!) makes such types.
pub trait Handle: Copy + Ord + Hash + Debug + Display {
    /// No value. A slab never returns this handle.
    const NONE: Self;

    /// The handle with this number. Only slabs, tests and fields that hold handles of two kinds
    /// need it.
    fn new(number: u32) -> Self;

    /// The number of the handle: its place and its generation.
    fn get(self) -> u32;
}

/// The index of one of many similar things in an [`Array`](crate::Array).
/// [`number!`](crate::number) makes such types.
pub trait Number: Copy {
    /// The number as an index of a table.
    fn index(self) -> usize;

    /// The value with this index of a table. Panics if the number type is too narrow for it.
    fn at(index: usize) -> Self;
}

/// Positions that have no type of their own.
impl Number for usize {
    #[inline(always)]
    fn index(self) -> usize {
        self
    }

    #[inline(always)]
    fn at(index: usize) -> Self {
        index
    }
}

/// Makes a type for numbers of one kind. It has the size of the number, and nothing converts it
/// into another such type.
///
/// ```
/// flashlane_engine::number! {
///     /// A shelf. Range: `0..shelves`.
///     pub struct ShelfId(u16);
/// }
/// let shelf = ShelfId::new(3);
/// assert_eq!((shelf.get(), shelf.index(), shelf.to_string()), (3, 3, "3".to_owned()));
/// assert!(shelf < ShelfId::NONE);
/// ```
#[macro_export]
macro_rules! number {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($number:ty);) => {
        $crate::number! { @bare $(#[$meta])* $vis struct $name($number); }

        impl $name {
            /// The number as an index of a table.
            #[inline(always)]
            #[must_use]
            $vis const fn index(self) -> usize {
                self.0 as usize
            }

            /// The value with this index of a table. Panics if the number type is too narrow for
            /// it.
            #[inline(always)]
            #[must_use]
            $vis const fn at(index: usize) -> Self {
                assert!(index <= <$number>::MAX as usize, "an index fits its number");
                Self(index as $number)
            }

            /// The value `count` places further on.
            #[inline(always)]
            #[must_use]
            $vis const fn plus(self, count: $number) -> Self {
                Self(self.0 + count)
            }

            /// The distance from another value.
            #[inline(always)]
            #[must_use]
            $vis const fn since(self, other: Self) -> $number {
                self.0 - other.0
            }

            /// The first `count` values.
            #[inline]
            $vis fn first(
                count: $number,
            ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (0..count).map(Self)
            }
        }

        impl $crate::handle::Number for $name {
            #[inline(always)]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline(always)]
            fn at(index: usize) -> Self {
                Self::at(index)
            }
        }
    };
    (@bare $(#[$meta:meta])* $vis:vis struct $name:ident($number:ty);) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        $vis struct $name($number);

        impl $name {
            /// Stands for no value.
            $vis const NONE: Self = Self(<$number>::MAX);

            /// The value with this number.
            #[inline(always)]
            #[must_use]
            $vis const fn new(number: $number) -> Self {
                Self(number)
            }

            /// The number of this value.
            #[inline(always)]
            #[must_use]
            $vis const fn get(self) -> $number {
                self.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

/// Makes a type for the handles of one slab.
///
/// ```
/// flashlane_engine::handle! {
///     /// A guest, from arrival to departure.
///     pub struct GuestId(u32);
/// }
/// let mut guests: flashlane_engine::Slab<GuestId, &str> = flashlane_engine::Slab::new();
/// let ada = guests.insert("Ada");
/// assert_eq!(guests[ada], "Ada");
/// ```
///
/// The handle of one slab does not open another:
///
/// ```compile_fail,E0277
/// flashlane_engine::handle! { pub struct GuestId(u32); }
/// flashlane_engine::handle! { pub struct RoomId(u32); }
/// let mut guests: flashlane_engine::Slab<GuestId, &str> = flashlane_engine::Slab::new();
/// let _ = guests[RoomId::new(0)];
/// ```
#[macro_export]
macro_rules! handle {
    ($(#[$meta:meta])* $vis:vis struct $name:ident(u32);) => {
        $crate::number! { @bare $(#[$meta])* $vis struct $name(u32); }

        impl $crate::Handle for $name {
            const NONE: Self = Self::NONE;

            #[inline(always)]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline(always)]
            fn get(self) -> u32 {
                self.0
            }
        }
    };
}

#[cfg(test)]
pub(crate) mod test_id {
    crate::handle! {
        /// A value of a test.
        pub(crate) struct Id(u32);
    }
}

#[cfg(test)]
mod tests {
    use super::Handle;
    use super::test_id::Id;

    crate::number! {
        /// A narrow number.
        pub(crate) struct Narrow(u16);
    }

    #[test]
    fn a_type_is_as_wide_as_its_number_and_prints_it() {
        assert_eq!((size_of::<Id>(), size_of::<Narrow>()), (4, 2));
        assert_eq!(format!("{} {:?} {:#x?}", Narrow::new(7), Id::new(8), Id::new(9)), "7 8 0x9");
    }

    #[test]
    fn nothing_is_the_largest_number() {
        assert_eq!((Narrow::NONE.get(), Narrow::NONE.index()), (u16::MAX, 65_535));
        assert_eq!((Id::NONE.get(), <Id as Handle>::NONE), (u32::MAX, Id::new(u32::MAX)));
        assert!(Narrow::default() < Narrow::at(1));
        assert!(Narrow::first(3).eq([0, 1, 2].map(Narrow::new)));
        assert_eq!(Narrow::new(7).plus(2).since(Narrow::new(4)), 5);
    }

    #[test]
    #[should_panic(expected = "an index fits its number")]
    fn a_number_that_is_too_narrow_panics() {
        let _ = Narrow::at(std::hint::black_box(65_536));
    }
}
