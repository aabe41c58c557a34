//! Windows: memory of each member of a context that the others read, write and update.
//!
//! Each member's memory is accessed on one of three routes, which is fixed when the window is opened:
//! * *shared*: every member has it mapped. Loads, stores and atomics suffice; the member does not participate.
//! * *attached*: the fabric copies from and to it ([`MemoryCopies`](endpoint::MemoryCopies)); the member does not participate.
//! * *messages*: requests by message, which the member serves whenever its face calls [`Window::advance`]; or by
//!   one-sided operations of the network ([`OneSided`](endpoint::OneSided)), as far as it has them; or, if the network
//!   executes accesses by itself, an [`Agent`](endpoint::Agent) of the member serves them, and the member does not
//!   participate.
//!
//! A face opens a window in three steps: each member creates its [`WindowPart`], the members exchange their
//! [offers](WindowPart::offer), and each [opens](Window::open) the window with all offers.
#![allow(unsafe_code)]

mod agent;
mod at_once;
mod control;
mod copy;
mod locks;
mod network;
mod offer;
mod operate;
mod requests;
mod serve;
mod server;
mod update;
mod wire;
mod words;

pub use control::NOTICES;
pub use copy::{LONG_COPY_BYTES, copy_past_caches};
pub use locks::LockAttempt;
pub use offer::{DYNAMIC_BYTES, WindowOffer, WindowPart};
pub use requests::{Ticket, WINDOW_ANSWERS};
pub use update::{Action, Arithmetic, Stretch, Update};

use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

use agent::MemberAgent;
use control::Control;
use copy::Runs;
use endpoint::{AtomicElements, Endpoint, Error, HostMemory, NetworkMemory, RemotePlace, Result};
use requests::PendingRequests;
use serve::Served;
use server::Server;
use words::Remembered;

/// The route to a member's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Shared,
    Attached,
    Messages,
}

/// A member of a window as known to this process.
struct Target {
    /// Rank of the member in the run.
    rank: usize,
    /// Address of its memory in this process; `None` if it is not accessible, and for dynamic windows.
    base: Option<NonNull<u8>>,
    bytes: u64,
    route: Route,
    /// Address of its memory in its own process.
    address: u64,
    /// Offset to subtract from an address of its process to get the fabric's place.
    shift: u64,
    /// Its control block, if this process can access it.
    control: Option<NonNull<Control>>,
    /// Its registered memory for the network, if all members' memory was registered.
    registered: Option<RemotePlace>,
    /// Record of the messages to others about this process's updates of this member's words.
    words: Remembered,
}

/// The location of an operation's bytes.
enum Reached {
    /// In this process. The flag is true if every member that updates them does so in its own process as well.
    Here(NonNull<u8>, bool),
    /// At this address of the member's process.
    Attached(u64),
    ByMessages,
}

/// A member's handle of a window.
pub struct Window {
    me: usize,
    targets: Box<[Target]>,
    /// Context of its messages.
    context: u32,
    arithmetic: Arithmetic,
    part: WindowPart,
    pending_requests: PendingRequests,
    served: Served,
    server: Rc<RefCell<Server>>,
    /// True if agents serve the members' memory.
    has_agents: bool,
    /// True if a lock is granted by a message.
    grants_by_message: bool,
    /// The elements for which the network executes updates.
    atomics: AtomicElements,
    runs: Runs,
}

impl Window {
    /// Opens a window of `members`, ranks of the run, in which this process has the number `me`. Its messages use
    /// `context`, which nothing else uses.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if an offer is invalid.
    pub fn open<E: Endpoint>(
        endpoint: &mut E,
        part: WindowPart,
        (members, me): (&[usize], usize),
        context: u32,
        offers: &[WindowOffer],
        arithmetic: Arithmetic,
    ) -> Result<Self> {
        let targets = targets(endpoint.host_memory(), &part, (members, me), offers);
        if targets.len() != members.len() || part.offer() != offers[me] {
            let what = "open a window without the offer of each member".into();
            return Err(Error::Unsupported { fabric: "this face".into(), what });
        }
        let memory = (targets[me].base, targets[me].bytes);
        let server = Rc::new(RefCell::new(Server::new(part.control(), memory, arithmetic)));
        let has_agents = offers.iter().all(|offer| offer.has_agent);
        if let Some(NetworkMemory::Agents(agents)) = endpoint.network_memory()
            && has_agents
        {
            agents.place(context, Box::new(MemberAgent::new(&server, members)));
        }
        let mut others = targets.iter().enumerate().filter(|&(member, _)| member != me);
        let grants_by_message = has_agents || others.any(|(_, one)| one.control.is_none());
        Ok(Window {
            me,
            pending_requests: PendingRequests::new(targets.len()),
            targets,
            context,
            arithmetic,
            part,
            served: Served::default(),
            server,
            has_agents,
            grants_by_message,
            atomics: offers.iter().fold(offers[me].atomics, |both, one| both.and(one.atomics)),
            runs: Runs::default(),
        })
    }

    /// Returns whether this member must serve the others, by [`advance`](Window::advance), for them to access its
    /// memory.
    pub fn is_served(&self) -> bool {
        self.targets[self.me].route == Route::Messages && self.targets.len() > 1 && !self.has_agents
    }

    /// Returns whether an agent in the network serves this member's memory.
    pub fn has_agent(&self) -> bool {
        self.has_agents
    }

