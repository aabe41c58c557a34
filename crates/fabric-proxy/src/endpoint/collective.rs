//! Collectives that the other end executes, with this rank's memory and this rank's function that combines elements.

use contract::{Awaited, CollectiveCall, ContextPlace, Error, Readable, Result, Writable};

use super::{ProxyEndpoint, check_length};
use crate::ask::Ask;
use crate::collective::Parameters;
use crate::reply::Kind;
use crate::stream::Writer;

impl ProxyEndpoint {
    /// Requests that the other end executes a collective. Returns `None` if it leaves that to messages.
    pub(super) fn carry_out(
        &mut self,
        place: ContextPlace,
        call: CollectiveCall<'_>,
        idle: &mut dyn FnMut(&mut Self),
    ) -> Option<Result<()>> {
        let parameters = Parameters::of(&call);
        let CollectiveCall { send, mut receive, mut combine, .. } = call;
        let room = receive.as_mut().map_or(0, |one| one.bytes());
        let longest = room.max(send.map_or(0, |one| one.bytes()));
        if let Err(error) = check_length(&self.name, longest) {
            return Some(Err(error));
        }
        let fill =
            |writer: &mut Writer<'_>| write_data(writer, &parameters, send, receive.as_mut());
        let caller = self.caller.clone();
        // Replies overwrite the buffer, so the output is written once the call is over.
        let mut output = None;
        let called = self.converse(
            Ask::Collective(place),
            fill,
            &mut |own, kind, left, right| {
                if kind == Kind::Poll {
                    caller.inside(|| idle(own));
                    return caller.ask(Ask::Polled(true), |_| {}).map(|()| false);
                }
                let mut result = vec![0; left.len()];
                if let Some(combine) = &mut combine {
                    (combine.apply)(left.as_ptr(), right.as_ptr(), result.as_mut_ptr(), left.len());
                }
                caller.ask(Ask::Combined, |writer| writer.bytes(&result)).map(|()| false)
            },
            &mut |own| {
                let collective = parameters.collective.words().into();
                let (number, members) =
                    own.contexts.get(&place.0).copied().unwrap_or((0, own.size));
                let (context, missing) = (2 * number, Vec::new());
                own.note_awaited(Awaited::Members { context, collective, members, missing });
            },
            &mut |_, reader| output = Some(reader.bytes().to_vec()),
        );
        match called {
            Ok([0, ..]) => None,
            Ok(_) => {
                if let (Some(receive), Some(output)) = (&mut receive, output) {
                    receive.write(0, &output);
                }
                Some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

fn write_data(
    writer: &mut Writer<'_>,
    parameters: &Parameters,
    send: Option<Readable>,
    receive: Option<&mut Writable>,
) {
    parameters.write(writer);
    writer.bytes(send.as_ref().map_or(&[], Readable::as_slice));
    match receive {
        // Its contents are read as well.
        Some(receive) if !parameters.sends => writer.bytes(receive.part_mut(0..usize::MAX)),
        _ => writer.bytes(&[]),
    }
}

/// Returns the error of a fabric whose other end sends an unrequested reply.
pub(super) fn out_of_turn() -> Error {
    Error::Program("the simulation answered what was not asked".into())
}
