//! The classic processor benchmarks: known results, and work that is not optimised away.

use std::time::Duration;

use kernels::classic::Classic;
use kernels::{dhrystone, linpack, whetstone};
use rustix::time::{ClockId, clock_gettime};

#[test]
fn each_program_takes_the_steps_that_can_be_counted_by_hand() {
    let steps = |program: Classic| program.run(1).unwrap();
    assert_eq!(steps(Classic::Loops), 1_000_000);
    // Calls of double recursion: 2 F(24) - 1.
    assert_eq!(steps(Classic::Fibonacci), 2 * 46_368 - 1);
    // Moves of 18 discs: 2^18 - 1.
    assert_eq!(steps(Classic::Hanoi), 262_143);
    // Trials of the search, as published for the original.
    assert_eq!(steps(Classic::PuzzleSubscript), 2005);
    assert_eq!(steps(Classic::PuzzlePointer), 2005);
    // Marks: for each prime up to half the last number, its multiples from twice on.
    let prime = |n: u64| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let marks: u64 = (2..=4095).filter(|&n| prime(n)).map(|p| 8190 / p - 1).sum();
    assert_eq!(steps(Classic::Sieve), marks);
    // Quicksort of 1000 random elements takes about 1.4 n log2 n comparisons, and never fewer than log2 of n factorial.
    let comparisons = steps(Classic::Sort);
    assert!((8_530..30_000).contains(&comparisons), "{comparisons}");
}

#[test]
fn steps_grow_with_the_repetitions() {
    for program in Classic::ALL {
        let one = program.run(1).unwrap();
        assert_eq!(program.run(3).unwrap(), 3 * one, "{}", program.name());
        assert_eq!(program.run(0).unwrap(), 0);
    }
}

/// Returns the time for which this thread has had a processor: other programs do not make it longer.
fn of_processor() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the shortest of several times, which is the least disturbed one.
fn shortest(mut body: impl FnMut()) -> Duration {
    let once = |_| {
        let start = of_processor();
        body();
        of_processor() - start
    };
    (0..3).map(once).min().unwrap()
}

/// If any work were optimised away, a hundred times the work would take no longer. A tenth of the growth is required:
/// enough to detect that, and insensitive to a disturbance of all three runs.
#[test]
fn the_time_grows_with_the_work() {
    let grows = |name: &str, body: &mut dyn FnMut(u32)| {
        let (one, hundred) = (shortest(|| body(1)), shortest(|| body(100)));
        assert!(hundred > 10 * one, "{name}: {one:?} for one, {hundred:?} for a hundred");
    };
    for program in Classic::ALL {
        grows(program.name(), &mut |times| assert!(program.run(times).unwrap() > 0));
    }
    grows("whetstone", &mut |units| assert!(whetstone::run(units).is_ok()));
    grows("dhrystone", &mut |runs| dhrystone::run(1000 * runs).unwrap());
    // 4.6 times the equations are about a hundred times the operations.
    grows("linpack", &mut |times| {
        let mut system = linpack::System::new(if times == 1 { 60 } else { 280 }).unwrap();
        system.solve().unwrap();
        system.residual().unwrap();
    });
}
