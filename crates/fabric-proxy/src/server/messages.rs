//! Messages of a process: started operations, and blocking calls.

use contract::{
    Completion, Destination, Endpoint, Error, Readable, Request, Result, Selector, Writable,
};
use recording::{Room, SentMessage};

use super::requests::Memory;
use super::{Attempt, Outcome, Server, done, failed, unit};
use crate::ask::Ask;
use crate::computing::is_of_collectives;
use crate::reply::{Kind, VALUES, envelope_values};
use crate::stream::Reader;

/// Offset of the data in a reply that reports no completed operation.
const DATA_AT: usize = 8 * (2 + VALUES + 1 + 1);

impl<'a, E: Endpoint> Server<'a, E> {
    pub(super) fn post_send(
        &mut self,
        endpoint: &mut E,
        message: SentMessage,
        data: Vec<u8>,
        (synchronous, own): (bool, Request),
    ) -> Attempt {
        let SentMessage { to, context, tag, .. } = message;
        let completion = if synchronous { Completion::Synchronous } else { Completion::Local };
        // SAFETY: the table keeps the bytes until the request has ended.
        let readable = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let posted = self.by_library(endpoint, context, |endpoint| {
            endpoint.post_send(Destination { rank: to, context, tag }, readable, completion)
        });
        if let Ok(request) = posted {
            self.notes.posted_send(request, message, synchronous);
        }
        self.note_posted(own, posted, Memory::Sent { _data: data })
    }

    pub(super) fn post_receive(
        &mut self,
        endpoint: &mut E,
        selector: Selector,
        (bytes, own): (usize, Request),
    ) -> Attempt {
        let mut room = vec![0; bytes];
        // SAFETY: as above; the bytes are not read before the request is done.
        let writable = unsafe { Writable::new(room.as_mut_ptr(), bytes) };
        let posted = self.by_library(endpoint, selector.context, |endpoint| {
            endpoint.post_receive(selector, writable)
        });
        if let Ok(request) = posted {
            self.notes.posted_receive(request, Room { selector, bytes });
        }
        self.note_posted(own, posted, Memory::Room(room))
    }

    fn note_posted(&mut self, own: Request, posted: Result<Request>, memory: Memory) -> Attempt {
        unit(posted.map(|request| self.requests.add(own, request, memory)))
    }

    /// Posts a message. Those inside collectives, which have odd contexts, count as the library's and not the
    /// program's.
    pub(super) fn by_library<R>(
        &self,
        endpoint: &mut E,
        context: u32,
        post: impl FnOnce(&mut E) -> R,
    ) -> R {
        let is_librarys = is_of_collectives(context);
        if is_librarys {
            endpoint.mark_algorithm(true);
        }
        let posted = post(endpoint);
        if is_librarys {
            endpoint.mark_algorithm(false);
        }
        posted
    }

    pub(super) fn cancel(&mut self, endpoint: &mut E, own: Request) -> Attempt {
        let request = self.requests.of_endpoint(own).map_err(Outcome::Failed)?;
        let cancelled = endpoint.cancel_receive(request);
        if cancelled {
            self.requests.forget(own);
            self.notes.cancelled(request);
        }
        done([cancelled.into()])
    }

    /// Waits for one of the operations with the process's numbers `own`.
    pub(super) fn wait_any(&mut self, endpoint: &mut E, own: &[Request]) -> Attempt {
        let requests: Result<Vec<Request>> =
            own.iter().map(|&one| self.requests.of_endpoint(one)).collect();
        match endpoint.wait_any(&requests.map_err(Outcome::Failed)?) {
            Ok(index) => {
                let mut values = [0; VALUES];
                values[0] = index as u64;
                self.answer_as(Kind::Done, endpoint, values, Some(own[index]));
                Err(Outcome::Replied)
            }
            Err(error) => failed(error),
        }
    }

    /// Receives a message, and waits for it, directly into the buffer of the reply.
    pub(super) fn receive(
        &mut self,
        endpoint: &mut E,
        ask: Ask,
        mut reader: Reader<'a>,
    ) -> Attempt {
        let data = reader.bytes().to_vec();
        let buffer = |bytes| {
            // SAFETY: it is the server's turn, the request has been read, and the buffer is longer than the longest
            // message.
            unsafe { std::slice::from_raw_parts_mut(self.line.room().add(DATA_AT), bytes) }
        };
        let (received, sent, room) = match ask {
            Ask::Receive { selector, room: bytes } => {
                (endpoint.receive(selector, buffer(bytes)), None, Room { selector, bytes })
            }
            Ask::Exchange { to, context, tag, selector, room: bytes } => {
                let place = Destination { rank: to, context, tag };
                let received = endpoint.exchange((place, &data), (selector, buffer(bytes)));
                let message = SentMessage { to, context, tag, bytes: data.len() };
                (received, Some(message), Room { selector, bytes })
            }
            _ => return failed(Error::UnknownRequest),
        };
        let envelope = match received {
            Ok(envelope) => envelope,
            Err(error) => return failed(error),
        };
        match sent {
            Some(message) => self.notes.sent(message, Some((room, envelope))),
            None => self.notes.received(room, &envelope),
        }
        // The buffer contains the data already, so its memory must not be freed.
        self.line.set_bytes(0);
        let values = envelope_values(Some(envelope));
        let mut writer = self.write(Kind::Done, endpoint.any_has_left(), values, 0);
        writer.room(envelope.bytes.min(envelope.room));
        writer.end();
        self.line.answer();
        Err(Outcome::Replied)
    }
}
