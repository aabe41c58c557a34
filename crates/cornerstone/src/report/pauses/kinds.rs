//! The kinds of pauses of all processors. A kind that several processors have has one colour and one row.

use maud::{Markup, html};
use record::PauseKind;

use super::Lane;
use crate::wording::{quantity, whole_percent};

/// Largest difference between the periods of regular kinds of two processors that are the same, as a share. Their
/// lengths must agree within [`SAME_LENGTH`].
const SAME_PERIOD: f64 = 0.02;
/// Largest factor between lengths of the same kind.
const SAME_LENGTH: f64 = 2.0;

/// Kinds of a run.
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// Index in `kinds` for each lane and each of its own kinds.
    of_lane: Vec<Vec<usize>>,
}

/// A kind and the processors that have it.
struct Kind {
    /// The kind as the first processor has it.
    example: PauseKind,
    /// Lanes that have it, each with its index among the kinds of the lane.
    on: Vec<(usize, usize)>,
}

impl Kinds {
    pub(super) fn of(lanes: &[Lane<'_>]) -> Kinds {
        let mut kinds: Vec<Kind> = Vec::new();
        for (lane, kind) in lanes.iter().enumerate().flat_map(|(lane, of)| {
            of.sorted.kinds.iter().enumerate().map(move |(place, kind)| ((lane, place), kind))
        }) {
            match kinds.iter_mut().find(|one| are_alike(&one.example, kind)) {
                Some(one) => one.on.push(lane),
                None => kinds.push(Kind { example: kind.clone(), on: vec![lane] }),
            }
        }
        let order = |kind: &Kind| {
            let rank = if kind.example.regular { kind.example.period_us } else { 1e15 };
            (!kind.example.regular, rank + kind.example.length_min_us)
        };
        kinds.sort_by(|a, b| {
            let ((a_irregular, a), (b_irregular, b)) = (order(a), order(b));
            a_irregular.cmp(&b_irregular).then(a.total_cmp(&b))
        });
        let place =
            |lane: usize, own: usize| kinds.iter().position(|k| k.on.contains(&(lane, own)));
        let of_lane = lanes.iter().enumerate().map(|(lane, of)| {
            (0..of.sorted.kinds.len()).map(|own| place(lane, own).unwrap_or(0)).collect()
        });
        let of_lane = of_lane.collect();
        Kinds { kinds, of_lane }
    }

    /// Returns the number of kinds.
    pub(super) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the kind of a pause of a lane.
    pub(super) fn of_pause(&self, lane: usize, sorted_as: usize) -> usize {
        self.of_lane[lane][sorted_as]
    }

    /// Returns the name of its colour. All irregular kinds have the same colour, because their lengths distinguish
    /// them.
    pub(super) fn colour(&self, kind: usize) -> String {
        const COLOURS: usize = 6;
        match self.kinds[kind].example.regular {
            true => format!("kind-{}", kind % COLOURS),
            false => "kind-none".into(),
        }
    }

    /// Returns the kind in words.
    pub(super) fn words(&self, kind: usize) -> String {
        let example = &self.kinds[kind].example;
        match example.regular {
            true => format!("every {}", quantity(example.period_us, "us")),
            false => {
                let low = 10f64.powf(example.length_min_us.log10().floor());
                format!("irregular, {} to {}", quantity(low, "us"), quantity(10.0 * low, "us"))
            }
        }
    }

    pub(super) fn table(&self, lanes: &[Lane<'_>]) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label="Kinds of pauses" {
                table.kinds {
                    caption { "Kinds of pauses, by period and length" }
                    thead { tr {
                        @for heading in ["kind", "where", "count", "one in", "length", "from", "to", "of the time"] {
                            th scope="col" { (heading) }
                        }
                    } }
                    tbody { @for (place, kind) in self.kinds.iter().enumerate() {
                        (self.row(place, kind, lanes))
                    } }
                }
            }
        }
    }

    fn row(&self, place: usize, kind: &Kind, lanes: &[Lane<'_>]) -> Markup {
        let each = || kind.on.iter().map(|&(lane, own)| &lanes[lane].sorted.kinds[own]);
        let count: u64 = each().map(|own| own.count).sum();
        let looked_s: f64 = kind.on.iter().map(|&(lane, _)| lanes[lane].pauses.duration_s).sum();
        let lost_us: f64 = kind
            .on
            .iter()
            .flat_map(|&(lane, own)| {
                let lane = &lanes[lane];
                let of_it = lane.each.iter().zip(&lane.sorted.kind_of);
                of_it.filter(move |(_, sorted_as)| **sorted_as == own).map(|(p, _)| p.length_us)
            })
            .sum();
        let least = each().map(|own| own.length_min_us).fold(f64::INFINITY, f64::min);
        let most = each().map(|own| own.length_max_us).fold(0.0, f64::max);
        html! { tr {
            th scope="row" { span.swatch.(self.colour(place)) {} (self.words(place)) }
            td { (places(kind, lanes)) }
            td { (count) }
            td { (quantity(1e6 * looked_s / count.max(1) as f64, "us")) }
            td { (quantity(kind.example.length_median_us, "us")) }
            td { (quantity(least, "us")) }
            td { (quantity(most, "us")) }
            td { (whole_percent(lost_us / 1e6 / looked_s)) }
        } }
    }
}

fn places(kind: &Kind, lanes: &[Lane<'_>]) -> String {
    const NAMED: usize = 4;
    let mut on: Vec<usize> = kind.on.iter().map(|&(lane, _)| lane).collect();
    on.dedup();
    match on.len() {
        all if all == lanes.len() => "everywhere".into(),
        few if few <= NAMED => {
            on.iter().map(|&lane| lanes[lane].name.as_str()).collect::<Vec<_>>().join(", ")
        }
        many => format!("{many} of {} processors", lanes.len()),
    }
}

fn are_alike(a: &PauseKind, b: &PauseKind) -> bool {
    let decade = |kind: &PauseKind| kind.length_min_us.log10().floor();
    match (a.regular, b.regular) {
        (true, true) => a.agrees(b, 1.0 + SAME_PERIOD, SAME_LENGTH),
        (false, false) => decade(a) == decade(b),
        _ => false,
    }
}
