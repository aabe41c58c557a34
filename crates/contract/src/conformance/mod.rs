//! The suite that every fabric must pass.
