//! Criterion benchmarks of every kernel, each with its throughput: nominal operations or bytes.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kernels::classic::Classic;
use kernels::fft::{BlockFft, nominal_operations};
use kernels::foldfft::{FoldFft, TYPICAL_SIZES, Variant, foldfft_operations};
use kernels::peak::{self, Precision};
use kernels::stream::{Loop, Stream};
use kernels::{Complex32, corner_turn, corner_turn_in_place, dhrystone, linpack, whetstone};

const ZERO: Complex32 = Complex32::new(0.0, 0.0);
/// Number of complex words that stay in the first-level cache.
const BLOCK: usize = 2048;

fn block_fft(c: &mut Criterion) {
    let mut group = c.benchmark_group("block-fft");
    for length in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] {
        let mut fft = BlockFft::new(length).expect("a length");
        let mut data = vec![ZERO; BLOCK.max(length)];
        let operations = nominal_operations(length) * (data.len() / length) as f64;
        group.throughput(Throughput::Elements(operations as u64));
        group.bench_function(format!("rows of {length}"), |b| b.iter(|| fft.transform(&mut data)));
        let columns = data.len() / length;
        group.bench_function(format!("columns of {length}"), |b| {
            b.iter(|| fft.transform_columns(&mut data, columns));
        });
    }
    group.finish();
}

fn turn(c: &mut Criterion) {
    let mut group = c.benchmark_group("corner-turn");
    for size in [128usize, 512, 1000, 4096] {
        let input = vec![ZERO; size * size];
        let mut output = input.clone();
        group.throughput(Throughput::Bytes(size_of_val(&input[..]) as u64));
        group.bench_function(format!("{size} x {size}"), |b| {
            b.iter(|| corner_turn(&input, size, size, &mut output));
        });
        group.bench_function(format!("{size} x {size} in place"), |b| {
            b.iter(|| corner_turn_in_place(&mut output, size));
        });
        group.bench_function(format!("{size} x {size} copy"), |b| {
            b.iter(|| output.copy_from_slice(&input));
        });
    }
    for length in [64usize, 512] {
        let input = vec![ZERO; 512 * length];
        let mut output = input.clone();
        let mut fft = BlockFft::new(length).expect("a length");
        group.throughput(Throughput::Elements((nominal_operations(length) * 512.0) as u64));
        group.bench_function(format!("512 rows of {length}, transformed and turned"), |b| {
            b.iter(|| fft.transform_turned(&input, &mut output));
        });
    }
    group.finish();
}

fn foldfft(c: &mut Criterion) {
    let mut group = c.benchmark_group("foldfft");
    for (points, fold) in TYPICAL_SIZES {
        let instances = 2 * BLOCK / points;
        let input = vec![ZERO; instances * points];
        let mut output = vec![ZERO; instances * fold];
        let operations = foldfft_operations(points, fold) * instances as f64;
        group.throughput(Throughput::Elements(operations as u64));
        for variant in Variant::ALL {
            let weights = vec![Complex32::new(0.6, 0.8); fold];
            let mut plan = FoldFft::new(vec![0.5; points], weights, variant).expect("a size");
            group.bench_function(format!("({points}, {fold}) {}", variant.name()), |b| {
                b.iter(|| plan.compute(&input, &mut output));
            });
        }
    }
    group.finish();
}

fn stones(c: &mut Criterion) {
    let mut group = c.benchmark_group("stones");
    for program in Classic::ALL {
        group.bench_function(program.name(), |b| b.iter(|| program.run(1)));
    }
    group.bench_function("whetstone", |b| b.iter(|| whetstone::run(1)));
    group.bench_function("dhrystone", |b| b.iter(|| dhrystone::run(1000)));
    for precision in [Precision::Single, Precision::Double] {
        group.throughput(Throughput::Elements(peak::run(precision, 10_000)));
        group.bench_function(format!("peak, {precision:?}"), |b| {
            b.iter(|| peak::run(precision, 10_000))
        });
    }
    for size in [100, 500] {
        let mut system = linpack::System::new(size).expect("equations");
        group.throughput(Throughput::Elements(linpack::nominal_operations(size) as u64));
        group.bench_function(format!("linpack {size}"), |b| b.iter(|| system.solve()));
    }
    let mut stream = Stream::new(1 << 23);
    for which in Loop::ALL {
        group.throughput(Throughput::Bytes(which.bytes_per_element() << 23));
        group.bench_function(format!("stream {}", which.name()), |b| b.iter(|| stream.run(which)));
    }
    group.finish();
}

/// Returns short measurement times: there are about a hundred benchmarks, and the medians of these kernels settle
/// within milliseconds.
fn brief() -> Criterion {
    let criterion = Criterion::default().sample_size(20);
    criterion.warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_millis(600))
}

criterion_group! { name = benches; config = brief(); targets = block_fft, turn, foldfft, stones }
criterion_main!(benches);
