//! From samples to summaries to models: pure functions, with no clock, no files and no fabric.
#![forbid(unsafe_code)]
