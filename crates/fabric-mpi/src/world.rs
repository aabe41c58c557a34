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

/// How to join.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The library; else the first that is found (see the documentation of [`World::join`]).
    pub library: Option<PathBuf>,
    /// What the fabric is called in records; `mpi` if empty.
    pub name: String,
    /// Whose collectives to use.
    pub collectives: Collectives,
    /// For tests of the synchronisation of clocks: pretends that each rank is on a host of its own.
    pub skew: Option<Skew>,
}

/// Why the world cannot be joined.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JoinError {
    /// There is no usable library.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The library did not start.
    #[error("'{}' ({version}): {reason}", path.display())]
    Init {
        /// The library.
        path: PathBuf,
        /// What it says of itself.
        version: String,
        /// The error that it reported.
        reason: String,
    },
    /// The library knows of no other process, but a launcher has started several.
    #[error(
        "'{}' ({version}) found this process alone, though {launcher} has started {started}: the library and the launcher are of different MPIs",
        path.display()
    )]
    Alone {
        /// The library.
        path: PathBuf,
        /// What it says of itself.
        version: String,
        /// The launcher.
        launcher: String,
        /// How many processes it has started.
        started: usize,
    },
}

/// All processes that a launcher started.
///
/// One rank hands out work ([`World::hand_out`]), the others wait for it ([`World::next`]) without using a processor.
/// Who takes part becomes a rank of the run with [`World::first`].
pub struct World {
    library: Rc<Library>,
    options: Options,
    rank: usize,
    size: usize,
    control: Handle,
    finished: bool,
}

/// The tag of messages that hand out work, in a communicator of their own.
const WORK: c_int = 1;
/// The tag of the groups of ranks that are made here.
const GROUP_TAG: u32 = 1;
/// An idle rank looks for work this often, at first and later. A look takes little beside it.
const IDLE_MIN: Duration = Duration::from_micros(200);
const IDLE_MAX: Duration = Duration::from_millis(10);

impl World {
    /// Loads an MPI and joins the other processes. Once in the life of a process.
    ///
    /// Without a name the library is the first of: what the loader finds as `libmpi_abi.so.1`; what lies in the
    /// installation of the launcher that started this process; what lies in that of the first `mpiexec` in PATH.
    ///
    /// # Errors
    /// [`JoinError`]: no usable library, or one that does not start.
    pub fn join(options: Options) -> std::result::Result<World, JoinError> {
        let candidates = launcher::candidates();
        let library = Library::load(options.library.as_deref(), &candidates)?;
        let starting = Starting::begin(&library.path);
        // SAFETY: null arguments are allowed since MPI 2; nobody else in this process starts an MPI.
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

    /// Returns the error of a process that found itself alone. It finalises the MPI first: one that is not finalised
    /// complains.
    fn alone(library: &Library, started: usize) -> JoinError {
        // SAFETY: MPI has been initialised, and nobody calls it after this.
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

    /// This process's number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of processes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns what the library says of itself, in a line.
    pub fn library_version(&self) -> String {
        self.library.version_line()
    }

    /// Returns the library's file.
    pub fn library_path(&self) -> &std::path::Path {
        &self.library.path
    }

    /// Gives `work` to every other process, each of which takes it by [`World::next`].
    ///
    /// # Errors
    /// What MPI reports.
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

    /// Waits until another process hands out work; sleeps most of the time.
    ///
    /// # Errors
    /// What MPI reports.
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
            // SAFETY: `work` holds `count` bytes.
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

    /// This process as one of the first `ranks` ranks, which must all call it with the same number. The clocks of
    /// several hosts are synchronised anew, which takes half a second for each doubling of the number of hosts.
    ///
    /// # Errors
    /// What MPI reports.
    ///
    /// # Panics
    /// If this process is not among the first `ranks`, or the world has not so many.
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

    /// Ends this process's part: in order, or, after an error, by ending the whole run. Returns the exit status.
    pub fn finish(mut self, outcome: &Result<()>) -> i32 {
        self.finished = true;
        match outcome {
            Ok(()) => {
                // SAFETY: no rank calls MPI after this: each has been dropped, or its owner, who ends the world,
                // makes no call of it any more.
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

/// Checks the sizes of the datatypes that we use: with a wrong one MPI would overwrite memory.
fn check_types(library: &Library) -> Result<()> {
    let elements =
        Element::ALL.map(|element| (library.constants.element(element), element.bytes()));
    for (datatype, bytes) in elements.into_iter().chain([(library.constants.byte, 1)]) {
        let mut found = 0;
        // SAFETY: MPI has been initialised; the place is live. A handle that the library does not know is an error.
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
    /// A process that panics, or ends without `finish`, ends the run: the others might wait for it for ever.
    fn drop(&mut self) {
        if !self.finished {
            self.give_up();
        }
    }
}
