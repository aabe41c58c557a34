//! The corner turn compared with a plain copy, and fused with FFTs.

use kernels::fft::BlockFft;
use kernels::{Complex32, Complex64, corner_turn, corner_turn_in_place};

use crate::aligned::Aligned;
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

fn turn_race<T: Copy>(size: usize, zero: T) -> Race {
    let matrix = || Aligned::new(size * size, zero);
    let (mut source, mut turned, mut copied, mut in_place) =
        (matrix(), matrix(), matrix(), matrix());
    let source = &*source.all();
    Race::run(vec![
        Contender::new("turn", move || {
            corner_turn(source, size, size, turned.all()).expect("it fits");
        }),
        Contender::new("copy", move || copied.all().copy_from_slice(source)),
        Contender::new("in place", move || {
            corner_turn_in_place(in_place.all(), size).expect("it fits");
        }),
    ])
}

pub(crate) fn fused(targets: &mut Targets) {
    println!("\nFFTs of all rows and corner turn, thousand matrices a second");
    for (length, rows) in
        [(16, 512), (64, 512), (128, 512), (256, 256), (512, 512), (1024, 1024), (2048, 512)]
    {
        let matrix = || Aligned::new(length * rows, Complex32::new(0.0, 0.0));
        let (mut input, mut work, mut output, mut turned) =
            (matrix(), matrix(), matrix(), matrix());
        let input = &*input.all();
        let mut fft = BlockFft::new(length).expect("a length");
        let mut same_fft = BlockFft::new(length).expect("a length");
        let race = Race::run(vec![
            Contender::new("fused", move || {
                fft.transform_turned(input, turned.all()).expect("it fits");
            }),
            Contender::new("one after the other", move || {
                same_fft.transform(work.all()).expect("it fits");
                corner_turn(work.all(), rows, length, output.all()).expect("it fits");
            }),
        ]);
        println!("{rows:>6} rows of {length}: {}", race.line(1e6));
        if length == 512 {
            let ratio = race.seconds("one after the other").zip(race.seconds("fused"));
            let what = "512 FFTs of 512 points and corner turn, fused / one after the other";
            targets.at_least(what, ratio.map(|(separate, fused)| separate / fused), 1.3);
        }
    }
}
