//! A communicator's context: its members and its private space of messages.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use collectives::{HostMap, TwoGroups};
use contract::{BETWEEN_RUNS, ContextOffer, ContextPlace, Endpoint, Envelope};

use super::{Engine, SendBuffer, Setups};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::status::Status;

/// Some processes of the run, with messages of their own: one group, or two whose members send to each other.
///
/// What is under way keeps it, so that it may outlive its communicator.
pub struct Context<E: Endpoint> {
    engine: Rc<Engine<E>>,
    /// All members; of two groups, those of the second behind those of the first.
    group: Group,
    rank: usize,
    /// Those to whom messages go, and whose ranks programs name: the members, or those of the other group.
    peers: Group,
    /// How many members the first of two groups has.
    split: Option<usize>,
    /// True if the ranks of the run and of the context are the same.
    is_identity: bool,
    /// Set once all members have agreed on it.
    number: Cell<u32>,
    /// Where the fabric has it; none before the members have agreed, and after it was closed.
    place: Cell<Option<ContextPlace>>,
    /// Counts the collective calls, so that messages of two that are under way together do not meet.
    sequence: Cell<u32>,
    /// Collectives that the fabric has under way there.
    started: Cell<usize>,
    /// Where the fabric has it still, after it was closed: until those have ended.
    closing: Cell<Option<ContextPlace>>,
    /// For its buffered sends, if the program has given it one of its own.
    send_buffer: Rc<SendBuffer>,
    /// For them too, if that has no capacity: one of several communicators.
    shared_buffer: OnceCell<Rc<SendBuffer>>,
    /// Who sends in partitions to this member.
    setups: Setups,
    /// Which members share a host, where the fabric knows; not set before anybody has asked.
    hosts: OnceCell<Option<HostMap>>,
}

/// Tags of messages that make a communicator for some members of another lie above those of collective calls.
pub(crate) const GROUP_TAGS: u32 = 1 << 31;

/// Tags of messages between the leaders of two groups lie below these and above those of collective calls.
pub(crate) const BETWEEN_TAGS: u32 = 1 << 30;

/// The low bits of a collective's tag, which count the calls. What the call is stands in the others.
const COUNT_BITS: u32 = 18;

impl<E: Endpoint> Context<E> {
    /// Returns a context of some processes that has no number yet; none if this process is not one of them.
    pub(crate) fn new(engine: Rc<Engine<E>>, group: Group) -> Option<Self> {
        let peers = group.clone();
        Context::of(engine, group, peers, None)
    }

