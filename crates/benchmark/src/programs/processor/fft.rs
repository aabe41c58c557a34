//! The rate of short and long transforms, one at a time and in blocks.

use analysis::limits::{BoundRule, Precision};
use contract::{Buffer, Result, Work, WorkKind};
use kernels::Complex32;
use kernels::fft::{BlockFft, LibraryFft, check_forward, nominal_operations};

use super::{PROCESSOR, case, choice, failed, report_rate, timed};
use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::Benchmark;
use crate::paper;
use crate::presentation::{Headline, KeyFigure, View};

pub(in crate::programs) const FFT: Benchmark = Benchmark {
    name: "fft",
    summary: "rate of FFTs over their length, one at a time and in blocks (MITRE 3.1, 3.2)",
    explains: "One rank executes complex single-precision FFTs in place; the time is that of one transform, \
        the rate is nominal: 5 N log2 N operations. The method `one` is a library call for each transform, \
        `library` one call for a block of them, `block` our block FFT. A block has 1024 points, or one transform \
        if that is longer. A repeated instance transforms the same block again, in cache; a multiple instance goes \
        through 64 MiB, so every block comes from memory. The data are zeros, which do not change; the results of \
        random data are checked before. The library is RustFFT.",
    source: paper::MITRE_METHODOLOGY.part("figures 3.1 and 3.3"),
    bound: BoundRule::Peak(Precision::Single),
    headlines: &[Headline { words: "fastest FFT", metric: "rate", size_bytes: None }],
    key_figures: &[KeyFigure::Fft.after(0)],
    view: View::TransformLengths,
    cases,
    measure,
    ..PROCESSOR
};

/// The paper's lengths, and the one between its two sets.
const LENGTHS: [u64; 10] = [8, 16, 32, 64, 128, 512, 1024, 2048, 4096, 8192];
/// Number of points of a block, as in the paper.
const BLOCK: usize = 1024;
const MULTIPLE_BYTES: usize = 64 << 20;

#[derive(Clone, Copy)]
enum Variant {
    One,
    Library,
    Block,
}

impl Variant {
    const ALL: [Variant; 3] = [Variant::One, Variant::Library, Variant::Block];

    fn name(self) -> &'static str {
        match self {
            Variant::One => "one",
            Variant::Library => "library",
            Variant::Block => "block",
        }
    }
}

/// Number of bytes that are traversed, by the name of the instance; 0 for a single block.
const INSTANCES: [(&str, usize); 2] = [("repeated", 0), ("multiple", MULTIPLE_BYTES)];

fn cases(_: &Scope) -> Vec<Case> {
    let mut cases = Vec::new();
    for (instance, _) in INSTANCES {
        for variant in Variant::ALL {
            cases.extend(LENGTHS.map(|points| {
                let (instance, variant_name) = (instance.into(), variant.name().into());
                case([("instance", instance), ("way", variant_name), ("points", points.into())])
            }));
        }
    }
    cases
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let points = bench.number("points")?;
    let variant = choice(bench, "way", &Variant::ALL, Variant::name)?;
    let (_, bytes) = choice(bench, "instance", &INSTANCES, |(name, _)| name)?;
    let block = BLOCK.max(points);
    let transforms = block / points;
    let mut transform = transformer(variant, points)?;
    check_forward(points, bench.settings.seed, &mut transform).map_err(failed)?;

    let mut buffer = Buffer::try_zeroed(bytes.max(block * size_of::<Complex32>()))?;
    let data = buffer.elements_mut::<Complex32>();
    let blocks = data.len() / block;
    let mut next = 0;
    let operations = nominal_operations(points) * transforms as f64;
    let work = Work::new(WorkKind::Fft, operations as u64);
    let time = timed(bench, work, transforms as u64, || {
        let at = next * block;
        next = (next + 1) % blocks;
        transform(&mut data[at..at + block])
    })?;
    match time {
        Some(time) => report_rate(bench, time, "MFLOP/s", nominal_operations(points)),
        None => Ok(()),
    }
}

type Transform = Box<dyn FnMut(&mut [Complex32]) -> kernels::Result<()>>;

fn transformer(variant: Variant, points: usize) -> Result<Transform> {
    let mut library = LibraryFft::new(points).map_err(failed)?;
    let mut block = BlockFft::new(points).map_err(failed)?;
    Ok(match variant {
        Variant::One => {
            Box::new(move |data| data.chunks_mut(points).try_for_each(|one| library.transform(one)))
        }
        Variant::Library => Box::new(move |data| library.transform(data)),
        Variant::Block => Box::new(move |data| block.transform(data)),
    })
}
