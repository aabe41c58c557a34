//! Collectives that the other end executes, with this rank's memory and this rank's function that combines elements.

use contract::{Awaited, CollectiveCall, ContextPlace, Readable, Result};

use super::{ProxyEndpoint, check_length};
use crate::wire::collective::CollectiveParameters;
use crate::wire::reply::{ReplyKind, Value};
use crate::wire::request::ProcessRequest;

impl ProxyEndpoint {
    /// Requests that the machine executes a collective. Returns `None` if it leaves that to messages.
    pub(super) fn carry_out(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let parameters = CollectiveParameters::of(&call);
        let CollectiveCall { send, mut receive, mut combine, .. } = call;
        let room = receive.as_mut().map_or(0, |one| one.bytes());
        let longest = room.max(send.map_or(0, |one| one.bytes()));
        if let Err(error) = check_length(&self.name, longest) {
            return Some(Err(error));
        }
        let data = match (&send, &mut receive) {
            (Some(send), _) => Readable::as_slice(send),
            // Its contents are read as well.
            (None, Some(receive)) => receive.part_mut(0..usize::MAX),
            (None, None) => &[],
        };
        let caller = self.caller.clone();
        // Replies overwrite the buffer, so the output is written once the call is over.
        let mut output = None;
        let called = self.call_with_replies(
            (&ProcessRequest::Collective(place, parameters), data),
            &mut |own, kind, operands| {
                if *kind == ReplyKind::Poll {
                    caller.as_library(|| idle(own));
                    return caller.send(&ProcessRequest::Polled(true), &[]).map(|()| false);
                }
                let (left, right) = operands.split_at(operands.len() / 2);
                let mut result = vec![0; left.len()];
                if let Some(combine) = &mut combine {
                    (combine.apply)(left.as_ptr(), right.as_ptr(), result.as_mut_ptr(), left.len());
                }
                caller.send(&ProcessRequest::Combined, &result).map(|()| false)
            },
            &mut |own| {
                let collective = parameters.collective.words().into();
                let (number, members) =
                    own.contexts.get(&place.0).copied().unwrap_or((0, own.size));
                let (context, missing) = (2 * number, Vec::new());
                own.note_awaited(Awaited::Members { context, collective, members, missing });
            },
            &mut |data| output = Some(data.to_vec()),
        );
        match called {
            Ok(Some(Value::Flag(true))) => {
                if let (Some(receive), Some(output)) = (&mut receive, output) {
                    receive.write(0, &output);
                }
                Some(Ok(()))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
