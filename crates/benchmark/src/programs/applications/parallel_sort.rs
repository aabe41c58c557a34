//! Numbers in order, by a master that merges and by samples.

use applications::Library;
use applications::sort::{MasterSort, SampleSort};
use contract::Result;

use super::{APPLICATION, boxed, cases, form, form_of, measure};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::Headline;

pub(in crate::programs) const PARALLEL_SORT: Benchmark = Benchmark {
    name: "parallel-sort",
    summary: "doubles in order: a master that merges, and a sort by samples",
    explains: "A vector of random doubles is sorted; the size is that of the vector: 32 MiB are 4 Mi numbers. \
        The form `master` is that of the paper: rank 0 distributes equal parts, every rank sorts one by quicksort, \
        and rank 0 merges the results; `master-hcs` does the same over HCS_LIB. The form `sample` is a current \
        one: the numbers are distributed over the ranks before and after, a sample determines the range of each \
        rank, and every number is sent to the rank of its range and sorted there. The best serial program is the \
        library's quicksort. All programs keep the input, so all copy it. Order and numbers are checked.",
    source: paper::SCALE.part("section 5"),
    headlines: &[Headline {
        words: "sort of doubles, best efficiency",
        metric: "efficiency",
        size_bytes: Some(SIZES[2]),
    }],
    cases: sorts,
    measure: run,
    ..APPLICATION
};

const SIZES: [u64; 3] = [512 << 10, 8 << 20, 32 << 20];
const NUMBER: u64 = 8;
const SAMPLE: &str = "sample";
const MASTER: &str = "master";
const MASTER_HCS: &str = "master-hcs";

fn sorts(scope: &Scope) -> Vec<Case> {
    let forms = [SAMPLE, MASTER, MASTER_HCS].map(|name| form(name, []));
    cases(scope, &SIZES, |size| size.max(NUMBER) / NUMBER * NUMBER, &forms)
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let (count, seed) = ((bench.step.size_bytes / NUMBER) as usize, bench.settings.seed);
    let with = |bench: &mut Bench<'_>, library| {
        MasterSort::new(bench.rank, count, library, seed).map(boxed)
    };
    let made = match &form_of(bench)[..] {
        SAMPLE => SampleSort::new(bench.rank, count, seed).map(boxed),
        MASTER => with(bench, Library::Messages),
        MASTER_HCS => with(bench, Library::Hcs),
        _ => return Err(bench.unknown(super::FORM)),
    };
    measure(bench, made)
}
