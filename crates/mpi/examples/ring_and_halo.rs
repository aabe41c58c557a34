//! A ring and a halo exchange, over any fabric. Build it and start it as several ranks:
//!
//! ```text
//! cargo build --release -p cornerstone && cargo build --release -p mpi --example ring_and_halo
//! target/release/cornerstone launch -n 4 target/release/examples/ring_and_halo
//! target/release/cornerstone launch -n 4 --fabric tcp target/release/examples/ring_and_halo
//! ```
//!
//! Started by itself it is a run of one rank.

use std::error::Error;
use std::process::ExitCode;

use mpi::{Communicator, Endpoint, Peer, Predefined};

fn main() -> ExitCode {
    let status = match launched::join() {
        Ok(joined) => launched::over!(joined, endpoint => mpi::run(endpoint, program)),
        Err(error) => {
            eprintln!("{error}");
            1
        }
    };
    ExitCode::from(u8::from(status != 0))
}

/// Program of every rank, over any fabric.
fn program<E: Endpoint + 'static>(world: &Communicator<E>) -> Result<(), Box<dyn Error>> {
    let token = go_round(world)?;
    let (steps, middle) = diffuse(world)?;
    if world.rank() == 0 {
        println!("{} ranks: the token came back as {token}", world.size());
        println!("after {steps} steps the middle of the rod has {middle:.4} of its heat");
    }
    Ok(())
}

/// Passes a number around the ring of ranks, each of which adds one.
fn go_round<E: Endpoint + 'static>(world: &Communicator<E>) -> mpi::Result<u64> {
    let (me, size) = (world.rank() as u32, world.size() as u32);
    let (next, before) = (Peer::Rank((me + 1) % size), Peer::Rank((me + size - 1) % size));
    let mut token = [0_u64];
    if me != 0 {
        world.receive(&mut token[..], before, 0)?;
    }
    token[0] += 1;
    if size > 1 {
        world.send(&token[..], next, 0)?;
        if me == 0 {
            world.receive(&mut token[..], before, 0)?;
        }
    }
    world.broadcast(&mut token[..], 0)?;
    Ok(token[0])
}

/// Number of points of the rod at each rank.
const POINTS: usize = 64;
/// Fraction of the difference to its neighbours by which a point changes in one step.
const RATE: f64 = 0.25;

/// Lets heat diffuse from the middle of a rod, until no point changes by more than 1e-5. Returns the number of steps,
/// and the remaining heat of the hottest point.
fn diffuse<E: Endpoint + 'static>(world: &Communicator<E>) -> mpi::Result<(usize, f64)> {
    let (me, size) = (world.rank(), world.size());
    let neighbour = |rank: Option<usize>| match rank.filter(|&rank| rank < size) {
        Some(rank) => Peer::Rank(rank as u32),
        // Ends of the rod: no message is sent to or received from a null process.
        None => Peer::Nobody,
    };
    let (left, right) = (neighbour(me.checked_sub(1)), neighbour(Some(me + 1)));
    let first = me * POINTS;
    let middle = size * POINTS / 2;
    let mut heat: Vec<f64> =
        (first..first + POINTS).map(|point| f64::from(u8::from(point == middle))).collect();
    for step in 1.. {
        let (mut from_left, mut from_right) = ([heat[0]], [heat[POINTS - 1]]);
        // The points at the borders are in transit while all others are computed.
        let mut next = heat.clone();
        world.scope(|halo| {
            halo.start_receive(&mut from_left[..], left, 1)?;
            halo.start_receive(&mut from_right[..], right, 2)?;
            halo.start_send(&heat[..1], left, 2)?;
            halo.start_send(&heat[POINTS - 1..], right, 1)?;
            for point in 1..POINTS - 1 {
                next[point] = flow(heat[point - 1], heat[point], heat[point + 1]);
            }
            Ok(())
        })?;
        next[0] = flow(from_left[0], heat[0], heat[1]);
        next[POINTS - 1] = flow(heat[POINTS - 2], heat[POINTS - 1], from_right[0]);
        let change = next.iter().zip(&heat).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
        heat = next;
        let hottest = heat.iter().copied().fold(0.0, f64::max);
        let mut largest = [0.0; 2];
        world.allreduce(&[change, hottest][..], &mut largest[..], Predefined::Maximum)?;
        if largest[0] < 1e-5 {
            return Ok((step, largest[1]));
        }
    }
    unreachable!("the heat comes to rest")
}

/// Returns the next heat of a point between two others.
fn flow(left: f64, own: f64, right: f64) -> f64 {
    own + RATE * (left - 2.0 * own + right)
}
