//! What is written to standard output.

mod agreement;
mod chain;
mod findings;
mod flat;
mod group_table;
mod headlines;
mod osu;
mod paragraph;
pub(crate) mod quantity;
mod real_time;
mod stdout;
mod table;

pub(crate) use chain::chain_cost;
pub(crate) use findings::findings;
pub(crate) use flat::{csv_header, csv_line, json_line};
pub(crate) use osu::Osu;
pub(crate) use paragraph::{labelled, wrapped};
pub(crate) use real_time::outcome;
pub(crate) use stdout::print;
pub(crate) use table::table;
