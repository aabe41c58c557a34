//! Numbers and results in words, the same in the terminal and in the report.

mod bottleneck;
mod chain_cost;
mod forecast;
mod gain;
mod judged;
mod machine_states;
mod numbers;
mod pause_summary;
mod period_search;
mod phrases;
mod slow_pairs;

pub(crate) use bottleneck::{change, limit_of_chain};
pub(crate) use chain_cost::chain_cost;
pub(crate) use forecast::{explained_gains, forecast, without_pauses};
pub(crate) use gain::gains;
pub(crate) use judged::{judged_times, late};
pub(crate) use machine_states::{stages_applied, states_met};
pub(crate) use numbers::{
    about_size, exact_change, percent, precise, quantity, ratio_change, significant, size,
    unit_name, whole_percent,
};
pub(crate) use pause_summary::pause_summary;
pub(crate) use period_search::{holds, outcome};
pub(crate) use phrases::{between, counted, pause_kind, range, ranks, ranks_of, wait};
pub(crate) use slow_pairs::{place_of_pairs, slow_pairs};
