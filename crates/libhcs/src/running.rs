//! This process as a node.

use std::cell::{RefCell, RefMut};
use std::ffi::{c_int, c_long};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use contract::{Endpoint, Process, Rank, TimeSpan};
use services::hcs::{
    Cluster, ClusterOptions, Node, ReceivePort, Sci, SciLib, Segment, TransmitPort,
};

use crate::codes::{
    BAD_ARGUMENT, BAD_HANDLE, BEGUN, Failure, IN_HANDLER, NO_CLUSTER, NOT_BEGUN, Outcome, returned,
};

/// The options of a cluster, for C.
#[repr(C)]
pub(crate) struct Options {
    timeout_ms: c_long,
    shared_bytes: usize,
}

/// A process of any fabric.
trait AnyProcess {
    fn with(&mut self, body: &mut dyn FnMut(&mut dyn Rank));
    fn finish(self: Box<Self>, outcome: contract::Result<()>) -> i32;
}

impl<E: Endpoint> AnyProcess for Process<E> {
    fn with(&mut self, body: &mut dyn FnMut(&mut dyn Rank)) {
        body(&mut self.world());
    }

    fn finish(self: Box<Self>, outcome: contract::Result<()>) -> i32 {
        Process::finish(*self, outcome)
    }
}

/// The initialised library.
enum Library {
    Sci(SciLib),
    Cluster(Cluster),
}

/// Either kind of port.
pub(crate) enum Port {
    Receive(ReceivePort),
    Transmit(TransmitPort),
}

/// The objects with handles of the program. A handle is never reused.
#[derive(Default)]
pub(crate) struct Open {
    ports: Vec<Option<Port>>,
    segments: Vec<Option<Segment>>,
}

struct Running {
    process: Joined,
    library: Library,
    open: Open,
}

/// The process until its program ends it.
struct Joined {
    process: Option<Box<dyn AnyProcess>>,
    /// The function that ends it.
    end: &'static str,
}

impl Joined {
    fn with(&mut self, body: &mut dyn FnMut(&mut dyn Rank)) {
        self.process.iter_mut().for_each(|process| process.with(body));
    }

    fn finish(&mut self, outcome: contract::Result<()>) {
        if let Some(process) = self.process.take() {
            process.finish(outcome);
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        let why = format!("its program ended without {}", self.end);
        self.finish(Err(contract::Error::Program(why)));
    }
}

/// The state of a process as a node.
enum Life {
    Before,
    Now(Box<Running>),
    After,
}

thread_local! {
    static LIFE: RefCell<Life> = const { RefCell::new(Life::Before) };
}

fn borrowed(life: &RefCell<Life>) -> Result<RefMut<'_, Life>, Failure> {
    let in_handler = |_| Failure::new(IN_HANDLER, "a signal's handler may call nothing");
    life.try_borrow_mut().map_err(in_handler)
}

fn add<T>(list: &mut Vec<Option<T>>, one: T) -> c_long {
    list.push(Some(one));
    list.len() as c_long - 1
}

fn place<T>(list: &mut [Option<T>], handle: c_int, what: &str) -> Result<usize, Failure> {
    let index = usize::try_from(handle).ok();
    let index = index.filter(|&index| list.get(index).is_some_and(Option::is_some));
    index.ok_or_else(|| Failure::new(BAD_HANDLE, format!("this node has no {what} {handle}")))
}

impl Open {
    pub(crate) fn add_port(&mut self, port: Port) -> c_long {
        add(&mut self.ports, port)
    }

    pub(crate) fn add_segment(&mut self, segment: Segment) -> c_long {
        add(&mut self.segments, segment)
    }

    pub(crate) fn receive_port(&mut self, handle: c_int) -> Result<&ReceivePort, Failure> {
        let index = place(&mut self.ports, handle, "receive port")?;
        match &self.ports[index] {
            Some(Port::Receive(port)) => Ok(port),
            _ => Err(Failure::new(BAD_HANDLE, format!("port {handle} is a transmit port"))),
        }
    }

    pub(crate) fn transmit_port(&mut self, handle: c_int) -> Result<&TransmitPort, Failure> {
        let index = place(&mut self.ports, handle, "transmit port")?;
        match &self.ports[index] {
            Some(Port::Transmit(port)) => Ok(port),
            _ => Err(Failure::new(BAD_HANDLE, format!("port {handle} is a receive port"))),
        }
    }

    /// Takes out a port of either kind.
    pub(crate) fn take_port(&mut self, handle: c_int) -> Result<Port, Failure> {
        let index = place(&mut self.ports, handle, "port")?;
        Ok(self.ports[index].take().expect("just looked"))
    }

    pub(crate) fn segment(&mut self, handle: c_int) -> Result<&mut Segment, Failure> {
        let index = place(&mut self.segments, handle, "segment")?;
        Ok(self.segments[index].as_mut().expect("just looked"))
    }
}

/// Calls `body` with the initialised library.
fn with_library(body: impl FnOnce(&mut Library, &mut dyn Rank, &mut Open) -> Outcome) -> c_long {
    returned(LIFE.with(|life| {
        let mut life = borrowed(life)?;
        let Life::Now(running) = &mut *life else {
            let words = "neither cluster_init nor sci_init_lib has begun, or the end has come";
            return Err(Failure::new(NOT_BEGUN, words));
        };
        let Running { process, library, open } = &mut **running;
        let (mut body, mut outcome) = (Some(body), Ok(0));
        process.with(&mut |rank| {
            if let Some(body) = body.take() {
                outcome = body(library, rank, open);
            }
        });
        outcome
    }))
}

