//! The events of a rank, in order.

use collectives::Collective;
use contract::{Element, Operation, Reduction, Selector, TimeSpan};

use crate::bytes::{ByteReader, Cut, put_number, put_optional};

/// An action of a rank. Contexts, ranks and tags are those of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankEvent {
    /// Computing.
    Compute(TimeSpan),
    /// Sleeping.
    Sleep(TimeSpan),
    /// A send, and the wait until its memory was free again.
    Send(SentMessage),
    /// A receive.
    Receive(Room),
    /// A send and a receive at once.
    Exchange(SentMessage, Room),
    /// The start of a send.
    PostSend {
        /// Its message.
        message: SentMessage,
        /// True if the send ends only once a receive has taken the message.
        synchronous: bool,
    },
    /// The start of a receive.
    PostReceive(Room),
    /// The wait for the end of a started operation: 0 for the last one that this rank has started, 1 for the one before
    /// it.
    End(u64),
    /// The cancelling of a started receive, counted in the same way.
    Cancel(u64),
    /// A collective of all ranks.
    Collective(RecordedCollective),
    /// Marks the next event: it happened in the middle of the collective before it, while the rank waited.
    Meanwhile,
    /// Marks the next event: the library and not the program caused it, while the rank waited for something other than
    /// a collective.
    Aside,
}

/// A sent message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// Its destination.
    pub to: usize,
    /// Its context.
    pub context: u32,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: usize,
}

/// The messages that a receive accepts, and the length of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The accepted messages.
    pub selector: Selector,
    /// Length of the buffer.
    pub bytes: usize,
}

/// A collective of all ranks, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedCollective {
    /// The collective: one that has plans; others are recorded as their messages.
    pub kind: Collective,
    /// Its root, if there is one.
    pub root: usize,
    /// Length in bytes of a block of each rank, or of all data if there are no blocks.
    pub bytes: usize,
}

impl RecordedCollective {
    /// Returns the reduction of a replay: the original type is not recorded.
    pub(crate) fn reduction(&self) -> Reduction {
        let element = match self.bytes % 8 {
            0 => Element::F64,
            4 => Element::I32,
            _ => Element::U8,
        };
        Reduction::new(element, Operation::Maximum)
    }
}

impl RankEvent {
    /// Returns the context of the message that it sends or receives, or starts to.
    pub fn context(&self) -> Option<u32> {
        match self {
            RankEvent::Send(message)
            | RankEvent::Exchange(message, _)
            | RankEvent::PostSend { message, .. } => Some(message.context),
            RankEvent::Receive(room) | RankEvent::PostReceive(room) => Some(room.selector.context),
            _ => None,
        }
    }

    /// Appends it to a rank's recording.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            RankEvent::Compute(span) => put(out, 0, &[span.as_ps()]),
            RankEvent::Sleep(span) => put(out, 1, &[span.as_ps()]),
            RankEvent::Send(message) => {
                out.push(2);
                put_message(out, message);
            }
            RankEvent::Receive(room) => {
                out.push(3);
                put_room(out, room);
            }
            RankEvent::Exchange(message, room) => {
                out.push(4);
                put_message(out, message);
                put_room(out, room);
            }
            RankEvent::PostSend { message, synchronous } => {
                out.push(if synchronous { 6 } else { 5 });
                put_message(out, message);
            }
            RankEvent::PostReceive(room) => {
                out.push(7);
                put_room(out, room);
            }
            RankEvent::End(back) => put(out, 8, &[back]),
            RankEvent::Cancel(back) => put(out, 9, &[back]),
            RankEvent::Collective(RecordedCollective { kind, root, bytes }) => {
                put(out, 10, &[kind as u64, root as u64, bytes as u64]);
            }
            RankEvent::Meanwhile => out.push(11),
            RankEvent::Aside => out.push(12),
        }
    }

    /// Reads the next event. Returns `None` at the end.
    ///
    /// # Errors
    /// [`Cut`] if the bytes are not an event, or an incomplete one.
    pub fn read(from: &mut ByteReader<'_>) -> Result<Option<Self>, Cut> {
        let Some(code) = from.byte() else { return Ok(None) };
        Ok(Some(match code {
            0 => RankEvent::Compute(TimeSpan::from_ps(from.number()?)),
            1 => RankEvent::Sleep(TimeSpan::from_ps(from.number()?)),
            2 => RankEvent::Send(take_message(from)?),
            3 => RankEvent::Receive(take_room(from)?),
            4 => RankEvent::Exchange(take_message(from)?, take_room(from)?),
            5 => RankEvent::PostSend { message: take_message(from)?, synchronous: false },
            6 => RankEvent::PostSend { message: take_message(from)?, synchronous: true },
            7 => RankEvent::PostReceive(take_room(from)?),
            8 => RankEvent::End(from.number()?),
            9 => RankEvent::Cancel(from.number()?),
            10 => {
                // The collectives with plans are the first of all.
                let kind = Collective::with_plans().nth(from.size()?).ok_or(Cut)?;
                RankEvent::Collective(RecordedCollective {
                    kind,
                    root: from.size()?,
                    bytes: from.size()?,
                })
            }
            11 => RankEvent::Meanwhile,
            12 => RankEvent::Aside,
            _ => return Err(Cut),
        }))
    }
}

