//! An elliptic equation by successive over-relaxation.

use applications::relaxation::{Check, Cut, Partitions, Relaxation};
use contract::Result;

use super::{APPLICATION, boxed, cases, form, form_of, measure};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::Headline;

pub(in crate::programs) const SOR: Benchmark = Benchmark {
    name: "sor",
    summary: "an elliptic equation on a square: strips and blocks, three checks of convergence",
    explains: "Laplace's equation on a square with a known solution, by successive over-relaxation in \
        red-black order until no point changes by more than 10^-9; the size is that of the grid: 128 KiB and 512 \
        KiB are 128 x 128 and 256 x 256 points. The form is the division of the grid into strips or blocks, and \
        `partitions` is the number of these on each rank. Neighbours exchange edges after each colour. `check` is \
        the test of convergence: `synchronous`, every 10 iterations all ranks report to rank 0 and wait; \
        `asynchronous`, they report and continue, and the answer arrives with the edges some iterations later; \
        `statistical`, as the first, but the rate of change determines the next check. `checking` is the share of \
        the time spent on this. The best serial program has one partition. The solution must be close to the known \
        one, and equal to that of the serial program in every bit.",
    source: paper::HYPERCUBE.part("section 6"),
    headlines: &[Headline {
        words: "over-relaxation, best efficiency",
        metric: "efficiency",
        size_bytes: Some(bytes(ORDERS[1])),
    }],
    cases: solvers,
    measure: run,
    ..APPLICATION
};

const ORDERS: [u64; 2] = [128, 256];
const PARTITIONS: &str = "partitions";
const CHECK: &str = "check";

const fn bytes(order: u64) -> u64 {
    order * order * 8
}

fn order(bytes: u64) -> u64 {
    (bytes / 8).isqrt().max(1)
}

fn solvers(scope: &Scope) -> Vec<Case> {
    let of = |cut: Cut, partitions: u64, check: Check| {
        form(cut.name(), [(PARTITIONS, partitions.into()), (CHECK, check.name().into())])
    };
    let few_or_many = Cut::ALL.into_iter().flat_map(|cut| [1, 4, 16].map(|count| (cut, count)));
    let mut forms: Vec<_> =
        few_or_many.map(|(cut, count)| of(cut, count, Check::Synchronous)).collect();
    forms.extend(Check::ALL[1..].iter().map(|&check| of(Cut::Strips, 1, check)));
    cases(scope, &ORDERS.map(bytes), |size| bytes(order(size)), &forms)
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let order = order(bench.step.size_bytes) as usize;
    let form = form_of(bench);
    let Some(cut) = Cut::ALL.into_iter().find(|cut| cut.name() == form) else {
        return Err(bench.unknown(super::FORM));
    };
    let wanted = bench.step.parameters.get(CHECK).map(ToString::to_string).unwrap_or_default();
    let Some(check) = Check::ALL.into_iter().find(|check| check.name() == wanted) else {
        return Err(bench.unknown(CHECK));
    };
    let partitions = Partitions { cut, per_rank: bench.number(PARTITIONS)? };
    let made = Relaxation::new(bench.rank, order, partitions, check).map(boxed);
    measure(bench, made)
}
