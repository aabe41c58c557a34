//! The launcher's service for one process: executes its requests, one after the other, on the endpoint of its rank.

mod collective;
mod messages;
mod notes;
mod questions;
mod requests;

use std::time::Duration;

use contract::{
    ContextPlace, Destination, Endpoint, Envelope, Error, NewContext, Request, Result, Time,
    TimeSpan,
};
use recording::SentMessage;

use crate::ask::Ask;
use crate::computing::RankComputing;
use crate::endpoint::VERSION;
use crate::host::{Host, RankAccount};
use crate::line::Line;
use crate::quiet::quiet_values;
use crate::reply::{Head, Kind, VALUES, envelope_values, write_ended, write_error};
use crate::stream::{Reader, Writer};
use notes::Notes;
use requests::Requests;

/// Duration of a sleep before the server checks whether the run is over, or whether its process continues after
/// requests without reply.
const SLEEP: Duration = Duration::from_millis(2);
/// Maximum length of the data of completed operations in a reply, except for those of the first.
const ENDED_BYTES: usize = 1 << 30;

impl Host {
    /// Executes on `endpoint` the requests of the process of its rank, until the process has ended its part. `works`
    /// lets the rank's processor work.
    ///
    /// # Errors
    /// Those that end the run.
    pub fn serve<E: Endpoint>(&self, endpoint: E, works: &dyn Works<E>) -> Result<RankAccount> {
        let rank = endpoint.rank();
        let line = self.line(rank);
        Server::new(self, (rank, &line), works).run(endpoint)
    }
}

/// The handling of a process's computing time.
pub trait Works<E> {
    /// Lets the rank's processor work for some time.
    fn occupy(&self, endpoint: &mut E, span: TimeSpan);

    /// Lets other ranks continue until the process has made a request, and lets the time that [`Beside`](crate::Beside)
    /// reports pass. Returns whether it did.
    fn work_beside(&self, endpoint: &mut E) -> bool;

    /// Returns the time until which nothing can arrive for this rank, as far as is known, and the time of a poll.
    fn quiet_until(&self, _endpoint: &E) -> Option<(Time, TimeSpan)> {
        None
    }

    /// Returns the messages for this rank that have arrived and that no receive has taken.
    fn unexpected(&self, _endpoint: &E) -> Vec<Envelope> {
        Vec::new()
    }
}

/// The end of a line that replies.
pub(crate) struct Server<'a, E> {
    host: &'a Host,
    line: &'a Line,
    works: &'a dyn Works<E>,
    requests: Requests,
    notes: Notes<'a>,
    computing: RankComputing,
    account: RankAccount,
    /// Offset of the next request in the buffer, while it is the server's turn and requests without reply were read;
    /// and the error of the first of them that has failed.
    at: Option<usize>,
    deferred_error: Option<Error>,
    /// The outcome of the process, once it has reported its end: its error, or `None` in it for success.
    finished: Option<Option<String>>,
}

