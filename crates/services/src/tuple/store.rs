//! The tuples of a space at their home: a state machine without messages and without a clock.

use std::collections::{BTreeMap, VecDeque};

use contract::{Time, TimeSpan};

use super::value::{Template, Tuple};
use crate::FieldKind;

/// A request of one rank to the space.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Request {
    Join,
    Leave,
    /// The rank makes no more requests.
    End,
    Out(Vec<Tuple>),
    Match(Template, Mode),
    /// Ends a lease: the tuple is removed, and these replace it.
    Complete(u64, Vec<Tuple>),
    /// Ends a lease: the tuple is back.
    GiveBack(u64),
    /// Restarts a lease with its whole length.
    Renew(u64),
}

/// The mode of a request for a tuple.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mode {
    pub(super) removes: bool,
    pub(super) waits: bool,
    /// Time after which the tuple returns, unless the lease is renewed or completed.
    pub(super) lease: Option<TimeSpan>,
}

/// A reply to a rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Done,
    /// A tuple, and the number of its lease.
    Found(Tuple, u64),
    Absent,
    Full,
    NotMember,
    NoProducerLeft,
    LeaseLost,
}

struct Waiting {
    rank: usize,
    template: Template,
    mode: Mode,
}

struct Lease {
    rank: usize,
    tuple: Tuple,
    length: TimeSpan,
    /// `None` until the clock has been read after the lease was given.
    end: Option<Time>,
}

/// The tuples of a space, the ranks that wait for tuples, and the leases.
pub(super) struct Store {
    capacity: usize,
    count: usize,
    tuples: BTreeMap<Vec<FieldKind>, VecDeque<Tuple>>,
    /// Waits in the order in which they came.
    waiting: VecDeque<Waiting>,
    leases: BTreeMap<u64, Lease>,
    next_lease: u64,
    members: Vec<bool>,
    ended: Vec<bool>,
    /// Replies to ranks that had to wait.
    pub(super) late: VecDeque<(usize, Reply)>,
}

impl Store {
    /// Creates an empty space for `capacity` tuples, including those on lease.
    pub(super) fn new(ranks: usize, capacity: usize) -> Self {
        Store {
            capacity,
            count: 0,
            tuples: BTreeMap::new(),
            waiting: VecDeque::new(),
            leases: BTreeMap::new(),
            next_lease: 1,
            members: vec![false; ranks],
            ended: vec![false; ranks],
            late: VecDeque::new(),
        }
    }

    /// Returns whether leases may expire, so that the clock must be read.
    pub(super) fn has_leases(&self) -> bool {
        !self.leases.is_empty()
    }

    /// Returns whether all ranks have ended their requests.
    pub(super) fn is_over(&self) -> bool {
        self.ended.iter().all(|ended| *ended)
    }

    /// Carries out a request of `rank`. Returns `None` if the rank must wait for its reply.
    pub(super) fn handle(&mut self, rank: usize, request: Request) -> Option<Reply> {
        let reply = match request {
            Request::Join => {
                self.members[rank] = true;
                Some(Reply::Done)
            }
            Request::End => {
                self.ended[rank] = true;
                self.leave(rank);
                Some(Reply::Done)
            }
            _ if !self.members[rank] => Some(Reply::NotMember),
            Request::Leave => {
                self.leave(rank);
                Some(Reply::Done)
            }
            Request::Out(tuples) => Some(self.out(tuples, 0)),
            Request::Match(template, mode) => self.find(rank, template, mode),
            Request::Complete(lease, tuples) => Some(self.complete(rank, lease, tuples)),
            Request::GiveBack(lease) => Some(self.give_back(rank, lease)),
            Request::Renew(lease) => Some(match self.lease_of(rank, lease) {
                Some(lease) => {
                    lease.end = None;
                    Reply::Done
                }
                None => Reply::LeaseLost,
            }),
        };
        self.end_waits_without_producer();
        reply
    }

    /// Sets the time: begins new leases, and ends those that have expired.
    pub(super) fn tick(&mut self, now: Time) {
        let mut over = Vec::new();
        for (&number, lease) in &mut self.leases {
            match lease.end {
                None => lease.end = Some(now + lease.length),
                Some(end) if end <= now => over.push(number),
                Some(_) => {}
            }
        }
        self.end_leases(over);
        self.end_waits_without_producer();
    }

