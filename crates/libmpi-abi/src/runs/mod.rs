//! Several runs on one host: ports, and the communicators that are created with them.

mod names;
mod parent;
mod spawn;

use std::ffi::{c_char, c_int};
use std::fs::File;
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use mpi::{Collective, Port, Universe};

pub(crate) use names::{lookup, publish, unpublish};
pub(crate) use parent::join as join_parent;
pub(crate) use spawn::{spawn, spawn_multiple};

use crate::abi::*;
use crate::chosen::Chosen;
use crate::communicator::{self, Communicator, get_object, register};
use crate::failure::{Result, ensure, error_of};
use crate::process::running;
use crate::text;

fn root_of(root: c_int) -> Result<usize> {
    usize::try_from(root).map_err(|_| error_of(ERR_ROOT, format!("root {root}")))
}

unsafe fn read_port(name: *const c_char) -> Result<Port> {
    text::read(name)?.parse()
}

/// Implements MPI_Open_port.
pub(crate) unsafe fn open_port(_info: Info, name: *mut c_char) -> Result {
    ensure!(!name.is_null(), ERR_ARG, "port_name is a null pointer");
    let port = running()?.open_port()?.to_string();
    text::write(&port, name, port.len() as c_int + 1, std::ptr::null_mut());
    Ok(())
}

/// Implements MPI_Close_port.
pub(crate) unsafe fn close_port(name: *const c_char) -> Result {
    running()?.close_port(&read_port(name)?)
}

/// The side of a process that meets another at a port.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Accepts,
    Connects,
}

/// Implements MPI_Comm_accept and MPI_Comm_connect.
pub(crate) unsafe fn meet(
    name: *const c_char,
    _info: Info,
    root: c_int,
    comm: Comm,
    new: *mut Comm,
    side: Side,
) -> Result {
    let (universe, old) = (running()?, get_object(comm)?);
    let (own, root, port) = (&old.communicator, root_of(root)?, || read_port(name));
    let made = match side {
        Side::Accepts => universe.accept(own, root, port, &|| Ok(()))?,
        Side::Connects => universe.connect(own, root, port)?,
    };
    *new = register(Some(made), &old);
    Ok(())
}

/// Implements MPI_Comm_disconnect. No member continues before all have reached it, because then everything that they
/// have sent was received.
pub(crate) unsafe fn disconnect(comm: *mut Comm) -> Result {
    let one = communicator::get(*comm)?;
    if one.context().is_between_runs() {
        mpi::Barrier::new(one.context().clone()).run()?;
    }
    communicator::free(comm)
}

/// Implements MPI_Comm_join. Each side opens a port and sends its name through the socket. The side whose name sorts
/// first accepts.
pub(crate) unsafe fn join(descriptor: c_int, new: *mut Comm) -> Result {
    let (universe, old) = (running()?, get_object(COMM_SELF)?);
    let port = universe.open_port()?;
    let made = join_at(universe, &old.communicator, port, descriptor);
    universe.close_port(&port)?;
    *new = register(Some(made?), &old);
    Ok(())
}

fn join_at(
    universe: &Universe<Chosen>,
    own: &Communicator,
    port: Port,
    descriptor: c_int,
) -> Result<Communicator> {
    let failed = |error: std::io::Error| {
        error_of(ERR_ARG, format!("the socket {descriptor} is of no use: {error}"))
    };
    // SAFETY: the program lends the descriptor, which is not closed here.
    let mut socket = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let mine = port.to_string();
    let length = (mine.len() as u32).to_le_bytes();
    socket.write_all(&[&length[..], mine.as_bytes()].concat()).map_err(failed)?;
    let mut length = [0; 4];
    socket.read_exact(&mut length).map_err(failed)?;
    let length = u32::from_le_bytes(length);
    ensure!(length < MAX_PORT_NAME as u32, ERR_ARG, "a process of another MPI is at the other end");
    let mut theirs = vec![0; length as usize];
    socket.read_exact(&mut theirs).map_err(failed)?;
    let theirs = String::from_utf8_lossy(&theirs).into_owned();
    match mine < theirs {
        true => universe.accept(own, 0, || Ok(port), &|| Ok(())),
        false => universe.connect(own, 0, || theirs.parse()),
    }
}
