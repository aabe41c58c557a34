//! Collectives over boards in shared memory, derived from a broadcast and a reduction between two ranks.
//!
//! * The time of the shortest broadcast is the time until a rank sees what another has put on its board.
//! * A rank that checks several boards fetches a line from another's cache for each, as the receiver of a stream does.
//!   Each board after the first therefore costs as much as the shortest message of a stream.
//! * The time of a longer piece beyond that is half the root's, to write it, and half the other rank's, to read it.
//! * In a long broadcast both ranks work at once, on different pieces, as far as the plan permits. The crowding is the
//!   factor by which each further piece takes longer than either half.
//! * Short parts are in the line that announces them, longer parts in other lines. The fabric reports the length from
//!   which parts are long.
//! * The time of a reduction beyond seeing and writing is the time in which the root combines, for each piece of a long
//!   one.

use collectives::plan::{CallShape, Capabilities, Collective, Pieces, Topology, select};

use crate::curve::Curve;
use crate::evidence::Evidence;
use crate::times::{BySize, median};

/// Sizes and costs of boards.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoardCosts {
    pub(crate) ranks_max: u64,
    pub(crate) bytes_max: u64,
    /// Longest part in bytes that is in the line that announces it; `None` if the fabric does not report it.
    pub(crate) line_bytes: Option<u64>,
    pub(crate) piece_bytes: u64,
    pub(crate) slot_bytes: u64,
    pub(crate) places: u64,
    pub(crate) see_us: f64,
    /// Time to check one more board: to fetch one line from another's cache, as in a stream.
    pub(crate) look_us: f64,
    pub(crate) put: Curve,
    pub(crate) take: Curve,
    pub(crate) combine: Curve,
    /// Factor, at least 1, by which writing and reading take longer while both ranks do it at once.
    pub(crate) crowding: f64,
}

impl BoardCosts {
    /// Returns the costs of boards, if the fabric has boards and a broadcast was measured.
    pub(crate) fn of(evidence: &Evidence) -> Option<BoardCosts> {
        let capabilities = evidence.fabric.plans.as_ref()?.capabilities;
        let boards = capabilities.boards;
        let (bytes_max, piece_bytes) = (boards.most_bytes as u64, boards.piece_bytes as u64);
        let (_, &see_us) = evidence.broadcast.first_key_value()?;
        let look_us = evidence.stream.first_key_value().map_or(see_us, |(_, &us)| us.min(see_us));
        let beyond: BySize = evidence
            .broadcast
            .range(..=piece_bytes)
            .map(|(&size, &us)| (size, (us - see_us).max(0.0)))
            .collect();
        let line_bytes = evidence.fabric.shared_memory?.board_line_bytes;
        let breaks: Vec<u64> = line_bytes.iter().map(|bytes| bytes + 1).collect();
        let beyond = Curve::through(&beyond, &breaks);
        let half = beyond.scaled(0.5);
        let crowding = crowding(evidence, &capabilities, |bytes| half.of(bytes));
        let there_us = |bytes| see_us + half.of(bytes);
        let combine = combining(evidence, piece_bytes, bytes_max, crowding, there_us);
        Some(BoardCosts {
            ranks_max: boards.most_ranks as u64,
            bytes_max,
            line_bytes,
            piece_bytes,
            slot_bytes: boards.slot_bytes as u64,
            places: boards.slots as u64,
            see_us,
            look_us,
            put: half.clone(),
            take: half,
            combine,
            crowding,
        })
    }
}

/// Returns the factor by which pieces take longer to write or read than `alone_us` while the other rank works, too.
fn crowding(
    evidence: &Evidence,
    capabilities: &Capabilities,
    alone_us: impl Fn(u64) -> f64,
) -> f64 {
    // Two ranks that never work at the same time are twice as slow. A larger factor has another cause.
    const MOST: f64 = 2.0;
    let boards = &capabilities.boards;
    let several = boards.piece_bytes as u64 + 1..=boards.most_bytes as u64;
    let mut long = evidence.broadcast.range(several);
    let (Some(first), Some(last)) = (long.next(), long.next_back()) else { return 1.0 };
    let all_alone_us = |bytes: u64| -> f64 {
        let shape = CallShape::of_bytes(Collective::Broadcast, bytes as usize);
        let pieces: Pieces = select(shape, 2, Topology::OwnProcessors, capabilities).pieces;
        (0..pieces.count()).map(|piece| alone_us(pieces.get(piece).1 as u64)).sum()
    };
    let factor = (last.1 - first.1) / (all_alone_us(*last.0) - all_alone_us(*first.0));
    if factor.is_finite() { factor.clamp(1.0, MOST) } else { 1.0 }
}

