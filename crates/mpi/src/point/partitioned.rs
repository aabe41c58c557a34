//! Partitioned messages: the sender gives each partition away when it is ready, and the receiver sees each when it has
//! arrived.
//!
//! A sender sends one setup, with its properties and a context number of its own. The receives of a tag match the
//! setups of that tag, both in order. Each partition of the sender then travels as a message of its own, in the context
//! of that number and with the partition as its tag. So the partitions of one round never match those of another pair.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use contract::{Completion, Destination, Endpoint, LongWaits, Request as Started, Selector};

use crate::engine::{Activity, Context, Setup};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::memory::{Memory, Piece, Storage};
use crate::request::{Action, Request, Staged};
use crate::status::{Peer, Status};

/// Either side of a partitioned message.
pub enum Partitioned<E: Endpoint> {
    /// The sender's.
    Send(Rc<PartitionedSend<E>>),
    /// The receiver's.
    Receive(Rc<PartitionedReceive<E>>),
}

/// The sender's side.
pub struct PartitionedSend<E: Endpoint> {
    context: Rc<Context<E>>,
    /// Receiver as a rank of the run; `None` for the null process.
    to: Option<usize>,
    /// Number of the context in which the partitions travel.
    number: u32,
    memory: Memory,
    partitions: usize,
    setup: RefCell<Option<(Started, Storage)>>,
    /// State of each partition in the current round; empty without a round.
    round: RefCell<Vec<Given>>,
    is_active: Cell<bool>,
}

/// The state of a partition.
enum Given {
    NotReady,
    UnderWay(Started, #[expect(dead_code)] Piece),
    /// The message goes to the null process.
    Gone,
}

/// The receiver's side.
pub struct PartitionedReceive<E: Endpoint> {
    context: Rc<Context<E>>,
    /// Sender as a rank of the run and as the program's rank; `None` for the null process.
    from: Option<(usize, u32)>,
    tag: u32,
    memory: Memory,
    partitions: usize,
    sender: RefCell<Option<Setup>>,
    round: RefCell<Option<Round>>,
    outcome: RefCell<Result>,
    has_ended: Cell<bool>,
}

/// A round of a receive.
struct Round {
    piece: Piece,
    /// The messages of the sender's partitions, once the sender is known.
    started: Vec<Started>,
}

fn check(memory: &Memory, partitions: usize) -> Result {
    ensure!(partitions > 0, ErrorClass::Argument, "no partitions");
    let whole = memory.count() % partitions as i64 == 0;
    ensure!(whole, ErrorClass::Count, "{} elements in {partitions} partitions", memory.count());
    Ok(())
}

impl<E: Endpoint + 'static> Partitioned<E> {
    /// Creates a send of `memory`, which is divided into partitions of equal counts, and its request.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`], [`ErrorClass::Argument`] without partitions, and errors that end the run.
    pub fn send(
        context: Rc<Context<E>>,
        memory: Memory,
        partitions: usize,
        to: Peer,
        tag: u32,
    ) -> Result<(Self, Request<E>)> {
        check(&memory, partitions)?;
        let to = context.partner(to)?.map(|(to, _)| to);
        let engine = context.engine().clone();
        let is_between_runs = context.is_between_runs();
        ensure!(
            !is_between_runs,
            ErrorClass::Unsupported,
            "partitions between processes of several runs"
        );
        let number = engine.propose_context(true)?;
        let setup = Setup { tag, number, partitions, bytes: memory.bytes() };
        let at = context.of_collectives();
        let setup = to.map(|to| setup.send(&mut *engine.endpoint()?, at, to)).transpose()?;
        let one = Rc::new(PartitionedSend {
            context,
            to,
            number,
            memory,
            partitions,
            setup: RefCell::new(setup),
            round: RefCell::default(),
            is_active: Cell::new(false),
        });
        let started = one.clone();
        let request = Request::persistent(&engine, move || Ok(started.start()));
        Ok((Partitioned::Send(one), request))
    }

    /// Creates a receive into `memory`, which is divided into partitions of equal counts, and its request.
    ///
    /// # Errors
    /// As for [`send`](Partitioned::send).
    pub fn receive(
        context: Rc<Context<E>>,
        memory: Memory,
        partitions: usize,
        from: Peer,
        tag: u32,
    ) -> Result<(Self, Request<E>)> {
        check(&memory, partitions)?;
        let from = context.partner(from)?;
        let engine = context.engine().clone();
        let one = Rc::new(PartitionedReceive {
            from,
            tag,
            memory,
            partitions,
            sender: RefCell::default(),
            round: RefCell::default(),
            outcome: RefCell::new(Ok(())),
            has_ended: Cell::new(true),
            context,
        });
        if let Some((from, _)) = from {
            one.context.setups().expect(from, one.clone());
        }
        let started = one.clone();
        let request = Request::persistent(&engine, move || started.clone().start());
        Ok((Partitioned::Receive(one), request))
    }

