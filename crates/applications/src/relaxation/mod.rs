//! An elliptic equation on a square, by successive over-relaxation in red-black order.
//!
//! The square is cut into partitions, strips or blocks, of which each rank has some; neighbours exchange their edges
//! after each colour (Grunwald and Reed, *Benchmarking hypercube hardware and software*, 1986, section 6). Whether an
//! iteration has converged is checked in one of three ways ([`Check`]). Points of a colour depend on points of the
//! other only, so that the solution has the same bits however the square is cut.

mod convergence;
mod edges;
mod problem;
mod solver;
mod tile;
mod tiling;

pub use convergence::Check;
pub use solver::{Partitions, Relaxation};
pub use tiling::Cut;
