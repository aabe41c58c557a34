//! The ranks of a machine that are processes: the requests of each are executed, one after the other, on the endpoint of
//! its rank.

#[allow(unsafe_code)]
mod collective;
#[allow(unsafe_code)]
mod messages;
mod notes;
mod operations;
mod requests;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use contract::{
    Claim, ContextCollectives, ContextPlace, Endpoint, Error, LongWaits, NewContext, Request,
    Result, SimulatedTime, Time,
};
use fabric_proxy::wire::line::Line;
use fabric_proxy::wire::message::{Data, Writer};
use fabric_proxy::wire::reply::{Completed, Reply, ReplyKind, Value};
use fabric_proxy::wire::request::ProcessRequest;

use crate::endpoint::SimEndpoint;
use crate::machine::Machine;
use crate::processes::{ConcurrentComputing, Processes, RankAccount, RankComputing};
use crate::run::{Failure, Options, Outcome as RunOutcome, Watched, execute};
use notes::Notes;
use operations::Operations;

/// Duration of a sleep before the server checks whether the run is over, or whether its process continues after
/// requests without reply.
const SLEEP: Duration = Duration::from_millis(2);
/// Maximum length of the data of completed operations in a reply, except for those of the first.
const COMPLETED_BYTES: usize = 1 << 30;

/// As [`run`](crate::run), with `processes` as the ranks. Ends when each process has ended its part, or with
/// [`Processes::stop`].
///
/// # Errors
/// As [`run`](crate::run).
pub fn run_processes(
    machine: &Machine,
    options: &Options,
    processes: &Arc<Processes>,
) -> std::result::Result<RunOutcome<RankAccount>, Failure> {
    let concurrent = ConcurrentComputing::new(processes.clone(), options.ranks);
    let own = processes.clone();
    let serve = move |endpoint: SimEndpoint<'_>| {
        let rank = endpoint.rank();
        let line = own.line(rank);
        Server::new(&own, (rank, &line)).run(endpoint)
    };
    let watch = &mut |_: &Watched<'_>| ControlFlow::Continue(());
    let outcome = execute(machine, options, Some(concurrent), serve, watch);
    // Deadlocked ranks report this themselves, unless they wait for a rank that the simulation has failed.
    if !processes.is_stuck() || processes.fatal().is_some() {
        // No process may wait for a reply that will not come.
        processes.stop();
    }
    outcome
}

/// The end of a line that replies.
struct Server<'a> {
    processes: &'a Processes,
    line: &'a Line,
    operations: Operations,
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

