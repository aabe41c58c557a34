//! The corner turn beside a plain copy, and fused with FFTs.

use kernels::fft::BlockFft;
use kernels::{Complex32, Complex64, corner_turn, corner_turn_in_place};

use crate::fft::signal;
use crate::stopwatch::{Contender, Race};
use crate::targets::Targets;

pub(crate) fn against_copy(targets: &mut Targets) {
    println!("\ncorner turn, GB/s written (twice that is moved)");
    for size in [128, 512, 1000, 1024, 2048, 4096] {
        let race = turn_race::<u64>(size, 0);
        let bytes = (size * size * 8) as f64;
        println!("{size:>6} x {size} of  8 B: {}", race.line(bytes));
        if size == 512 || size == 4096 {
            let ratio = race.seconds("copy").zip(race.seconds("turn"));
            let what = format!("corner turn {size} x {size} complex f32 / copy of the same bytes");
            targets.at_least(what, ratio.map(|(copy, turn)| copy / turn), 0.8);
        }
        println!("{size:>6} x {size} of  4 B: {}", turn_race::<u32>(size, 0).line(bytes / 2.0));
        let wide = turn_race(size, Complex64::new(0.0, 0.0));
        println!("{size:>6} x {size} of 16 B: {}", wide.line(bytes * 2.0));
    }
}

fn turn_race<T: Copy + Default>(size: usize, zero: T) -> Race {
    let source = vec![zero; size * size];
    let (mut turned, mut copied, mut in_place) = (source.clone(), source.clone(), source.clone());
    // A zeroed vector is one page of zeros, mapped often; writing makes it memory.
    let mut source = source;
    source.fill(std::hint::black_box(zero));
    in_place.fill(std::hint::black_box(zero));
    let source = &source;
    Race::run(vec![
        Contender::new("turn", move || {
            corner_turn(source, size, size, &mut turned).expect("it fits")
        }),
        Contender::new("copy", move || copied.copy_from_slice(source)),
        Contender::new("in place", move || {
            corner_turn_in_place(&mut in_place, size).expect("it fits")
        }),
    ])
}

pub(crate) fn fused(targets: &mut Targets) {
    println!("\nFFTs of all rows and corner turn, thousand matrices a second");
    for (length, rows) in [(16, 512), (64, 512), (128, 512), (512, 512), (1024, 1024)] {
        let input = signal(length * rows);
        let (mut output, mut output2) = (input.clone(), input.clone());
        let mut work = input.clone();
        let (mut fft, mut fft2) = (BlockFft::new(length).unwrap(), BlockFft::new(length).unwrap());
        let mut zeros = input.clone();
        zeros.fill(Complex32::new(0.0, 0.0));
        let zeros = &zeros;
        work.copy_from_slice(zeros);
        let race = Race::run(vec![
            Contender::new("fused", move || {
                fft.transform_turned(zeros, &mut output).expect("it fits")
            }),
            Contender::new("one after the other", move || {
                fft2.transform(&mut work).expect("it fits");
                corner_turn(&work, rows, length, &mut output2).expect("it fits");
            }),
        ]);
        println!("{rows:>6} rows of {length}: {}", race.line(1e6));
        if length == 512 {
            let ratio = race.seconds("one after the other").zip(race.seconds("fused"));
            let what = "512 FFTs of 512 points and corner turn, fused / one after the other";
            targets.at_least(what, ratio.map(|(apart, fused)| apart / fused), 1.3);
        }
    }
}
