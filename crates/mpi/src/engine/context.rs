//! A communicator's context: its members and its private space of messages.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use call_stack::CallSite;
use collectives::{CallId, HostMap, LatestSchedules, TwoGroups};
use contract::{BETWEEN_RUNS, ContextOffer, ContextPlace, Endpoint, Envelope, NewContext};

use super::identity::Identity;
use super::{Agreed, CallLog, Engine, LoggedCall, SendBuffers, Setups, too_long};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::status::Status;

/// Processes of the run with messages of their own: one group, or two whose members send to each other. Operations in
/// progress keep it, so it may outlive its communicator.
pub struct Context<E: Endpoint> {
    engine: Rc<Engine<E>>,
    /// All members; with two groups, those of the second follow those of the first.
    group: Group,
    rank: usize,
    /// The receivers of messages, whose ranks programs use: the members, or those of the other group.
    peers: Group,
    /// Number of members of the first of two groups.
    split: Option<usize>,
    /// True if the ranks of the run and of the context are the same.
    is_identity: bool,
    /// Set once all members have agreed on it.
    number: Cell<u32>,
    /// The fabric's place for it; `None` before the members have agreed, and after it was closed.
    place: Cell<Option<ContextPlace>>,
    /// Counts the collective calls, so that messages of two calls in progress do not match each other.
    sequence: Cell<u32>,
    /// Number of collectives in progress in the fabric.
    started: Cell<usize>,
    /// The fabric's place after it was closed, until those have ended.
    closing: Cell<Option<ContextPlace>>,
    /// Number of contexts that are open for its persistent collectives.
    persistent: Cell<usize>,
    send_buffers: SendBuffers,
    /// Senders of partitioned messages to this member.
    setups: Setups,
    /// The members that share a host, if the fabric knows; unset until it is needed.
    hosts: OnceCell<Option<HostMap>>,
    schedules: LatestSchedules,
    levels: OnceCell<Levels<E>>,
    /// Number of calls that would have used the levels.
    calls: Cell<u32>,
    identity: Rc<Identity>,
    /// Its collectives, from the first on.
    log: OnceCell<Rc<CallLog>>,
}

/// Contexts of some of the members of a context on several hosts, for collectives in two levels.
pub(crate) struct Levels<E: Endpoint> {
    /// The members on this process's host.
    pub(crate) inside: Rc<Context<E>>,
    /// The first members of all hosts, in the order of the hosts, if this process is one of them.
    pub(crate) leaders: Option<Rc<Context<E>>>,
}

/// Lowest tag of messages that create a communicator for some members of another; those of collective calls are below.
pub(crate) const GROUP_TAGS: u32 = 1 << 31;

/// Lowest tag of messages between the leaders of two groups; those of collective calls are below.
pub(crate) const BETWEEN_TAGS: u32 = 1 << 30;

/// Number of low bits of a collective's tag that count the calls. The other bits describe the call.
const COUNT_BITS: u32 = 17;

impl<E: Endpoint> Context<E> {
    /// Creates a context of some processes that has no number yet. Returns `None` if this process is not one of them.
    pub(crate) fn new(engine: Rc<Engine<E>>, group: Group) -> Option<Self> {
        let peers = group.clone();
        Context::of(engine, group, peers, None)
    }