impl<'a> Server<'a> {
    fn new(processes: &'a Processes, (rank, line): (usize, &'a Line)) -> Self {
        let (operations, account) = Default::default();
        let notes = Notes::new(processes.recorder(), rank);
        let computing = processes.computing().of_rank(rank);
        let (at, deferred_error, finished) = Default::default();
        Server {
            processes,
            line,
            operations,
            notes,
            computing,
            account,
            at,
            deferred_error,
            finished,
        }
    }

    /// Serves requests until the process has ended its part.
    fn run(mut self, mut endpoint: SimEndpoint<'_>) -> Result<RankAccount> {
        let why = loop {
            let (request, data) = self.next(&mut endpoint)?;
            self.perform(&mut endpoint, request, data)?;
            if let Some(why) = self.finished.take() {
                break why;
            }
        };
        self.account.end = endpoint.now();
        endpoint.finish(why.map_or(Ok(()), |why| Err(Error::Program(why))));
        self.reply(true, ReplyKind::Done(Value::None), &[]);
        Ok(self.account)
    }

    /// Executes a request, and replies.
    fn perform(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        request: ProcessRequest,
        data: Data<'a>,
    ) -> Result<()> {
        let is_last = matches!(request, ProcessRequest::Finish { .. });
        let gives_up = matches!(request, ProcessRequest::GiveUpOn(_));
        let (is_poll, reports_completed) = (request.is_poll(), request.reports_completed());
        let attempt = match self.deferred_error.take().filter(|_| !is_last) {
            Some(error) => failed(error),
            None => self.attempt(endpoint, request, data)?,
        };
        let error = match attempt {
            // The process has ended its wait by itself, and continues.
            Ok(_) if self.at.is_some() => return Ok(()),
            Ok(value) if !reports_completed => {
                self.reply(endpoint.any_has_left(), ReplyKind::Done(value), &[]);
                return Ok(());
            }
            Ok(value) => {
                let is_idle = is_poll && matches!(value, Value::None | Value::Flag(false));
                let value = if is_idle { Value::Quiet(endpoint.quiet_time()) } else { value };
                self.reply_with_completed(ReplyKind::Done(value), endpoint, None);
                return Ok(());
            }
            Err(Outcome::Replied) => return Ok(()),
            Err(Outcome::Failed(error)) => error,
        };
        if matches!(error, Error::Deadlock { .. }) && !gives_up {
            // Its process continues to wait, so that it can report its place, and what these messages are.
            Writer::new(self.line).end(&endpoint.unexpected());
            self.line.leave_stuck();
            self.processes.note_stuck();
            return Err(error);
        }
        self.reply(endpoint.any_has_left(), ReplyKind::Failed(error), &[]);
        Ok(())
    }

    /// Executes a request. The outer error ends the run.
    fn attempt(
        &mut self,
        endpoint: &mut SimEndpoint<'_>,
        request: ProcessRequest,
        data: Data<'a>,
    ) -> Result<Attempt> {
        use ProcessRequest as Process;
        let attempt = match request {
            Process::PostSend { to, synchronous, request } => {
                self.post_send(endpoint, to, data, (synchronous, request))
            }
            Process::PostReceive { selector, room, request } => {
                self.post_receive(endpoint, selector, (room, request))
            }
            Process::Cancel(request) => self.cancel(endpoint, request),
            Process::Claim { selector, context, tag } => {
                let claimed = endpoint.probe(selector, Some(Claim { context, tag }));
                if let Ok(Some(envelope)) = claimed {
                    self.notes.claimed(tag, envelope);
                }
                value(claimed)
            }
            Process::WaitAny(requests) => self.wait_any(endpoint, &requests),
            Process::WaitUntil => return self.wait_until(endpoint),
            Process::Send(to) => self.send(endpoint, to, data),
            Process::Receive { selector, room } => self.receive(endpoint, None, (selector, room)),
            Process::Exchange { to, selector, room } => {
                self.receive(endpoint, Some((to, data)), (selector, room))
            }
            Process::Collective(place, parameters) => {
                return self.collective(endpoint, place, parameters, data);
            }
            Process::Announce { place, call } => {
                endpoint.announce_by_messages(place, call);
                self.notes.announced(place == ContextPlace::WORLD);
                Ok(Value::None)
            }
            Process::WaitUntilTime(time) => self.sleep(endpoint, time),
            // Its process has ended its part, with its error if it failed.
            Process::Finish { error, uncounted_ns } => {
                self.account.uncounted = self.computing.uncounted(uncounted_ns);
                self.finished = Some(error);
                Err(Outcome::Replied)
            }
            Process::Join => {
                self.processes.note_joined();
                Ok(endpoint.computer().every_rank_has_a_processor.into())
            }
            Process::Test(own) | Process::CannotComplete(own) | Process::GiveUpOn(own) => {
                match self.operations.of_endpoint(own) {
                    Ok(operation) => of_operation(endpoint, &request, operation),
                    Err(error) => failed(error),
                }
            }
            other => plain(endpoint, other),
        };
        Ok(attempt)
    }

    fn sleep(&mut self, endpoint: &mut SimEndpoint<'_>, until: Time) -> Attempt {
        let span = until.since(endpoint.now());
        self.account.sleeping = self.account.sleeping + span;
        self.notes.slept(span);
        endpoint.wait_until_time(until);
        Ok(Value::None)
    }

    /// Sends a reply without completed operations.
    fn reply(&self, any_has_left: bool, kind: ReplyKind, data: &[u8]) {
        let mut writer = Writer::new(self.line);
        writer.data(data);
        self.send_reply(writer, Reply { any_has_left, completed: Vec::new(), kind });
    }

    fn send_reply(&self, writer: Writer<'_>, reply: Reply) {
        writer.end(&reply);
        self.line.reply();
    }

    /// Sends a reply with the operations that were completed since the last one, `first` before all others.
    fn reply_with_completed(
        &mut self,
        kind: ReplyKind,
        endpoint: &mut SimEndpoint<'_>,
        first: Option<Request>,
    ) {
        let mut completed: Vec<Completed> = Vec::new();
        let mut bytes = 0;
        let mut writer = Writer::new(self.line);
        let under_way = self.operations.under_way();
        for request in first.into_iter().chain(under_way) {
            let Ok(operation) = self.operations.of_endpoint(request) else { continue };
            let is_listed = completed.first().is_some_and(|one| one.request == request);
            if is_listed || !endpoint.is_done(operation) {
                continue;
            }
            let envelope = endpoint.envelope(operation);
            bytes += envelope.bytes;
            if bytes > COMPLETED_BYTES && !completed.is_empty() {
                break;
            }
            let data = self.operations.received(request, &envelope);
            writer.data(data);
            completed.push(Completed { request, envelope, bytes: data.len() });
        }
        completed.iter().for_each(|one| self.operations.note_reported(one.request));
        let any_has_left = endpoint.any_has_left();
        self.send_reply(writer, Reply { any_has_left, completed, kind });
    }

    /// Waits until the process reports that it has seen the event it waits for.
    fn wait_until(&mut self, endpoint: &mut SimEndpoint<'_>) -> Result<Attempt> {
        let mut broken = None;
        let waited = endpoint.wait_until(&mut |endpoint| match self.poll(endpoint) {
            Ok(found) => found,
            Err(error) => {
                broken = Some(error);
                true
            }
        });
        broken.map_or(Ok(()), Err)?;
        Ok(value(waited))
    }

    /// Lets the process poll, and executes its requests meanwhile.
    fn poll(&mut self, endpoint: &mut SimEndpoint<'_>) -> Result<bool> {
        self.reply_with_completed(ReplyKind::Poll, endpoint, None);
        self.notes.note_poll(true);
        let found = loop {
            match self.next(endpoint)? {
                (ProcessRequest::Polled(found), _) => break found,
                (request, data) => self.perform(endpoint, request, data)?,
            }
        };
        self.notes.note_poll(false);
        Ok(found)
    }
}

