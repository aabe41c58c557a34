//! The classic processor benchmarks, in the units of the papers, and the peak of the core.

use kernels::classic::Classic;
use kernels::peak::{self, Precision};
use kernels::stream::{Loop, Stream};
use kernels::{dhrystone, linpack, whetstone};

use crate::stopwatch::{Contender, Race};

/// Returns the maximum number of operations per second of the core.
pub(crate) fn peak_per_s(precision: Precision) -> f64 {
    const ROUNDS: u64 = 100_000;
    let work = peak::run(precision, ROUNDS) as f64;
    let race = Race::run(vec![Contender::new("peak", move || {
        std::hint::black_box(peak::run(precision, ROUNDS));
    })]);
    work / race.seconds("peak").expect("it took part")
}

fn seconds(body: impl FnMut()) -> f64 {
    Race::run(vec![Contender::new("", body)]).seconds("").expect("it took part")
}

pub(crate) fn print() {
    println!("\nprocessor benchmarks");
    let double = peak_per_s(Precision::Double);
    println!("peak, single precision: {:.1} GFLOP/s", peak_per_s(Precision::Single) / 1e9);
    println!("peak, double precision: {:.1} GFLOP/s", double / 1e9);
    for program in Classic::ALL {
        let repetitions = program.repetitions();
        let s = seconds(|| assert!(program.run(repetitions).expect("a right result") > 0));
        println!("{:<17} {s:.6} s for {repetitions} repetitions", program.name());
    }
    let s = seconds(|| assert!(whetstone::run(10).is_ok()));
    println!(
        "whetstone         {:.0} million Whetstones/s",
        10.0 * whetstone::INSTRUCTIONS_PER_UNIT as f64 / s / 1e6
    );
    let s = seconds(|| dhrystone::run(10_000).expect("right results"));
    println!("dhrystone         {:.2} million Dhrystones/s", 1e4 / s / 1e6);
    for size in [100, 1000] {
        let mut system = linpack::System::new(size).expect("equations");
        let s = seconds(|| system.solve().expect("a regular matrix"));
        let rate = linpack::nominal_operations(size) / s;
        let residual = system.residual().expect("a right solution");
        let share = 100.0 * rate / double;
        println!(
            "linpack {size:<9} {:.0} MFLOP/s, {share:.1} % of the peak, residual {residual:.2}",
            rate / 1e6
        );
    }
    let mut stream = Stream::new(16 << 20);
    for which in Loop::ALL {
        let s = seconds(|| stream.run(which));
        let bytes = (which.bytes_per_element() * stream.elements() as u64) as f64;
        println!("stream {:<10} {:.0} MB/s", which.name(), bytes / s / 1e6);
    }
    stream.check().expect("right elements");
}
