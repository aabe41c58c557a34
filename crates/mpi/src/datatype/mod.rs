//! Datatypes: the bytes of memory that form an element.
//!
//! A type is kept flat, as runs of equal basic elements in the order of its type map. Adjacent runs are merged.

mod array;
mod builder;
mod create;
mod element;
mod fortran;
mod in_portable_form;
mod kind;
mod layout;
mod portable;
mod signature;

pub use element::Element;
pub use kind::Kind;
pub use signature::Signature;

pub use layout::{Construction, Datatype, Distribution, Order, Run, Spread, Unit};