/// Executes a request that needs only the endpoint.
fn plain(endpoint: &mut SimEndpoint<'_>, request: ProcessRequest) -> Attempt {
    match request {
        ProcessRequest::Now => Ok(Value::Time(endpoint.now())),
        ProcessRequest::OpenContext { number, me, members } => {
            let context = NewContext { number, members: &members, me, offers: &[] };
            endpoint.open_context(context).map(Value::Place).map_err(Outcome::Failed)
        }
        ProcessRequest::CloseContext(place) => value(endpoint.close_context(place)),
        ProcessRequest::Probe(selector) => value(endpoint.probe(selector, None)),
        ProcessRequest::Progress => value(endpoint.progress(None)),
        ProcessRequest::Yield => value(endpoint.yield_processor()),
        ProcessRequest::SleepAWhile(longest) => value(endpoint.sleep_a_while(longest)),
        ProcessRequest::Leave => value(endpoint.leave()),
        ProcessRequest::NoneWillSend(selector) => Ok(endpoint.none_will_send(selector).into()),
        _ => failed(Error::Program("a process sent a result that no reply requested".into())),
    }
}

/// Executes a request about an operation.
fn of_operation(
    endpoint: &mut SimEndpoint<'_>,
    request: &ProcessRequest,
    operation: Request,
) -> Attempt {
    match request {
        // The reply reports whether it is done.
        ProcessRequest::Test(_) => value(endpoint.progress(Some(operation))),
        ProcessRequest::CannotComplete(_) => Ok(endpoint.cannot_complete(operation).into()),
        _ => failed(endpoint.give_up_on(operation)),
    }
}

/// The result of a call, unless the reply has been sent already.
type Attempt = std::result::Result<Value, Outcome>;

enum Outcome {
    /// The reply has been sent.
    Replied,
    Failed(Error),
}

fn failed(error: Error) -> Attempt {
    Err(Outcome::Failed(error))
}

fn value<V: Into<Value>>(outcome: Result<V>) -> Attempt {
    outcome.map(V::into).map_err(Outcome::Failed)
}

#[cfg(test)]
mod tests;
