//! All processes that a launcher started, before and between the programs that they run.

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use contract::{Element, Error, Result};
use hosts::{Clock, LocalClock, Skew};

use crate::endpoint::{Collectives, MpiEndpoint, Setting, create_communicator};
use crate::launcher;
use crate::library::{Handle, Library, LoadError, SUCCESS, Status};
use crate::process::MpiProcess;
use crate::starting::{Starting, describe_launcher};

/// Options of [`World::join`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Path of the library; otherwise the first that is found (see [`World::join`]).
    pub library: Option<PathBuf>,
    /// Name of the fabric in records; `mpi` if empty.
    pub name: String,
    /// Implementation of the collectives.
    pub collectives: Collectives,
    /// For tests of the clock synchronization: pretends that each rank is on a host of its own.
    pub skew: Option<Skew>,
}

/// Error of joining the world.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JoinError {
    /// There is no usable library.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The library did not start.
    #[error("'{}' ({version}): {reason}", path.display())]
    Init {
        /// Path of the library.
        path: PathBuf,
        /// Version text of the library.
        version: String,
        /// Error that it reported.
        reason: String,
    },
    /// The library found no other process, although a launcher has started several.
    #[error(
        "'{}' ({version}) found this process alone, though {launcher} has started {started}: the library and the launcher are of different MPIs",
        path.display()
    )]
    Alone {
        /// Path of the library.
        path: PathBuf,
        /// Version text of the library.
        version: String,
        /// Name of the launcher.
        launcher: String,
        /// Number of processes that it has started.
        started: usize,
    },
}

/// All processes that a launcher started.
///
/// One rank distributes work ([`World::hand_out`]), the others wait for it ([`World::next`]) without using a processor.
/// Processes that take part become ranks of the run with [`World::first`].
pub struct World {
    library: Rc<Library>,
    options: Options,
    rank: usize,
    size: usize,
    control: Handle,
    finished: bool,
}

/// Tag of messages that distribute work, in a communicator of their own.
const WORK: c_int = 1;
/// Tag for the creation of groups of ranks.
const GROUP_TAG: u32 = 1;
/// Shortest and longest interval at which an idle rank polls for work. A poll takes little time in comparison.
const IDLE_MIN: Duration = Duration::from_micros(200);
const IDLE_MAX: Duration = Duration::from_millis(10);

impl World {
    /// Loads an MPI and joins the other processes. May be called once in the life of a process.
    ///
    /// Without a name the library is the first of: `libmpi_abi.so.1` as the loader finds it; the library in the
    /// installation of the launcher that started this process; the library in that of the first `mpiexec` in PATH.
    ///
    /// # Errors
    /// [`JoinError`]: there is no usable library, or it does not start.
    pub fn join(options: Options) -> std::result::Result<World, JoinError> {
        let candidates = launcher::candidates();
        let library = Library::load(options.library.as_deref(), &candidates)?;
        let starting = Starting::begin(&library.path);
        // SAFETY: null arguments are permitted since MPI 2; no other code of this process starts an MPI.
        let status = unsafe { (library.general.init)(std::ptr::null_mut(), std::ptr::null_mut()) };
        drop(starting);
        let joined = library.check("MPI_Init", status).and_then(|()| World::enter(&library));
        match joined {
            Ok((_, 1, _))
                if let Some(started) = launcher::processes_started().filter(|count| *count > 1) =>
            {
                Err(World::alone(&library, started))
            }
            Ok((rank, size, control)) => {
                let library = Rc::new(library);
                Ok(World { library, options, rank, size, control, finished: false })
            }
            Err(error) => Err(JoinError::Init {
                path: library.path.clone(),
                version: library.version_line(),
                reason: error.to_string(),
            }),
        }
    }

    /// Returns the error of a process that found itself alone. Finalizes the MPI first, because an MPI that is not
    /// finalized prints a complaint.
    fn alone(library: &Library, started: usize) -> JoinError {
        // SAFETY: MPI has been initialised, and no call follows.
        unsafe { (library.general.finalize)() };
        JoinError::Alone {
            path: library.path.clone(),
            version: library.version_line(),
            launcher: describe_launcher(),
            started,
        }
    }

    fn enter(library: &Library) -> Result<(usize, usize, Handle)> {
        let general = &library.general;
        let world = library.constants.comm_world;
        // SAFETY: MPI has been initialised; the handles are the library's own, and every place is live.
        unsafe {
            let returning = library.constants.errors_return;
            let status = (general.comm_set_errhandler)(world, returning);
            library.check("MPI_Comm_set_errhandler", status)?;
            let (mut rank, mut size, mut control) = (0, 0, std::ptr::null_mut());
            library.check("MPI_Comm_rank", (general.comm_rank)(world, &mut rank))?;
            library.check("MPI_Comm_size", (general.comm_size)(world, &mut size))?;
            library.check("MPI_Comm_dup", (general.comm_dup)(world, &mut control))?;
            check_types(library)?;
            Ok((rank as usize, size as usize, control))
        }
    }

    /// Returns the number of this process.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the version text of the library in one line.
    pub fn library_version(&self) -> String {
        self.library.version_line()
    }

    /// Returns the path of the library.
    pub fn library_path(&self) -> &std::path::Path {
        &self.library.path
    }