    /// Gives a partition away: the program must not change it until the request has ended.
    ///
    /// # Errors
    /// [`ErrorClass::Request`] for a receive and a request that is not started, [`ErrorClass::Argument`] for a
    /// partition that does not exist or was given away before, and errors that end the run.
    pub fn ready(&self, partition: i64) -> Result {
        match self {
            Partitioned::Send(one) => one.ready(partition),
            Partitioned::Receive(_) => Err(Error::new(ErrorClass::Request, "a receive")),
        }
    }

    /// Polls once, and returns whether a partition has arrived. If the request is not started, all have.
    ///
    /// # Errors
    /// [`ErrorClass::Request`] for a send, [`ErrorClass::Argument`] for a partition that does not exist, and errors
    /// that end the run.
    pub fn has_arrived(&self, partition: i64) -> Result<bool> {
        match self {
            Partitioned::Receive(one) => one.has_arrived(partition),
            Partitioned::Send(_) => Err(Error::new(ErrorClass::Request, "a send")),
        }
    }
}

/// Checks a partition.
fn in_range(partition: i64, partitions: usize) -> Result<usize> {
    let in_range = usize::try_from(partition).ok().filter(|&one| one < partitions);
    let wrong =
        || Error::new(ErrorClass::Argument, format!("partition {partition} of {partitions}"));
    in_range.ok_or_else(wrong)
}

impl<E: Endpoint + 'static> PartitionedSend<E> {
    fn start(self: &Rc<Self>) -> Action<E> {
        let none = std::iter::repeat_with(|| Given::NotReady);
        *self.round.borrow_mut() = none.take(self.partitions).collect();
        self.is_active.set(true);
        Action::Staged(self.clone())
    }

    fn ready(&self, partition: i64) -> Result {
        let index = in_range(partition, self.partitions)?;
        ensure!(self.is_active.get(), ErrorClass::Request, "the request is not started");
        let mut round = self.round.borrow_mut();
        let is_new = matches!(round[index], Given::NotReady);
        ensure!(is_new, ErrorClass::Argument, "partition {index} was ready before");
        let Some(to) = self.to else {
            round[index] = Given::Gone;
            return Ok(());
        };
        let each = self.memory.count() / self.partitions as i64;
        let piece = Piece::filled(&self.memory.part(index as i64 * each, each));
        let to = Destination { rank: to, context: 2 * self.number, tag: index as u32 };
        let mut endpoint = self.context.engine().endpoint()?;
        let data = piece.readable();
        let started = endpoint.post_send(to, data, Completion::Local)?;
        round[index] = Given::UnderWay(started, piece);
        Ok(())
    }
}

impl<E: Endpoint> Staged<E> for PartitionedSend<E> {
    fn has_ended(&self, endpoint: &E) -> bool {
        self.round.borrow().iter().all(|one| match one {
            Given::NotReady => false,
            Given::UnderWay(started, _) => endpoint.is_done(*started),
            Given::Gone => true,
        })
    }

    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        let round = self.round.borrow();
        let mut under_way = round.iter().filter_map(|one| match one {
            Given::UnderWay(started, _) => Some(*started),
            _ => None,
        });
        under_way.find(|&started| waits.cannot_complete(started))
    }

    fn finish(&self, endpoint: &mut E) -> (Status, Result) {
        self.is_active.set(false);
        for one in self.round.take() {
            if let Given::UnderWay(started, _) = one {
                endpoint.end(started);
            }
        }
        let mut setup = self.setup.borrow_mut();
        if let Some((started, _)) = *setup
            && endpoint.is_done(started)
        {
            endpoint.end(started);
            *setup = None;
        }
        (Status::empty(), Ok(()))
    }
}

impl<E: Endpoint> Drop for PartitionedSend<E> {
    /// A setup that nobody has received needs its memory for ever.
    fn drop(&mut self) {
        std::mem::forget(self.setup.take());
    }
}

