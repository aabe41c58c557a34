//! Messages of a process: started operations, and blocking calls.

use contract::{
    Completion, Destination, Endpoint, LongWaits, Readable, Request, Result, Selector,
    SimulatedTime, Writable,
};
use fabric_proxy::wire::line::LONGEST_BYTES;
use fabric_proxy::wire::message::{Data, Writer};
use fabric_proxy::wire::reply::{Reply, ReplyKind, Value};
use recording::{Room, SentMessage};

use super::operations::Memory;
use super::{Attempt, Outcome, Server, failed, value};
use crate::endpoint::SimEndpoint;
use crate::processes::is_of_collectives;

impl Server<'_> {
    pub(super) fn send(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        to: Destination,
        data: Data<'_>,
    ) -> Attempt {
        let data = data.bytes();
        let sent = endpoint.send(to, data);
        if sent.is_ok() {
            self.notes.sent(message(to, data), None);
        }
        value(sent)
    }

    pub(super) fn post_send(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        to: Destination,
        data: Data<'_>,
        (synchronous, own): (bool, Request),
    ) -> Attempt {
        let data = data.bytes().to_vec();
        let completion = if synchronous { Completion::Synchronous } else { Completion::Local };
        // SAFETY: the table keeps the bytes until the request has ended.
        let readable = unsafe { Readable::new(data.as_ptr(), data.len()) };
        let posted = self.by_library(endpoint, to.context, |endpoint| {
            endpoint.post_send(to, readable, completion)
        });
        if let Ok(request) = posted {
            self.notes.posted_send(request, message(to, &data), synchronous);
        }
        self.note_posted(own, posted, Memory::Sent { _data: data })
    }

    pub(super) fn post_receive(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        selector: Selector,
        (bytes, own): (usize, Request),
    ) -> Attempt {
        let bytes = bytes.min(LONGEST_BYTES);
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
        value(posted.map(|request| self.operations.add(own, request, memory)))
    }

    /// Posts a message. Those inside collectives, which have odd contexts, count as the library's and not the
    /// program's.
    pub(super) fn by_library<R>(
        &self,
        endpoint: &mut SimEndpoint<'_>,
        context: u32,
        post: impl FnOnce(&mut SimEndpoint<'_>) -> R,
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

    pub(super) fn cancel(&mut self, endpoint: &mut SimEndpoint<'_>, own: Request) -> Attempt {
        let request = self.operations.of_endpoint(own).map_err(Outcome::Failed)?;
        let cancelled = endpoint.cancel_receive(request);
        if cancelled {
            self.operations.forget(own);
            self.notes.cancelled(request);
        }
        Ok(cancelled.into())
    }

    /// Waits for one of the operations with the process's numbers `own`.
    pub(super) fn wait_any(&mut self, endpoint: &mut SimEndpoint<'_>, own: &[Request]) -> Attempt {
        let requests: Result<Vec<Request>> =
            own.iter().map(|&one| self.operations.of_endpoint(one)).collect();
        match endpoint.wait_any(&requests.map_err(Outcome::Failed)?) {
            Ok(index) => {
                let kind = ReplyKind::Done(Value::Index(index));
                self.reply_with_completed(kind, endpoint, Some(own[index]));
                Err(Outcome::Replied)
            }
            Err(error) => failed(error),
        }
    }

    /// Receives a message, and waits for it, directly into the buffer of the reply. Sends one at the same time, if there
    /// is one.
    pub(super) fn receive(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        sent: Option<(Destination, Data<'_>)>,
        (selector, bytes): (Selector, usize),
    ) -> Attempt {
        let bytes = bytes.min(LONGEST_BYTES);
        let sent = sent.map(|(to, data)| (to, data.bytes().to_vec()));
        let mut writer = Writer::new(self.line);
        let buffer = writer.room(bytes);
        let received = match &sent {
            Some((to, data)) => endpoint.exchange((*to, data), (selector, buffer)),
            None => endpoint.receive(selector, buffer),
        };
        let envelope = match received {
            Ok(envelope) => envelope,
            Err(error) => return failed(error),
        };
        let room = Room { selector, bytes };
        match sent {
            Some((to, data)) => self.notes.sent(message(to, &data), Some((room, envelope))),
            None => self.notes.received(room, &envelope),
        }
        writer.keep(envelope.bytes.min(envelope.room));
        let (any_has_left, completed) = (endpoint.any_has_left(), Vec::new());
        let kind = ReplyKind::Done(Value::Envelope(envelope));
        self.send_reply(writer, Reply { any_has_left, completed, kind });
        Err(Outcome::Replied)
    }
}

/// Returns a message in the form of recordings.
fn message(to: Destination, data: &[u8]) -> SentMessage {
    let Destination { rank: to, context, tag } = to;
    SentMessage { to, context, tag, bytes: data.len() }
}