    /// Sends `work` to every other process, each of which takes it by [`World::next`].
    ///
    /// # Errors
    /// Errors that MPI reports.
    pub fn hand_out(&self, work: &[u8]) -> Result<()> {
        let Library { short, constants, .. } = &*self.library;
        let count = c_int::try_from(work.len())
            .map_err(|_| Error::Program(format!("{} bytes of work", work.len())))?;
        for other in (0..self.size).filter(|&other| other != self.rank) {
            // SAFETY: `work` is live and `count` bytes long; MPI does not write to it.
            let status = unsafe {
                (short.send)(
                    work.as_ptr().cast(),
                    count,
                    constants.byte,
                    other as c_int,
                    WORK,
                    self.control,
                )
            };
            self.library.check("MPI_Send", status)?;
        }
        Ok(())
    }

    /// Waits until another process distributes work; sleeps most of the time.
    ///
    /// # Errors
    /// Errors that MPI reports.
    pub fn next(&self) -> Result<Vec<u8>> {
        let Library { short, general, constants, .. } = &*self.library;
        let mut idle = IDLE_MIN;
        loop {
            let (mut found, mut status) = (0, Status::default());
            // SAFETY: the places are live, the communicator is ours.
            let probed = unsafe {
                (general.probe)(constants.any_source, WORK, self.control, &mut found, &mut status)
            };
            self.library.check("MPI_Iprobe", probed)?;
            if found == 0 {
                std::thread::sleep(idle);
                idle = (idle * 2).min(IDLE_MAX);
                continue;
            }
            let mut count = 0;
            // SAFETY: `status` is of a message of bytes that was found just now.
            let counted = unsafe { (short.count_of)(&status, constants.byte, &mut count) };
            self.library.check("MPI_Get_count", counted)?;
            let mut work = vec![0u8; count as usize];
            // SAFETY: `work` has `count` bytes.
            let received = unsafe {
                (short.receive)(
                    work.as_mut_ptr().cast(),
                    count,
                    constants.byte,
                    status.source,
                    WORK,
                    self.control,
                    &mut status,
                )
            };
            self.library.check("MPI_Recv", received)?;
            return Ok(work);
        }
    }

    /// Returns this process as one of the first `ranks` ranks, which must all call it with the same number. The clocks
    /// of several hosts are synchronized again, which takes half a second for each doubling of the number of hosts.
    ///
    /// # Errors
    /// Errors that MPI reports.
    ///
    /// # Panics
    /// If this process is not among the first `ranks`, or the world has fewer processes.
    pub fn first(&self, ranks: usize) -> Result<MpiProcess> {
        assert!(self.rank < ranks && ranks <= self.size, "one of the first {ranks} calls this");
        let members: Vec<usize> = (0..ranks).collect();
        let world = self.library.constants.comm_world;
        let communicator = create_communicator(&self.library, world, &members, GROUP_TAG)?;
        let name = if self.options.name.is_empty() { "mpi" } else { &self.options.name };
        let setting = Setting {
            rank: self.rank,
            size: ranks,
            tag_max: self.tag_max()?,
            name: name.to_string(),
            collectives: self.options.collectives,
        };
        let clock = Clock::common(LocalClock::ONE_HOST, LocalClock::ONE_HOST.ns());
        let library = Rc::clone(&self.library);
        let endpoint = MpiEndpoint::new(library, communicator, setting, clock)?;
        MpiProcess::new(endpoint, self.options.skew)
    }

    /// Returns the largest tag of this MPI.
    fn tag_max(&self) -> Result<u32> {
        let constants = &self.library.constants;
        let (mut value, mut found) = (std::ptr::null_mut::<c_int>(), 0);
        // SAFETY: the attribute's value is the address of an int that lives as long as the library.
        let tag_max = unsafe {
            let status = (self.library.general.comm_get_attr)(
                constants.comm_world,
                constants.tag_upper_bound,
                (&raw mut value).cast::<c_void>(),
                &mut found,
            );
            self.library.check("MPI_Comm_get_attr", status)?;
            if found == 0 || value.is_null() { 32767 } else { *value }
        };
        Ok(tag_max as u32)
    }

    /// Ends this process's part: regularly, or after an error by ending the whole run. Returns the exit status.
    pub fn finish(mut self, outcome: &Result<()>) -> i32 {
        self.finished = true;
        match outcome {
            Ok(()) => {
                // SAFETY: no rank calls MPI after this: each has been dropped, or its owner, which ends the world,
                // makes no further call of it.
                let status = unsafe { (self.library.general.finalize)() };
                i32::from(status != SUCCESS)
            }
            Err(_) => {
                self.give_up();
                1
            }
        }
    }

    fn give_up(&self) {
        // SAFETY: MPI has been initialised and not finalised.
        unsafe { (self.library.general.abort)(self.library.constants.comm_world, 1) };
    }
}

/// Checks the sizes of the datatypes that this crate uses: with a wrong size MPI would overwrite memory.
fn check_types(library: &Library) -> Result<()> {
    let elements =
        Element::ALL.map(|element| (library.constants.element(element), element.bytes()));
    for (datatype, bytes) in elements.into_iter().chain([(library.constants.byte, 1)]) {
        let mut found = 0;
        // SAFETY: MPI has been initialised; the place is live. A handle that the library does not have is an error.
        let status = unsafe { (library.general.type_size)(datatype, &mut found) };
        library.check("MPI_Type_size", status)?;
        if found as usize != bytes {
            return Err(Error::Program(format!(
                "its datatype {datatype:?} has {found} bytes where the ABI says {bytes}"
            )));
        }
    }
    Ok(())
}

impl Drop for World {
    /// Ends the run if a process panics or ends without `finish`, because the others might wait for it forever.
    fn drop(&mut self) {
        if !self.finished {
            self.give_up();
        }
    }
}