    /// As `new`, for two groups. Returns `None` if one of them is empty.
    pub(crate) fn between(engine: Rc<Engine<E>>, first: &Group, second: &Group) -> Option<Self> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let is_first = first.rank_of(engine.rank()).is_some();
        let peers = if is_first { second } else { first }.clone();
        Context::of(engine, first.union(second), peers, Some(first.size()))
    }

    fn of(engine: Rc<Engine<E>>, group: Group, peers: Group, split: Option<usize>) -> Option<Self> {
        let rank = group.rank_of(engine.rank())?;
        Some(Context {
            identity: Identity::new((group.clone(), split), engine.size()),
            rank,
            is_identity: split.is_none() && group.is_identity(),
            engine,
            group,
            peers,
            split,
            send_buffers: SendBuffers::default(),
            setups: Setups::default(),
            hosts: OnceCell::new(),
            schedules: LatestSchedules::default(),
            levels: OnceCell::new(),
            calls: Cell::new(0),
            number: Cell::new(0),
            place: Cell::new(None),
            sequence: Cell::new(0),
            started: Cell::new(0),
            closing: Cell::new(None),
            persistent: Cell::new(0),
            log: OnceCell::new(),
        })
    }

    /// Creates a context of some of the members, by their ranks here. Returns `None` if this process is not one of
    /// them, or if one of two groups would be empty.
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
        part.map(|part| Context { send_buffers: self.send_buffers.of_copy(), ..part })
    }

    /// Sets the number and place of a context that the fabric has had from the beginning.
    pub(crate) fn with_place(self, number: u32, place: Option<ContextPlace>) -> Self {
        self.set_number(number);
        self.place.set(place);
        self
    }

    /// Opens it after its members have agreed on a number and exchanged their offers.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn open(&self, endpoint: &mut E, number: u32, offers: &[ContextOffer]) -> Result {
        self.set_number(number);
        let context = NewContext { number, members: self.members(), me: self.rank, offers };
        self.place.set(Some(endpoint.open_context(context)?));
        Ok(())
    }

    /// As [`open`](Context::open), for a context between runs, whose members have connected.
    pub(crate) fn open_between_runs(&self, endpoint: &mut E, offers: &[ContextOffer]) -> Result {
        let runs = self.engine.other_runs(endpoint)?;
        let opened = runs.open_between_runs(self.members(), self.rank, offers)?;
        self.set_number(opened.number);
        self.place.set(Some(opened.place));
        Ok(())
    }

    fn set_number(&self, number: u32) {
        self.number.set(number);
        self.engine.identities.add(number, &self.identity);
    }

    /// Returns what people are told about it.
    #[inline(always)]
    pub(crate) fn identity(&self) -> &Rc<Identity> {
        &self.identity
    }

    /// Returns whether it is between runs. Then its members have no memory in common, and each knows it by another
    /// number.
    #[inline]
    pub fn is_between_runs(&self) -> bool {
        self.number.get() & BETWEEN_RUNS != 0
    }

    /// Closes it. Every member calls this in the end. Operations in progress continue.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn close(&self) -> Result {
        let Some(place) = self.place.take() else { return Ok(()) };
        self.closing.set(Some(place));
        self.close_if_idle(&mut *self.engine.endpoint()?)?;
        let Some(Levels { inside, leaders }) = self.levels.get() else { return Ok(()) };
        inside.close()?;
        leaders.as_ref().map_or(Ok(()), |leaders| leaders.close())
    }

    fn close_if_idle(&self, endpoint: &mut E) -> Result {
        if self.started.get() == 0
            && let Some(place) = self.closing.take()
        {
            endpoint.close_context(place)?;
        }
        Ok(())
    }

    /// Returns the number of contexts that are open for its persistent collectives.
    pub(crate) fn count_persistent(&self) -> usize {
        self.persistent.get()
    }

    /// Records that such a context was opened (1) or closed (-1).
    pub(crate) fn add_persistent(&self, difference: isize) {
        self.persistent.set(self.persistent.get().wrapping_add_signed(difference));
    }

    /// Records that a collective was started in the fabric.
    pub(crate) fn count_started(&self) {
        self.started.set(self.started.get() + 1);
    }

    /// Records that a collective has ended.
    ///
    /// # Errors
    /// Errors that end the run.
    pub(crate) fn count_ended(&self, endpoint: &mut E) -> Result {
        self.started.set(self.started.get() - 1);
        self.close_if_idle(endpoint)
    }

    /// Returns its engine.
    #[inline(always)]
    pub fn engine(&self) -> &Rc<Engine<E>> {
        &self.engine
    }

    /// Returns the two groups that it is between, as this member sees them, or `None` for one group.
    #[inline(always)]
    pub fn two_groups(&self) -> Option<TwoGroups> {
        Some(TwoGroups { first: self.split?, me: self.rank, size: self.size() })
    }

    /// Returns the receivers of messages: the members, or those of the other group.
    #[inline(always)]
    pub fn peers(&self) -> &Group {
        &self.peers
    }

    /// Returns its members, as ranks of the run.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns the ranks of the run, by rank of the context.
    #[inline(always)]
    pub fn members(&self) -> &[usize] {
        self.group.members()
    }

    /// Returns the schedules of this member's latest collectives of all members.
    pub(crate) fn schedules(&self) -> &LatestSchedules {
        &self.schedules
    }

    /// Records a collective of the program, to be compared with those of the other members.
    #[inline]
    pub(crate) fn log(&self, id: CallId, agreed: Agreed) {
        // The library's own contexts are no concern of the program, and the end is the comparison itself.
        let is_own = self.identity.is_of_library() || self.engine.is_leaving();
        if is_own || self.size() == 1 || self.is_between_runs() {
            return;
        }
        let key = (self.number(), self.members()[0] as u32);
        let open = || self.engine.call_logs.open(key, self.size(), self.rank);
        self.log.get_or_init(open).add(LoggedCall { id, agreed, site: CallSite::latest() });
    }

    /// Returns its levels, if it has got them.
    pub(crate) fn levels(&self) -> Option<&Levels<E>> {
        self.levels.get()
    }

    pub(crate) fn set_levels(&self, levels: Levels<E>) {
        self.levels.get_or_init(|| levels);
    }

    /// Counts a call that would use the levels, and returns the number of those before.
    pub(crate) fn count_call(&self) -> u32 {
        self.calls.replace(self.calls.get() + 1)
    }

    /// Returns which members share a host, if the fabric knows.
    pub(crate) fn hosts(&self) -> Option<&HostMap> {
        if self.hosts.get().is_none() {
            // It is borrowed while a user's operation calls back: the call fails a little later.
            let endpoint = self.engine.endpoint().ok()?;
            let host_of = |&rank: &usize| endpoint.computer().services.host_of(rank);
            let hosts = self.members().iter().map(host_of).collect::<Option<Vec<_>>>();
            self.hosts.get_or_init(|| hosts.map(HostMap::new));
        }
        self.hosts.get()?.as_ref()
    }

    /// Returns the senders of partitioned messages to this member, and its receives.
    pub(crate) fn setups(&self) -> &Setups {
        &self.setups
    }

    /// Returns the buffers of its buffered sends.
    pub fn send_buffers(&self) -> &SendBuffers {
        &self.send_buffers
    }

    /// Returns this process's rank in it.
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of members.
    #[inline(always)]
    pub fn size(&self) -> usize {
        self.group.size()
    }

    /// Returns its number.
    pub fn number(&self) -> u32 {
        self.number.get()
    }

    /// Returns whether ranks of the run have the same numbers in it.
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

    /// Returns the tag of the next collective call. The ten bits `call` are in the tag as well, so that the messages of
    /// different calls never match.
    pub(crate) fn next_tag(&self, call: u32) -> u32 {
        let number = self.sequence.get();
        self.sequence.set((number + 1) % (1 << COUNT_BITS));
        call << COUNT_BITS | number
    }

    /// Returns the rank that programs use for a rank of the run.
    #[inline]
    pub(crate) fn rank_of(&self, member: usize) -> usize {
        if self.is_identity {
            return member;
        }
        self.peers.rank_of(member).unwrap_or(member)
    }

    /// Returns the rank of the run for a rank that messages go to.
    ///
    /// # Errors
    /// [`ErrorClass::Rank`].
    #[inline]
    pub fn member(&self, rank: usize) -> Result<usize> {
        let member = self.peers.members().get(rank).copied();
        member.ok_or_else(|| self.no_member(ErrorClass::Rank, rank))
    }

    /// Checks a root.
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

    /// Returns the status of a received message, and whether it fitted.
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
