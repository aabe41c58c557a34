//! An elliptic equation on a square, by successive over-relaxation in red-black order.
//!
//! The square is cut into partitions, strips or blocks, of which each rank has some. Neighbours exchange their edges
//! after each colour (Grunwald and Reed, *Benchmarking hypercube hardware and software*, 1986, section 6). One of three
//! methods ([`Check`]) determines whether an iteration has converged. Points of a colour depend only on points of the
//! other, so the solution has the same bits for all partitions of the square.

mod convergence;
mod edges;
mod problem;
mod solver;
mod tile;
mod tiling;

pub use convergence::Check;
pub use solver::{Partitions, Relaxation};
pub use tiling::Cut;
