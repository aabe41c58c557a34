//! `fit --loggp`: the parameters of calls from few ranks, and their prediction errors for more ranks.

use std::collections::BTreeMap;

use analysis::model::Series;
use analysis::model::loggp::Packet;
use analysis::model::loggp_fit::{CallModel, CallTime, Growth, LargestError, fit};
use record::Parameters;

use crate::failure::Failure;
use crate::output::table;
use crate::wording::{percent, quantity, ranks, significant, size};

/// Maximum number of ranks in the fit of parameters. Times of more ranks are predicted.
const FITTED_RANKS_MAX: usize = 4;
/// Shortest payload. The overheads include its transfer.
const PAYLOAD_MIN_BYTES: u64 = 4;

/// Returns the models of all calls of a run that was measured on several numbers of ranks.
pub(super) fn models(series: &[Series], packet_bytes: u64) -> Result<String, Failure> {
    let packet = Packet { payload_min_bytes: PAYLOAD_MIN_BYTES, payload_max_bytes: packet_bytes };
    let mut calls: BTreeMap<(&str, &Parameters), Vec<CallTime>> = BTreeMap::new();
    for one in series.iter().filter(|one| one.metric == "time" && one.ranks >= 2) {
        let time = |point: &analysis::model::Point| CallTime {
            ranks: one.ranks,
            size_bytes: point.size_bytes,
            time_us: point.median_us,
        };
        let times = one.points.iter().filter(|point| point.size_bytes > 0).map(time);
        calls.entry((one.benchmark.as_str(), &one.parameters)).or_default().extend(times);
    }
    let (mut rows, mut validated, mut refused) = (Vec::new(), Vec::new(), String::new());
    for ((call, parameters), times) in &calls {
        let words: Vec<_> = parameters.values().map(ToString::to_string).collect();
        let name = format!("{call} {}", words.join(" ")).trim_end().to_owned();
        let (few, more): (Vec<CallTime>, Vec<CallTime>) =
            times.iter().copied().partition(|time: &CallTime| time.ranks <= FITTED_RANKS_MAX);
        match fit(&few, packet) {
            Ok(model) => {
                rows.push(row(&name, &model));
                validated.push(validation(&name, &model, &few, &more));
            }
            Err(why) => refused += &format!("  {name}: not fitted: {why}\n"),
        }
    }
    if rows.is_empty() {
        return Err(Failure::failed(format!(
            "no call of the run can be fitted; this needs times of several sizes on 2 to {FITTED_RANKS_MAX} ranks\n{refused}"
        ))
        .hint("measure them: cornerstone run ping-pong broadcast allgather --ranks 2,3,4,8"));
    }
    let header = ["call", "o", "more", "g, ns/B", "more", "o_p", "G, ns/B", "more", "each more is"];
    let text = format!(
        "LogGP by packets of {}, from 2 to {FITTED_RANKS_MAX} ranks: t = o + first g + packets o_p + rest G, and of each\n\
         but o_p so much more for each more.\n\n{}\n",
        size(packet_bytes),
        table(&header.map(String::from), 1, rows)
    );
    let header = ["largest error", "fitted", "more ranks", "where"].map(String::from);
    let text = text + &table(&header, 1, validated);
    Ok(if refused.is_empty() { text } else { format!("{text}\n{refused}") })
}

fn row(name: &str, model: &CallModel) -> Vec<String> {
    let ns = |us_per_byte: f64| significant(1e3 * us_per_byte);
    vec![
        name.into(),
        quantity(model.overhead_us, "us"),
        quantity(model.overhead_us_each_more, "us"),
        ns(model.gap_us_per_byte),
        ns(model.gap_us_per_byte_each_more),
        quantity(model.packet_overhead_us, "us"),
        ns(model.long_gap_us_per_byte),
        ns(model.long_gap_us_per_byte_each_more),
        match model.growth {
            Growth::Ranks => "a rank".into(),
            Growth::Doublings => "a doubling".into(),
        },
    ]
}

fn validation(name: &str, model: &CallModel, few: &[CallTime], more: &[CallTime]) -> Vec<String> {
    let error = |found: Option<LargestError>| {
        found.map_or("-".into(), |error| percent(error.relative.abs()))
    };
    let (fitted, predicted) = (model.largest_error(few), model.largest_error(more));
    let place = predicted.or(fitted).map_or_else(String::new, |error| {
        let direction = if error.relative > 0.0 { "too long" } else { "too short" };
        format!("{} on {}: {direction}", size(error.at.size_bytes), ranks(error.at.ranks))
    });
    vec![name.into(), error(fitted), error(predicted), place]
}
