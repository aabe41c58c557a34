//! The simple processor benchmarks of the hypercube study: small programs that each stress one ability of a processor.
//!
//! Written anew from the descriptions in Grunwald and Reed, "Benchmarking hypercube hardware and software" (1986),
//! table 2. Each checks its result on every run, and hides from the compiler all values that would let it remove work.
//! The work is proportional to the repetitions.

mod check;
mod hanoi;
mod puzzle;
mod quicksort;

use std::hint::black_box;

use crate::error::Result;
use check::check;

/// One of the seven programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classic {
    /// A null loop of a million iterations.
    Loops,
    /// The primes up to 8190 by the sieve of Eratosthenes.
    Sieve,
    /// The 24th Fibonacci number by double recursion.
    Fibonacci,
    /// The towers of Hanoi with 18 discs.
    Hanoi,
    /// Quicksort of 1000 random elements.
    Sort,
    /// Baskett's packing puzzle with subscripts.
    PuzzleSubscript,
    /// The same with pointers.
    PuzzlePointer,
}

impl Classic {
    /// All programs, in the order of the study's table 2.
    pub const ALL: [Classic; 7] = [
        Classic::Loops,
        Classic::Sieve,
        Classic::Fibonacci,
        Classic::Hanoi,
        Classic::Sort,
        Classic::PuzzleSubscript,
        Classic::PuzzlePointer,
    ];

    /// Returns its name in results files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Classic::Loops => "loops",
            Classic::Sieve => "sieve",
            Classic::Fibonacci => "fibonacci",
            Classic::Hanoi => "hanoi",
            Classic::Sort => "sort",
            Classic::PuzzleSubscript => "puzzle-subscript",
            Classic::PuzzlePointer => "puzzle-pointer",
        }
    }

    /// Returns the number of repetitions in the study; its table 3 has the seconds for all repetitions together.
    pub fn repetitions(self) -> u32 {
        match self {
            Classic::Loops | Classic::PuzzleSubscript | Classic::PuzzlePointer => 10,
            Classic::Sieve => 100,
            Classic::Fibonacci => 20,
            Classic::Hanoi => 1,
            Classic::Sort => 14,
        }
    }

    /// Runs it `repetitions` times and returns the number of elementary steps: iterations, marks, calls, moves,
    /// comparisons or trials.
    ///
    /// # Errors
    /// [`Error::WrongResult`] if a repetition returned anything but the known result.
    pub fn run(self, repetitions: u32) -> Result<u64> {
        let mut steps = 0;
        for _ in 0..repetitions {
            steps += match self {
                Classic::Loops => loops(),
                Classic::Sieve => sieve(),
                Classic::Fibonacci => fibonacci(),
                Classic::Hanoi => hanoi::run(18),
                Classic::Sort => quicksort::run(1000),
                Classic::PuzzleSubscript => puzzle::run(puzzle::search_by_subscript),
                Classic::PuzzlePointer => puzzle::run(puzzle::search_by_pointer),
            }?;
        }
        Ok(steps)
    }
}

fn loops() -> Result<u64> {
    const ITERATIONS: u64 = 1_000_000;
    let mut count = 0u64;
    while count < black_box(ITERATIONS) {
        count += 1;
    }
    check("loops", "the number of iterations", ITERATIONS, count)?;
    Ok(count)
}

fn sieve() -> Result<u64> {
    const LAST: usize = 8190;
    let mut composite = black_box([false; LAST + 1]);
    let (mut primes, mut steps) = (0u32, 0u64);
    for number in 2..=LAST {
        if composite[number] {
            continue;
        }
        primes += 1;
        let mut multiple = 2 * number;
        while multiple <= LAST {
            composite[multiple] = true;
            multiple += number;
            steps += 1;
        }
    }
    black_box(&composite);
    // 8191 is the 1028th prime.
    check("sieve", "the number of primes up to 8190", 1027, primes)?;
    Ok(steps)
}

fn fibonacci() -> Result<u64> {
    let mut calls = 0;
    let number = fibonacci_number(black_box(24), &mut calls);
    check("fibonacci", "the 24th Fibonacci number", 46_368, number)?;
    Ok(calls)
}

/// Returns a Fibonacci number. It is opaque to the optimiser, which would otherwise turn half of the calls into a loop.
#[inline(never)]
fn fibonacci_number(n: u32, calls: &mut u64) -> u32 {
    *calls += 1;
    if n <= 2 {
        return 1;
    }
    black_box(fibonacci_number(black_box(n - 1), calls))
        + black_box(fibonacci_number(black_box(n - 2), calls))
}
