//! Vector clocks: what each rank can know of the others' calls, through messages, collectives and windows.
//!
//! A clock has a number for each rank: of the last call of that rank that is known to have begun. All calls are followed
//! in the order of time. Where it is unknown what a call has learnt, it counts as having learnt everything that any rank
//! knows by then: an order is then assumed that may not exist, but none that exists is overlooked.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::access::Synchronisation;
use crate::arrivals::Dependence;
use crate::collectives::{Part, collectives};
use crate::event::{Event, Kind};
use crate::matching::Matched;
use crate::record::RankRecord;

/// What a rank knew when a call began.
#[derive(Clone, Debug)]
pub(crate) struct VectorClock {
    clock: Rc<Vec<u32>>,
    record: usize,
    /// Number of the call among those of its rank.
    pub(crate) number: u32,
}

impl VectorClock {
    /// Returns the number of the last call of another rank that was known to have begun.
    pub(crate) fn of(&self, record: usize) -> u32 {
        if record == self.record { self.number } else { self.clock[record] }
    }
}

/// Returns what was known when each call began, by record and event. `None` if events are missing.
pub(crate) fn clocks(
    records: &[RankRecord],
    messages: &[Matched],
    dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
) -> Option<Vec<Vec<VectorClock>>> {
    let size = records.first()?.size;
    if records.len() != size || records.iter().any(|record| record.events_lost > 0) {
        return None;
    }
    Some(Sweep::new(records, messages, dependence).run())
}

/// A moment of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Phase {
    Begin,
    /// The receive that ends in the event was posted.
    Posted,
    End,
}

/// An event, by its record and index.
type Place = (usize, usize);

/// What the end of a call knows.
#[derive(Clone, Copy)]
enum Source {
    /// What was known at a moment of another rank.
    Moment(Place, Phase),
    /// What the members of a collective that have come knew.
    Collective(usize),
}

/// What the calls on a window have told so far, by what can be learnt from them.
#[derive(Clone)]
struct WindowClocks {
    unlocks: Vec<u32>,
    posts: Vec<u32>,
    completes: Vec<u32>,
    everything: Vec<u32>,
    has_exclusive_locks: bool,
}

struct Sweep<'a> {
    records: &'a [RankRecord],
    sources: HashMap<Place, Vec<Source>>,
    /// Collectives to which events belong, and what their members knew.
    came: HashMap<Place, usize>,
    gathered: Vec<Vec<u32>>,
    /// Moments that others learn of, and what was known then.
    wanted: BTreeSet<(Place, Phase)>,
    moments: HashMap<(Place, Phase), VectorClock>,
    windows: HashMap<u64, WindowClocks>,
    clocks: Vec<Rc<Vec<u32>>>,
    numbers: Vec<u32>,
    found: Vec<Vec<VectorClock>>,
}

fn join(into: &mut [u32], from: &[u32]) {
    into.iter_mut().zip(from).for_each(|(into, from)| *into = (*into).max(*from));
}

impl<'a> Sweep<'a> {
    fn new(
        records: &'a [RankRecord],
        messages: &[Matched],
        dependence: &dyn Fn(&RankRecord, u16) -> Dependence,
    ) -> Self {
        let size = records.len();
        let nothing = Rc::new(vec![0; size]);
        let mut sweep = Sweep {
            records,
            sources: HashMap::new(),
            came: HashMap::new(),
            gathered: Vec::new(),
            wanted: BTreeSet::new(),
            moments: HashMap::new(),
            windows: HashMap::new(),
            clocks: vec![nothing.clone(); size],
            numbers: vec![0; size],
            found: Vec::new(),
        };
        for (index, record) in records.iter().enumerate() {
            let clock = VectorClock { clock: nothing.clone(), record: index, number: 0 };
            sweep.found.push(vec![clock; record.events.len()]);
        }
        sweep.note_messages(messages);
        sweep.note_collectives(dependence);
        sweep.note_locks();
        sweep
    }

    fn learns(&mut self, at: Place, from: (Place, Phase)) {
        self.wanted.insert(from);
        self.sources.entry(at).or_default().push(Source::Moment(from.0, from.1));
    }

    /// A receive knows of its send, and the end of a send of its receive: it may have waited for it.
    fn note_messages(&mut self, messages: &[Matched]) {
        for one in messages {
            let (send, receive) = ((one.from, one.send), (one.to, one.receive));
            self.learns(receive, (send, Phase::Begin));
            let end = (one.from, one.send_end.unwrap_or(one.send));
            self.learns(end, (receive, Phase::Posted));
        }
    }

    /// The end of a collective knows of its root, or of all members that have come.
    fn note_collectives(&mut self, dependence: &dyn Fn(&RankRecord, u16) -> Dependence) {
        for parts in collectives(self.records) {
            let collective = self.gathered.len();
            self.gathered.push(vec![0; self.records.len()]);
            let came = |part: &Part| (part.record, part.came);
            let (record, first) = (&self.records[parts[0].record], self.event(came(&parts[0])));
            let kind = dependence(record, first.site);
            let is_root = |part: &&Part| self.records[part.record].rank as u32 == first.peer;
            let root = parts.iter().find(is_root).map(came);
            self.wanted.extend(root.map(|root| (root, Phase::Begin)));
            for part in &parts {
                self.came.insert(came(part), collective);
                let Some(waited) = part.waited else { continue };
                let sources = self.sources.entry((part.record, waited)).or_default();
                match (kind, root) {
                    (Dependence::OnRoot, Some(root)) => {
                        sources.push(Source::Moment(root, Phase::Begin));
                    }
                    (Dependence::OfRoot, Some(root)) if root.0 != part.record => {}
                    _ => sources.push(Source::Collective(collective)),
                }
            }
        }
    }

