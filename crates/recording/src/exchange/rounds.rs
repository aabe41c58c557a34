//! The messages of a collective, for formats without collectives.

use collectives::{Blocks, Call, Collective, Cursor, Manner, Membership, Order, Own, select};

use crate::RecordedCollective;

/// The messages that a rank sends and receives at once: partners and lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) sends: Vec<(usize, usize)>,
    pub(super) receives: Vec<(usize, usize)>,
}

/// Returns the actions of rank `me` of `size` in a collective, round by round, by the algorithm that a collective over
/// messages selects.
pub(super) fn rounds(collective: &RecordedCollective, me: usize, size: usize) -> Vec<Round> {
    let RecordedCollective { kind, root, bytes } = *collective;
    let unit_bytes = if kind.combines() { collective.reduction().element.bytes() } else { 1 };
    let (length, blocks) = (bytes / unit_bytes, || Blocks::equal(size, bytes));
    let order = Order::Any;
    let (call, own) = match kind {
        Collective::Barrier => (Call::Barrier, Own::InInput),
        Collective::Broadcast => (Call::Broadcast { root, length }, Own::InOutput),
        Collective::Scatter => (Call::Scatter { root, blocks: blocks() }, Own::InInput),
        Collective::Gather => (Call::Gather { root, blocks: blocks() }, Own::InInput),
        Collective::Allgather => (Call::Allgather { blocks: blocks() }, Own::InInput),
        Collective::AllToAll => {
            (Call::AllToAll { input: blocks(), output: blocks() }, Own::InInput)
        }
        Collective::Reduce => (Call::Reduce { root, length, order }, Own::InInput),
        Collective::Allreduce => (Call::Allreduce { length, order }, Own::InInput),
        other => unreachable!("{other:?} is recorded as its messages"),
    };
    rounds_of(&call, own, unit_bytes, (me, size))
}

/// Returns the actions of rank `me` of `size` in a call with units of `unit_bytes` bytes.
pub(super) fn rounds_of(
    call: &Call,
    own: Own,
    unit_bytes: usize,
    (me, size): (usize, usize),
) -> Vec<Round> {
    let algorithm = select(call, size, unit_bytes, Manner::Blocking, None);
    let schedule = call.schedule(algorithm, Membership { me, size }, own, None);
    let mut cursor = Cursor::default();
    let mut rounds = Vec::new();
    while let Some(round) = schedule.next(&mut cursor) {
        let of = |messages: &[collectives::Message]| {
            messages.iter().map(|one| (one.rank, one.part.units().len() * unit_bytes)).collect()
        };
        rounds.push(Round { sends: of(&round.sends), receives: of(&round.receives) });
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks for every collective that each sent message is received.
    #[test]
    fn every_message_of_a_collective_has_a_sender_and_a_receiver() {
        for kind in Collective::with_plans() {
            for size in [1, 2, 5, 8] {
                let collective = RecordedCollective { kind, root: size - 1, bytes: 48 };
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                for me in 0..size {
                    for round in rounds(&collective, me, size) {
                        sent.extend(round.sends.iter().map(|&(to, bytes)| (me, to, bytes)));
                        received
                            .extend(round.receives.iter().map(|&(from, bytes)| (from, me, bytes)));
                    }
                }
                sent.sort_unstable();
                received.sort_unstable();
                assert_eq!(sent, received, "{kind:?} of {size}");
                assert!(size == 1 || sent.len() >= size - 1);
            }
        }
    }
}
