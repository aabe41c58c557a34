//! What people are told about the contexts of this process, in reports of long waits.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use contract::{
    Awaited, BETWEEN_RUNS, LockHolder, MEETING_CONTEXT, RememberedCall, WaitTerms, name_ranks,
    with_article,
};

use super::{GROUPS_CONTEXT, WORLD_CONTEXT};
use crate::group::Group;

/// A context as people recognise it.
pub(crate) struct Identity {
    /// All members; with two groups, those of the second follow those of the first.
    members: Group,
    /// Number of members of the first of two groups.
    split: Option<usize>,
    name: RefCell<String>,
    /// The call of the program that has made it. Unset for contexts that the program does not know.
    maker: OnceCell<RememberedCall>,
    role: OnceCell<Role>,
    latest: Cell<MadeCall>,
    /// Number of ranks of the run.
    run_size: usize,
}

/// A collective by messages.
#[derive(Clone, Copy, Default)]
pub(crate) struct MadeCall {
    /// The tag of its messages.
    pub(crate) tag: u32,
    /// Empty for those by which members agree on something, such as a new communicator.
    pub(crate) name: &'static str,
    pub(crate) root: Option<usize>,
}

/// What a context is, if it is not the context of a communicator.
enum Role {
    /// That of a window.
    Window(Weak<dyn WindowWaits>),
    /// Another one of the library, for a part of the collectives of a communicator.
    PartOf(Rc<Identity>),
}

/// What a window contributes to a report.
pub(crate) trait WindowWaits {
    /// Returns what ends a wait for a message of the window. `None` for other messages.
    fn explain(&self, awaited: &Awaited) -> Option<String>;

    /// Returns who has access to this process's memory, and the ranks that wait until this process grants it to them.
    fn waiting_for_own_lock(&self) -> Option<(LockHolder, Vec<usize>)>;
}

impl Identity {
    pub(super) fn new((members, split): (Group, Option<usize>), run_size: usize) -> Rc<Self> {
        Rc::new(Identity {
            members,
            split,
            name: RefCell::default(),
            maker: OnceCell::new(),
            role: OnceCell::new(),
            latest: Cell::default(),
            run_size,
        })
    }

    pub(crate) fn name(&self) -> String {
        self.name.borrow().clone()
    }

    pub(crate) fn set_name(&self, name: impl Into<String>) {
        *self.name.borrow_mut() = name.into();
    }

    /// Sets the call that has made it.
    pub(crate) fn set_maker(&self, call: RememberedCall) {
        let _ = self.maker.set(call);
    }

    /// Declares that it is the context of a window.
    pub(crate) fn set_window(&self, window: Weak<dyn WindowWaits>) {
        let _ = self.role.set(Role::Window(window));
    }

    /// Declares that it carries out collectives of another one, which the program knows.
    pub(crate) fn set_part_of(&self, whole: &Rc<Identity>) {
        let _ = self.role.set(Role::PartOf(whole.clone()));
    }

    /// Returns whether the program does not know it: it carries out calls of a window or of a communicator.
    #[inline]
    pub(crate) fn is_of_library(&self) -> bool {
        self.role.get().is_some()
    }

    /// Records the latest collective by messages.
    #[inline]
    pub(crate) fn note_call(&self, call: MadeCall) {
        self.latest.set(call);
    }

    /// Returns what ends a wait inside the latest collective by messages.
    fn explain_collective(&self, awaited: &Awaited) -> Option<String> {
        let tag = match awaited {
            Awaited::Message(selector) => selector.tag?,
            Awaited::Data(envelope) | Awaited::Receive { envelope, .. } => envelope.tag,
            Awaited::Members { .. } | Awaited::Lock { .. } => return None,
        };
        let call =
            Some(self.latest.get()).filter(|call| call.tag == tag && !call.name.is_empty())?;
        let root = call.root.map(|root| format!(" with root {root}")).unwrap_or_default();
        let call = with_article(call.name);
        Some(format!("{} in {call}{root}", awaited.in_general_terms()))
    }

