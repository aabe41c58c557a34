//! The operations on a space.

use contract::TimeSpan;

use super::store::{Mode, Reply, Request};
use super::value::{Field, Template, Tuple, Wanted};
use super::{LATE_REPLY, Mailbox, REQUEST};
use super::{encoding, message};
use crate::{Error, FieldKind, Result, Session};

/// A function that computes a tuple from another, for [`eval`](TupleOperations::eval).
pub type Function = fn(&Tuple) -> Result<Tuple>;

/// A leased tuple, unavailable to all other ranks until the lease ends.
#[must_use = "complete it or give it back; otherwise the tuple comes back when its lease runs out"]
#[derive(Debug, PartialEq)]
pub struct Leased {
    /// The tuple.
    pub tuple: Tuple,
    number: u64,
}

/// The operations of one rank on a space.
///
/// # Errors
/// All but [`join`](TupleOperations::join) return [`Error::NotMember`] for a rank that has not joined. Those that wait
/// return [`Error::NoProducerLeft`] when every rank waits or has closed the space, so that no tuple can come any more.
pub struct TupleOperations<'a> {
    session: Session<'a, Mailbox>,
    home: usize,
    capacity: usize,
}

impl<'a> TupleOperations<'a> {
    pub(super) fn new(session: Session<'a, Mailbox>, home: usize, capacity: usize) -> Self {
        TupleOperations { session, home, capacity }
    }

    /// Joins the space, which this rank may then use. A rank may join any number of times, before or after others have
    /// left.
    pub fn join(&mut self) -> Result<()> {
        self.request_done(Request::Join)
    }

    /// Leaves the space. Tuples that this rank has on lease are back at once. It may join again.
    pub fn leave(&mut self) -> Result<()> {
        self.request_done(Request::Leave)
    }

    /// Puts a tuple into the space, where it is when this returns.
    ///
    /// # Errors
    /// [`Error::SpaceFull`], [`Error::TupleTooLong`].
    pub fn out(&mut self, tuple: Tuple) -> Result<()> {
        self.request_done(Request::Out(vec![tuple]))
    }

    /// Takes a tuple that matches, and waits until there is one. No other rank gets the same.
    pub fn in_(&mut self, template: &Template) -> Result<Tuple> {
        let mode = Mode { removes: true, waits: true, lease: None };
        self.find(template, mode).map(|(tuple, _)| tuple)
    }

    /// Copies a tuple that matches, and waits until there is one.
    pub fn rd(&mut self, template: &Template) -> Result<Tuple> {
        let mode = Mode { removes: false, waits: true, lease: None };
        self.find(template, mode).map(|(tuple, _)| tuple)
    }

    /// Takes a tuple that matches, if there is one.
    pub fn inp(&mut self, template: &Template) -> Result<Option<Tuple>> {
        let mode = Mode { removes: true, waits: false, lease: None };
        Ok(self.find_now(template, mode)?.map(|(tuple, _)| tuple))
    }

    /// Copies a tuple that matches, if there is one.
    pub fn rdp(&mut self, template: &Template) -> Result<Option<Tuple>> {
        let mode = Mode { removes: false, waits: false, lease: None };
        Ok(self.find_now(template, mode)?.map(|(tuple, _)| tuple))
    }

    /// Takes a tuple that matches on lease, and waits until there is one. Unless this rank
    /// [completes](TupleOperations::complete) it within `length`, the tuple returns to the space, and other ranks may
    /// take it.
    pub fn lease(&mut self, template: &Template, length: TimeSpan) -> Result<Leased> {
        let mode = Mode { removes: true, waits: true, lease: Some(length) };
        let (tuple, number) = self.find(template, mode)?;
        Ok(Leased { tuple, number })
    }

    /// As [`lease`](TupleOperations::lease), if there is a tuple now.
    pub fn leasep(&mut self, template: &Template, length: TimeSpan) -> Result<Option<Leased>> {
        let mode = Mode { removes: true, waits: false, lease: Some(length) };
        Ok(self.find_now(template, mode)?.map(|(tuple, number)| Leased { tuple, number }))
    }

    /// Ends a lease: in one step the tuple is removed, and `results` are put into the space.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if the lease has expired. Then another rank has the tuple or may get it, and no result is
    /// in the space. [`Error::SpaceFull`], after which the lease continues.
    pub fn complete(&mut self, leased: &Leased, results: Vec<Tuple>) -> Result<()> {
        self.request_done(Request::Complete(leased.number, results))
    }

    /// Ends a lease: the tuple is back.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it was back before.
    pub fn give_back(&mut self, leased: Leased) -> Result<()> {
        self.request_done(Request::GiveBack(leased.number))
    }

    /// Restarts a lease with its whole length from now on.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] if it has expired.
    pub fn renew(&mut self, leased: &Leased) -> Result<()> {
        self.request_done(Request::Renew(leased.number))
    }

