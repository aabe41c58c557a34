//! Every program that we time, and the one loop that times it. Names no fabric.
#![forbid(unsafe_code)]
