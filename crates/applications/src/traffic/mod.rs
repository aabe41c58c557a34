//! Synthetic communication: every node sends messages whose destinations, lengths and times are drawn from a model of a
//! program's locality (Grunwald and Reed, *Benchmarking hypercube hardware and software*, 1986, synthetic
//! communication).
//!
//! *Temporal* locality is a stack of the latest destinations: a message goes to the node at position i with probability
//! b_i. Otherwise, after a *miss*, a rule of *spatial* locality draws a node that is not in the stack ([`Rule`]).
//! Distances are hops in a hypercube: the bits in which two numbers differ.

mod model;
mod plan;
mod program;
mod rule;

pub use model::Model;
pub use plan::{MessagePlan, run_lengths};
pub use program::{Finished, TrafficProgram};
pub use rule::Rule;
