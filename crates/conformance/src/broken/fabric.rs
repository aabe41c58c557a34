//! A fabric around another one, with one fault.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;

use super::Fault;
use contract::{Buffer, Error, Rank, Result, SharedLine, Source, Status, Tag, TagSelector};

pub(super) struct Broken<'a> {
    pub(super) inner: &'a mut dyn Rank,
    pub(super) fault: Fault,
    /// A message that others may overtake.
    pub(super) held: Option<(usize, Tag, Vec<u8>)>,
    /// A message that should have been consumed.
    pub(super) kept: Option<(Status, Vec<u8>)>,
    /// Numbers of receives that were posted in place of each other.
    pub(super) swapped: Vec<(u64, u64)>,
    pub(super) waiting_to_be_posted: Option<(Source, TagSelector, Buffer)>,
    calls: Cell<u64>,
    pub(super) line: OwnLine,
    /// Number of messages that the rank has sent.
    pub(super) sent: usize,
}

#[derive(Default)]
pub(super) struct OwnLine([AtomicU64; 8]);

impl SharedLine for OwnLine {
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.0[index]
    }

    fn sleep_while(&self, _index: usize, _value: u64) {}

    fn wake(&self, _index: usize) {}
}

impl<'a> Broken<'a> {
    pub(super) fn new(inner: &'a mut dyn Rank, fault: Fault) -> Self {
        Broken {
            inner,
            fault,
            held: None,
            kept: None,
            swapped: Vec::new(),
            waiting_to_be_posted: None,
            calls: Cell::new(0),
            line: OwnLine::default(),
            sent: 0,
        }
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// Counts calls and returns true at each `every`th.
    pub(super) fn now_and_then(&self, every: u64) -> bool {
        self.calls.set(self.calls.get() + 1);
        self.calls.get().is_multiple_of(every)
    }

    pub(super) fn let_go(&mut self) -> Result<()> {
        match self.held.take() {
            Some((to, tag, data)) => self.inner.send(to, tag, &data),
            None => Ok(()),
        }
    }

    pub(super) fn tag_out(&self, tag: Tag) -> Tag {
        match self.fault {
            Fault::NoReservedTags if tag.is_reserved() => {
                Tag::new((1 << 30) | (tag.value() & Tag::MAX))
            }
            Fault::CutsTags if !tag.is_reserved() => Tag::new(tag.value() & 0xffff),
            _ => tag,
        }
    }

    pub(super) fn selector(&self, tag: TagSelector) -> TagSelector {
        match (self.fault, tag) {
            (Fault::IgnoresTags, TagSelector::Is(tag)) if !tag.is_reserved() => TagSelector::Any,
            (Fault::NoReservedTags, TagSelector::AnyReserved) => TagSelector::Any,
            (_, TagSelector::Is(tag)) => TagSelector::Is(self.tag_out(tag)),
            (_, other) => other,
        }
    }

    pub(super) fn status(&self, mut status: Status) -> Status {
        let value = status.tag.value();
        match self.fault {
            Fault::NoReservedTags if !status.tag.is_reserved() && value >> 30 == 1 => {
                status.tag = Tag::from_wire(value | (Tag::MAX + 1));
            }
            Fault::WrongSource => status.source = 0,
            _ => {}
        }
        status
    }

    pub(super) fn spoil(&self, status: Status, buffer: &mut [u8]) -> Status {
        let status = self.status(status);
        match self.fault {
            Fault::DamagesLongMessages if status.bytes > 2048 => buffer[status.bytes / 2] ^= 16,
            Fault::LosesTheLastByte if status.bytes == 4096 => buffer[status.bytes - 1] = 0,
            Fault::WritesBehindTheMessage if status.bytes < buffer.len() => {
                buffer[status.bytes] = 0;
            }
            _ => {}
        }
        status
    }

    /// Receives into a buffer that is large enough for all messages of the cases, then into the caller's.
    pub(super) fn receive_roomily(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status> {
        let (mut status, data) = match self.kept.take() {
            Some(kept) => kept,
            None => {
                let mut room = vec![0; 400_000];
                let status = self.inner.receive(from, tag, &mut room)?;
                room.truncate(status.bytes);
                (status, room)
            }
        };
        let fits = data.len().min(buffer.len());
        buffer[..fits].copy_from_slice(&data[..fits]);
        if fits < data.len() && self.has(Fault::KeepsTruncatedMessages) {
            let error = Error::Truncated {
                from: status.source,
                tag: status.tag.value(),
                message_bytes: data.len(),
                buffer_bytes: buffer.len(),
            };
            self.kept = Some((status, data));
            return Err(error);
        }
        status.bytes = fits;
        Ok(status)
    }
}
