//! The speed of the processors during a measurement, as simple operations show it.
//!
//! The host of a virtual machine may lend the second thread of a core to another guest, for some milliseconds at a
//! time. Both threads then share the core's units, and messages take longer. A loop of operations that do not wait for
//! each other shows this, because it uses all units. A chain of operations, each of which waits for the one before,
//! does not. docs/measurements.md#two-runs-of-one-build-at-one-speed has the numbers.

use contract::{Rank, Result, TimeSpan};

/// Time between two such loops: less than a neighbour stays.
pub(super) const EVERY: TimeSpan = TimeSpan::from_us(500);

/// Number of rounds of a loop, which is short compared with [`EVERY`] and long compared with a reading of the clock.
/// Each word of the state has one operation in each round.
const ROUNDS: u32 = 8192;
const WORDS: usize = 8;

/// The times of operations at one rank.
pub(super) struct Operations {
    state: [u64; WORDS],
    times_ns: Vec<f64>,
}

impl Operations {
    pub(super) fn new() -> Self {
        let state = std::array::from_fn(|index| 2 * index as u64 + 1);
        Operations { state, times_ns: Vec::new() }
    }

    /// Times one loop.
    pub(super) fn time(&mut self, rank: &dyn Rank) {
        let begin = rank.now();
        self.state = std::hint::black_box(operate(std::hint::black_box(self.state)));
        let operations = f64::from(ROUNDS) * WORDS as f64;
        self.times_ns.push(rank.now().since(begin).as_ns() / operations);
    }

    /// Returns the times of an operation in nanoseconds at rank 0: one for each loop of each rank. Empty at the others.
    /// Collective.
    pub(super) fn finish(self, rank: &mut dyn Rank) -> Result<Vec<f64>> {
        let mine: Vec<u8> = self.times_ns.iter().flat_map(|ns| ns.to_ne_bytes()).collect();
        let is_root = rank.rank() == 0;
        let mut all = vec![0; if is_root { mine.len() * rank.size() } else { 0 }];
        rank.gather(0, &mine, &mut all)?;
        let (times, _) = all.as_chunks();
        Ok(times.iter().map(|bytes| rounded(f64::from_ne_bytes(*bytes))).collect())
    }
}

/// Returns the nanoseconds in steps of a tenth of a picosecond, which records keep with few digits.
fn rounded(ns: f64) -> f64 {
    (ns * 1e4).round() / 1e4
}

/// Changes all words in each round. A word needs one other word of the round before, so that no operation waits. The
/// kinds of operations alternate, so that the compiler uses no vector units.
fn operate(words: [u64; WORDS]) -> [u64; WORDS] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = words;
    for _ in 0..ROUNDS {
        a = a.wrapping_add(b);
        b ^= c;
        c = c.wrapping_sub(d);
        d |= e;
        e = e.wrapping_add(f);
        f ^= g;
        g = g.wrapping_sub(h);
        h ^= a;
    }
    [a, b, c, d, e, f, g, h]
}
