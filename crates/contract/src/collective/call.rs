//! One call of a collective: what its messages are marked with, and how they are checked.

use crate::{Element, Error, Operation, Rank, Reduction, Result, Source, Status, Tag, TagSelector};

/// The collectives, each algorithm apart, so that ranks that chose differently notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Barrier,
    Broadcast,
    LongBroadcast,
    Scatter,
    Gather,
    Allgather,
    LongAllgather,
    Reduce,
    LongReduce,
    Allreduce,
    LongAllreduce,
    AllToAll,
    ShortAllToAll,
}

/// A collective with what all ranks must agree on, apart from the length.
#[derive(Clone, Copy)]
pub(super) struct Call {
    kind: Kind,
    tag: Tag,
}

// A reserved tag from the top: 4 bits of kind, 5 of reduction, 11 of root (the lowest ones).
const ROOT_BITS: u32 = 11;
const REDUCTION_BITS: u32 = 5;
const NO_REDUCTION: u32 = (1 << REDUCTION_BITS) - 1;

impl Kind {
    const ALL: [(Kind, &str); 13] = [
        (Kind::Barrier, "barrier"),
        (Kind::Broadcast, "broadcast"),
        (Kind::LongBroadcast, "broadcast"),
        (Kind::Scatter, "scatter"),
        (Kind::Gather, "gather"),
        (Kind::Allgather, "allgather"),
        (Kind::LongAllgather, "allgather"),
        (Kind::Reduce, "reduce"),
        (Kind::LongReduce, "reduce"),
        (Kind::Allreduce, "allreduce"),
        (Kind::LongAllreduce, "allreduce"),
        (Kind::AllToAll, "all_to_all"),
        (Kind::ShortAllToAll, "all_to_all"),
    ];

    fn name(self) -> &'static str {
        Kind::ALL[self as usize].1
    }
}

impl Call {
    /// A collective without a root.
    pub(super) fn new(kind: Kind) -> Self {
        Call::marked(kind, 0, NO_REDUCTION)
    }

    /// A collective with a root, which is refused if there is no such rank.
    pub(super) fn rooted(kind: Kind, root: usize, size: usize) -> Result<Self> {
        crate::check_rank(root, size)?;
        Ok(Call::marked(kind, root, NO_REDUCTION))
    }

    /// The same, with a reduction.
    pub(super) fn reducing(self, reduction: Reduction) -> Self {
        let root = self.tag.value() & ((1 << ROOT_BITS) - 1);
        Call::marked(self.kind, root as usize, reduction_code(reduction))
    }

    fn marked(kind: Kind, root: usize, reduction: u32) -> Self {
        let root = root as u32 & ((1 << ROOT_BITS) - 1);
        let mark = ((kind as u32) << REDUCTION_BITS | reduction) << ROOT_BITS | root;
        Call { kind, tag: Tag::reserved(mark) }
    }

    /// Sends `data` as a message of this call.
    pub(super) fn send<R: Rank + ?Sized>(
        self,
        machine: &mut R,
        to: usize,
        data: &[u8],
    ) -> Result<()> {
        machine.send(to, self.tag, data)
    }

    /// Receives the next message of `from`, which must be of this call and fill `buffer`.
    pub(super) fn receive<R: Rank + ?Sized>(
        self,
        machine: &mut R,
        from: usize,
        buffer: &mut [u8],
    ) -> Result<()> {
        let received = machine.receive(Source::Rank(from), TagSelector::AnyReserved, buffer);
        self.check(machine.rank(), from, buffer.len(), received)
    }

    /// Sends to one rank and receives from another (or the same), neither waiting for the other.
    pub(super) fn exchange<R: Rank + ?Sized>(
        self,
        machine: &mut R,
        (to, data): (usize, &[u8]),
        (from, buffer): (usize, &mut [u8]),
    ) -> Result<()> {
        let source = Source::Rank(from);
        let received =
            machine.send_receive(to, self.tag, data, source, TagSelector::AnyReserved, buffer);
        self.check(machine.rank(), from, buffer.len(), received)
    }