    /// Returns the words that name it after what is waited for in it.
    fn place(&self) -> String {
        if let Some(Role::PartOf(whole)) = self.role.get() {
            return whole.place();
        }
        let kind = match (self.role.get(), self.split) {
            (Some(_), _) => "window",
            (None, Some(_)) => "intercommunicator",
            (None, None) => "communicator",
        };
        let members = self.members_in_words();
        let name = self.name.borrow();
        if !name.is_empty() {
            return format!(" in {kind} {name:?} {members}");
        }
        let made = self.maker.get().map(ToString::to_string).unwrap_or_default();
        let made = if made.is_empty() { made } else { format!(", made by {made}") };
        format!(" in the {kind} {members}{made}")
    }

    fn members_in_words(&self) -> String {
        let members = self.members.members();
        let (here, others): (Vec<usize>, Vec<usize>) =
            members.iter().partition(|&&rank| rank < self.run_size);
        let Some(split) = self.split else { return format!("of {}", name_ranks(&here)) };
        if others.is_empty() {
            let (first, second) = members.split_at(split);
            return format!("between {} and {}", name_ranks(first), name_ranks(second));
        }
        format!("between {} and another run", name_ranks(&here))
    }
}

/// The contexts of a process by their numbers.
#[derive(Default)]
pub(crate) struct Identities {
    by_number: RefCell<BTreeMap<u32, Weak<Identity>>>,
    /// Number of entries at which those of contexts that no longer exist are removed.
    limit: Cell<usize>,
}

/// Number of entries that are kept without examination.
const KEPT: usize = 64;

impl Identities {
    pub(super) fn add(&self, number: u32, one: &Rc<Identity>) {
        let mut by_number = self.by_number.borrow_mut();
        by_number.insert(number, Rc::downgrade(one));
        if by_number.len() > self.limit.get().max(KEPT) {
            by_number.retain(|_, one| one.strong_count() > 0);
            self.limit.set(2 * by_number.len());
        }
    }

    /// Returns the contexts of the messages of programs within the run.
    pub(crate) fn contexts_of_programs(&self) -> Vec<u32> {
        let by_number = self.by_number.borrow();
        let is_one = |(number, one): &(&u32, &Weak<Identity>)| {
            **number != GROUPS_CONTEXT
                && *number & BETWEEN_RUNS == 0
                && one.upgrade().is_some_and(|one| !one.is_of_library())
        };
        by_number.iter().filter(is_one).map(|(number, _)| 2 * number).collect()
    }

    fn get(&self, number: u32) -> Option<Rc<Identity>> {
        self.by_number.try_borrow().ok()?.get(&number)?.upgrade()
    }
}

impl WaitTerms for Identities {
    fn place(&self, context: u32) -> Option<String> {
        match context / 2 {
            // Groups agree in the second before they have a communicator.
            WORLD_CONTEXT | GROUPS_CONTEXT => Some(String::new()),
            MEETING_CONTEXT => Some(" while two runs connect".into()),
            number => Some(self.get(number)?.place()),
        }
    }