    /// The same of two groups; none if one of them is empty.
    pub(crate) fn between(engine: Rc<Engine<E>>, first: &Group, second: &Group) -> Option<Self> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let is_first = first.rank_of(engine.rank()).is_some();
        let peers = if is_first { second } else { first }.clone();
        Context::of(engine, first.union(second), peers, Some(first.size()))
    }

    fn of(engine: Rc<Engine<E>>, group: Group, peers: Group, split: Option<usize>) -> Option<Self> {
        Some(Context {
            rank: group.rank_of(engine.rank())?,
            is_identity: split.is_none() && group.is_identity(),
            engine,
            group,
            peers,
            split,
            send_buffer: SendBuffer::default().into(),
            shared_buffer: OnceCell::new(),
            setups: Setups::default(),
            hosts: OnceCell::new(),
            number: Cell::new(0),
            place: Cell::new(None),
            sequence: Cell::new(0),
            started: Cell::new(0),
            closing: Cell::new(None),
        })
    }

    /// One of some of the members, by their ranks here; none if this process is not one of them, or if one of two groups is
    /// empty then.
    pub(crate) fn part(&self, ranks: &[usize]) -> Option<Self> {
        let some = |wanted: &dyn Fn(usize) -> bool| -> Group {
            let ranks = ranks.iter().copied().filter(|&rank| wanted(rank));
            ranks.map(|rank| self.members()[rank]).collect::<Vec<_>>().into()
        };
        let part = match self.split {
            None => Context::new(self.engine.clone(), some(&|_| true)),
            Some(split) => {
                let (first, second) = (some(&|rank| rank < split), some(&|rank| rank >= split));
                Context::between(self.engine.clone(), &first, &second)
            }
        };
        part.map(|part| Context { shared_buffer: self.shared_buffer.clone(), ..part })
    }

    /// One that the fabric has had from the beginning.
    pub(crate) fn with_place(self, number: u32, place: Option<ContextPlace>) -> Self {
        self.number.set(number);
        self.place.set(place);
        self
    }

    /// Opens it, once its members have agreed on a number and told each other what they offer for it.
    ///
    /// # Errors
    /// Those that end the run.
    pub(crate) fn open(&self, endpoint: &mut E, number: u32, offers: &[ContextOffer]) -> Result {
        self.number.set(number);
        self.place.set(Some(endpoint.open_context(number, self.members(), self.rank, offers)?));
        Ok(())
    }

    /// Opens one between runs, once its members have reached each other and told each other what they offer for it.
    ///
    /// # Errors
    /// Those that end the run.
    pub(crate) fn open_between_runs(&self, endpoint: &mut E, offers: &[ContextOffer]) -> Result {
        let opened = endpoint.open_between_runs(self.members(), self.rank, offers)?;
        self.number.set(opened.number);
        self.place.set(Some(opened.place));
        Ok(())
    }

    /// Returns whether it is between runs. Then its members have no memory in common, and each knows it by another
    /// number.
    #[inline]
    pub fn is_between_runs(&self) -> bool {
        self.number.get() & BETWEEN_RUNS != 0
    }

    /// Closes it, as all members do in the end. What is under way there goes on.
    ///
    /// # Errors
    /// Those that end the run.
    pub(crate) fn close(&self) -> Result {
        let Some(place) = self.place.take() else { return Ok(()) };
        self.closing.set(Some(place));
        self.close_if_idle(&mut *self.engine.endpoint()?)
    }

    fn close_if_idle(&self, endpoint: &mut E) -> Result {
        if self.started.get() == 0
            && let Some(place) = self.closing.take()
        {
            endpoint.close_context(place)?;
        }
        Ok(())
    }

    /// A collective has been started in the fabric.
    pub(crate) fn count_started(&self) {
        self.started.set(self.started.get() + 1);
    }

    /// It has ended.
    ///
    /// # Errors
    /// Those that end the run.
    pub(crate) fn count_ended(&self, endpoint: &mut E) -> Result {
        self.started.set(self.started.get() - 1);
        self.close_if_idle(endpoint)
    }

    /// Returns the engine that it belongs to.
    #[inline(always)]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        &self.engine
    }

    /// Returns the two groups that it is between, as this member sees them; none if it has one group.
    #[inline(always)]
    pub fn two_groups(&self) -> Option<TwoGroups> {
        Some(TwoGroups { first: self.split?, me: self.rank, size: self.size() })
    }

    /// Those to whom messages go: the members, or those of the other group.
    #[inline(always)]
    pub fn peers(&self) -> &Group {
        &self.peers
    }

    /// Its members, as ranks of the run.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns the ranks of the run, by rank of the context.
    #[inline(always)]
    pub fn members(&self) -> &[usize] {
        self.group.members()
    }

    /// Returns which members share a host, where the fabric knows.
    pub(crate) fn hosts(&self) -> Option<&HostMap> {
        if self.hosts.get().is_none() {
            // While a user's operation calls back the endpoint is in use, and the call fails a little later.
            let endpoint = self.engine.endpoint().ok()?;
            let hosts = self.members().iter().map(|&rank| endpoint.host_of(rank));
            let map = hosts.collect::<Option<Vec<usize>>>().map(HostMap::new);
            self.hosts.get_or_init(|| map);
        }
        self.hosts.get()?.as_ref()
    }

    /// Who sends in partitions to this member, and its receives.
    pub(crate) fn setups(&self) -> &Setups {
        &self.setups
    }

    /// Has it use a buffer that others use too, where it has none of its own.
    pub fn share_buffer(&self, buffer: Rc<SendBuffer>) {
        self.shared_buffer.get_or_init(|| buffer);
    }

    /// Returns the buffer that buffered sends go through: its own, one that it shares, or that of all, whichever has a
    /// capacity.
    pub(crate) fn buffer_in_use(&self) -> &SendBuffer {
        let mut own = [Some(&self.send_buffer), self.shared_buffer.get()].into_iter().flatten();
        own.find(|one| one.is_attached()).unwrap_or(self.engine.send_buffer())
    }

    /// Returns the buffer of its own for buffered sends.
    pub fn send_buffer(&self) -> &Rc<SendBuffer> {
        &self.send_buffer
    }

    /// This process's rank in it.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns how many members it has.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.number.get()
    }

    /// Returns whether a rank of the run is the same number in it.
    #[inline(always)]
    pub(crate) fn is_identity(&self) -> bool {
        self.is_identity
    }

    #[inline(always)]
    pub(crate) fn place(&self) -> Option<ContextPlace> {
        self.place.get()
    }

    /// Returns the context of the messages that programs send.
    #[inline(always)]
    pub(crate) fn of_programs(&self) -> u32 {
        2 * self.number.get()
    }

    /// Returns the context of the messages inside collectives.
    pub(crate) fn of_collectives(&self) -> u32 {
        2 * self.number.get() + 1
    }

    /// Returns a tag that only the next collective call has. Where the members make different calls, each has messages
    /// of its own: what `call` says of it, in ten bits, is in the tag as well.
    pub(crate) fn next_tag(&self, call: u32) -> u32 {
        let number = self.sequence.get();
        self.sequence.set((number + 1) % (1 << COUNT_BITS));
        call << COUNT_BITS | number
    }

    /// Returns the rank by which programs name a rank of the run.
    #[inline]
    pub(crate) fn rank_of(&self, member: usize) -> usize {
        if self.is_identity {
            return member;
        }
        self.peers.rank_of(member).unwrap_or(member)
    }

    /// Returns the rank of the run behind a rank that messages go to.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`].
    #[inline]
    pub fn member(&self, rank: usize) -> Result<usize> {
        let member = self.peers.members().get(rank).copied();
        member.ok_or_else(|| self.no_member(ErrorClass::Rank, rank))
    }

    /// Returns a root, checked.
    ///
    /// # Errors
    /// [`ErrorClass::Root`].
    #[inline]
    pub fn check_root(&self, root: usize) -> Result {
        if root < self.size() { Ok(()) } else { Err(self.no_member(ErrorClass::Root, root)) }
    }

    #[cold]
    fn no_member(&self, class: ErrorClass, rank: usize) -> Error {
        let what = if class == ErrorClass::Root { "root" } else { "rank" };
        Error::new(class, format!("{what} {rank} of a communicator of {}", self.peers.size()))
    }

    /// Returns the status of a message that a receive has taken, and whether it did fit.
    pub fn status_of(&self, envelope: &Envelope) -> (Status, Result) {
        let source = self.rank_of(envelope.source as usize);
        let kept = envelope.bytes.min(envelope.room);
        let status = Status::new(source as u32, envelope.tag, kept as u64);
        let outcome = match envelope.is_cut() {
            true => Err(too_long(envelope, source).in_context(self.number.get())),
            false => Ok(()),
        };
        (status, outcome)
    }
}

/// Returns the error of a message that does not fit its receive.
#[cold]
pub(crate) fn too_long(envelope: &Envelope, source: usize) -> Error {
    let Envelope { bytes, tag, room, .. } = envelope;
    let what = format!(
        "a message of {bytes} bytes from rank {source} with tag {tag} is too long for a buffer of {room} bytes"
    );
    Error::new(ErrorClass::Truncated, what)
}
