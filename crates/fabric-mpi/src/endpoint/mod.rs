//! One rank's end of an MPI: the contract, call by call.

mod call;
mod claims;
mod collectives;
mod contexts;
mod fabric;
mod messages;
mod outcome;
mod reductions;
mod requests;
mod tags;
mod window;

use std::collections::VecDeque;
use std::rc::Rc;

use contract::record::FabricDescription;
use contract::{Buffer, Error, Result};
use hosts::{Clock, Settled};

use crate::library::{self, Handle, Library};
use claims::Claimed;
use contexts::{Context, Contexts};
use reductions::Reductions;
use requests::Requests;
use tags::Tags;

pub(crate) use contexts::create as create_communicator;

/// Whose algorithms carry out the collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collectives {
    /// The MPI's own: what a program that uses this MPI gets.
    #[default]
    Mpi,
    /// Those of [`contract::collective`], over the MPI's messages: to compare, and to find ranks that disagree.
    Contract,
}

/// One rank's end of an MPI.
///
/// # How calls are mapped
/// * Blocking messages go by `MPI_Send`, `MPI_Recv` and `MPI_Sendrecv` of bytes, posted ones by `MPI_Isend`,
///   `MPI_Issend` and `MPI_Irecv`. A window is as many `MPI_Isend` or `MPI_Irecv` on one buffer and one
///   `MPI_Waitall`, as in the OSU micro-benchmarks. A blocking send to oneself is copied first if it is short, as an
///   MPI need not buffer it.
/// * Each context has two communicators of its own, made by `MPI_Comm_create_group` and `MPI_Comm_dup`: one for the
///   messages of programs and the MPI's collectives, one for messages inside collectives.
/// * Collectives are the MPI's, with `MPI_IN_PLACE` where the contract says in place; or the contract's own
///   ([`Collectives`]).
/// * A message is claimed by `MPI_Improbe`, and received by `MPI_Imrecv`.
/// * More than 2^31 - 1 elements in one call go through the functions with large counts.
/// * The contract's tags go to 2^31 - 1, many an MPI's do not: from both ends of the contract's range as many tags as
///   fit are carried, the others refused.
///
/// # What an MPI does not promise
/// * Ranks that disagree on a collective's length, root or reduction may get wrong data or hang instead of an error.
/// * The smallest and largest of floating-point numbers are not specified where one is not a number, nor are sums of
///   bytes that overflow; they are combined by a function of ours (`MPI_Op_create`). The others are the MPI's own.
/// * The length of a message that does not fit: where neither the status nor the MPI's error string tells it, the
///   error is [`Error::System`] instead of [`Error::Truncated`]; Intel MPI 2021.18 takes a message for an empty one
///   that was received into an empty buffer. Open MPI 5.0 even writes a long message beyond the buffer, where it
///   copies between processes: do not receive from programs that are not trusted to send what fits.
/// * Nobody learns that another rank has left: a wait for it does not end.
/// * What other ranks need from this one while it waits in one of the MPI's collectives, only the MPI does: `idle` is
///   not called there.
/// * An error on any rank ends the whole run (`MPI_Abort`).
pub struct MpiEndpoint {
    library: Rc<Library>,
    contexts: Contexts,
    setting: Setting,
    tags: Tags,
    clock: Clock,
    requests: Requests,
    claimed: Vec<Claimed>,
    /// Copies of short messages to this rank itself that it has not received yet.
    to_self: VecDeque<(Handle, Buffer)>,
    window: Window,
    reductions: Reductions,
    settled: Settled,
}

/// What does not change.
pub(crate) struct Setting {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) tag_max: u32,
    pub(crate) name: String,
    pub(crate) collectives: Collectives,
}

/// Room for the requests of a window, kept so that no allocation falls into a measurement.
#[derive(Default)]
struct Window {
    requests: Vec<Handle>,
    statuses: Vec<library::Status>,
}

impl MpiEndpoint {
    /// Returns the end of a rank of a run whose messages travel in `communicator`. All ranks call it alike.
    pub(crate) fn new(
        library: Rc<Library>,
        communicator: Handle,
        setting: Setting,
        clock: Clock,
    ) -> Result<Self> {
        let tags = Tags::new(setting.tag_max);
        if setting.collectives == Collectives::Contract && !tags.reserved_fit() {
            return Err(Error::Unsupported {
                fabric: "this MPI".into(),
                what: format!(
                    "carry the contract's collectives: its tags end at {}",
                    setting.tag_max
                ),
            });
        }
        let contexts = Contexts::new(Context::world(&library, communicator)?);
        let reductions = Reductions::new(&library)?;
        Ok(MpiEndpoint {
            library,
            contexts,
            setting,
            tags,
            clock,
            requests: Requests::default(),
            claimed: Vec::new(),
            to_self: VecDeque::new(),
            window: Window::default(),
            reductions,
            settled: Settled { every_rank_has_a_processor: false, hosts: 0, processor: None },
        })
    }

    /// Says where the ranks are.
    pub(crate) fn set_places(&mut self, settled: Settled) {
        self.settled = settled;
    }

    /// Says what time it is.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the largest tag of this MPI.
    pub fn tag_max(&self) -> u32 {
        self.setting.tag_max
    }

    /// Completes its sends, takes its receives back, and frees what the MPI keeps for it. All ranks call it, when all
    /// is well, and make no later call.
    pub(crate) fn end_in_order(&mut self) -> Result<()> {
        self.complete_requests()?;
        self.reductions.free(&self.library)?;
        self.contexts.free(&self.library)
    }

    /// Ends the whole run.
    fn abort(&self) {
        // SAFETY: MPI has been initialised and not finalised.
        unsafe { (self.library.general.abort)(self.library.constants.comm_world, 1) };
    }

    fn description(&self) -> FabricDescription {
        let (major, minor) = self.library.version();
        let binding = match self.settled.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.setting.rank),
            None => "not bound to one processor".into(),
        };
        let collectives = match self.setting.collectives {
            Collectives::Mpi => "the MPI's own",
            Collectives::Contract => "Cornerstone's, over the MPI's messages",
        };
        let details = [
            ("library", self.library.path.display().to_string()),
            ("mpi_version", format!("{major}.{minor}")),
            ("abi", self.library.abi.to_string()),
            ("collectives", collectives.to_string()),
            ("clock", self.clock.describe()),
            ("hosts", self.settled.hosts.to_string()),
            ("binding", binding),
            ("tag_max", self.setting.tag_max.to_string()),
        ];
        FabricDescription {
            name: self.setting.name.clone(),
            version: self.library.version_line(),
            details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
            ..FabricDescription::default()
        }
    }
}