impl<'a, E: Endpoint> Server<'a, E> {
    pub(crate) fn new(
        host: &'a Host,
        (rank, line): (usize, &'a Line),
        works: &'a dyn Works<E>,
    ) -> Self {
        let (requests, account) = Default::default();
        let notes = Notes::new(host.recorder(), rank);
        let computing = host.computing().of_rank(rank);
        let (at, deferred_error, finished) = Default::default();
        Server {
            host,
            line,
            works,
            requests,
            notes,
            computing,
            account,
            at,
            deferred_error,
            finished,
        }
    }

    /// Serves requests until the process has ended its part.
    pub(crate) fn run(mut self, mut endpoint: E) -> Result<RankAccount> {
        let why = loop {
            let (ask, reader) = self.next(&mut endpoint)?;
            self.perform(&mut endpoint, ask, reader)?;
            if let Some(why) = self.finished.take() {
                break why;
            }
        };
        self.account.end = endpoint.now();
        endpoint.finish(why.map_or(Ok(()), |why| Err(Error::Program(why))));
        self.write(Kind::Done, true, [0; VALUES], 0).end();
        self.line.answer();
        Ok(self.account)
    }

    /// Executes a request, and replies.
    fn perform(&mut self, endpoint: &mut E, ask: Ask, reader: Reader<'a>) -> Result<()> {
        let before = self.deferred_error.take().filter(|_| !matches!(ask, Ask::Finish { .. }));
        let attempt = match before {
            Some(error) => failed(error),
            None => self.attempt(endpoint, ask, reader)?,
        };
        let outcome = match attempt {
            // The process has ended its wait by itself, and continues.
            Ok(_) if self.at.is_some() => return Ok(()),
            Ok(values) => return self.answer(endpoint, ask, values),
            Err(Outcome::Replied) => return Ok(()),
            Err(Outcome::Failed(error)) => error,
        };
        if matches!(outcome, Error::Deadlock { .. }) && !matches!(ask, Ask::GiveUpOn(_)) {
            // Its process continues to wait, so that it can report its place, and what these messages are.
            let unexpected = self.works.unexpected(endpoint);
            let mut writer = Writer::new(self.line);
            writer.envelopes(&unexpected);
            writer.end();
            self.line.leave_stuck();
            self.host.note_stuck();
            return Err(outcome);
        }
        let mut writer = self.write(Kind::Failed, endpoint.any_has_left(), [0; VALUES], 0);
        write_error(&mut writer, &outcome);
        writer.end();
        self.line.answer();
        Ok(())
    }

    /// Executes a request. The outer error ends the run.
    fn attempt(&mut self, endpoint: &mut E, ask: Ask, mut reader: Reader<'a>) -> Result<Attempt> {
        let attempt = match ask {
            Ask::Join { version } => self.join(endpoint, version),
            Ask::PostSend { to, context, tag, synchronous, request } => {
                let data = reader.bytes().to_vec();
                let message = SentMessage { to, context, tag, bytes: data.len() };
                self.post_send(endpoint, message, data, (synchronous, request))
            }
            Ask::PostReceive { selector, room, request } => {
                self.post_receive(endpoint, selector, (room, request))
            }
            Ask::Cancel(request) => self.cancel(endpoint, request),
            Ask::Claim { selector, context, tag } => {
                let claimed = endpoint.claim(selector, context, tag);
                if let Ok(Some(envelope)) = claimed {
                    self.notes.claimed(tag, envelope);
                }
                values(claimed.map(envelope_values))
            }
            Ask::WaitAny => {
                let requests: Vec<Request> =
                    (0..reader.number()).map(|_| Request(reader.number() as u32)).collect();
                self.wait_any(endpoint, &requests)
            }
            Ask::WaitUntil => return self.wait_until(endpoint),
            Ask::Send { to, context, tag, .. } => {
                let data = reader.bytes();
                let sent = endpoint.send(Destination { rank: to, context, tag }, data);
                if sent.is_ok() {
                    self.notes.sent(SentMessage { to, context, tag, bytes: data.len() }, None);
                }
                unit(sent)
            }
            Ask::Receive { .. } | Ask::Exchange { .. } => self.receive(endpoint, ask, reader),
            Ask::Collective(place) => return self.collective(endpoint, place, reader),
            Ask::Announce { place, call } => {
                endpoint.announce_by_messages(place, call);
                self.notes.announced(place == ContextPlace::WORLD);
                done([])
            }
            Ask::WaitUntilTime(time) => {
                let span = time.since(endpoint.now());
                self.account.sleeping = self.account.sleeping + span;
                self.notes.slept(span);
                endpoint.wait_until_time(time);
                done([])
            }
            Ask::Finish { failed, uncounted_ns } => {
                self.finish(failed.then(|| reader.text()), uncounted_ns)
            }
            Ask::Test(own) | Ask::IsHopeless(own) | Ask::GiveUpOn(own) => {
                match self.requests.of_endpoint(own) {
                    Ok(request) => of_request(endpoint, ask, request),
                    Err(error) => failed(error),
                }
            }
            other => plain(endpoint, other, reader),
        };
        Ok(attempt)
    }

    fn join(&mut self, endpoint: &E, version: u64) -> Attempt {
        if version != VERSION {
            return failed(Error::Program(format!(
                "the MPI library of this program speaks version {version} of this launcher's language, not {VERSION}: \
                 let the loader find that of the same build"
            )));
        }
        self.host.note_joined();
        done([endpoint.every_rank_has_a_processor().into(), 1])
    }

    /// Records that the process has ended its part, with its error if it failed.
    fn finish(&mut self, why: Option<String>, uncounted_ns: u64) -> Attempt {
        self.account.uncounted = self.computing.uncounted(uncounted_ns);
        self.finished = Some(why);
        Err(Outcome::Replied)
    }

    /// Replies that a call is over, and reports completed operations.
    fn answer(&mut self, endpoint: &mut E, ask: Ask, values: [u64; VALUES]) -> Result<()> {
        if ask.learns_of_requests() {
            let is_idle = ask.is_poll() && values[0] == 0;
            let quiet = if is_idle { self.works.quiet_until(endpoint) } else { None };
            let told = |(until, polling)| quiet_values(endpoint.now(), until, polling);
            let values = quiet.map_or(values, told);
            self.answer_as(Kind::Done, endpoint, values, None);
            return Ok(());
        }
        self.write(Kind::Done, endpoint.any_has_left(), values, 0).end();
        self.line.answer();
        Ok(())
    }

    fn answer_as(
        &mut self,
        kind: Kind,
        endpoint: &mut E,
        values: [u64; VALUES],
        first: Option<Request>,
    ) {
        let mut ended: Vec<(Request, Envelope)> = Vec::new();
        let mut bytes = 0;
        let under_way = self.requests.under_way();
        for own in first.into_iter().chain(under_way) {
            let Ok(request) = self.requests.of_endpoint(own) else { continue };
            if ended.first().is_none_or(|one| one.0 != own) && endpoint.is_done(request) {
                let envelope = endpoint.envelope(request);
                bytes += envelope.bytes;
                if bytes > ENDED_BYTES && !ended.is_empty() {
                    break;
                }
                ended.push((own, envelope));
            }
        }
        let mut writer = self.write(kind, endpoint.any_has_left(), values, ended.len());
        for (own, envelope) in &ended {
            write_ended(&mut writer, *own, envelope, self.requests.received(*own, envelope));
        }
        writer.end();
        ended.into_iter().for_each(|(own, _)| self.requests.note_told(own));
        self.line.answer();
    }

    /// Begins a reply, which `ended` completed operations must follow.
    fn write(
        &self,
        kind: Kind,
        any_has_left: bool,
        values: [u64; VALUES],
        ended: usize,
    ) -> Writer<'a> {
        let mut writer = Writer::new(self.line);
        Head { kind, any_has_left, values, ended }.write(&mut writer);
        writer
    }

