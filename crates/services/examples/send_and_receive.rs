//! A heated rod by SEND and RECV. Each rank has a part of it and exchanges the ends with its neighbours, in either
//! mode. All stop when nothing changes any more. Build it and start it as several ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p services --example send_and_receive
//! target/release/cornerstone launch -n 4 target/release/examples/send_and_receive
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/send_and_receive
//! ```

use std::process::ExitCode;

use contract::{Element, Operation, Rank, Reduction};
use services::{Calls, Error, Medium, Paslib, ReceiveMode, Result};

/// Number of points of the rod at each rank.
const PART: usize = 4;
/// Temperature of the rod's right end, in the units of its numbers. The left end has 0.
const HOT: f32 = 1000.0;
/// Maximum change of any point in a step at rest.
const REST: f32 = 1e-4;
/// Number of steps between the checks in which all ranks together determine whether the rod is at rest. No rank can
/// determine it alone, because a value may be under way.
const STEPS_BETWEEN_CHECKS: usize = 50;

/// Returns a number in single precision, as on that machine, as two words.
fn words(number: f32) -> [u16; 2] {
    let bits = number.to_bits();
    [bits as u16, (bits >> 16) as u16]
}

fn number(words: &[u16]) -> f32 {
    f32::from_bits(u32::from(words[0]) | u32::from(words[1]) << 16)
}

/// A rank's part of the rod, with the neighbours' ends at either side of it.
struct Rod {
    points: [f32; PART + 2],
    /// The ranks at the left and at the right, if they exist.
    neighbours: [Option<usize>; 2],
}

impl Rod {
    fn new(rank: usize, size: usize) -> Self {
        let right = Some(rank + 1).filter(|&right| right < size);
        let mut rod = Rod { points: [0.0; PART + 2], neighbours: [rank.checked_sub(1), right] };
        if rod.neighbours[1].is_none() {
            rod.points[PART + 1] = HOT;
        }
        rod
    }

    /// Sends the ends, receives the neighbours' ends (all of them or the latest), and sets each point to the mean of
    /// the points beside it.
    fn step(&mut self, calls: &mut Calls<'_>, mode: ReceiveMode) -> Result<()> {
        let mut received = Vec::new();
        for (side, end) in [(0, 1), (1, PART)] {
            if let Some(to) = self.neighbours[side] {
                calls.send(Medium::Local, to, &words(self.points[end]))?;
            }
        }
        for (side, place) in [(0, 0), (1, PART + 1)] {
            let Some(from) = self.neighbours[side] else { continue };
            if mode == ReceiveMode::Synchronous {
                calls.receive(Medium::Local, from, &mut received)?;
                self.points[place] = number(&received);
            } else if let Some(latest) = calls.latest(Medium::Local, from)? {
                self.points[place] = number(latest.words);
            }
        }
        let before = self.points;
        for point in 1..=PART {
            self.points[point] = 0.5 * (before[point - 1] + before[point + 1]);
        }
        Ok(())
    }

    /// Returns the greatest next change of any point of the whole rod, with the neighbours' ends as they are now.
    fn unrest(&mut self, rank: &mut dyn Rank) -> Result<f32> {
        let mut ends = vec![0; 4 * rank.size() * size_of::<u16>()];
        let own = [words(self.points[1]), words(self.points[PART])];
        let own: Vec<u8> = own.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect();
        rank.allgather(&own, &mut ends)?;
        let (words, _) = ends.as_chunks();
        let end = |at: usize| number(&[0, 1].map(|low| u16::from_le_bytes(words[2 * at + low])));
        if let Some(left) = self.neighbours[0] {
            self.points[0] = end(2 * left + 1);
        }
        if let Some(right) = self.neighbours[1] {
            self.points[PART + 1] = end(2 * right);
        }
        let changes =
            self.points.windows(3).map(|three| (0.5 * (three[0] + three[2]) - three[1]).abs());
        let change = f64::from(changes.fold(0.0, f32::max));
        let largest = Reduction { operation: Operation::Maximum, element: Element::F64 };
        let mut most = [0; 8];
        rank.allreduce(largest, &change.to_ne_bytes(), &mut most)?;
        Ok(f64::from_ne_bytes(most) as f32)
    }
}

/// Heats the rod until all ranks are at rest. Returns the temperature of this rank's first point.
fn heat(rank: &mut dyn Rank, mode: ReceiveMode) -> Result<f32> {
    let mut rod = Rod::new(rank.rank(), rank.size());
    let partners: Vec<_> =
        rod.neighbours.iter().flatten().map(|&from| (from, Medium::Local, mode)).collect();
    let mut paslib = Paslib::open(rank, &partners)?;
    loop {
        for _ in 0..STEPS_BETWEEN_CHECKS {
            rod.step(&mut paslib.enter(rank), mode)?;
        }
        if rod.unrest(rank)? <= REST {
            break;
        }
    }
    paslib.close(rank)?;
    Ok(rod.points[1])
}

fn program(rank: &mut dyn Rank) -> Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    for mode in [ReceiveMode::Synchronous, ReceiveMode::Asynchronous] {
        let found = heat(rank, mode)?;
        // At rest the rod is a straight line.
        let line = HOT * (me * PART + 1) as f32 / (size * PART + 1) as f32;
        if (found - line).abs() > 0.01 * HOT {
            return Err(Error::Program(format!("{mode}: {found} where {line} is expected")));
        }
        rank.barrier()?;
        if me == 0 {
            println!("{size} ranks, {mode}: the rod is a straight line");
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    launched::run(|rank| program(rank).map_err(Error::into_contract))
}
