//! Memory of messages: a program's, seen through a datatype, and the library's own.
//!
//! A program promises once, when it creates a [`Memory`], that its memory stays valid. All uses of the `Memory` are
//! safe.
#![allow(unsafe_code)]

mod borrow;
mod image;
mod piece;
mod storage;
mod target;
mod view;

pub use borrow::{Incoming, Outgoing};
pub use view::Memory;

pub(crate) use image::Image;
pub(crate) use piece::{PackedCopy, Piece};
pub(crate) use storage::Storage;
pub use target::Exposed;
pub(crate) use target::{in_window, release, with_elements};