    /// Waits until the process reports that it has seen the event it waits for.
    fn wait_until(&mut self, endpoint: &mut E) -> Result<Attempt> {
        let mut broken = None;
        let waited = endpoint.wait_until(&mut |endpoint| match self.poll(endpoint) {
            Ok(found) => found,
            Err(error) => {
                broken = Some(error);
                true
            }
        });
        broken.map_or(Ok(()), Err)?;
        Ok(unit(waited))
    }

    /// Lets the process poll, and executes its requests meanwhile.
    fn poll(&mut self, endpoint: &mut E) -> Result<bool> {
        self.answer_as(Kind::Poll, endpoint, [0; VALUES], None);
        self.notes.note_poll(true);
        let found = loop {
            match self.next(endpoint)? {
                (Ask::Polled(found), _) => break found,
                (ask, reader) => self.perform(endpoint, ask, reader)?,
            }
        };
        self.notes.note_poll(false);
        Ok(found)
    }
}

/// Executes a request that needs only the endpoint.
fn plain<E: Endpoint>(endpoint: &mut E, ask: Ask, mut reader: Reader<'_>) -> Attempt {
    match ask {
        Ask::Now => done([endpoint.now().as_ps()]),
        Ask::OpenContext { number, me } => {
            let members: Vec<usize> =
                (0..reader.number()).map(|_| reader.number() as usize).collect();
            let context = NewContext { number, members: &members, me, offers: &[] };
            match endpoint.open_context(context) {
                Ok(place) => done([place.0.into()]),
                Err(error) => failed(error),
            }
        }
        Ask::CloseContext(place) => unit(endpoint.close_context(place)),
        Ask::Probe(selector) => values(endpoint.probe(selector).map(envelope_values)),
        Ask::Progress => unit(endpoint.progress()),
        Ask::Yield => unit(endpoint.yield_processor()),
        Ask::SleepAWhile(longest) => match endpoint.sleep_a_while(longest) {
            Ok(has_arrived) => done([has_arrived.into()]),
            Err(error) => failed(error),
        },
        Ask::Leave => unit(endpoint.leave()),
        Ask::NoneWillSend(selector) => done([endpoint.none_will_send(selector).into()]),
        _ => failed(Error::Program("a process answered what was not asked".into())),
    }
}

/// Executes a request about an operation.
fn of_request<E: Endpoint>(endpoint: &mut E, ask: Ask, request: Request) -> Attempt {
    match ask {
        Ask::Test(_) => unit(endpoint.test(request).map(drop)),
        Ask::IsHopeless(_) => done([endpoint.is_hopeless(request).into()]),
        _ => failed(endpoint.give_up_on(request)),
    }
}

/// The result of a call, unless the reply has been sent already.
type Attempt = std::result::Result<[u64; VALUES], Outcome>;

enum Outcome {
    /// The reply has been sent.
    Replied,
    Failed(Error),
}

fn done<const N: usize>(given: [u64; N]) -> Attempt {
    let mut values = [0; VALUES];
    values[..N].copy_from_slice(&given);
    Ok(values)
}

fn failed(error: Error) -> Attempt {
    Err(Outcome::Failed(error))
}

fn unit(outcome: Result<()>) -> Attempt {
    outcome.map(|()| [0; VALUES]).map_err(Outcome::Failed)
}

fn values(outcome: Result<[u64; VALUES]>) -> Attempt {
    outcome.map_err(Outcome::Failed)
}