    fn check(
        self,
        rank: usize,
        from: usize,
        expected_bytes: usize,
        received: Result<Status>,
    ) -> Result<()> {
        let (tag, found_bytes) = match received {
            Ok(status) => (status.tag, status.bytes),
            Err(Error::Truncated { tag, message_bytes, .. }) => {
                (Tag::from_wire(tag), message_bytes)
            }
            Err(error) => return Err(error),
        };
        if tag != self.tag {
            let (own, other) = (describe(self.tag), describe(tag));
            return Err(Error::MismatchedCollective {
                explanation: format!("rank {rank} is in {own}, rank {from} in {other}"),
            });
        }
        if found_bytes != expected_bytes {
            let what = format!("the message of rank {from} to rank {rank}");
            return self.unequal(what, expected_bytes, found_bytes);
        }
        Ok(())
    }

    /// Refuses a length.
    pub(super) fn unequal<T>(
        self,
        what: impl Into<String>,
        expected_bytes: usize,
        found_bytes: usize,
    ) -> Result<T> {
        let what = what.into();
        Err(Error::UnequalCounts {
            collective: self.kind.name(),
            what,
            expected_bytes,
            found_bytes,
        })
    }

    /// Refuses `buffer`, which `what` names, unless it is `expected_bytes` long.
    pub(super) fn expect_bytes(
        self,
        what: &str,
        expected_bytes: usize,
        buffer: &[u8],
    ) -> Result<()> {
        if buffer.len() == expected_bytes {
            Ok(())
        } else {
            self.unequal(what, expected_bytes, buffer.len())
        }
    }

    /// Refuses `buffer` unless it holds a whole number of `unit_bytes`.
    pub(super) fn expect_multiple(
        self,
        what: &str,
        unit_bytes: usize,
        buffer: &[u8],
    ) -> Result<()> {
        let broken = buffer.len() % unit_bytes;
        self.expect_bytes(what, buffer.len() - broken, buffer)
    }
}

fn reduction_code(reduction: Reduction) -> u32 {
    let element = Element::ALL.iter().position(|&e| e == reduction.element);
    let operation = Operation::ALL.iter().position(|&o| o == reduction.operation);
    let known = "ALL lists every element and operation";
    (element.expect(known) * Operation::ALL.len() + operation.expect(known)) as u32
}

/// What a reserved tag says of its sender's call, in words.
pub(crate) fn describe(tag: Tag) -> String {
    let mark = tag.value() & Tag::MAX;
    let root = mark & ((1 << ROOT_BITS) - 1);
    let reduction = (mark >> ROOT_BITS) & NO_REDUCTION;
    let Some(&(kind, name)) = Kind::ALL.get((mark >> (ROOT_BITS + REDUCTION_BITS)) as usize) else {
        return format!("a collective of its fabric ({mark})");
    };
    let of = match Element::ALL.get(reduction as usize / Operation::ALL.len()) {
        Some(element) => {
            let operation = Operation::ALL[reduction as usize % Operation::ALL.len()];
            format!(" ({operation:?} of {element:?})")
        }
        None => String::new(),
    };
    let at = match kind {
        Kind::Broadcast | Kind::LongBroadcast | Kind::Scatter => format!(" with root {root}"),
        Kind::Gather | Kind::Reduce | Kind::LongReduce => format!(" with root {root}"),
        _ => String::new(),
    };
    let how = match kind {
        Kind::LongBroadcast | Kind::LongAllgather | Kind::LongReduce | Kind::LongAllreduce => {
            " of long messages"
        }
        Kind::ShortAllToAll => " of short messages",
        _ => "",
    };
    format!("{name}{of}{at}{how}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_table_at_their_own_numbers() {
        for (index, (kind, _)) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, index);
        }
    }

    #[test]
    fn a_tag_tells_what_its_sender_does() {
        let call = Call::rooted(Kind::LongReduce, 3, 5).unwrap().reducing(Reduction::SUM_F64);
        assert_eq!(describe(call.tag), "reduce (Sum of F64) with root 3 of long messages");
        assert_eq!(describe(Call::new(Kind::Barrier).tag), "barrier");
        assert!(call.tag.value() & Tag::MAX < 1 << 20);
    }
}
