//! Matched-field tracking (Kohout and George 2002, section 4.5): finds the range, depth and bearing of a source in
//! shallow water from the signals of an array of hydrophones.
//!
//! For each place of a grid the *replica* is computed in advance: the field of a source at that place at the
//! hydrophones. Each frame of measured spectra is correlated with all replicas, and the source is at the place with the
//! best correlation. The grid is divided among the ranks. After each frame they exchange their best places, 40 bytes
//! each, in one allgather. The published program makes some 20,000 of them.

mod array;
mod replicas;
mod tracker;
mod waveguide;

pub use array::{BYTES_A_FRAME, Grid};
pub use tracker::Tracker;
