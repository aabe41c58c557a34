//! Synthetic communication: messages that a model of a program draws.

pub(in crate::programs) mod traffic;