impl<E: Endpoint + 'static> PartitionedReceive<E> {
    fn start(self: Rc<Self>) -> Result<Action<E>> {
        *self.round.borrow_mut() =
            Some(Round { piece: Piece::room(&self.memory), started: Vec::new() });
        self.has_ended.set(self.from.is_none());
        self.context.engine().start(&self)?;
        Ok(Action::Staged(self))
    }

    fn has_arrived(&self, partition: i64) -> Result<bool> {
        let index = in_range(partition, self.partitions)?;
        let engine = self.context.engine();
        engine.progress()?;
        let endpoint = engine.endpoint()?;
        let round = self.round.borrow();
        let (Some(round), Some(_)) = (&*round, self.from) else { return Ok(true) };
        let sender = self.sender.borrow();
        let Some(sender) = &*sender else { return Ok(false) };
        if round.started.is_empty() {
            return Ok(self.has_ended.get());
        }
        let each = self.memory.bytes() / self.partitions;
        let (first, end) = (index * each, (index + 1) * each);
        let theirs = sender.bytes / sender.partitions;
        // The sender's partitions that overlap this one; for an empty one, the adjacent partition.
        let of = match theirs {
            0 => index.min(sender.partitions - 1)..index.min(sender.partitions - 1) + 1,
            _ => first / theirs..end.div_ceil(theirs),
        };
        let arrived = round.started[of].iter().all(|&started| endpoint.is_done(started));
        if arrived {
            let count = self.memory.count() / self.partitions as i64;
            round.piece.deliver_elements(index as i64 * count, count);
        }
        Ok(arrived)
    }

    /// Starts to receive the partitions of a known sender.
    fn post(&self, endpoint: &mut E, sender: &Setup, round: &mut Round) -> Result {
        let (found, expected) = (sender.bytes, self.memory.bytes());
        let what = "bytes in partitions where the receive has room for";
        ensure!(found == expected, ErrorClass::Truncated, "{found} {what} {expected}");
        let each = sender.bytes / sender.partitions;
        for index in 0..sender.partitions {
            let source = self.from.map(|(from, _)| from as u32);
            let tag = Some(index as u32);
            let selector = Selector { context: 2 * sender.number, source, tag };
            let room = round.piece.writable_part(index * each..(index + 1) * each);
            round.started.push(endpoint.post_receive(selector, room)?);
        }
        Ok(())
    }
}

impl<E: Endpoint> crate::engine::AwaitsSetup for PartitionedReceive<E> {
    fn tag(&self) -> u32 {
        self.tag
    }

    fn meet(&self, sender: Setup) {
        *self.sender.borrow_mut() = Some(sender);
    }
}

impl<E: Endpoint + 'static> Activity<E> for PartitionedReceive<E> {
    fn advance(&self, endpoint: &mut E) {
        if self.has_ended.get() {
            return;
        }
        if self.sender.borrow().is_none() {
            self.context.setups().advance(self.context.of_collectives(), endpoint);
        }
        let (sender, mut round) = (self.sender.borrow(), self.round.borrow_mut());
        let (Some(sender), Some(round)) = (&*sender, &mut *round) else { return };
        if round.started.is_empty()
            && let Err(error) = self.post(endpoint, sender, round)
        {
            *self.outcome.borrow_mut() = Err(error);
            self.has_ended.set(true);
            return;
        }
        let all = round.started.iter().all(|&started| endpoint.is_done(started));
        self.has_ended.set(all);
    }

    fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        match &*self.round.borrow() {
            Some(round) if !round.started.is_empty() => {
                round.started.iter().copied().find(|&started| waits.cannot_complete(started))
            }
            _ => self.context.setups().unsatisfiable(self.from?.0, waits),
        }
    }

    fn take_outcome(&self) -> Result {
        self.outcome.replace(Ok(()))
    }

    fn context(&self) -> u32 {
        self.context.number()
    }
}

impl<E: Endpoint + 'static> Staged<E> for PartitionedReceive<E> {
    fn has_ended(&self, _endpoint: &E) -> bool {
        self.has_ended.get()
    }

    fn unsatisfiable(&self, waits: &mut dyn LongWaits) -> Option<Started> {
        Activity::unsatisfiable(self, waits)
    }

    fn finish(&self, endpoint: &mut E) -> (Status, Result) {
        let outcome = self.take_outcome();
        if let Some(round) = self.round.take() {
            for started in round.started {
                endpoint.end(started);
            }
            if outcome.is_ok() && self.from.is_some() {
                round.piece.deliver(round.piece.bytes());
            }
        }
        let Some((_, source)) = self.from else { return (Status::of_nobody(), Ok(())) };
        let status = Status::new(source, self.tag, self.memory.bytes() as u64);
        (status, outcome.map_err(|error| error.in_context(self.context.number())))
    }
}
