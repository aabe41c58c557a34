//! The options of a run, which are checked before anything is started.

use std::ffi::OsString;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{LaunchError, OnHang, Watch, WholeRun};
use crate::layout::{MAXIMUM_RANKS, Room};
use crate::system;

/// Variables with the number of a rank, the number of ranks, and both among the ranks of one host: by our names, and by
/// those that MPICH and Intel MPI have. docs/decisions/0070 says why these and no others.
const RANK: [&str; 2] = ["CORNERSTONE_MPI_RANK", "PMI_RANK"];
const SIZE: [&str; 2] = ["CORNERSTONE_MPI_SIZE", "PMI_SIZE"];
const RANK_HERE: [&str; 2] = ["CORNERSTONE_MPI_LOCAL_RANK", "MPI_LOCALRANKID"];
const SIZE_HERE: [&str; 2] = ["CORNERSTONE_MPI_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// The options of a run.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Number of ranks, 1 to [`MAXIMUM_RANKS`].
    pub ranks: usize,
    /// Binding of ranks to processors.
    pub binding: Binding,
    /// The order in which [`Binding`] takes the processors that this process may use; ascending if empty.
    pub processors: Vec<usize>,
    /// Bytes that every rank can read with [`Seat::job`](crate::Seat::job).
    pub job: Vec<u8>,
    /// The room that the fabric of the ranks needs, by their number.
    pub room: fn(usize) -> Room,
    /// Program that each rank runs; it must call [`Seat::take`](crate::Seat::take) first.
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// True if ranks may copy directly between their memories (process_vm_readv) if the system permits that. Otherwise
    /// long messages go through the segment.
    pub cross_memory_attach: bool,
    /// True if the program need not be written for this crate. Then its ranks have the `input`, the program may end without ever joining, a status other than 0 is a failure even after it has finished its part,
    /// and signals to this process are forwarded to it.
    pub any_program: bool,
    /// Environment variables of every rank in addition to this process's own.
    pub environment: Vec<(OsString, OsString)>,
    /// Working directory of the ranks; this process's own if not given.
    pub directory: Option<PathBuf>,
    /// Ranks that run another program.
    pub others: Vec<OtherProgram>,
    /// Standard input of the ranks of any program. Other ranks have an empty one.
    pub input: Input,
    /// Standard output and standard error of each rank. Empty for this process's own.
    pub streams: Vec<Streams>,
    /// True if ranks wait for descriptors of their own as well as for each other ([`Seat::wake_by`](crate::Seat::wake_by)).
    /// A watch over such ranks must [ignore](super::OnHang::Ignore) hangs, because it does not see what arrives by
    /// descriptors.
    pub waits_for_descriptors: bool,
    /// Supervision of the progress of the ranks, if requested.
    pub watch: Option<Watch>,
    /// Numbers of the ranks in the reports of that supervision, if they belong to a larger run; empty otherwise.
    pub rank_names: Vec<usize>,
    /// That larger run, if hangs of it are to be detected.
    pub whole_run: Option<Arc<dyn WholeRun>>,
    /// Becomes true when the run has ended, if a rank has joined it.
    pub has_joined: Arc<AtomicBool>,
    /// Soft limit on the open descriptors of a rank; this process's own if not given.
    pub descriptor_limit: Option<u64>,
}

/// The program of some ranks, instead of the common one.
#[derive(Clone, Debug)]
pub struct OtherProgram {
    /// The ranks.
    pub ranks: Range<usize>,
    /// Their program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables of these ranks in addition to those of all.
    pub environment: Vec<(OsString, OsString)>,
    /// Working directory of these ranks, if it is not the common one.
    pub directory: Option<PathBuf>,
}

/// Standard input of the ranks of any program.
#[derive(Clone, Debug)]
pub enum Input {
    /// This rank has that of this process, the others an empty one.
    Of(usize),
    /// All have an empty one.
    Empty,
    /// Rank r reads from the r-th file.
    Each(Vec<Arc<File>>),
}

