//! Block FFTs compared with RustFFT, FFTW and MKL.

use kernels::fft::{BlockFft, nominal_operations};
use kernels::peak::Precision;
use kernels::{Complex32, Complex64, Instructions};
use rustfft::FftPlanner;

use crate::aligned::Aligned;
use crate::stones;
use crate::stopwatch::{Contender, Race};
use crate::targets::Targets;
use crate::yardstick::Yardstick;

/// Number of complex words of a block, as in the paper: it stays in the first-level cache.
const BLOCK: usize = 1024;
const SHORT: [usize; 7] = [2, 4, 8, 16, 32, 64, 128];
const LONG: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];
const MULTIPLE_INSTANCE_BYTES: usize = 64 << 20;

pub(crate) fn signal(count: usize) -> Vec<Complex32> {
    let wave = |at: usize| Complex32::new((at as f32 * 0.7).sin(), (at as f32 * 1.3).cos());
    (0..count).map(wave).collect()
}

/// Returns zeros: repeated in-place transforms of anything else grow until they overflow.
fn zeros(count: usize) -> Aligned<Complex32> {
    Aligned::new(count, Complex32::new(0.0, 0.0))
}

pub(crate) fn in_cache(yardsticks: &[Box<dyn Yardstick>], targets: &mut Targets) {
    println!("\nFFTs in cache, blocks of {BLOCK} points in place, nominal GFLOP/s");
    let peak = stones::peak_per_s(Precision::Single);
    println!("peak of the core: {:.1}", peak / 1e9);
    let thousand = race(yardsticks, 1024, BLOCK);
    for length in SHORT {
        let race = race(yardsticks, length, BLOCK);
        println!(
            "{length:>6}: {}",
            race.line(nominal_operations(length) * (BLOCK / length) as f64)
        );
        let ours = race.seconds("ours");
        if (8..=64).contains(&length) {
            let ratio = race.best(&["FFTW", "MKL"]).zip(ours).map(|(best, ours)| best / ours);
            let what = format!("block FFT of {length}, in cache / the better of FFTW and MKL");
            targets.at_least(what, ratio, 1.5);
        }
        if length == 8 {
            let rate = |length, seconds| nominal_operations(length) / length as f64 / seconds;
            let ours = ours.map(|seconds| rate(8, seconds));
            let thousand = thousand.seconds("ours").map(|seconds| rate(1024, seconds));
            let ratio = ours.zip(thousand).map(|(short, long)| short / long);
            targets.at_least("block FFT of 8 / FFT of 1024, nominal rate", ratio, 0.7);
        }
    }
    println!("longer, in blocks of 16:");
    for length in [128, 256, 512, 1024] {
        let race = race(yardsticks, length, 16 * length);
        println!("{length:>6}: {}", race.line(16.0 * nominal_operations(length)));
    }
    println!("one transform at a time:");
    for length in SHORT {
        let race = race(yardsticks, length, length);
        println!("{length:>6}: {}", race.line(nominal_operations(length)));
    }
}

pub(crate) fn long(yardsticks: &[Box<dyn Yardstick>], targets: &mut Targets) {
    println!("\nLong FFTs in cache, one at a time, nominal GFLOP/s");
    for length in LONG {
        let race = race(yardsticks, length, length);
        println!("{length:>6}: {}", race.line(nominal_operations(length)));
        let ours = race.seconds("ours");
        let ratio = race.best(&["FFTW", "MKL"]).zip(ours).map(|(best, ours)| best / ours);
        if length == 256 {
            continue;
        }
        targets.at_least(format!("FFT of {length} / the better of FFTW and MKL"), ratio, 0.8);
    }
}

pub(crate) fn through_memory(yardsticks: &[Box<dyn Yardstick>], targets: &mut Targets) {
    println!(
        "\nFFTs through memory, 64 MiB in place, nominal GFLOP/s; a copy moves the same bytes"
    );
    let points = MULTIPLE_INSTANCE_BYTES / size_of::<Complex32>();
    let mut source = zeros(points);
    let source = &*source.all();
    let mut copy = zeros(points);
    for length in [8, 16, 32, 64, 128, 512, 1024, 8192] {
        let mut fft = BlockFft::new(length).expect("a length");
        let mut ours = zeros(points);
        let mut theirs = zeros(points);
        let mut contenders = vec![
            Contender::new("ours", || fft.transform(ours.all()).expect("whole transforms")),
            Contender::new("copy", || copy.all().copy_from_slice(source)),
        ];
        let theirs = std::cell::RefCell::new(theirs.all());
        for yardstick in yardsticks {
            let plan = yardstick.plan(length, points / length, &mut theirs.borrow_mut());
            let theirs = &theirs;
            let run = move || plan.run(&mut theirs.borrow_mut());
            contenders.push(Contender::new(yardstick.name(), run));
        }
        let race = Race::run(contenders);
        println!(
            "{length:>6}: {}",
            race.line(nominal_operations(length) * (points / length) as f64)
        );
        if length == 8 {
            let ratio = race.seconds("copy").zip(race.seconds("ours"));
            let ratio = ratio.map(|(copy, ours)| copy / ours);
            targets.at_least("block FFT of 8 through 64 MiB / a copy of 64 MiB", ratio, 0.95);
        }
    }
}

