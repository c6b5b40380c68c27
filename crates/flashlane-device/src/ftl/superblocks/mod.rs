//! Superblocks (`ftl.superblock`): the blocks of all planes of a set of dies are written, collected
//! and erased together, as one large block.
//!
//! Superblock `j` of a set of `n` planes consists of block `j` of each of these planes. Its pages
//! are allocated in *stripes*: page 0 of every plane, then page 1 of every plane, and so on. So any
//! stream of writes goes round all dies of the set. With `ftl.parity`, the last page of each stripe
//! holds the parity of the others, and its plane changes from one superblock to the next.
//!
//! The rest of the translation layer does not know of stripes. It sees a folded drive ([`fold()`]):
//! a set of dies looks like one plane, and superblocks look like blocks. Free pools, thresholds,
//! victims, pacing, wear levelling and the steady state are therefore those of block mode, in
//! superblocks. [`Stripes`] has what they need to know of the flash: the page that is next in a
//! stripe, the plane of a page, and how far the programs of each block of the flash are.
//!
//! Physical pages are numbered superblock by superblock, and inside a superblock block by block. So
//! the index of a page in its block of the flash is found as in block mode, and the scheduler needs
//! no case of its own.
//!
//! All flows that write to a set share its open superblocks: one for each stream.

mod config;
mod fold;
mod owners;
mod parity;
mod stripes;

pub use config::Superblock;
pub(in crate::ftl) use fold::{Folded, fold};
pub use fold::{data_pages, folded, problem};
pub(in crate::ftl) use owners::Owners;
pub(in crate::ftl) use stripes::Stripes;