    /// Puts a tuple into the space that is still to be computed: by function `function` from `argument`, at a rank that
    /// [works](TupleOperations::work).
    ///
    /// # Errors
    /// As [`out`](TupleOperations::out).
    pub fn eval(&mut self, function: u32, argument: &Tuple) -> Result<()> {
        let argument = encoding::of_tuples(std::slice::from_ref(argument))?;
        self.out(Tuple(vec![Field::Function(function), Field::Bytes(argument)]))
    }

    /// Waits for a tuple that must be computed, computes it, and puts it into the space. If this rank does not finish
    /// within `length`, another one computes it instead. The space gets it once.
    ///
    /// # Errors
    /// [`Error::NoFunction`] if `functions` has none with the number in the tuple, which another rank must compute
    /// then. The error of the function. [`Error::LeaseLost`].
    pub fn work(&mut self, functions: &[Function], length: TimeSpan) -> Result<()> {
        let any = [FieldKind::Function, FieldKind::Bytes].map(Wanted::Any);
        let leased = self.lease(&Template(any.to_vec()), length)?;
        match compute(functions, &leased.tuple) {
            Ok(result) => self.complete(&leased, vec![result]),
            Err(error) => {
                self.give_back(leased)?;
                Err(error)
            }
        }
    }

    /// Returns this rank, for its number, its clock and its computing.
    pub fn rank(&mut self) -> &mut dyn contract::Rank {
        self.session.rank()
    }

    /// Answers requests at the home, without waiting. At other ranks it does nothing. A home that computes for long
    /// should call it.
    pub fn serve(&mut self) -> Result<()> {
        self.session.poll()?;
        self.tick()
    }

    /// Ends the requests of this rank. At the home, serves until all ranks have ended theirs.
    pub(super) fn end(&mut self) -> Result<()> {
        self.request_done(Request::End)?;
        self.serve_until(|mailbox| mailbox.store.as_ref().is_none_or(|store| store.is_over()))
    }

    fn find(&mut self, template: &Template, mode: Mode) -> Result<(Tuple, u64)> {
        match self.request(Request::Match(template.clone(), mode))? {
            Reply::Found(tuple, lease) => Ok((tuple, lease)),
            other => Err(self.refusal(other)),
        }
    }

    fn find_now(&mut self, template: &Template, mode: Mode) -> Result<Option<(Tuple, u64)>> {
        match self.request(Request::Match(template.clone(), mode))? {
            Reply::Found(tuple, lease) => Ok(Some((tuple, lease))),
            Reply::Absent => Ok(None),
            other => Err(self.refusal(other)),
        }
    }

    fn request_done(&mut self, request: Request) -> Result<()> {
        match self.request(request)? {
            Reply::Done => Ok(()),
            other => Err(self.refusal(other)),
        }
    }

    fn refusal(&self, reply: Reply) -> Error {
        match reply {
            Reply::Full => Error::SpaceFull { capacity: self.capacity },
            Reply::NotMember => Error::NotMember,
            Reply::NoProducerLeft => Error::NoProducerLeft,
            Reply::LeaseLost => Error::LeaseLost,
            Reply::Done | Reply::Found(..) | Reply::Absent => {
                Error::Malformed { from: self.home, what: "it answers another question".into() }
            }
        }
    }

    fn request(&mut self, request: Request) -> Result<Reply> {
        let (words, data) = message::of_request(&request)?;
        self.session.request_medium(self.home, REQUEST, &words, &data)?;
        self.serve_until(|mailbox| mailbox.reply.is_some())?;
        Ok(self.session.state().reply.take().expect("it was waited for"))
    }

    /// Handles messages until `done`. At the home it also ends leases and sends late replies.
    fn serve_until(&mut self, done: impl Fn(&Mailbox) -> bool) -> Result<()> {
        if self.session.state().store.is_none() {
            return self.session.wait_until(done);
        }
        loop {
            self.tick()?;
            let mailbox = self.session.state();
            if done(mailbox) {
                return Ok(());
            }
            let (handled, store) = (mailbox.handled, mailbox.store.as_ref());
            if store.is_some_and(|store| store.has_leases()) {
                // A lease may expire without any message.
                self.session.poll()?;
            } else {
                self.session.wait_until(|mailbox| mailbox.handled != handled)?;
            }
        }
    }

    /// Ends expired leases at the home, and answers the ranks that had to wait.
    fn tick(&mut self) -> Result<()> {
        let now = self.session.rank().now();
        loop {
            let Some(store) = &mut self.session.state().store else { return Ok(()) };
            store.tick(now);
            let Some((rank, reply)) = store.late.pop_front() else { return Ok(()) };
            let (words, data) = message::of_reply(&reply)?;
            self.session.request_medium(rank, LATE_REPLY, &words, &data)?;
        }
    }
}

fn compute(functions: &[Function], live: &Tuple) -> Result<Tuple> {
    let Some(Field::Function(number)) = live.0.first() else {
        return Err(Error::WrongField { index: 0, wanted: FieldKind::Function, found: None });
    };
    let function = functions.get(*number as usize);
    let function = function.ok_or(Error::NoFunction { function: *number })?;
    let argument = encoding::tuples(live.bytes(1)?).and_then(|mut all| all.pop());
    function(&argument.unwrap_or_default())
}