/// Calls `body` with the lower library.
pub(crate) fn with_sci(body: impl FnOnce(&mut Sci<'_>, &mut Open) -> Outcome) -> c_long {
    with_library(|library, rank, open| match library {
        Library::Sci(library) => body(&mut library.enter(rank), open),
        Library::Cluster(cluster) => body(cluster.enter(rank).sci(), open),
    })
}

/// Calls `body` with the upper library.
pub(crate) fn with_node(body: impl FnOnce(&mut Node<'_>, &mut Open) -> Outcome) -> c_long {
    with_library(|library, rank, open| match library {
        Library::Cluster(cluster) => body(&mut cluster.enter(rank), open),
        Library::Sci(_) => Err(Failure::new(NO_CLUSTER, "sci_init_lib alone makes no cluster")),
    })
}

/// Begins, as a cluster or with the lower library alone.
pub(crate) unsafe fn begin(options: *const Options, as_cluster: bool) -> c_long {
    returned(LIFE.with(|life| {
        let mut life = borrowed(life)?;
        if !matches!(*life, Life::Before) {
            return Err(Failure::new(BEGUN, "a process is a node once, and this one has begun"));
        }
        // SAFETY: the caller passes options, or null.
        let options = match unsafe { options.as_ref() } {
            None => ClusterOptions::default(),
            Some(given) => ClusterOptions {
                timeout: time(given.timeout_ms)?,
                shared_bytes: given.shared_bytes,
            },
        };
        let end = if as_cluster { "safe_exit()" } else { "sci_close_lib()" };
        let mut process = Joined { process: Some(join()?), end };
        let mut made = None;
        process.with(&mut |rank| {
            made = Some(match as_cluster {
                true => services::hcs::cluster_init(rank, options).map(Library::Cluster),
                false => services::hcs::sci_init_lib(rank, options).map(Library::Sci),
            });
        });
        let library = made.expect("it was called")?;
        let open = Open::default();
        *life = Life::Now(Box::new(Running { process, library, open }));
        Ok(0)
    }))
}

/// Ends the cluster or the lower library.
pub(crate) fn end(as_cluster: bool) -> c_long {
    returned(LIFE.with(|life| {
        let mut life = borrowed(life)?;
        let Life::Now(running) = &*life else {
            return Err(Failure::new(NOT_BEGUN, "nothing has begun, or the end has come"));
        };
        match (&running.library, as_cluster) {
            (Library::Sci(_), true) => {
                return Err(Failure::new(NO_CLUSTER, "sci_init_lib alone makes no cluster"));
            }
            (Library::Cluster(_), false) => {
                return Err(Failure::new(BEGUN, "what cluster_init has begun, safe_exit ends"));
            }
            _ => {}
        }
        let Life::Now(running) = std::mem::replace(&mut *life, Life::After) else { return Ok(0) };
        let Running { mut process, library, .. } = *running;
        let mut library = Some(library);
        let mut outcome = Ok(());
        process.with(&mut |rank| {
            outcome = match library.take() {
                Some(Library::Sci(library)) => library.sci_close_lib(rank).map(drop),
                Some(Library::Cluster(cluster)) => cluster.safe_exit(rank).map(drop),
                None => Ok(()),
            };
        });
        process.finish(outcome.clone().map_err(|error| error.into_contract()));
        Ok(outcome.map(|()| 0)?)
    }))
}

/// Joins the run of this process, over the run's fabric.
fn join() -> Result<Box<dyn AnyProcess>, Failure> {
    Ok(launched::over!(launched::join()?, endpoint => Box::new(Process::new(endpoint))))
}

pub(crate) fn time(ms: c_long) -> Result<TimeSpan, Failure> {
    let ms = u64::try_from(ms).ok().filter(|ms| *ms <= 1_000_000_000);
    let ms = ms.ok_or_else(|| Failure::new(BAD_ARGUMENT, "a time is 0 to 1000000000 ms"))?;
    Ok(TimeSpan::from_us(ms * 1000))
}

/// Returns the index of a node. A negative one is treated as one that is too large.
pub(crate) fn node(index: c_int) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

fn no_pointer() -> Failure {
    Failure::new(BAD_ARGUMENT, "a pointer is null")
}

/// Returns memory of the program for reading. A null pointer is permitted for no bytes.
pub(crate) unsafe fn bytes<'a>(start: *const u8, count: usize) -> Result<&'a [u8], Failure> {
    match start.is_null() {
        true if count > 0 => Err(no_pointer()),
        true => Ok(&[]),
        // SAFETY: the caller promises this number of bytes.
        false => Ok(unsafe { from_raw_parts(start, count) }),
    }
}

/// As [`bytes`], for writing.
pub(crate) unsafe fn room<'a>(start: *mut u8, count: usize) -> Result<&'a mut [u8], Failure> {
    match start.is_null() {
        true if count > 0 => Err(no_pointer()),
        true => Ok(&mut []),
        // SAFETY: the caller promises room for this number of bytes.
        false => Ok(unsafe { from_raw_parts_mut(start, count) }),
    }
}

/// Returns the place for a result. Fails for a null pointer.
pub(crate) unsafe fn place_for<'a, T>(place: *mut T) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller passes a place, or null.
    unsafe { place.as_mut() }.ok_or_else(no_pointer)
}