/// One rank's standard output and standard error.
#[derive(Clone, Debug)]
pub struct Streams {
    /// Standard output.
    pub output: Arc<File>,
    /// Standard error.
    pub error: Arc<File>,
}

/// Binding of ranks to processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Binding {
    /// Ranks are not bound; the system may move them.
    None,
    /// Rank r on the r-th processor that this process may use, in the order of [`LaunchOptions::processors`]. With more
    /// ranks than processors, the list is used repeatedly.
    #[default]
    OneCoreEach,
    /// All ranks on the first processor that this process may use.
    OneForAll,
    /// The first half of the ranks (rounded down) on the first processor that this process may use, the others on the
    /// second: two nodes that run several tasks each. With a single processor all ranks run on it.
    Halves,
    /// Rank r on the r-th processor of the list, which is used repeatedly.
    Cores(Vec<usize>),
    /// Rank r on the processors of the r-th set of the list, which is used repeatedly. Two sets are equal or have no
    /// processor in common.
    Sets(Vec<Vec<usize>>),
}

/// Checked options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Processors of each rank; empty for a rank that is not bound.
    pub(super) processors: Vec<Vec<usize>>,
    pub(super) every_rank_has_a_processor: bool,
}

impl LaunchOptions {
    /// Creates options that run this same program as `ranks` ranks with `job`, without arguments and without a room,
    /// each rank bound, and everything permitted.
    pub fn new(ranks: usize, job: Vec<u8>) -> Self {
        LaunchOptions {
            ranks,
            binding: Binding::default(),
            processors: Vec::new(),
            job,
            room: |_| Room::NONE,
            // The link, not the path behind it, which is gone if the program was rebuilt since it was started.
            program: PathBuf::from("/proc/self/exe"),
            arguments: Vec::new(),
            cross_memory_attach: true,
            any_program: false,
            environment: Vec::new(),
            directory: None,
            others: Vec::new(),
            input: Input::Of(0),
            streams: Vec::new(),
            waits_for_descriptors: false,
            watch: None,
            rank_names: Vec::new(),
            whole_run: None,
            has_joined: Arc::default(),
            descriptor_limit: None,
        }
    }

    /// Returns the command of a rank, in its directory and with its environment.
    pub(super) fn command(&self, rank: usize) -> Command {
        let other = self.others.iter().find(|other| other.ranks.contains(&rank));
        let mut command = Command::new(other.map_or(&self.program, |other| &other.program));
        command.args(other.map_or(&self.arguments, |other| &other.arguments));
        if self.any_program {
            command.envs(self.numbers(rank));
        }
        command.envs(self.environment.iter().cloned());
        command.envs(other.iter().flat_map(|other| other.environment.iter().cloned()));
        let directory =
            other.and_then(|other| other.directory.as_ref()).or(self.directory.as_ref());
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        command
    }

    /// Returns the variables with the numbers of a rank, for scripts and tools: in the run, and on this host.
    fn numbers(&self, rank: usize) -> impl Iterator<Item = (&'static str, String)> {
        let number = self.rank_names.get(rank).copied().unwrap_or(rank);
        let all = self.whole_run.as_ref().map_or(self.ranks, |run| run.ranks());
        let of_each = [(RANK, number), (SIZE, all), (RANK_HERE, rank), (SIZE_HERE, self.ranks)];
        of_each.into_iter().flat_map(|(names, number)| {
            names.into_iter().map(move |name| (name, number.to_string()))
        })
    }

    /// Returns the processors of each rank: nothing for one that is not bound.
    ///
    /// # Errors
    /// The options are wrong.
    pub fn processors_of_ranks(&self) -> Result<Vec<Vec<usize>>, LaunchError> {
        self.plan().map(|plan| plan.processors)
    }

