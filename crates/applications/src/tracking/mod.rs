//! Matched-field tracking (Kohout and George 2002, section 4.5): where in range, depth and bearing a source is that an
//! array of hydrophones hears in shallow water.
//!
//! For each place of a grid the field that a source there would make at the hydrophones is computed in advance, the
//! *replica*. Each frame of measured spectra is correlated with all replicas, and the place whose replica fits best is
//! where the source is. The grid is divided among the ranks; after each frame they show each other their best places,
//! 40 bytes each, in one allgather. The published program makes some 20,000 of them.

mod array;
mod replicas;
mod tracker;
mod waveguide;

pub use array::{BYTES_A_FRAME, Grid};
pub use tracker::Tracker;
