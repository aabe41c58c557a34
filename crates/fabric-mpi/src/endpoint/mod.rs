//! Endpoint of one rank over an MPI: mapping of the contract's calls.

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

use contract::{Buffer, Error, FabricDescription, Result};
use hosts::{Clock, Placement};

use crate::library::{self, Handle, Library};
use claims::Claimed;
use contexts::{Context, Contexts};
use reductions::Reductions;
use requests::Requests;
use tags::Tags;

pub(crate) use contexts::create as create_communicator;

/// Implementation of the collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collectives {
    /// The collectives of the MPI, as a program that uses this MPI calls them.
    #[default]
    Mpi,
    /// The collectives of [`contract::collective`] over messages of the MPI: for comparison, and to find ranks that
    /// disagree.
    Contract,
}

/// Endpoint of one rank over an MPI.
///
/// # How calls are mapped
/// * Blocking messages use `MPI_Send`, `MPI_Recv` and `MPI_Sendrecv` of bytes, posted ones `MPI_Isend`, `MPI_Issend`
///   and `MPI_Irecv`. A window is a series of `MPI_Isend` or `MPI_Irecv` on one buffer and one `MPI_Waitall`, as in the
///   OSU micro-benchmarks. A short blocking send to self is copied first, because an MPI need not buffer it.
/// * Each context has two communicators, created by `MPI_Comm_create_group` and `MPI_Comm_dup`: one for the messages of
///   programs and the collectives of the MPI, one for messages inside collectives.
/// * Collectives are those of the MPI, with `MPI_IN_PLACE` for the contract's in-place calls, or those of the contract
///   ([`Collectives`]).
/// * A message is claimed by `MPI_Improbe`, and received by `MPI_Imrecv`.
/// * Calls with more than 2^31 - 1 elements use the functions with large counts.
/// * Tags of the contract extend to 2^31 - 1, those of many MPIs do not: the tags at both ends of the contract's range
///   are carried as far as they fit, all others are refused.
///
/// # Guarantees that an MPI does not give
/// * Ranks that disagree on a collective's length, root or reduction may receive wrong data or hang instead of an
///   error.
/// * Minimum and maximum of floating-point numbers are unspecified if one is a NaN, and so are sums of bytes that
///   overflow; these are combined by a function of this crate (`MPI_Op_create`). All other operations are those of the
///   MPI.
/// * The length of a message that does not fit: if neither the status nor the error string of the MPI contains it, the
///   error is [`Error::System`] instead of [`Error::Truncated`]. Intel MPI 2021.18 reports a message that was received
///   into an empty buffer as empty. Open MPI 5.0 even writes a long message beyond the buffer if it copies between
///   processes: do not receive from programs that may send messages that do not fit.
/// * The departure of another rank is not reported: a wait for it does not end.
/// * While this rank waits in a collective of the MPI, only the MPI serves other ranks: `idle` is not called there.
/// * An error on any rank ends the whole run (`MPI_Abort`).
pub struct MpiEndpoint {
    library: Rc<Library>,
    contexts: Contexts,
    setting: Setting,
    tags: Tags,
    clock: Clock,
    requests: Requests,
    claimed: Vec<Claimed>,
    /// Copies of short messages to this rank itself that are not yet received.
    to_self: VecDeque<(Handle, Buffer)>,
    window: Window,
    reductions: Reductions,
    placement: Placement,
}

/// Constant properties of the rank.
pub(crate) struct Setting {
    pub(crate) rank: usize,
    pub(crate) size: usize,
    pub(crate) tag_max: u32,
    pub(crate) name: String,
    pub(crate) collectives: Collectives,
}

/// Requests of a window, kept so that no allocation occurs during a measurement.
#[derive(Default)]
struct Window {
    requests: Vec<Handle>,
    statuses: Vec<library::Status>,
}

impl MpiEndpoint {
    /// Creates the endpoint of a rank of a run whose messages use `communicator`. All ranks make the same call.
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
            placement: Placement { every_rank_has_a_processor: false, hosts: 0, processor: None },
        })
    }

    /// Sets the locations of the ranks.
    pub(crate) fn set_places(&mut self, placement: Placement) {
        self.placement = placement;
    }

    /// Sets the clock.
    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Returns the largest tag of this MPI.
    pub fn tag_max(&self) -> u32 {
        self.setting.tag_max
    }

    /// Completes the sends, cancels the receives, and frees the MPI's resources of this endpoint. All ranks call it in
    /// the absence of errors, and make no later call.
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
        let binding = match self.placement.processor {
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
            ("hosts", self.placement.hosts.to_string()),
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