    fn leave(&mut self, rank: usize) {
        self.members[rank] = false;
        let all = self.leases.iter().filter(|(_, lease)| lease.rank == rank);
        let all = all.map(|(&number, _)| number).collect();
        self.end_leases(all);
    }

    fn end_leases(&mut self, numbers: Vec<u64>) {
        for number in numbers {
            if let Some(lease) = self.leases.remove(&number) {
                self.put(lease.tuple);
            }
        }
    }

    fn lease_of(&mut self, rank: usize, number: u64) -> Option<&mut Lease> {
        self.leases.get_mut(&number).filter(|lease| lease.rank == rank)
    }

    /// Puts tuples into the space, which has room for `freed` more.
    fn out(&mut self, tuples: Vec<Tuple>, freed: usize) -> Reply {
        if self.count - freed + tuples.len() > self.capacity {
            return Reply::Full;
        }
        self.count = self.count - freed + tuples.len();
        tuples.into_iter().for_each(|tuple| self.put(tuple));
        Reply::Done
    }

    /// Passes a counted tuple to the ranks that wait for it, or keeps it.
    fn put(&mut self, tuple: Tuple) {
        let mut at = 0;
        while at < self.waiting.len() {
            if !self.waiting[at].template.matches(&tuple) {
                at += 1;
                continue;
            }
            let Some(Waiting { rank, mode, .. }) = self.waiting.remove(at) else { return };
            if mode.removes {
                let lease = self.record_removal(rank, &tuple, mode);
                self.late.push_back((rank, Reply::Found(tuple, lease)));
                return;
            }
            self.late.push_back((rank, Reply::Found(tuple.clone(), 0)));
        }
        self.tuples.entry(tuple.shape()).or_default().push_back(tuple);
    }

    /// Accounts for a tuple that leaves the space. Returns the number of its lease, or 0.
    fn record_removal(&mut self, rank: usize, tuple: &Tuple, mode: Mode) -> u64 {
        let Some(length) = mode.lease else {
            self.count -= 1;
            return 0;
        };
        let number = self.next_lease;
        self.next_lease += 1;
        self.leases.insert(number, Lease { rank, tuple: tuple.clone(), length, end: None });
        number
    }

    fn find(&mut self, rank: usize, template: Template, mode: Mode) -> Option<Reply> {
        let shape = template.shape();
        let row = self.tuples.get_mut(&shape);
        let found = row.and_then(|row| {
            let at = row.iter().position(|tuple| template.matches(tuple))?;
            if mode.removes { row.remove(at) } else { row.get(at).cloned() }
        });
        match found {
            Some(tuple) if mode.removes => {
                if self.tuples.get(&shape).is_some_and(VecDeque::is_empty) {
                    self.tuples.remove(&shape);
                }
                let lease = self.record_removal(rank, &tuple, mode);
                Some(Reply::Found(tuple, lease))
            }
            Some(tuple) => Some(Reply::Found(tuple, 0)),
            None if mode.waits => {
                self.waiting.push_back(Waiting { rank, template, mode });
                None
            }
            None => Some(Reply::Absent),
        }
    }

    fn complete(&mut self, rank: usize, number: u64, tuples: Vec<Tuple>) -> Reply {
        if self.lease_of(rank, number).is_none() {
            return Reply::LeaseLost;
        }
        let reply = self.out(tuples, 1);
        if reply == Reply::Done {
            self.leases.remove(&number);
        }
        reply
    }

    fn give_back(&mut self, rank: usize, number: u64) -> Reply {
        if self.lease_of(rank, number).is_none() {
            return Reply::LeaseLost;
        }
        self.end_leases(vec![number]);
        Reply::Done
    }

    /// Ends the waits of all ranks if each rank waits or has ended and there is no lease: then no tuple can come any
    /// more.
    fn end_waits_without_producer(&mut self) {
        let busy = self.ended.iter().filter(|ended| !**ended).count();
        if self.leases.is_empty() && !self.waiting.is_empty() && self.waiting.len() == busy {
            let all = self.waiting.drain(..).map(|one| (one.rank, Reply::NoProducerLeft));
            self.late.extend(all);
        }
    }
}
