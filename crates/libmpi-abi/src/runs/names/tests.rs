//! Names of services, and what another user of the host can do about them.

use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::*;

/// A user who is not the one of the tests. It needs no entry among the users of the host.
const STRANGER: u32 = 61_234;

/// Returns a name that no other test uses.
fn unique(what: &str) -> String {
    format!("{what} of process {}", std::process::id())
}

/// Returns whether the test runs as root, who can start processes of other users.
fn can_be_another(test: &str) -> bool {
    let can = user() == 0;
    if !can {
        let _ = writeln!(std::io::stderr(), "skipped: {test}: only root can become another user");
    }
    can
}

/// A process of the stranger that holds what `prepare` has opened in it, until it is dropped.
struct Stranger(Child);

impl Stranger {
    fn with(prepare: impl Fn() -> std::io::Result<()> + Send + Sync + 'static) -> Stranger {
        let mut command = Command::new("cat");
        command.uid(STRANGER).gid(STRANGER).stdin(Stdio::piped()).stdout(Stdio::null());
        // SAFETY: the child has this thread only; the allocator of the C library may be used after fork.
        unsafe { command.pre_exec(prepare) };
        // `spawn` returns once the child has become `cat`, which then waits for its input.
        Stranger(command.spawn().unwrap())
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// Leaves a file open for the program that this process becomes.
fn keep(file: File) -> std::io::Result<()> {
    let descriptor = file.into_raw_fd();
    // SAFETY: the descriptor is open, and no memory is involved.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Publishes a service as this module does, in the process that calls it.
fn imitate(service: &str) -> std::io::Result<()> {
    let name = file_name(std::process::id(), service);
    keep(sealed(&name, content(service, "forged").as_bytes())?)
}

#[test]
fn a_service_is_found_while_it_is_published_whatever_its_name() {
    let name = format!("a service\nof process {} \u{e9}", std::process::id());
    assert_eq!(find(&name), None);
    let published = announce(name.clone(), "port 1".into()).unwrap();
    assert_eq!(find(&name).as_deref(), Some("port 1"));
    assert_eq!(find(&name[1..]), None);
    assert!(announce(name.clone(), "port 2".into()).is_err(), "the name is taken");
    assert_eq!(find(&name).as_deref(), Some("port 1"));
    drop(published);
    assert_eq!(find(&name), None);
}

#[test]
fn a_child_that_has_inherited_a_service_has_not_published_it() {
    let name = unique("inherited");
    let published = announce(name.clone(), "port 1".into()).unwrap();
    let original = published.file.as_raw_fd();
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped());
    // SAFETY: no memory is involved.
    let copy = move || match unsafe { libc::dup(original) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    };
    // SAFETY: neither the closure nor its call involves memory of this process.
    unsafe { command.pre_exec(copy) };
    let mut child = command.spawn().unwrap();
    drop(published);
    assert_eq!(find(&name), None);
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn files_that_can_change_or_are_too_long_are_not_read() {
    let name = unique("odd");
    let file_name = file_name(std::process::id(), &name);
    let mut open = unsealed(&file_name);
    open.write_all(content(&name, "port 1").as_bytes()).unwrap();
    assert_eq!(find(&name), None, "it can change");
    drop(open);
    let long = "p".repeat(MAX_PORT_NAME as usize);
    let longest = &long[1..];
    let refused = sealed(&file_name, content(&name, &long).as_bytes()).unwrap();
    assert_eq!(find(&name), None, "a program has no room for this port");
    drop(refused);
    let taken = sealed(&file_name, content(&name, longest).as_bytes()).unwrap();
    assert_eq!(find(&name).as_deref(), Some(longest));
    drop(taken);
    let other = sealed(&file_name, content("another", "port 1").as_bytes()).unwrap();
    assert_eq!(find(&name), None, "another name with the same number");
    drop(other);
}

fn unsealed(name: &str) -> File {
    let name = CString::new(name).unwrap();
    // SAFETY: the name is a C string, and a descriptor that was just returned has no other owner.
    unsafe { File::from_raw_fd(libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC)) }
}

#[test]
fn another_user_forges_no_service() {
    if !can_be_another("another_user_forges_no_service") {
        return;
    }
    let name = unique("forged");
    let forger = {
        let name = name.clone();
        Stranger::with(move || imitate(&name))
    };
    let held = read_dir(format!("/proc/{}/fd", forger.0.id())).unwrap().flatten();
    let links: Vec<_> = held.filter_map(|one| one.path().read_link().ok()).collect();
    let wanted = file_name(forger.0.id(), &name);
    assert!(links.iter().any(|link| link.to_string_lossy().contains(&wanted)), "{links:?}");
    assert_eq!(find(&name), None);
}

/// A program that runs as its owner whoever starts it inherits the descriptors of the one who starts it.
#[test]
fn another_user_forges_no_service_in_a_process_of_this_user() {
    if !can_be_another("another_user_forges_no_service_in_a_process_of_this_user") {
        return;
    }
    let name = unique("inherited forgery");
    let file_name = file_name(std::process::id(), &name);
    // SAFETY: no memory is involved. Files that this thread creates belong to that user in between.
    let forged = unsafe {
        libc::setfsuid(STRANGER);
        let forged = sealed(&file_name, content(&name, "forged").as_bytes());
        libc::setfsuid(0);
        forged.unwrap()
    };
    assert_eq!(forged.metadata().unwrap().uid(), STRANGER);
    assert_eq!(find(&name), None);
}

#[test]
fn another_user_takes_no_name_away() {
    if !can_be_another("another_user_takes_no_name_away") {
        return;
    }
    let name = unique("squatted");
    let _squatter = {
        let name = name.clone();
        Stranger::with(move || imitate(&name))
    };
    let published = announce(name.clone(), "port 1".into()).unwrap();
    assert_eq!(find(&name).as_deref(), Some("port 1"));
    drop(published);
    assert_eq!(find(&name), None);
}

#[test]
fn another_user_learns_no_port() {
    if !can_be_another("another_user_learns_no_port") {
        return;
    }
    let name = unique("secret");
    let published = announce(name.clone(), "a secret port".into()).unwrap();
    let descriptor = published.file.as_raw_fd();
    let path = format!("/proc/{}/fd/{descriptor}", std::process::id());
    let read_by = |user: u32| {
        let output = Command::new("cat").arg(&path).uid(user).gid(user).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(read_by(0), content(&name, "a secret port"), "it is there");
    assert_eq!(read_by(STRANGER), "");
}

/// A pipe without a writer, for ever empty, and a file of a terabyte. Neither is opened.
#[test]
fn another_user_neither_delays_a_search_nor_fills_its_memory() {
    if !can_be_another("another_user_neither_delays_a_search_nor_fills_its_memory") {
        return;
    }
    const TERABYTE: u64 = 1 << 40;
    let name = unique("slow");
    let held = name.clone();
    let _stranger = Stranger::with(move || {
        let file_name = file_name(std::process::id(), &held);
        let file = unsealed(&file_name);
        file.set_len(TERABYTE)?;
        keep(file)?;
        let (reader, writer) = std::io::pipe()?;
        keep(File::from(OwnedFd::from(reader)))?;
        keep(File::from(OwnedFd::from(writer)))
    });
    // The same in a process of this user: it is opened, and not read.
    let own = unsealed(&file_name(std::process::id(), &name));
    own.set_len(TERABYTE).unwrap();
    assert_eq!(find(&name), None);
    let published = announce(name.clone(), "port 1".into()).unwrap();
    assert_eq!(find(&name).as_deref(), Some("port 1"));
    drop(published);
}
