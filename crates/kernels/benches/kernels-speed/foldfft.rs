//! The foldfft in its three variants.

use kernels::Complex32;
use kernels::foldfft::{FoldFft, TYPICAL_SIZES, Variant, foldfft_operations};

use crate::stopwatch::{Contender, Race};
use crate::targets::Targets;

/// Number of complex words of input in a repeated instance.
const BLOCK: usize = 4096;

pub(crate) fn three_ways(targets: &mut Targets) {
    println!("\nfoldfft(n, f) in cache, nominal GFLOP/s");
    for (points, fold) in TYPICAL_SIZES {
        let instances = BLOCK / points;
        let input = vec![Complex32::new(0.5, -0.5); instances * points];
        let input = &input;
        let contender = |variant: Variant| {
            let weights = vec![Complex32::new(0.6, 0.8); fold];
            let mut plan = FoldFft::new(vec![0.25; points], weights, variant).expect("a size");
            let mut output = vec![Complex32::new(0.0, 0.0); instances * fold];
            Contender::new(variant.name(), move || {
                plan.compute(input, &mut output).expect("it fits")
            })
        };
        let race = Race::run(Variant::ALL.map(contender).into_iter().collect());
        let work = foldfft_operations(points, fold) * instances as f64;
        println!("{points:>6}, {fold:>3}: {}", race.line(work));
        if (points, fold) == (64, 8) {
            let ratio = race.seconds("plain").zip(race.seconds("blocked"));
            let ratio = ratio.map(|(plain, blocked)| plain / blocked);
            targets.at_least("foldfft(64, 8), blocked / plain", ratio, 7.0);
        }
    }
}
