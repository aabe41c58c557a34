//! A collective in the buffer of a line: its parameters, and the data of this rank.

use contract::{CollectiveCall, Combine, Element, Operation, Readable, Reduction, Writable};
use recording::{CollectiveKind, RecordedCollective};

use crate::stream::{Reader, Writer};

/// A collective without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kind: CollectiveKind,
    pub(crate) root: usize,
    /// Length of a block in bytes.
    pub(crate) each: usize,
    /// Length that this rank sends to the others if its arguments contradict each other.
    pub(crate) told: Option<usize>,
    pub(crate) element_bytes: usize,
    pub(crate) reduction: Option<Reduction>,
    /// True if there are data to send apart from those in the memory to receive into.
    pub(crate) sends: bool,
    /// Length of the memory to receive into; `None` if there is none.
    pub(crate) room: Option<usize>,
}

/// A collective's shape, its memory, and the function that combines its elements.
pub(crate) type Taken<'a> = (Shape, Option<Readable>, Option<Writable>, Option<Combine<'a>>);

impl Shape {
    /// Returns whether a call has a shape. The others are executed by messages on every fabric that a proxy serves.
    pub(crate) fn can_take(call: &CollectiveCall<'_>) -> bool {
        !matches!(call, CollectiveCall::ReduceScatter { .. } | CollectiveCall::Scan { .. })
    }

    /// Splits a call into its parts.
    pub(crate) fn take(call: CollectiveCall<'_>) -> Taken<'_> {
        let shape = |kind, root, each, told| Shape {
            kind,
            root,
            each,
            told,
            element_bytes: 0,
            reduction: None,
            sends: false,
            room: None,
        };
        use CollectiveKind as Kind;
        let (shape, send, receive, combine) = match call {
            CollectiveCall::Barrier => (shape(Kind::Barrier, 0, 0, None), None, None, None),
            CollectiveCall::Broadcast { root, data } => {
                (shape(Kind::Broadcast, root, 0, None), None, Some(data), None)
            }
            CollectiveCall::Scatter { root, send, receive, each } => {
                (shape(Kind::Scatter, root, each, None), Some(send), receive, None)
            }
            CollectiveCall::Gather { root, send, receive, each } => {
                (shape(Kind::Gather, root, each, None), send, Some(receive), None)
            }
            CollectiveCall::Allgather { send, receive, each, told } => {
                (shape(Kind::Allgather, 0, each, told), send, Some(receive), None)
            }
            CollectiveCall::AllToAll { send, receive, each, told } => {
                (shape(Kind::AllToAll, 0, each, told), send, Some(receive), None)
            }
            CollectiveCall::Reduce { root, send, receive, combine } => {
                (shape(Kind::Reduce, root, 0, None), Some(send), Some(receive), Some(combine))
            }
            CollectiveCall::Allreduce { send, receive, combine } => {
                (shape(Kind::Allreduce, 0, 0, None), Some(send), Some(receive), Some(combine))
            }
            CollectiveCall::ReduceScatter { .. } | CollectiveCall::Scan { .. } => {
                unreachable!("calls without a shape go by messages")
            }
        };
        let shape = Shape {
            element_bytes: combine.as_ref().map_or(0, |one| one.element_bytes),
            reduction: combine.as_ref().and_then(|one| one.reduction),
            sends: send.is_some(),
            room: receive.as_ref().map(Writable::bytes),
            ..shape
        };
        (shape, send, receive, combine)
    }

    /// Creates the call again.
    pub(crate) fn call<'a>(
        &self,
        send: Option<Readable>,
        receive: Option<Writable>,
        combine: Combine<'a>,
    ) -> CollectiveCall<'a> {
        let Shape { root, each, told, .. } = *self;
        let all = send.unwrap_or(Readable::empty());
        match self.kind {
            CollectiveKind::Barrier => CollectiveCall::Barrier,
            CollectiveKind::Broadcast => {
                CollectiveCall::Broadcast { root, data: receive.unwrap_or(Writable::empty()) }
            }
            CollectiveKind::Scatter => CollectiveCall::Scatter { root, send: all, receive, each },
            CollectiveKind::Gather => {
                let receive = receive.unwrap_or(Writable::empty());
                CollectiveCall::Gather { root, send, receive, each }
            }
            CollectiveKind::Allgather => {
                let receive = receive.unwrap_or(Writable::empty());
                CollectiveCall::Allgather { send, receive, each, told }
            }
            CollectiveKind::AllToAll => {
                let receive = receive.unwrap_or(Writable::empty());
                CollectiveCall::AllToAll { send, receive, each, told }
            }
            CollectiveKind::Reduce => {
                let receive = receive.unwrap_or(Writable::empty());
                CollectiveCall::Reduce { root, send: all, receive, combine }
            }
            CollectiveKind::Allreduce => {
                let receive = receive.unwrap_or(Writable::empty());
                CollectiveCall::Allreduce { send: all, receive, combine }
            }
        }
    }

    /// Returns whether the contents of the memory to receive into are read as well.
    pub(crate) fn reads_room(&self) -> bool {
        self.kind == CollectiveKind::Broadcast || !self.sends
    }

    /// Returns the collective in the form of recordings; `sent` is the number of bytes that this rank sends.
    pub(crate) fn recorded(&self, sent: usize) -> RecordedCollective {
        let bytes = match self.kind {
            CollectiveKind::Barrier => 0,
            CollectiveKind::Broadcast => self.room.unwrap_or(0),
            CollectiveKind::Reduce | CollectiveKind::Allreduce => sent,
            _ => self.each,
        };
        RecordedCollective { kind: self.kind, root: self.root, bytes }
    }

    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let optional = |number: Option<usize>| number.map_or(u64::MAX, |one| one as u64);
        writer.numbers(&[
            self.kind as u64,
            self.root as u64,
            self.each as u64,
            optional(self.told),
            self.element_bytes as u64,
            reduction_number(self.reduction),
            self.sends.into(),
            optional(self.room),
        ]);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let optional = |number: u64| (number != u64::MAX).then_some(number as usize);
        let [kind, root, each, told, element_bytes, reduction, sends, room] = reader.numbers();
        Some(Shape {
            kind: *CollectiveKind::ALL.get(kind as usize)?,
            root: root as usize,
            each: each as usize,
            told: optional(told),
            element_bytes: element_bytes as usize,
            reduction: reduction_of(reduction),
            sends: sends != 0,
            room: optional(room),
        })
    }
}