    /// Returns whether operations on this member may still be in progress when their call returns.
    #[inline]
    pub fn is_reached_by_messages(&self, target: usize) -> bool {
        target != self.me && self.targets[target].route == Route::Messages
    }

    /// Returns whether this member serves others or accesses their memory by messages. Then its face must
    /// [advance](Window::advance) it.
    pub fn goes_by_messages(&self) -> bool {
        let several = self.targets.len() > 1;
        several
            && self.targets.iter().any(|one| one.route == Route::Messages || one.control.is_none())
    }

    /// Returns the route to each member's memory as a word.
    pub fn routes(&self) -> impl Iterator<Item = &'static str> {
        self.targets.iter().map(|target| match target.route {
            Route::Shared => "shared",
            Route::Attached => "attached",
            Route::Messages if self.has_agents => "agent",
            Route::Messages if target.registered.is_some() => "network",
            Route::Messages => "asked",
        })
    }

    /// Returns a member's memory from `offset` on, if this process can access it and it has `bytes` bytes.
    #[inline(always)]
    pub fn here(&self, target: usize, offset: u64, bytes: u64) -> Option<NonNull<u8>> {
        let target = self.targets.get(target)?;
        let base = target.base?;
        if offset > target.bytes || bytes > target.bytes - offset {
            return None;
        }
        // SAFETY: just checked to be within the range in the offer, which lasts as long as the window.
        Some(unsafe { base.add(offset as usize) })
    }

    /// Returns the length of a member's memory.
    pub fn bytes_of(&self, target: usize) -> u64 {
        self.targets[target].bytes
    }

    fn target(&self, target: usize) -> Result<&Target> {
        let size = self.targets.len();
        self.targets.get(target).ok_or(Error::InvalidRank { rank: target, size })
    }

    /// Fails unless `bytes` bytes at `offset` are in a member's memory. Only the member can check a dynamic window.
    fn check_range(&self, target: usize, offset: u64, bytes: u64) -> Result<()> {
        let window_bytes = self.target(target)?.bytes;
        if offset > window_bytes || bytes > window_bytes - offset {
            return Err(Error::OutOfWindow { rank: target, offset, bytes, window_bytes });
        }
        Ok(())
    }

    /// Returns the location of `bytes` bytes at `offset`, which were checked.
    fn reach<E: Endpoint>(&self, endpoint: &E, target: usize, offset: u64, bytes: u64) -> Reached {
        let one = &self.targets[target];
        let is_shared = one.route == Route::Shared;
        if let Some(here) = self.here(target, offset, bytes) {
            return Reached::Here(here, is_shared);
        }
        if one.route == Route::Messages && target != self.me {
            return Reached::ByMessages;
        }
        // In a dynamic window, memory that all members can access directly is accessed directly by all of them.
        let place = offset.wrapping_sub(one.shift);
        let memory = endpoint.host_memory();
        let shared = memory.and_then(|memory| memory.memory_at(place, bytes as usize));
        let shared = shared.filter(|_| one.control.is_some());
        match (shared, NonNull::new(offset as *mut u8)) {
            (_, Some(own)) if target == self.me => {
                let memory = memory.filter(|memory| memory.is_for_windows);
                let place = memory.and_then(|memory| memory.place_of(own.as_ptr(), bytes as usize));
                Reached::Here(own, place.is_some() && one.route != Route::Messages)
            }
            (Some(here), _) if one.bytes == DYNAMIC_BYTES => Reached::Here(here, true),
            _ => Reached::Attached(one.address.wrapping_add(offset)),
        }
    }

    /// Frees this member's handle. The face ensures that no member needs it any more.
    pub fn close<E: Endpoint>(self, endpoint: &mut E) {
        if let Some(NetworkMemory::Agents(agents)) = endpoint.network_memory()
            && self.has_agents
        {
            agents.remove(self.context);
        }
        self.part.close(endpoint);
    }
}

/// Returns the data of this process, member `me`, about each member.
fn targets(
    memory: Option<HostMemory<'_>>,
    part: &WindowPart,
    (members, me): (&[usize], usize),
    offers: &[WindowOffer],
) -> Box<[Target]> {
    let seen = |offer: &WindowOffer| offer.control(memory.as_ref()?);
    let controls: Option<Vec<NonNull<Control>>> = offers.iter().map(seen).collect();
    let can_attach = offers.iter().all(|offer| offer.can_attach);
    let is_registered = offers.len() > 1 && offers.iter().all(|one| one.registered.is_some());
    let target = |(index, (offer, &rank)): (usize, (&WindowOffer, &usize))| {
        let base = memory.as_ref().and_then(|memory| offer.base(memory));
        let base = base.filter(|_| controls.is_some());
        let route = match (&controls, offer.is_shared()) {
            (Some(_), true) => Route::Shared,
            (Some(_), false) if can_attach => Route::Attached,
            _ => Route::Messages,
        };
        let control = controls.as_ref().map(|controls| controls[index]);
        let (base, control) = match index == me {
            true => (part.base(), Some(part.control())),
            false => (base.filter(|_| route == Route::Shared), control),
        };
        let WindowOffer { bytes, address, registered, .. } = *offer;
        let registered = registered.filter(|_| is_registered && route == Route::Messages);
        let base = base.filter(|_| bytes != DYNAMIC_BYTES);
        Target {
            rank,
            base,
            bytes,
            route,
            address,
            shift: offer.shift(),
            control,
            registered,
            words: Remembered::default(),
        }
    };
    offers.iter().zip(members).enumerate().map(target).collect()
}
