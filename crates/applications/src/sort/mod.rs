//! Numbers in order: those of a vector, by the total order of IEEE 754.
//!
//! *Master*: the master distributes equal parts, every rank sorts one, and the master merges the sorted parts (George
//! and others, *SCALE*, 1996, section 5). *Sample*: the numbers are distributed over the ranks before and after. A
//! sample determines the range of each rank, every number is sent there at once, and every rank sorts the received
//! numbers (Frazer and McKellar, *Samplesort*, 1970).

mod master;
mod numbers;
mod sample;

pub use master::MasterSort;
pub use sample::SampleSort;
