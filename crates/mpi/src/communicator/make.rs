//! Making communicators of the same members or of a group: all members of the old one, or of the group, call alike.

use contract::Endpoint;

use super::Communicator;
use super::agree::{Agreement, Proposal};
use crate::attribute::Attributes;
use crate::collective::gather_then;
use crate::engine::{Context, GROUP_TAGS};
use crate::error::{ErrorClass, Result, ensure};
use crate::group::Group;
use crate::info::Info;
use crate::request::{Action, Request};
use crate::schedule::{self, CollectiveContext, CollectiveKind, CollectiveMark, Manner};

impl<E: Endpoint + 'static> Communicator<E> {
    /// Returns the members' next collective that makes a communicator.
    pub(super) fn next_making(&self, kind: CollectiveKind) -> CollectiveContext<E> {
        CollectiveContext::next(self.context(), CollectiveMark::of(kind))
    }

    /// One of the same members that has no context yet.
    fn copy(&self, attributes: Attributes, info: Info) -> Self {
        let everybody: Vec<usize> = (0..self.context().size()).collect();
        let context = self.context().part(&everybody);
        let context = context.expect("a member of the old communicator is one of the new");
        let topology = self.topology.clone();
        Communicator { attributes, info, topology, ..Communicator::of(context) }
    }

    /// Another communicator of the same members. Which attributes it has is for the caller to say:
    /// [`Attributes::copy`] tells what the program wants.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] if the members make different calls, and those that end the run.
    pub fn dup(&self, attributes: Attributes, info: Info) -> Result<Self> {
        let new = self.copy(attributes, info);
        let at = self.next_making(CollectiveKind::Duplicate);
        let agreement = Agreement::with(&at)?;
        agreement.open(&mut *self.engine().endpoint()?, &at, Some(new.context()))?;
        Ok(new)
    }

    /// The same without waiting: the new communicator may be used once the request has ended.
    ///
    /// # Errors
    /// Those that end the run. Others come with the request's end.
    pub fn start_dup(&self, attributes: Attributes, info: Info) -> Result<(Self, Request<E>)> {
        let new = self.copy(attributes, info);
        let at = self.next_making(CollectiveKind::DuplicateLater);
        let mine = Proposal::new(&at)?.to_bytes();
        let (context, agreed_at) = (new.context().clone(), at.clone());
        let schedule = gather_then(at, &mine, Manner::Nonblocking, move |endpoint: &mut E, all| {
            let agreement = Agreement::read(all, Proposal::BYTES);
            agreement.open(endpoint, &agreed_at, Some(&context))
        });
        let action = Action::Collective(schedule::start(schedule)?);
        Ok((new, Request::new(self.engine(), action)))
    }

    /// Returns a communicator for the members of `group`, who may be none; none for who is not one of them. All members
    /// of this communicator call it. Between two groups each names some of its own, and the new one is between these.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] for a group with other members, and as of [`dup`](Communicator::dup).
    pub fn create(&self, group: &Group) -> Result<Option<Self>> {
        self.check_inside(group)?;
        if self.remote_group().is_some() {
            let place = group.rank_of(self.engine().rank());
            let colour = place.map(|_| 0);
            return self.split_as(CollectiveKind::Create, colour, place.unwrap_or(0) as i64);
        }
        let at = self.next_making(CollectiveKind::Create);
        self.create_at(group, &at)
    }

    /// Returns a communicator for the members of `group`, who alone call it, with a tag that keeps such calls apart;
    /// none for who is not one of them.
    ///
    /// # Errors
    /// As of [`create`](Communicator::create), and [`ErrorClass::Tag`].
    pub fn create_group(&self, group: &Group, tag: u32) -> Result<Option<Self>> {
        ensure!(tag < GROUP_TAGS, ErrorClass::Tag, "tag {tag}");
        self.check_one_group()?;
        self.check_inside(group)?;
        let Some(rank) = group.rank_of(self.engine().rank()) else { return Ok(None) };
        // Not announced: the other members of the communicator do not call this.
        let at = CollectiveContext {
            context: self.context().clone(),
            members: group.clone(),
            rank,
            tag: GROUP_TAGS | tag,
            number: 0,
        };
        self.create_at(group, &at)
    }

    fn check_inside(&self, group: &Group) -> Result {
        let own = self.group();
        let inside = group.members().iter().all(|&member| own.rank_of(member).is_some());
        let what = "the group has members that the communicator lacks";
        ensure!(inside, ErrorClass::Group, "{what}");
        Ok(())
    }

    /// Returns a communicator for some of those who agree.
    fn create_at(&self, group: &Group, at: &CollectiveContext<E>) -> Result<Option<Self>> {
        let agreement = Agreement::with(at)?;
        let context = Context::new(self.engine().clone(), group.clone());
        agreement.open(&mut *self.engine().endpoint()?, at, context.as_ref())?;
        Ok(context.map(Communicator::of))
    }
}

/// The hints that a duplicate has if the program does not say otherwise.
impl<E: Endpoint> Communicator<E> {
    /// Returns a copy of the hints.
    pub fn copied_info(&self) -> Info {
        Info::from_pairs(self.info().pairs())
    }
}
