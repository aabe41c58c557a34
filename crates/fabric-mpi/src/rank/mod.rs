//! A rank over an MPI: the contract, call by call.

mod call;
mod collectives;
mod messages;
mod outcome;
mod posted;
mod reductions;
mod tags;
mod window;

use std::collections::VecDeque;
use std::rc::Rc;

use contract::record::FabricDescription;
use contract::{
    Buffer, ClockQuality, Completed, Error, Held, Posted, Progress, Rank, Reduction, Result,
    Source, Status, Tag, TagSelector, Time, Work, collective,
};
use hosts::{Clock, Settled, Skew};

use crate::library::{self, Handle, Library};
use posted::Operation;
use reductions::Reductions;
use tags::Tags;

/// Whose algorithms carry out the collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Collectives {
    /// The MPI's own: what a program that uses this MPI gets.
    #[default]
    Mpi,
    /// Those of [`contract::collective`], over the MPI's messages: to compare, and to find ranks that disagree.
    Contract,
}

/// A process that is one rank of a run over an MPI.
///
/// # How calls are mapped
/// * Messages go by `MPI_Send`, `MPI_Recv`, `MPI_Sendrecv`, `MPI_Isend` and `MPI_Irecv` of bytes; a window is as many
///   `MPI_Isend` or `MPI_Irecv` on one buffer and one `MPI_Waitall`, as in the OSU micro-benchmarks. Messages of
///   collectives over messages travel in a communicator of their own. A blocking send to oneself is copied first if it
///   is short, as an MPI need not buffer it.
/// * Collectives are the MPI's, with `MPI_IN_PLACE` where the contract says in place; or the contract's own
///   ([`Collectives`]).
/// * More than 2^31 - 1 elements in one call go through the functions with large counts.
/// * The contract's tags go to 2^31 - 1, many an MPI's do not: from both ends of the contract's range as many tags as fit
///   are carried, the others refused.
///
/// # What an MPI does not promise
/// * Ranks that disagree on a collective's length, root or reduction may get wrong data or hang instead of an error.
/// * The smallest and largest of floating-point numbers are not specified where one is not a number, nor are sums of bytes
///   that overflow; they are combined by a function of ours (`MPI_Op_create`). The others are the MPI's own.
/// * The length of a message that does not fit: where neither the status nor the MPI's words tell it, the error is
///   [`Error::System`] instead of [`Error::Truncated`]; Intel MPI 2021.18 takes a message for an empty one that was
///   received into an empty buffer. Open MPI 5.0 even writes a long message beyond the buffer, where it copies between
///   processes: do not receive from programs that are not trusted to send what fits.
/// * An error on any rank ends the whole run (`MPI_Abort`).
pub struct MpiRank {
    library: Rc<Library>,
    comm: Handle,
    reserved: Handle,
    setting: Setting,
    tags: Tags,
    clock: Clock,
    held: Held<Operation>,
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

impl MpiRank {
    pub(crate) fn new(
        library: Rc<Library>,
        comm: Handle,
        reserved: Handle,
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
        let reductions = Reductions::new(&library)?;
        Ok(MpiRank {
            library,
            comm,
            reserved,
            setting,
            tags,
            clock,
            held: Held::default(),
            to_self: VecDeque::new(),
            window: Window::default(),
            reductions,
            settled: Settled { every_rank_has_a_processor: false, hosts: 0, processor: None },
        })
    }

    /// Finds out, together with the others, who is where and what time it is.
    pub(crate) fn settle(&mut self, skew: Option<Skew>) -> Result<()> {
        self.settled = hosts::settle(self)?;
        self.clock = hosts::shared_clock(self, skew)?;
        Ok(())
    }

    /// The largest tag of this MPI.
    pub fn tag_max(&self) -> u32 {
        self.setting.tag_max
    }

    /// Ends this rank's part: completes its sends, gives its receives up, and frees what the MPI keeps for it. All ranks
    /// call it, when all is well; after an error the run is given up instead.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn end(mut self) -> Result<()> {
        self.complete_held()?;
        self.reductions.free(&self.library)?;
        for comm in [&mut self.comm, &mut self.reserved] {
            // SAFETY: both are communicators of ours, and nothing is under way in them.
            let status = unsafe { (self.library.general.comm_free)(comm) };
            self.library.check("MPI_Comm_free", status)?;
        }
        Ok(())
    }
}

