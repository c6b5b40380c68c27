//! Memory in place of mappings for WebAssembly, which has none: nothing is shared, and no file is
//! mapped.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

/// Bytes that start as zeros.
#[derive(Debug)]
pub(crate) struct MmapMut(Vec<u8>);

impl MmapMut {
    pub(crate) fn map_anon(len: usize) -> io::Result<Self> {
        Ok(Self(vec![0; len]))
    }
}

impl Deref for MmapMut {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for MmapMut {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Takes the place of the options of a mapping.
#[derive(Debug, Default)]
pub(crate) struct MmapOptions;

impl MmapOptions {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn offset(&mut self, _offset: u64) -> &mut Self {
        self
    }

    pub(crate) fn len(&mut self, _len: usize) -> &mut Self {
        self
    }

    pub(crate) fn no_reserve_swap(&mut self) -> &mut Self {
        self
    }

    /// Fails, because there are no mappings.
    ///
    /// # Safety
    ///
    /// Nothing is mapped.
    #[expect(unsafe_code, reason = "the name of the library's function")]
    pub(crate) unsafe fn map_mut(&self, _file: &File) -> io::Result<MmapMut> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Fails, because there are no mappings.
    ///
    /// # Safety
    ///
    /// Nothing is mapped.
    #[expect(unsafe_code, reason = "the name of the library's function")]
    pub(crate) unsafe fn map_copy(&self, _file: &File) -> io::Result<MmapMut> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