    fn explain(&self, awaited: &Awaited) -> Option<String> {
        let context = awaited.context();
        let identity = self.get(context / 2)?;
        match identity.role.get() {
            _ if context % 2 == 1 => identity.explain_collective(awaited),
            Some(Role::Window(window)) => window.upgrade()?.explain(awaited),
            _ => None,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let Ok(by_number) = self.by_number.try_borrow() else { return Vec::new() };
        let all = by_number.values().filter_map(Weak::upgrade);
        all.filter_map(|one| {
            let Some(Role::Window(window)) = one.role.get() else { return None };
            let (holder, waiting) = window.upgrade()?.waiting_for_own_lock()?;
            let holder = match holder {
                LockHolder::Rank(rank) => format!("rank {rank} holds"),
                LockHolder::Several | LockHolder::Unknown => "other ranks share".into(),
            };
            let verb = if waiting.len() == 1 { "waits" } else { "wait" };
            let waiting = name_ranks(&waiting);
            let place = one.place();
            Some(format!("{holder} the lock of this rank, for which {waiting} {verb},{place}"))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Envelope, Selector};

    /// An identity in a run of four ranks.
    fn identity(members: &[usize], split: Option<usize>, made: &'static str) -> Rc<Identity> {
        let identity = Identity::new((members.to_vec().into(), split), 4);
        identity.set_maker(Box::new(made));
        identity
    }

    #[test]
    fn a_context_is_described_by_its_name_or_its_maker_and_by_its_members() {
        let part = identity(&[0, 2], None, "MPI_Comm_split");
        assert_eq!(part.place(), " in the communicator of ranks 0, 2, made by MPI_Comm_split");
        let level = identity(&[0], None, "MPI_Allreduce");
        level.set_part_of(&part);
        part.set_name("rows\n");
        assert_eq!(part.place(), " in communicator \"rows\\n\" of ranks 0, 2");
        assert_eq!(level.place(), part.place());
        let between = identity(&[0, 3, 1], Some(2), "");
        assert_eq!(between.place(), " in the intercommunicator between ranks 0, 3 and rank 1");
        let across = identity(&[5, 0, 1], Some(1), "MPI_Comm_accept");
        assert!(across.place().contains("between ranks 0, 1 and another run, made by MPI_Comm_a"));
    }

    #[test]
    fn the_latest_collective_is_described_with_its_root() {
        let identities = Identities::default();
        let one = identity(&[0, 1], None, "");
        identities.add(7, &one);
        one.note_call(MadeCall { tag: 30, name: "allreduce", root: None });
        one.note_call(MadeCall { tag: 31, name: "reduce", root: Some(1) });
        let explained = |context, tag| {
            let message = Selector { context, source: Some(1), tag: Some(tag) };
            identities.explain(&Awaited::Message(message))
        };
        // The collectives of context 7 use its odd number, 2 * 7 + 1.
        let words = explained(15, 31).unwrap();
        assert_eq!(words, "for the part of rank 1 in a reduce with root 1");
        assert_eq!((explained(15, 30), explained(14, 31), explained(17, 31)), (None, None, None));
        one.note_call(MadeCall { tag: 32, name: "allreduce", root: None });
        let envelope = Envelope { context: 15, source: 0, tag: 32, bytes: 9, room: 9 };
        let words = identities.explain(&Awaited::Receive { to: 1, envelope }).unwrap();
        assert_eq!(words, "until rank 1 takes its part of 9 bytes in an allreduce");
    }

    struct Queue;

    impl WindowWaits for Queue {
        fn explain(&self, _awaited: &Awaited) -> Option<String> {
            Some("for the window".into())
        }

        fn waiting_for_own_lock(&self) -> Option<(LockHolder, Vec<usize>)> {
            Some((LockHolder::Rank(2), vec![0, 1]))
        }
    }

    #[test]
    fn a_window_explains_its_messages_and_who_waits_for_its_lock_while_it_is_there() {
        let identities = Identities::default();
        let (window, queue) = (identity(&[0, 1, 2], None, ""), Rc::new(Queue));
        let weak: Weak<Queue> = Rc::downgrade(&queue);
        window.set_window(weak);
        window.set_name("queue");
        identities.add(3, &window);
        let message = Awaited::Message(Selector { context: 6, source: None, tag: None });
        assert_eq!(identities.explain(&message).unwrap(), "for the window");
        assert_eq!(
            identities.remarks(),
            [
                "rank 2 holds the lock of this rank, for which ranks 0, 1 wait, in window \"queue\" of ranks 0 to 2"
            ]
        );
        drop(queue);
        assert_eq!((identities.explain(&message), identities.remarks().len()), (None, 0));
    }

    #[test]
    fn contexts_that_are_gone_take_no_room() {
        let identities = Identities::default();
        let kept: Vec<_> = (0..100).map(|number| (number, identity(&[0], None, ""))).collect();
        kept.iter().for_each(|(number, one)| identities.add(*number, one));
        (100..9_000).for_each(|number| identities.add(number, &identity(&[1], None, "")));
        assert!(identities.by_number.borrow().len() <= 2 * 100 + 1);
        assert_eq!(identities.place(2 * 99).unwrap(), " in the communicator of rank 0");
        assert_eq!(identities.place(2 * 8_000), None);
        assert_eq!(identities.place(2 * WORLD_CONTEXT).unwrap(), "");
    }
}