    fn note_locks(&mut self) {
        let size = self.records.len();
        for record in self.records {
            for event in &record.events {
                let Some(what) = Synchronisation::of(event) else { continue };
                let nothing = vec![0; size];
                let window = self.windows.entry(number(record, event)).or_insert(WindowClocks {
                    unlocks: nothing.clone(),
                    posts: nothing.clone(),
                    completes: nothing.clone(),
                    everything: nothing,
                    has_exclusive_locks: false,
                });
                window.has_exclusive_locks |= what == Synchronisation::LockExclusive;
            }
        }
    }

    fn run(mut self) -> Vec<Vec<VectorClock>> {
        let mut moments: Vec<(f64, Phase, Place)> = Vec::new();
        for (record, noted) in self.records.iter().enumerate() {
            for (index, event) in noted.events.iter().enumerate() {
                let mut add = |ticks: u64, phase| {
                    moments.push((noted.clock.seconds(ticks), phase, (record, index)));
                };
                add(event.begin, Phase::Begin);
                add(event.end, Phase::End);
                if event.kind == Kind::Received {
                    add(event.posted, Phase::Posted);
                }
            }
        }
        moments.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        for (_, phase, place) in moments {
            match phase {
                Phase::End => self.end(place),
                _ => self.note_moment(place, phase),
            }
        }
        self.found
    }

    fn event(&self, (record, event): Place) -> &'a Event {
        &self.records[record].events[event]
    }

    fn window(&mut self, place: Place) -> Option<&mut WindowClocks> {
        let number = number(&self.records[place.0], self.event(place));
        self.windows.get_mut(&number)
    }

    /// Returns everything that a rank knows, with itself.
    fn whole(&self, vector: &VectorClock) -> Vec<u32> {
        let mut all = vector.clock.to_vec();
        all[vector.record] = vector.number;
        all
    }

    /// Records what a rank knows when a call of it begins, or a receive is posted.
    fn note_moment(&mut self, place: Place, phase: Phase) {
        let record = place.0;
        self.numbers[record] += 1;
        let vector = VectorClock {
            clock: self.clocks[record].clone(),
            record,
            number: self.numbers[record],
        };
        if self.wanted.contains(&(place, phase)) {
            self.moments.insert((place, phase), vector.clone());
        }
        if phase == Phase::Posted {
            return;
        }
        if let Some(&collective) = self.came.get(&place) {
            let whole = self.whole(&vector);
            join(&mut self.gathered[collective], &whole);
        }
        let event = self.event(place);
        let what = Synchronisation::of(event);
        if what.is_some() || event.kind == Kind::Accessed {
            let whole = self.whole(&vector);
            if let Some(window) = self.window(place) {
                join(&mut window.everything, &whole);
                match what {
                    Some(Synchronisation::Unlock) => join(&mut window.unlocks, &whole),
                    Some(Synchronisation::Post) => join(&mut window.posts, &whole),
                    Some(Synchronisation::Complete) => join(&mut window.completes, &whole),
                    _ => {}
                }
            }
        }
        self.found[record][place.1] = vector;
    }

    /// Records what a rank has learnt when a call of it ends.
    fn end(&mut self, place: Place) {
        let event = self.event(place);
        let learns_of_others =
            matches!(event.kind, Kind::Received | Kind::Collective | Kind::CollectiveEnded);
        let learnt = match self.sources.get(&place) {
            Some(sources) => self.learnt(&sources.clone()),
            None if learns_of_others => Some(self.everything()),
            None => self.learnt_of_window(place),
        };
        if let Some(learnt) = learnt {
            join(Rc::make_mut(&mut self.clocks[place.0]).as_mut_slice(), &learnt);
        }
    }

    fn learnt(&self, sources: &[Source]) -> Option<Vec<u32>> {
        let mut all = vec![0; self.records.len()];
        for source in sources {
            match source {
                Source::Collective(collective) => join(&mut all, &self.gathered[*collective]),
                Source::Moment(place, phase) => match self.moments.get(&(*place, *phase)) {
                    Some(vector) => join(&mut all, &self.whole(vector)),
                    // The clocks of hosts differ by more than the time of a message.
                    None => return Some(self.everything()),
                },
            }
        }
        (!sources.is_empty()).then_some(all)
    }

    /// Returns everything that any rank knows, and all its calls.
    fn everything(&self) -> Vec<u32> {
        vec![u32::MAX; self.records.len()]
    }

    fn learnt_of_window(&mut self, place: Place) -> Option<Vec<u32>> {
        use Synchronisation::*;
        let what = Synchronisation::of(self.event(place))?;
        let window = self.window(place)?;
        Some(match what {
            Lock | LockExclusive if window.has_exclusive_locks => window.unlocks.clone(),
            Start => window.posts.clone(),
            Wait => window.completes.clone(),
            Sync | Fetched => window.everything.clone(),
            _ => return None,
        })
    }
}

/// Returns the number of the communicator or window of an event, which is the same at all members.
pub(crate) fn number(record: &RankRecord, event: &Event) -> u64 {
    record.communicators.get(usize::from(event.communicator)).map_or(0, |one| one.number)
}
