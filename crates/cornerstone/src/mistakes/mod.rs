//! Mistakes of a program that is launched: their kinds, what was found in a run, and how it is told.

mod calls;
mod checked;
mod collected;
mod ends;
mod junit;
mod kind;
mod mistake;
mod page;
mod report;
mod report_file;
mod sarif;
mod suppressions;
mod table;

pub(crate) use collected::{Checked, Mistakes};
pub use kind::{Found, MistakeKind};
pub(crate) use mistake::{Mistake, Side};
pub use page::page;
pub use table::all;
pub(crate) use table::{kind_named, kind_of};
