//! Values of MPICH's ABI, each with that of the standard ABI.

include!(concat!(env!("OUT_DIR"), "/mpich_values.rs"));
