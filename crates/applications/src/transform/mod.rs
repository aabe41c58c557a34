//! One long Fourier transform of double-precision complex points.
//!
//! *Stages*: radix 2 in time by a master, through which all points go after each stage, and workers. Half of the
//! workers drop out from stage to stage (George and others, *SCALE*, 1996, section 5). *Transpose*: the points are
//! distributed over the ranks as rows of a matrix. Columns and rows are transformed in turn, with a corner turn between
//! them (Bailey, *FFTs in external or hierarchical memory*, 1990).

mod points;
mod stages;
mod transpose;
mod turned;

pub use stages::StagedTransform;
pub use transpose::TransposeTransform;
