//! The kernels compared with other libraries and with the limits of the machine, and the targets.
//!
//! `cargo bench -p kernels --bench kernels-speed [-- SECTION...]` runs every section, or those with names that begin as
//! given.

mod aligned;
mod corner_turn;
mod fft;
mod foldfft;
mod stones;
mod stopwatch;
mod targets;
mod yardstick;

use kernels::Instructions;
use targets::Targets;

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let (yardsticks, absent) = yardstick::load_all();
    println!("instructions: {}", Instructions::best());
    for reason in absent {
        println!("skipped: {reason}");
    }
    let mut targets = Targets::default();
    type Section<'a> = (&'a str, Box<dyn Fn(&mut Targets) + 'a>);
    let sections: Vec<Section> = vec![
        ("cache", Box::new(|targets| fft::in_cache(&yardsticks, targets))),
        ("memory", Box::new(|targets| fft::through_memory(&yardsticks, targets))),
        ("long", Box::new(|targets| fft::long(&yardsticks, targets))),
        ("accuracy", Box::new(|targets| fft::accuracy(&yardsticks, targets))),
        ("odd", Box::new(fft::odd_numbers)),
        ("turn", Box::new(corner_turn::against_copy)),
        ("fused", Box::new(corner_turn::fused)),
        ("foldfft", Box::new(foldfft::three_ways)),
        ("stones", Box::new(|_| stones::print())),
    ];
    for (name, run) in sections {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.starts_with(wanted.as_str())) {
            run(&mut targets);
        }
    }
    targets.print();
}
