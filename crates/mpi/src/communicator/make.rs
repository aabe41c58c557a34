//! Creation of communicators with the same members or with a group: all members of the old one, or of the group, make
//! the same call.

use collectives::{CallId, LibraryCall, Manner};
use contract::Endpoint;

use super::Communicator;
use crate::attribute::Attributes;
use crate::collective::{Agreement, Proposal, gather_then};
use crate::engine::{Agreed, GROUP_TAGS};
use crate::error::{ErrorClass, Result, ensure};
use crate::group::Group;
use crate::info::Info;
use crate::request::{Action, Request};
use crate::schedule::{self, CollectiveContext};

impl<E: Endpoint + 'static> Communicator<E> {
    /// Returns the members' next collective that makes a communicator.
    pub(super) fn next_making(&self, call: LibraryCall) -> CollectiveContext<E> {
        let id = CallId::of_library(call);
        self.context().log(id, Agreed::Nothing);
        CollectiveContext::next(self.context(), id)
    }

    /// Creates a communicator of the same members that has no context yet.
    fn copy(&self, attributes: Attributes, info: Info) -> Self {
        let everybody: Vec<usize> = (0..self.context().size()).collect();
        let context = self.context().part(&everybody);
        let context = context.expect("a member of the old communicator is one of the new");
        let topology = self.topology.clone();
        Communicator { attributes, info, topology, ..Communicator::of(context) }
    }

    /// Duplicates the communicator. The caller passes its attributes; [`Attributes::copy`] returns those that the
    /// program wants.
    ///
    /// # Errors
    /// [`ErrorClass::Other`] if the members make different calls, and errors that end the run.
    pub fn dup(&self, attributes: Attributes, info: Info) -> Result<Self> {
        let new = self.copy(attributes, info);
        let at = self.next_making(LibraryCall::Duplicate);
        let agreement = Agreement::with(&at)?;
        agreement.open(&mut *self.engine().endpoint()?, &at, Some(new.context()))?;
        Ok(new)
    }

    /// As [`dup`](Communicator::dup), without waiting: the new communicator may be used once the request has ended.
    ///
    /// # Errors
    /// Errors that end the run. Others are reported at the end of the request.
    pub fn start_dup(&self, attributes: Attributes, info: Info) -> Result<(Self, Request<E>)> {
        let new = self.copy(attributes, info);
        let call_id = CallId::of_library(LibraryCall::Duplicate).in_manner(Manner::Nonblocking);
        self.context().log(call_id, Agreed::Nothing);
        let at = CollectiveContext::next(self.context(), call_id);
        let mine = Proposal::new(&at)?.to_bytes();
        let (context, agreed_at) = (new.context().clone(), at.clone());
        let schedule = gather_then(at, &mine, Manner::Nonblocking, move |endpoint: &mut E, all| {
            let agreement = Agreement::read(all, Proposal::BYTES);
            agreement.open(endpoint, &agreed_at, Some(&context))
        });
        let action = Action::Collective(schedule::start(schedule)?);
        Ok((new, Request::new(self.engine(), action)))
    }

    /// Creates a communicator for the members of `group`, which may be empty. Returns `None` to a process outside the
    /// group. All members of this communicator make the call. In an intercommunicator each names some members of its
    /// own group, and the new one is between these.
    ///
    /// # Errors
    /// [`ErrorClass::Group`] for a group with other members, and as for [`dup`](Communicator::dup).
    pub fn create(&self, group: &Group) -> Result<Option<Self>> {
        self.check_inside(group)?;
        if self.remote_group().is_some() {
            let place = group.rank_of(self.engine().rank());
            let colour = place.map(|_| 0);
            return self.split_as(LibraryCall::Create, colour, place.unwrap_or(0) as i64);
        }
        let at = self.next_making(LibraryCall::Create);
        Ok(Agreement::on_context(&at, group.clone())?.map(Communicator::of))
    }

    /// Creates a communicator for the members of `group`, which alone make the call, with a tag that separates it from
    /// similar calls. Returns `None` to a process outside the group.
    ///
    /// # Errors
    /// As for [`create`](Communicator::create), and [`ErrorClass::Tag`].
    pub fn create_group(&self, group: &Group, tag: u32) -> Result<Option<Self>> {
        ensure!(tag < GROUP_TAGS, ErrorClass::Tag, "tag {tag}");
        self.check_one_group()?;
        self.check_inside(group)?;
        let Some(rank) = group.rank_of(self.engine().rank()) else { return Ok(None) };
        // Not announced: the other members of the communicator do not make this call.
        let at = CollectiveContext {
            context: self.context().clone(),
            members: group.clone(),
            rank,
            call_id: CallId::of_library(LibraryCall::Create),
            tag: GROUP_TAGS | tag,
            number: 0,
        };
        Ok(Agreement::on_context(&at, group.clone())?.map(Communicator::of))
    }

    fn check_inside(&self, group: &Group) -> Result {
        let own = self.group();
        let inside = group.members().iter().all(|&member| own.rank_of(member).is_some());
        let what = "the group has members that the communicator lacks";
        ensure!(inside, ErrorClass::Group, "{what}");
        Ok(())
    }
}

/// The default hints of a duplicate.
impl<E: Endpoint> Communicator<E> {
    /// Returns a copy of the hints.
    pub fn copied_info(&self) -> Info {
        Info::from_pairs(self.info().pairs())
    }
}