    pub(super) fn plan(&self) -> Result<Plan, LaunchError> {
        if self.ranks == 0 {
            return Err(LaunchError::no_ranks());
        }
        if self.ranks > MAXIMUM_RANKS {
            return Err(LaunchError::too_many_ranks(self.ranks));
        }
        let detects_hangs = self.watch.is_some_and(|watch| watch.on_hang != OnHang::Ignore);
        if self.waits_for_descriptors && detects_hangs {
            let why = "hangs of ranks that wait for descriptors of their own cannot be detected";
            return Err(LaunchError::BadOptions(why.into()));
        }
        let allowed = system::allowed_processors().map_err(|error| LaunchError::System {
            what: "asking which processors may be used".into(),
            reason: error.to_string(),
        })?;
        self.plan_on(&self.ordered(allowed)?)
    }

    /// Returns the processors that this process may use in the order of the options.
    fn ordered(&self, allowed: Vec<usize>) -> Result<Vec<usize>, LaunchError> {
        if self.processors.is_empty() {
            return Ok(allowed);
        }
        let mut ascending = self.processors.clone();
        ascending.sort_unstable();
        match ascending == allowed {
            true => Ok(self.processors.clone()),
            false => Err(LaunchError::BadOptions(format!(
                "an order of the processors {ascending:?}; this process may use {allowed:?}"
            ))),
        }
    }

