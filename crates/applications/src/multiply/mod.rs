//! The product of two square matrices of double-precision numbers.
//!
//! *Rows*: a master distributes rows of the first matrix on request, and receives rows of the product. Every worker has
//! the second matrix, transposed in advance, and forms dot products (George and others, *SCALE*, 1996, section 5).
//! *Blocks*: all three matrices are distributed over a grid of ranks in blocks. Panels of the first two go to the ranks
//! that need them while the panels before are multiplied (van de Geijn and Watts, *SUMMA*, 1997).

mod blocks;
mod problem;
mod rows;

pub use blocks::Blocks;
pub use rows::{GRAIN_MAX, Rows};
