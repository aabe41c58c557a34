//! What a rank has done, one thing after the other.

use contract::{Element, Operation, Reduction, Selector, TimeSpan};

use crate::bytes::{Cut, Source, put_number, put_optional};

/// Something that a rank has done. Contexts, ranks and tags are those of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Computed.
    Compute(TimeSpan),
    /// Slept.
    Sleep(TimeSpan),
    /// Sent, and waited until the memory was free again.
    Send(Message),
    /// Received.
    Receive(Room),
    /// Did both at once.
    Exchange(Message, Room),
    /// Started to send.
    PostSend {
        /// What.
        message: Message,
        /// Whether the send is done only once a receive has taken it.
        synchronous: bool,
    },
    /// Started to receive.
    PostReceive(Room),
    /// Waited for the end of a started operation: 0 for the latest that this rank has started, 1 for the one before it.
    End(u64),
    /// Took a started receive back, counted in the same way.
    Cancel(u64),
    /// Called a collective of all ranks.
    Collective(Collective),
}

/// A message that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// To whom.
    pub to: usize,
    /// In which context.
    pub context: u32,
    /// With which tag.
    pub tag: u32,
    /// Its length.
    pub bytes: usize,
}

/// Which messages a receive accepts, and how much room it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The messages.
    pub selector: Selector,
    /// The room.
    pub bytes: usize,
}

/// A collective of all ranks, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Which.
    pub kind: CollectiveKind,
    /// Who gives or gets, where there is one who does.
    pub root: usize,
    /// The length of a block of each rank, or of all data where there are no blocks.
    pub bytes: usize,
}

/// Which collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the field's")]
pub enum CollectiveKind {
    Barrier,
    Broadcast,
    Scatter,
    Gather,
    Allgather,
    AllToAll,
    Reduce,
    Allreduce,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [CollectiveKind; 8] = {
        use CollectiveKind::*;
        [Barrier, Broadcast, Scatter, Gather, Allgather, AllToAll, Reduce, Allreduce]
    };

    /// What a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveKind::Barrier => "barrier",
            CollectiveKind::Broadcast => "broadcast",
            CollectiveKind::Scatter => "scatter",
            CollectiveKind::Gather => "gather",
            CollectiveKind::Allgather => "allgather",
            CollectiveKind::AllToAll => "all-to-all",
            CollectiveKind::Reduce => "reduce",
            CollectiveKind::Allreduce => "allreduce",
        }
    }
}

impl Collective {
    /// What a reduction of a replay combines: of what elements they were is not recorded.
    pub(crate) fn reduction(&self) -> Reduction {
        let element = match self.bytes % 8 {
            0 => Element::F64,
            4 => Element::I32,
            _ => Element::U8,
        };
        Reduction::new(element, Operation::Maximum)
    }
}

impl Event {
    /// Appends it to a rank's recording.
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Event::Compute(span) => put(out, 0, &[span.as_ps()]),
            Event::Sleep(span) => put(out, 1, &[span.as_ps()]),
            Event::Send(message) => {
                out.push(2);
                put_message(out, message);
            }
            Event::Receive(room) => {
                out.push(3);
                put_room(out, room);
            }
            Event::Exchange(message, room) => {
                out.push(4);
                put_message(out, message);
                put_room(out, room);
            }
            Event::PostSend { message, synchronous } => {
                out.push(if synchronous { 6 } else { 5 });
                put_message(out, message);
            }
            Event::PostReceive(room) => {
                out.push(7);
                put_room(out, room);
            }
            Event::End(back) => put(out, 8, &[back]),
            Event::Cancel(back) => put(out, 9, &[back]),
            Event::Collective(Collective { kind, root, bytes }) => {
                put(out, 10, &[kind as u64, root as u64, bytes as u64]);
            }
        }
    }

    /// Takes the next one; `None` at the end.
    ///
    /// # Errors
    /// [`Cut`] where what stands there is none, or not a whole one.
    pub fn read(from: &mut Source<'_>) -> Result<Option<Self>, Cut> {
        let Some(code) = from.byte() else { return Ok(None) };
        Ok(Some(match code {
            0 => Event::Compute(TimeSpan::from_ps(from.number()?)),
            1 => Event::Sleep(TimeSpan::from_ps(from.number()?)),
            2 => Event::Send(take_message(from)?),
            3 => Event::Receive(take_room(from)?),
            4 => Event::Exchange(take_message(from)?, take_room(from)?),
            5 => Event::PostSend { message: take_message(from)?, synchronous: false },
            6 => Event::PostSend { message: take_message(from)?, synchronous: true },
            7 => Event::PostReceive(take_room(from)?),
            8 => Event::End(from.number()?),
            9 => Event::Cancel(from.number()?),
            10 => {
                let kind = *CollectiveKind::ALL.get(from.size()?).ok_or(Cut)?;
                Event::Collective(Collective { kind, root: from.size()?, bytes: from.size()? })
            }
            _ => return Err(Cut),
        }))
    }
}

