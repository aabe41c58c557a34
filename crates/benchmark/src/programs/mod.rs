//! The programs, a file each.

mod ping_pong;

use crate::catalogue::{Benchmark, Program, Timing};
use crate::data::{Blocks, Received};
use contract::Tag;

/// All benchmarks, in the catalogue's order.
pub(crate) static ALL: &[Benchmark] = &[ping_pong::PING_PONG];

/// For messages of programs.
const TAG: Tag = Tag::new(0);

/// Two ranks that send each other their blocks; each program says what its event is.
const BETWEEN_TWO: Program = Program {
    timing: Timing::First,
    blocks: |shape| match shape.role() {
        crate::data::Role::Other => Blocks::NONE,
        _ => Blocks { send: 1, receive: 1, spare: 0 },
    },
    event: |_, _| Ok(()),
    received: Received::Blocks(|shape, _| (shape.peer(), 0)),
    parts: |_| 1,
    moved: |shape| shape.size as u64,
    needs_shared_line: false,
};
