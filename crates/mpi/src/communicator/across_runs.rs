//! Creation of communicators between groups of several runs.

use collectives::{CallId, LibraryCall};
use contract::{ContextOffer, Endpoint, ProcessName, TimeSpan};

use super::Communicator;
use super::between::{Bridge, LOST, malformed};
use crate::collective::{allgather_bytes, broadcast_bytes};
use crate::engine::{Context, Engine};
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::group::Group;

/// Time limit for the members to connect. All of them are in the same call.
const REACH_LIMIT: TimeSpan = TimeSpan::from_us(60_000_000);

/// A member's message about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemberOffer {
    name: ProcessName,
    offer: ContextOffer,
}

impl MemberOffer {
    const BYTES: usize = ProcessName::BYTES + 8;

    fn own<E: Endpoint>(engine: &Engine<E>) -> Result<Self> {
        let mut endpoint = engine.endpoint()?;
        let runs = engine.other_runs(&mut endpoint)?;
        Ok(MemberOffer { name: runs.own_name()?, offer: runs.offer_between_runs()? })
    }

    fn to_bytes(self) -> Vec<u8> {
        [&self.name.0[..], &self.offer.0.to_ne_bytes()].concat()
    }

    /// Returns the members that a message describes, or `None` if no leader sends it.
    fn all(bytes: &[u8]) -> Option<Vec<Self>> {
        let one = |bytes: &[u8]| {
            let (name, offer) = bytes.split_at_checked(ProcessName::BYTES)?;
            let offer = u64::from_ne_bytes(*offer.as_array()?);
            Some(MemberOffer { name: ProcessName::from_bytes(name)?, offer: ContextOffer(offer) })
        };
        let all = bytes.chunks(MemberOffer::BYTES).map(one).collect::<Option<Vec<_>>>()?;
        // One that is named twice would be sent to twice.
        let mut names: Vec<_> = all.iter().map(|one| one.name).collect();
        names.sort_unstable();
        let once = names.windows(2).all(|pair| pair[0] != pair[1]);
        (once && !all.is_empty()).then_some(all)
    }
}

/// Waits until this process is connected with all of these, which are in the same call.
pub(crate) fn reach_all<E: Endpoint>(engine: &Engine<E>, members: &[usize]) -> Result {
    let until = engine.endpoint()?.now() + REACH_LIMIT;
    let mut reached = Ok(false);
    engine.wait_until(&mut |endpoint| {
        reached = engine.other_runs(endpoint).and_then(|runs| runs.reach(members));
        !matches!(reached, Ok(false)) || endpoint.now() > until
    })?;
    let late = "a process of another run did not call";
    ensure!(reached?, ErrorClass::ProcessAborted, "{late}");
    Ok(())
}

impl<E: Endpoint + 'static> Communicator<E> {
    /// As [`join_across`](Communicator::join_across), if all members know that processes of several runs are among
    /// them, or between their leaders. The leader reports why there is no bridge; the other members report `missing`.
    ///
    /// # Errors
    /// As for [`join_across`](Communicator::join_across), and [`ErrorClass::Other`] if the fabric does not support
    /// other runs.
    pub(crate) fn join_across_runs(
        &self,
        leader: usize,
        missing: ErrorClass,
        bridge: impl FnOnce() -> Result<Bridge<E>>,
    ) -> Result<Self> {
        self.check_one_group()?;
        self.context().member(leader)?;
        let mine = MemberOffer::own(self.engine())?.to_bytes();
        let own = allgather_bytes(self.next_making(LibraryCall::Create), &mine)?;
        let swapped = match self.rank() == leader {
            true => bridge().and_then(|bridge| bridge.swap(&own)),
            false => Ok(Vec::new()),
        };
        // A leader that failed reports that by sending no bytes.
        let bytes = swapped.as_deref().unwrap_or_default();
        let theirs = broadcast_bytes(
            self.context(),
            CallId::of_library(LibraryCall::Create),
            leader,
            bytes,
        )?;
        swapped?;
        ensure!(!theirs.is_empty(), missing, "{LOST}");
        let (own, theirs) = (MemberOffer::all(&own), MemberOffer::all(&theirs));
        let both = own.zip(theirs);
        let (own, theirs) = both.ok_or_else(malformed)?;
        self.open_across_runs(own, theirs)
    }

    fn open_across_runs(&self, own: Vec<MemberOffer>, theirs: Vec<MemberOffer>) -> Result<Self> {
        let is_disjoint = theirs.iter().all(|one| own.iter().all(|other| one.name != other.name));
        ensure!(is_disjoint, ErrorClass::Communicator, "the two groups have members in common");
        let (first, second) =
            if own[0].name < theirs[0].name { (own, theirs) } else { (theirs, own) };
        let meet = |all: &[MemberOffer]| -> Result<Group> {
            let mut endpoint = self.engine().endpoint()?;
            let runs = self.engine().other_runs(&mut endpoint)?;
            let numbers = all.iter().map(|one| runs.meet(&one.name));
            Ok(numbers.collect::<contract::Result<Vec<_>>>()?.into())
        };
        let (one, other) = (meet(&first)?, meet(&second)?);
        let context = Context::between(self.engine().clone(), &one, &other);
        let missing = || Error::new(ErrorClass::Internal, "this process is in neither group");
        let context = context.ok_or_else(missing)?;
        reach_all(self.engine(), context.members())?;
        let offers: Vec<ContextOffer> = first.iter().chain(&second).map(|one| one.offer).collect();
        context.open_between_runs(&mut *self.engine().endpoint()?, &offers)?;
        Ok(Communicator::of(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_between_members_are_decoded_unchanged() {
        let member = |byte, offer| MemberOffer {
            name: ProcessName([byte; ProcessName::BYTES]),
            offer: ContextOffer(offer),
        };
        let all = [member(3, 1 << 40), member(250, 7)];
        let bytes = all.map(MemberOffer::to_bytes).concat();
        assert_eq!(MemberOffer::all(&bytes).as_deref(), Some(&all[..]));
        for end in (0..bytes.len()).filter(|end| *end != MemberOffer::BYTES) {
            assert!(MemberOffer::all(&bytes[..end]).is_none(), "the first {end} bytes");
        }
        assert!(MemberOffer::all(&[&bytes[..], &bytes].concat()).is_none(), "members twice");
    }
}
