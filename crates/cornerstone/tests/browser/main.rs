//! Tests the report in a real browser: drawn, read with pointer and keys, copied, printed, in light and dark, on a
//! phone.
//!
//! The values that a chart shows are compared with the table under it, which other code wrote.

mod appearance;
mod charts;
mod chromium;
mod page;
mod stage;
#[path = "../synthetic/mod.rs"]
mod synthetic;
