//! Reduction operations, which combine the elements of several ranks.

mod arithmetic;
mod predefined;
mod reduction;
mod user;

pub(crate) use arithmetic::{CODED, Coded, HAS_LONG_DOUBLE, short_reduction, word_bytes_of};
pub use predefined::Predefined;
pub use reduction::{Operation, Reduction};
pub use user::UserOperation;