impl Rank for MpiRank {
    #[inline]
    fn rank(&self) -> usize {
        self.setting.rank
    }

    #[inline]
    fn size(&self) -> usize {
        self.setting.size
    }

    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> ClockQuality {
        self.clock.quality()
    }

    fn wait_until(&mut self, time: Time) {
        contract::wait_until(|| self.now(), time);
    }

    fn compute(&mut self, _work: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn every_rank_has_a_processor(&self) -> bool {
        self.settled.every_rank_has_a_processor
    }

    fn processor(&self) -> Option<usize> {
        self.settled.processor
    }

    fn describe(&self) -> FabricDescription {
        let (major, minor) = self.library.version();
        let binding = match self.settled.processor {
            Some(processor) => format!("rank {} on processor {processor}", self.rank()),
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
            version: self.library.own_words(),
            details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        }
    }

    #[inline]
    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        self.send_bytes(to, tag, data)
    }

    #[inline]
    fn receive(&mut self, from: Source, tag: TagSelector, buffer: &mut [u8]) -> Result<Status> {
        self.receive_bytes(from, tag, buffer)
    }

    fn send_receive(
        &mut self,
        to: usize,
        send_tag: Tag,
        data: &[u8],
        from: Source,
        receive_tag: TagSelector,
        buffer: &mut [u8],
    ) -> Result<Status> {
        self.exchange_bytes((to, send_tag, data), (from, receive_tag, buffer))
    }

    fn post_send(&mut self, to: usize, tag: Tag, buffer: Buffer) -> Result<Posted> {
        self.start_send(to, tag, buffer)
    }

    fn post_receive(&mut self, from: Source, tag: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.start_receive(from, tag, buffer)
    }

    fn wait(&mut self, posted: Posted) -> Result<Completed> {
        self.wait_for(&posted)
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        Ok(match self.test_for(&posted)? {
            Some(completed) => Progress::Done(completed),
            None => Progress::Pending(posted),
        })
    }

    fn wait_any(&mut self, posted: &mut Vec<Posted>) -> Result<(usize, Completed)> {
        assert!(!posted.is_empty(), "wait_any needs something to wait for");
        self.wait_for_any(posted)
    }

    fn probe(&mut self, from: Source, tag: TagSelector) -> Result<Option<Status>> {
        self.probe_for(from, tag)
    }

    fn send_window(&mut self, to: usize, tag: Tag, data: &[u8], count: usize) -> Result<()> {
        self.send_many(to, tag, data, count)
    }

    fn receive_window(
        &mut self,
        from: Source,
        tag: TagSelector,
        buffer: &mut [u8],
        count: usize,
    ) -> Result<()> {
        self.receive_many(from, tag, buffer, count)
    }

    fn barrier(&mut self) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_barrier(),
            Collectives::Contract => collective::barrier(self),
        }
    }

    fn broadcast(&mut self, root: usize, buffer: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_broadcast(root, buffer),
            Collectives::Contract => collective::broadcast(self, root, buffer),
        }
    }

    fn scatter(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_scatter(root, send, receive),
            Collectives::Contract => collective::scatter(self, root, send, receive),
        }
    }

    fn gather(&mut self, root: usize, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_gather(root, send, receive),
            Collectives::Contract => collective::gather(self, root, send, receive),
        }
    }

    fn allgather(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_allgather(send, receive),
            Collectives::Contract => collective::allgather(self, send, receive),
        }
    }

    fn allgather_in_place(&mut self, buffer: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_allgather_in_place(buffer),
            Collectives::Contract => collective::allgather_in_place(self, buffer),
        }
    }

    fn reduce(
        &mut self,
        root: usize,
        reduction: Reduction,
        send: &[u8],
        receive: &mut [u8],
    ) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_reduce(root, reduction, send, receive),
            Collectives::Contract => collective::reduce(self, root, reduction, send, receive),
        }
    }

    fn allreduce(&mut self, reduction: Reduction, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_allreduce(reduction, send, receive),
            Collectives::Contract => collective::allreduce(self, reduction, send, receive),
        }
    }

    fn all_to_all(&mut self, send: &[u8], receive: &mut [u8]) -> Result<()> {
        match self.setting.collectives {
            Collectives::Mpi => self.mpi_all_to_all(send, receive),
            Collectives::Contract => collective::all_to_all(self, send, receive),
        }
    }
}
