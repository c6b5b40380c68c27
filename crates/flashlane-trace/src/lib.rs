//! Block I/O trace readers.