/// Returns the time in which the root combines a piece: the time of a reduction after the other's part has arrived.
fn combining(
    evidence: &Evidence,
    piece_bytes: u64,
    bytes_max: u64,
    crowding: f64,
    there_us: impl Fn(u64) -> f64,
) -> Curve {
    let mut points: BySize = evidence
        .reduce
        .range(..piece_bytes)
        .map(|(&size, &us)| (size, (us - there_us(size)).max(0.0)))
        .collect();
    let each = |(&size, &us): (&u64, &f64)| {
        let pieces = size as f64 / piece_bytes as f64;
        // The last piece is combined while nothing else is written.
        (us - there_us(piece_bytes)) / (crowding * (pieces - 1.0) + 1.0)
    };
    let whole = evidence.reduce.range(piece_bytes..=bytes_max).map(each).collect();
    if let Some(us) = median(whole) {
        points.insert(piece_bytes, us.max(0.0));
    }
    Curve::through(&points, &[])
}

#[cfg(test)]
mod tests {
    use collectives::plan::{Boards, Plans};
    use contract::{FabricDescription, SharedMemory};

    use super::*;

    /// Returns evidence with these times: a part is seen after 1 µs; a piece of 128 bytes is written and read in 2 µs
    /// each, and combined in 4. While both ranks work, each takes half as long again.
    fn evidence() -> Evidence {
        let by_size = |values: &[(u64, f64)]| values.iter().copied().collect::<BySize>();
        let boards = Boards {
            most_ranks: 32,
            most_bytes: 1280,
            slots: 16,
            slot_bytes: 192,
            piece_bytes: 128,
        };
        let capabilities = Capabilities { boards, cma: false };
        let plans = Plans::of(2, Topology::OwnProcessors, capabilities);
        Evidence {
            // Pieces follow each other at 1.5 x 2 µs.
            stream: by_size(&[(8, 0.25), (64, 0.5)]),
            broadcast: by_size(&[(0, 1.0), (128, 5.0), (256, 9.0), (1280, 33.0), (2000, 7.0)]),
            // The part arrives after 1 + 2, and 4 combine it; of two, 1.5 times 4 and 4; of ten, 1.5 times nine times 4
            // and 4.
            reduce: by_size(&[(64, 4.0), (128, 7.0), (256, 13.0), (1280, 61.0), (2000, 9.0)]),
            fabric: FabricDescription {
                plans: Some(plans),
                shared_memory: Some(SharedMemory {
                    one_copy_from_bytes: None,
                    both_copy_from_bytes: 4096,
                    cma_is_fast: false,
                    board_line_bytes: None,
                }),
                ..Default::default()
            },
            ..Evidence::default()
        }
    }

    #[test]
    fn writing_reading_and_combining_are_told_apart() {
        let board = BoardCosts::of(&evidence()).unwrap();
        assert_eq!((board.see_us, board.put.of(128), board.take.of(128)), (1.0, 2.0, 2.0));
        assert_eq!((board.crowding, board.look_us), (1.5, 0.25));
        // 64 bytes: seen and written after 2 of 4 µs.
        assert_eq!((board.combine.of(128), board.combine.of(64)), (4.0, 2.0));
        assert_eq!((board.ranks_max, board.bytes_max, board.places), (32, 1280, 16));
    }

    #[test]
    fn without_a_stream_a_further_board_takes_as_long_as_the_first() {
        let silent = Evidence { stream: BySize::new(), ..evidence() };
        assert_eq!(BoardCosts::of(&silent).unwrap().look_us, 1.0);
    }

    #[test]
    fn without_a_broadcast_or_a_word_of_the_fabric_there_are_no_boards() {
        let silent = Evidence { fabric: FabricDescription::default(), ..evidence() };
        assert_eq!(BoardCosts::of(&silent), None);
        let unmeasured = Evidence { broadcast: BySize::new(), ..evidence() };
        assert_eq!(BoardCosts::of(&unmeasured), None);
    }
}