    fn plan_on(&self, allowed: &[usize]) -> Result<Plan, LaunchError> {
        let one_each = |list: &[usize]| list.iter().map(|&one| vec![one]).collect::<Vec<_>>();
        let sets = match &self.binding {
            Binding::None => {
                return Ok(Plan {
                    processors: vec![Vec::new(); self.ranks],
                    every_rank_has_a_processor: self.ranks <= allowed.len(),
                });
            }
            Binding::OneCoreEach => one_each(allowed),
            Binding::OneForAll => one_each(allowed.get(..1).unwrap_or_default()),
            Binding::Halves => {
                let first = (self.ranks / 2).max(1);
                let place = |rank| allowed.get(usize::from(rank >= first)).or(allowed.first());
                (0..self.ranks).filter_map(place).map(|&one| vec![one]).collect()
            }
            Binding::Cores(cores) => one_each(cores),
            Binding::Sets(sets) => sets.clone(),
        };
        if let Some(core) = sets.iter().flatten().find(|core| !allowed.contains(core)) {
            return Err(LaunchError::BadOptions(format!(
                "this process may not use processor {core}; it may use {allowed:?}"
            )));
        }
        if sets.is_empty() || sets.iter().any(Vec::is_empty) {
            return Err(LaunchError::BadOptions("an empty list of processors to bind to".into()));
        }
        let processors: Vec<_> = sets.into_iter().cycle().take(self.ranks).collect();
        let has_room = |set: &Vec<usize>| {
            let ranks = processors.iter().filter(|other| *other == set).count();
            ranks <= set.len()
        };
        Ok(Plan { every_rank_has_a_processor: processors.iter().all(has_room), processors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(ranks: usize, binding: Binding) -> Result<Plan, LaunchError> {
        LaunchOptions { binding, ..LaunchOptions::new(ranks, Vec::new()) }.plan_on(&[2, 5])
    }

    #[test]
    fn ranks_take_the_allowed_processors_in_turn() {
        let few = plan(2, Binding::OneCoreEach).unwrap();
        assert_eq!(few.processors, [[2], [5]]);
        assert!(few.every_rank_has_a_processor);
        let many = plan(3, Binding::OneCoreEach).unwrap();
        assert_eq!(many.processors, [[2], [5], [2]]);
        assert!(!many.every_rank_has_a_processor);
    }

    #[test]
    fn unbound_ranks_have_a_processor_each_if_there_are_enough() {
        assert!(plan(2, Binding::None).unwrap().every_rank_has_a_processor);
        assert!(!plan(3, Binding::None).unwrap().every_rank_has_a_processor);
    }

    #[test]
    fn a_list_that_names_a_processor_twice_means_sharing() {
        assert!(!plan(2, Binding::Cores(vec![5, 5])).unwrap().every_rank_has_a_processor);
        assert!(plan(1, Binding::Cores(vec![5, 5])).unwrap().every_rank_has_a_processor);
    }

    #[test]
    fn ranks_on_a_set_of_processors_have_one_each_while_the_set_has_as_many() {
        let on = |ranks, sets: &[&[usize]]| {
            let sets = sets.iter().map(|set| set.to_vec()).collect();
            let options = LaunchOptions::new(ranks, Vec::new());
            LaunchOptions { binding: Binding::Sets(sets), ..options }.plan_on(&[2, 5, 6, 7])
        };
        let planned = on(3, &[&[2, 5], &[6, 7]]).unwrap();
        assert_eq!(planned.processors, [[2, 5], [6, 7], [2, 5]]);
        assert!(planned.every_rank_has_a_processor);
        assert!(!on(5, &[&[2, 5], &[6, 7]]).unwrap().every_rank_has_a_processor);
        assert!(on(1, &[&[2, 3]]).unwrap_err().to_string().contains("processor 3"));
        assert!(on(1, &[&[]]).is_err());
    }

    #[test]
    fn ranks_can_share_one_processor() {
        let together = plan(3, Binding::OneForAll).unwrap();
        assert_eq!(together.processors, [[2], [2], [2]]);
        assert!(!together.every_rank_has_a_processor);
    }

    #[test]
    fn bindings_take_the_processors_in_the_order_of_the_options() {
        let planned = |binding, processors: &[usize]| {
            let options = LaunchOptions::new(3, Vec::new());
            let options = LaunchOptions { binding, processors: processors.to_vec(), ..options };
            options.ordered(vec![2, 5]).and_then(|order| options.plan_on(&order))
        };
        let places = |binding, order| planned(binding, order).unwrap().processors;
        assert_eq!(places(Binding::OneCoreEach, &[5, 2]), [[5], [2], [5]]);
        assert_eq!(places(Binding::OneForAll, &[5, 2]), [[5], [5], [5]]);
        assert_eq!(places(Binding::Halves, &[5, 2]), [[5], [2], [2]]);
        assert_eq!(places(Binding::Cores(vec![2]), &[5, 2]), [[2], [2], [2]]);
        assert_eq!(places(Binding::OneCoreEach, &[]), [[2], [5], [2]]);
        for wrong in [&[5][..], &[2, 5, 7], &[2, 2]] {
            let refused = planned(Binding::OneCoreEach, wrong).unwrap_err().to_string();
            assert!(refused.contains("may use [2, 5]"), "{refused}");
        }
    }

    #[test]
    fn two_halves_share_two_processors() {
        let halves = |ranks| plan(ranks, Binding::Halves).unwrap().processors;
        assert_eq!(halves(6), [[2], [2], [2], [5], [5], [5]]);
        assert_eq!(halves(3), [[2], [5], [5]]);
        assert!(plan(2, Binding::Halves).unwrap().every_rank_has_a_processor);
        assert!(!plan(6, Binding::Halves).unwrap().every_rank_has_a_processor);
        let alone = LaunchOptions { binding: Binding::Halves, ..LaunchOptions::new(2, Vec::new()) };
        assert_eq!(alone.plan_on(&[7]).unwrap().processors, [[7], [7]]);
    }

    #[test]
    fn impossible_options_are_refused_before_anything_starts() {
        let refused = |options: &LaunchOptions| options.plan().unwrap_err().to_string();
        assert!(refused(&LaunchOptions::new(0, vec![])).contains("at least 1"));
        assert!(refused(&LaunchOptions::new(100_000, vec![])).contains("up to 1024"));
        assert!(
            plan(2, Binding::Cores(vec![2, 3])).unwrap_err().to_string().contains("processor 3")
        );
        assert!(plan(2, Binding::Cores(vec![])).is_err());
        let on_hang = OnHang::End;
        let watch = Watch { on_hang, standstill: None, limit: None, report: |_, _| {} };
        let mut watched = LaunchOptions::new(2, vec![]);
        (watched.waits_for_descriptors, watched.watch) = (true, Some(watch));
        assert!(refused(&watched).contains("cannot be detected"));
        watched.watch = Some(Watch { on_hang: OnHang::Ignore, ..watch });
        assert!(watched.plan().is_ok());
    }
}
