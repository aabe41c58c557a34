//! Writing to standard output.

mod agreement;
mod algorithms;
mod chain;
mod comparison;
mod entry;
mod flat;
mod group_table;
mod headlines;
mod history;
mod mapping;
mod osu;
mod overview;
mod pair_map;
mod paragraph;
mod publication;
mod real_time;
mod stdout;
mod summary;
mod table;
mod tables;

pub(crate) use comparison::{comparison_name, comparison_table};
pub(crate) use flat::{csv_header, csv_line, json_line};
pub(crate) use history::{change_in_words, history_overview, history_runs, machine_name};
pub(crate) use osu::Osu;
pub(crate) use overview::overview;
pub(crate) use paragraph::{labelled, wrapped};
pub(crate) use publication::{Median, Published, published};
pub(crate) use stdout::print;
pub(crate) use summary::tables_or_summary;
pub(crate) use table::table;
pub(crate) use tables::tables;