fn put(out: &mut Vec<u8>, code: u8, numbers: &[u64]) {
    out.push(code);
    numbers.iter().for_each(|&number| put_number(out, number));
}

fn put_message(out: &mut Vec<u8>, SentMessage { to, context, tag, bytes }: SentMessage) {
    [to as u64, context.into(), tag.into(), bytes as u64]
        .into_iter()
        .for_each(|number| put_number(out, number));
}

fn take_message(from: &mut ByteReader<'_>) -> Result<SentMessage, Cut> {
    Ok(SentMessage {
        to: from.size()?,
        context: from.small()?,
        tag: from.small()?,
        bytes: from.size()?,
    })
}

fn put_room(out: &mut Vec<u8>, Room { selector, bytes }: Room) {
    put_number(out, selector.context.into());
    put_optional(out, selector.source);
    put_optional(out, selector.tag);
    put_number(out, bytes as u64);
}

fn take_room(from: &mut ByteReader<'_>) -> Result<Room, Cut> {
    let selector =
        Selector { context: from.small()?, source: from.optional()?, tag: from.optional()? };
    Ok(Room { selector, bytes: from.size()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns every kind of event with these numbers in it.
    fn all([a, b, c, d]: [u64; 4], flag: bool) -> Vec<RankEvent> {
        let message =
            SentMessage { to: a as usize, context: b as u32, tag: c as u32, bytes: d as usize };
        let source = flag.then_some(a as u32);
        let selector = Selector { context: b as u32, source, tag: (!flag).then_some(c as u32) };
        let room = Room { selector, bytes: d as usize };
        let kind = Collective::with_plans().nth(a as usize % 8).unwrap();
        vec![
            RankEvent::Compute(TimeSpan::from_ps(a)),
            RankEvent::Sleep(TimeSpan::from_ps(b)),
            RankEvent::Send(message),
            RankEvent::Receive(room),
            RankEvent::Exchange(message, room),
            RankEvent::PostSend { message, synchronous: flag },
            RankEvent::PostReceive(room),
            RankEvent::End(c),
            RankEvent::Cancel(d),
            RankEvent::Collective(RecordedCollective { kind, root: b as usize, bytes: c as usize }),
            RankEvent::Meanwhile,
            RankEvent::Aside,
        ]
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(numbers: [u64; 4], flag: bool) {
            let events = all(numbers, flag);
            let mut bytes = Vec::new();
            events.iter().for_each(|event| event.write(&mut bytes));
            let mut source = ByteReader::new(&bytes);
            for event in &events {
                prop_assert_eq!(RankEvent::read(&mut source), Ok(Some(*event)));
            }
            prop_assert_eq!(RankEvent::read(&mut source), Ok(None));
        }

        #[test]
        fn an_event_that_is_cut_off_is_told(numbers: [u64; 4], flag: bool) {
            for event in all(numbers, flag) {
                let mut bytes = Vec::new();
                event.write(&mut bytes);
                for end in 1..bytes.len() {
                    prop_assert_eq!(RankEvent::read(&mut ByteReader::new(&bytes[..end])), Err(Cut));
                }
            }
        }
    }

    #[test]
    fn what_is_no_event_is_told() {
        assert_eq!(RankEvent::read(&mut ByteReader::new(&[13])), Err(Cut));
        assert_eq!(RankEvent::read(&mut ByteReader::new(&[10, 8, 0, 0])), Err(Cut));
    }
}
