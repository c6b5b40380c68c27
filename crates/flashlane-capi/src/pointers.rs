//! All unsafe code of the crate: pointers from C programs become references, slices and texts.
//!
//! A pointer that is not NULL cannot be checked. Every function here relies on the header's
//! contract about what it points to.

use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use crate::error::{Failure, Status};
use crate::types::{Completion, Config};

fn wrong(text: String) -> Failure {
    Failure::new(Status::Argument, text)
}

/// An argument that may not be NULL.
pub(crate) fn needed<T>(argument: Option<T>, name: &str) -> Result<T, Failure> {
    argument.ok_or_else(|| wrong(format!("{name}: found NULL, allowed: a valid pointer")))
}

/// The value of a handle. The header lets several threads call with one handle, so the reference is
/// shared, and the lock of the drive decides.
pub(crate) fn shared<'a, T>(handle: Option<NonNull<T>>, name: &str) -> Result<&'a T, Failure> {
    let handle = needed(handle, name)?;
    // SAFETY: by the header, a handle is one of this library that has not been freed.
    Ok(unsafe { handle.as_ref() })
}

/// The destination of the completions of a call.
pub(crate) struct Buffer<'a> {
    places: &'a mut [MaybeUninit<Completion>],
    used: usize,
}

impl Buffer<'_> {
    /// The places from a pointer on; at least one.
    pub(crate) fn new(
        first: Option<NonNull<MaybeUninit<Completion>>>,
        capacity: usize,
    ) -> Result<Self, Failure> {
        let first = needed(first, "completions")?;
        let most = isize::MAX as usize / size_of::<Completion>();
        if capacity == 0 || capacity > most {
            return Err(wrong(format!("capacity: found {capacity}, allowed: 1 to {most}")));
        }
        // SAFETY: by the header, `first` points to `capacity` completions that the caller owns and
        // does not use during the call. They may be uninitialised.
        let places = unsafe { slice::from_raw_parts_mut(first.as_ptr(), capacity) };
        Ok(Self { places, used: 0 })
    }

    /// Places that are left.
    pub(crate) fn left(&self) -> usize {
        self.places.len() - self.used
    }

    /// Places that are used.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Uses the next place.
    pub(crate) fn push(&mut self, completion: Completion) {
        self.places[self.used].write(completion);
        self.used += 1;
    }
}

/// Writes values to an array of the caller, as many as it has places. An array without places may
/// be NULL.
pub(crate) fn fill<T>(
    first: Option<NonNull<MaybeUninit<T>>>,
    capacity: usize,
    values: impl Iterator<Item = T>,
    name: &str,
) -> Result<(), Failure> {
    if capacity == 0 {
        return Ok(());
    }
    let first = needed(first, name)?;
    let most = isize::MAX as usize / size_of::<T>();
    if capacity > most {
        return Err(wrong(format!("capacity: found {capacity}, allowed: 0 to {most}")));
    }
    // SAFETY: by the header, `first` points to `capacity` elements that the caller owns and does
    // not use during the call. They may be uninitialised.
    let places = unsafe { slice::from_raw_parts_mut(first.as_ptr(), capacity) };
    for (place, value) in places.iter_mut().zip(values) {
        place.write(value);
    }
    Ok(())
}

/// The text at a pointer; `None` for NULL.
pub(crate) fn text<'a>(pointer: *const c_char, name: &str) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by the header, texts end with a zero byte and do not change during the call.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    let text = bytes.to_str();
    text.map(Some).map_err(|error| wrong(format!("{name}: found text that is not UTF-8: {error}")))
}

/// The elements of an array.
pub(crate) fn array<'a, T>(first: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    let most = isize::MAX as usize / size_of::<T>();
    if first.is_null() || count > most {
        let found = if first.is_null() { "NULL" } else { "an array" };
        let text = format!("{name}: found {found} with {count} elements, allowed: at most {most}");
        return Err(wrong(text));
    }
    // SAFETY: by the header, `first` points to `count` elements that do not change during the call.
    Ok(unsafe { slice::from_raw_parts(first, count) })
}

/// The configuration at a pointer.
pub(crate) fn config(pointer: *const Config) -> Result<Config, Failure> {
    let pointer = needed(NonNull::new(pointer.cast_mut()), "config")?;
    // SAFETY: by the header, the first field is there in every version of the structure.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size != size_of::<Config>() {
        return Err(wrong(format!(
            "config.struct_size: found {size}, allowed: {}, which is sizeof(flashlane_config) in \
             version {} of the binary interface",
            size_of::<Config>(),
            crate::FLASHLANE_ABI_VERSION
        )));
    }
    // SAFETY: the structure has its full size.
    Ok(unsafe { pointer.read() })
}

/// Gives a text away, to be freed with [`free_text`].
pub(crate) fn give_text(text: String) -> Result<NonNull<c_char>, Failure> {
    let text =
        CString::new(text).map_err(|_| Failure::new(Status::Output, "the text has a zero byte"))?;
    Ok(NonNull::new(text.into_raw()).expect("memory is not at address 0"))
}

/// Frees a text.
pub(crate) fn free_text(text: NonNull<c_char>) {
    // SAFETY: by the header, the text comes from `give_text` and has not been freed.
    drop(unsafe { CString::from_raw(text.as_ptr()) });
}
