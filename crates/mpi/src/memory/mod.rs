//! Memory that messages are made of: a program's, seen through a datatype, and our own.
//!
//! A program promises once, where it makes a [`Memory`], that its memory lasts. Everything that is done with a
//! `Memory` afterwards is safe.
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