/// Returns the number of a reduction, or 0 for none.
fn reduction_number(reduction: Option<Reduction>) -> u64 {
    let Some(Reduction { element, operation }) = reduction else { return 0 };
    let element = Element::ALL.iter().position(|&one| one == element);
    let operation = Operation::ALL.iter().position(|&one| one == operation);
    match (element, operation) {
        (Some(element), Some(operation)) => 1 + (element * Operation::ALL.len() + operation) as u64,
        _ => 0,
    }
}

fn reduction_of(number: u64) -> Option<Reduction> {
    let index = number.checked_sub(1)? as usize;
    let element = *Element::ALL.get(index / Operation::ALL.len())?;
    Some(Reduction::new(element, Operation::ALL[index % Operation::ALL.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Lines;

    #[test]
    fn a_shape_is_read_as_it_was_written() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        for (index, kind) in CollectiveKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            for element in Element::ALL {
                for operation in Operation::ALL {
                    let shape = Shape {
                        kind,
                        root: 7,
                        each: 1 << 20,
                        told: (index % 2 == 0).then_some(3),
                        element_bytes: 8,
                        reduction: (index > 1).then_some(Reduction::new(element, operation)),
                        sends: index % 3 == 0,
                        room: (index % 2 == 1).then_some(0),
                    };
                    let mut writer = Writer::new(&line);
                    shape.write(&mut writer);
                    writer.end();
                    assert_eq!(Shape::read(&mut Reader::new(&line)), Some(shape));
                }
            }
        }
    }
}