fn race(yardsticks: &[Box<dyn Yardstick>], length: usize, points: usize) -> Race {
    let mut data = zeros(points);
    let mut contenders = Vec::new();
    for set in Instructions::ALL.into_iter().filter(|set| set.is_available()) {
        let mut fft = BlockFft::with_instructions(length, set).expect("instructions are there");
        let best = set == Instructions::best();
        if !best && !fft.is_blocked() {
            continue;
        }
        let mut data = zeros(points);
        let run = move || fft.transform(data.all()).expect("whole transforms");
        contenders.push(Contender::new(if best { "ours" } else { set.name() }, run));
    }
    let rust = FftPlanner::new().plan_fft_forward(length);
    let mut scratch = zeros(rust.get_inplace_scratch_len());
    let mut rust_data = zeros(points);
    let run = move || rust.process_with_scratch(rust_data.all(), scratch.all());
    contenders.push(Contender::new("RustFFT", run));
    for yardstick in yardsticks {
        let plan = yardstick.plan(length, points / length, data.all());
        let mut data = zeros(points);
        contenders.push(Contender::new(yardstick.name(), move || plan.run(data.all())));
    }
    Race::run(contenders)
}

/// Prints errors relative to double precision, and the cost of numbers that are not normal.
pub(crate) fn accuracy(yardsticks: &[Box<dyn Yardstick>], targets: &mut Targets) {
    println!("\nrelative RMS error of FFTs against double precision, in units of 1e-8");
    for length in SHORT.into_iter().chain(LONG) {
        let batch = (1 << 16) / length;
        let input = signal(batch * length);
        let mut truth: Vec<Complex64> =
            input.iter().map(|c| Complex64::new(c.re.into(), c.im.into())).collect();
        FftPlanner::new().plan_fft_forward(length).process(&mut truth);
        let mut ours = input.clone();
        let mut fft = BlockFft::new(length).expect("a length");
        fft.transform(&mut ours).expect("whole transforms");
        let our_error = relative_rms_error(&ours, &truth);
        print!("{length:>6}: ours {:.2}", our_error * 1e8);
        for yardstick in yardsticks {
            let mut data = input.clone();
            let plan = yardstick.plan(length, batch, &mut data);
            data.copy_from_slice(&input);
            plan.run(&mut data);
            let error = relative_rms_error(&data, &truth);
            print!("  {} {:.2}", yardstick.name(), error * 1e8);
            if yardstick.name() == "FFTW" {
                let what = format!("3 x the error of FFTW / the error of the FFT of {length}");
                targets.at_least(what, Some(3.0 * error / our_error), 1.0);
            }
        }
        println!();
    }
}

fn relative_rms_error(found: &[Complex32], truth: &[Complex64]) -> f64 {
    let widen = |c: &Complex32| Complex64::new(c.re.into(), c.im.into());
    let error: f64 = found.iter().zip(truth).map(|(a, b)| (widen(a) - b).norm_sqr()).sum();
    let size: f64 = truth.iter().map(|b| b.norm_sqr()).sum();
    (error / size).sqrt()
}

pub(crate) fn odd_numbers(targets: &mut Targets) {
    println!("\nblock FFTs in cache of numbers that are not normal, time / time of ordinary ones");
    for length in SHORT {
        let slowest = ["denormal", "infinite", "not a number"];
        let values = [f32::from_bits(1000), f32::INFINITY, f32::NAN];
        let mut contenders = vec![odd_contender("ordinary", length, 1.0)];
        contenders
            .extend(slowest.iter().zip(values).map(|(name, x)| odd_contender(name, length, x)));
        let race = Race::run(contenders);
        let ordinary = race.seconds("ordinary").expect("it took part");
        let times = slowest.map(|name| race.seconds(name).expect("it took part") / ordinary);
        println!(
            "{length:>6}: denormal {:.2}  infinite {:.2}  not a number {:.2}",
            times[0], times[1], times[2]
        );
        let worst = times.into_iter().fold(0.0, f64::max);
        let what = format!("ten times as long / with odd numbers, FFT of {length}");
        targets.at_least(what, Some(10.0 / worst), 1.0);
    }
}

/// Creates a contender that sets its numbers again for each transform, so that they remain the same.
fn odd_contender(name: &str, length: usize, value: f32) -> Contender<'static> {
    let mut fft = BlockFft::new(length).expect("a length");
    let fresh = vec![Complex32::new(value, -value); BLOCK];
    let mut data = fresh.clone();
    Contender::new(name, move || {
        data.copy_from_slice(&fresh);
        fft.transform(&mut data).expect("whole transforms");
    })
}
