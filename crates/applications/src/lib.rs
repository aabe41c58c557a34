//! Applications: the programs for which the machines of the papers were built, in their own form and in a current one.
//!
//! Each is an [`Application`]: a parallel program over the ranks of any fabric, the best serial program for the same
//! problem, and a check of the result. It does all its computing by [`Timed::compute`], so that the right time passes
//! on a simulated machine and the share of computing is known.
//!
//! * [`multiply`]: the product of two matrices.
//! * [`sort`]: numbers in order.
//! * [`transform`]: one long Fourier transform.
//! * [`tracking`]: the position of a source from the signals of hydrophones in shallow water.
//! * [`relaxation`]: an elliptic equation by successive over-relaxation.
//!
//! [`traffic`] is a program that only sends: it makes messages according to a model of a program's locality.
#![forbid(unsafe_code)]

mod application;
mod exchange;
mod link;
mod split;

pub mod multiply;
pub mod relaxation;
pub mod sort;
pub mod tracking;
pub mod traffic;
pub mod transform;

pub use application::{Application, Quantity, Spent, Timed};
pub use link::Library;