fn put(out: &mut Vec<u8>, code: u8, numbers: &[u64]) {
    out.push(code);
    numbers.iter().for_each(|&number| put_number(out, number));
}

fn put_message(out: &mut Vec<u8>, Message { to, context, tag, bytes }: Message) {
    [to as u64, context.into(), tag.into(), bytes as u64]
        .into_iter()
        .for_each(|number| put_number(out, number));
}

fn take_message(from: &mut Source<'_>) -> Result<Message, Cut> {
    Ok(Message {
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

fn take_room(from: &mut Source<'_>) -> Result<Room, Cut> {
    let selector =
        Selector { context: from.small()?, source: from.optional()?, tag: from.optional()? };
    Ok(Room { selector, bytes: from.size()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every kind of event with these numbers in it.
    fn all([a, b, c, d]: [u64; 4], flag: bool) -> Vec<Event> {
        let message =
            Message { to: a as usize, context: b as u32, tag: c as u32, bytes: d as usize };
        let source = flag.then_some(a as u32);
        let selector = Selector { context: b as u32, source, tag: (!flag).then_some(c as u32) };
        let room = Room { selector, bytes: d as usize };
        let kind = CollectiveKind::ALL[a as usize % 8];
        vec![
            Event::Compute(TimeSpan::from_ps(a)),
            Event::Sleep(TimeSpan::from_ps(b)),
            Event::Send(message),
            Event::Receive(room),
            Event::Exchange(message, room),
            Event::PostSend { message, synchronous: flag },
            Event::PostReceive(room),
            Event::End(c),
            Event::Cancel(d),
            Event::Collective(Collective { kind, root: b as usize, bytes: c as usize }),
        ]
    }

    proptest! {
        #[test]
        fn events_are_read_as_they_were_written(numbers: [u64; 4], flag: bool) {
            let events = all(numbers, flag);
            let mut bytes = Vec::new();
            events.iter().for_each(|event| event.write(&mut bytes));
            let mut source = Source::new(&bytes);
            for event in &events {
                prop_assert_eq!(Event::read(&mut source), Ok(Some(*event)));
            }
            prop_assert_eq!(Event::read(&mut source), Ok(None));
        }

        #[test]
        fn an_event_that_is_cut_off_is_told(numbers: [u64; 4], flag: bool) {
            for event in all(numbers, flag) {
                let mut bytes = Vec::new();
                event.write(&mut bytes);
                for end in 1..bytes.len() {
                    prop_assert_eq!(Event::read(&mut Source::new(&bytes[..end])), Err(Cut));
                }
            }
        }
    }

    #[test]
    fn what_is_no_event_is_told() {
        assert_eq!(Event::read(&mut Source::new(&[11])), Err(Cut));
        assert_eq!(Event::read(&mut Source::new(&[10, 8, 0, 0])), Err(Cut));
    }
}
