//! Creation and freeing of windows. All members of the communicator make the same calls.

use std::cell::RefCell;
use std::ptr::NonNull;
use std::rc::Rc;

use collectives::{CallId, LibraryCall};
use contract::{DYNAMIC_BYTES, Endpoint, WindowOffer, WindowPart, allocate_for_windows};

use super::epoch::Epochs;
use super::service::Service;
use super::sync::Signals;
use super::{Allocation, Flavor, Window};
use crate::attribute::Attributes;
use crate::collective::{Barrier, Collective, allgather_bytes};
use crate::communicator::Communicator;
use crate::error::{Error, ErrorClass, Result, ensure};
use crate::info::Info;
use crate::memory::{Exposed, Storage, release};
use crate::operation::CODED;
use crate::schedule::CollectiveContext;

/// Hint that makes the members access each other's memory by messages only, whatever the fabric supports.
const BY_MESSAGES: &str = "cornerstone_window_by_messages";

/// A member's arguments.
struct MemberArguments {
    flavor: Flavor,
    bytes: u64,
    unit: i64,
}

/// The memory of a member.
type Memory = (*mut u8, Allocation);

fn check(bytes: i64, unit: i64) -> Result<u64> {
    let size = u64::try_from(bytes);
    let size = size.map_err(|_| Error::new(ErrorClass::Size, format!("{bytes} bytes")))?;
    ensure!(unit > 0, ErrorClass::Displacement, "a unit of displacements of {unit} bytes");
    Ok(size)
}

impl<E: Endpoint + 'static> Window<E> {
    /// Creates a window of the program's memory.
    ///
    /// # Errors
    /// [`ErrorClass::Size`], [`ErrorClass::Displacement`], [`ErrorClass::Buffer`] without an address, and errors that
    /// end the run.
    pub fn create(of: &Communicator<E>, memory: Exposed, unit: i64, info: Info) -> Result<Self> {
        let (start, bytes) = (memory.start(), memory.bytes());
        let bytes = check(i64::try_from(bytes).unwrap_or(-1), unit)?;
        ensure!(bytes == 0 || !start.is_null(), ErrorClass::Buffer, "the memory is a null pointer");
        let arguments = MemberArguments { flavor: Flavor::Create, bytes, unit };
        Window::open(of, arguments, info, |_, _| Ok((start, Allocation::Nothing)))
    }

    /// Creates a window of memory that it allocates.
    ///
    /// # Errors
    /// [`ErrorClass::Size`], [`ErrorClass::Displacement`], and errors that end the run.
    pub fn allocate(of: &Communicator<E>, bytes: i64, unit: i64, info: Info) -> Result<Self> {
        let bytes = check(bytes, unit)?;
        let arguments = MemberArguments { flavor: Flavor::Allocate, bytes, unit };
        let aligned = Aligned::of(&info);
        Window::open(of, arguments, info, |own, _| {
            let bytes = aligned.bytes(bytes);
            let made = allocate(own, bytes)?;
            Ok(aligned.place(made.unwrap_or_else(|| {
                let storage = Storage::zeroed(bytes);
                (storage.address(), Allocation::Own(storage))
            })))
        })
    }

    /// Creates a window of memory that it allocates and that every member can access directly.
    ///
    /// # Errors
    /// [`ErrorClass::RmaShared`] if the members cannot share memory, and as for [`allocate`](Window::allocate).
    pub fn allocate_shared(
        of: &Communicator<E>,
        bytes: i64,
        unit: i64,
        info: Info,
    ) -> Result<Self> {
        let bytes = check(bytes, unit)?;
        let is_between_runs = of.context().is_between_runs();
        ensure!(
            !is_between_runs,
            ErrorClass::RmaShared,
            "processes of several runs share no memory"
        );
        let arguments = MemberArguments { flavor: Flavor::Shared, bytes, unit };
        let hint = info.get("alloc_shared_noncontig");
        let is_contiguous = hint.is_none_or(|value| value != "true");
        let aligned = Aligned::of(&info);
        Window::open(of, arguments, info, |own, all| match is_contiguous {
            true => allocate_together(own, all, aligned),
            false => allocate_separately(own, bytes, aligned),
        })
    }

    /// Creates a window without memory, to which each member may add some.
    ///
    /// # Errors
    /// Errors that end the run.
    pub fn create_dynamic(of: &Communicator<E>, info: Info) -> Result<Self> {
        let arguments = MemberArguments { flavor: Flavor::Dynamic, bytes: DYNAMIC_BYTES, unit: 1 };
        Window::open(of, arguments, info, |_, _| Ok((std::ptr::null_mut(), Allocation::Nothing)))
    }

    /// Opens the window of the members' parts. `memory` gets the lengths of all.
    fn open(
        of: &Communicator<E>,
        MemberArguments { flavor, bytes, unit }: MemberArguments,
        info: Info,
        memory: impl FnOnce(&Communicator<E>, &[u64]) -> Result<Memory>,
    ) -> Result<Self> {
        of.check_one_group()?;
        let communicator = of.dup(Attributes::new(), info)?;
        let words = [bytes, unit as u64].map(u64::to_ne_bytes);
        let all = gather(&communicator, words.as_flattened())?;
        let (words, _) = all.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        let lengths: Vec<u64> = (0..communicator.size()).map(|rank| word(2 * rank)).collect();
        let units = (0..communicator.size()).map(|rank| word(2 * rank + 1) as i64).collect();
        let (start, made) = memory(&communicator, &lengths)?;
        let is_between_runs = communicator.context().is_between_runs();
        let is_requested =
            communicator.info().get(BY_MESSAGES).is_some_and(|value| value == "true");
        // So that others' accesses change a member's memory in its own calls, and all other changes are its program's.
        let is_checked = communicator.engine().is_synchronous();
        let by_messages = is_between_runs || is_requested || is_checked;
        let part = |memory: Exposed, endpoint: &mut E| match (flavor, by_messages) {
            (Flavor::Shared, _) => memory.part_on_host(endpoint),
            (_, false) => memory.part(endpoint),
            (_, true) => memory.part(endpoint).by_messages_only(),
        };
        let part = part(Exposed::made(start, bytes), &mut *communicator.engine().endpoint()?);
        let window = Window::connect(&communicator, part)?;
        let (members, rank) = (communicator.size(), communicator.rank());
        let service = Service::start(communicator.engine(), window, communicator.context())?;
        let bytes = if flavor == Flavor::Dynamic { 0 } else { bytes };
        Ok(Window {
            communicator,
            service,
            flavor,
            start,
            bytes,
            units,
            made: RefCell::new(made),
            epochs: Epochs::new(members),
            signals: Signals::new(rank),
        })
    }

    /// Exchanges the locations of the members' memory.
    fn connect(communicator: &Communicator<E>, part: WindowPart) -> Result<contract::Window> {
        let all = gather(communicator, &part.offer().to_bytes())?;
        let (offers, _) = all.as_chunks::<{ WindowOffer::BYTES }>();
        let offers: Vec<WindowOffer> = offers.iter().map(WindowOffer::from_bytes).collect();
        let members = (communicator.context().group().members(), communicator.rank());
        let context = communicator.context().of_programs();
        let endpoint = &mut *communicator.engine().endpoint()?;
        Ok(contract::Window::open(endpoint, part, members, context, &offers, CODED)?)
    }

    /// Frees it. Every member calls this in the end. `object` is the number by which the functions of its attributes
    /// identify it.
    ///
    /// # Errors
    /// [`ErrorClass::RmaSync`] in an epoch; errors of the functions of its attributes, which then stay; and errors that
    /// end the run.
    pub fn free(&self, object: usize) -> Result {
        self.epochs.check_free()?;
        self.communicator.attributes().clear(object)?;
        self.service.flush(None)?;
        self.finish_signals()?;
        Barrier::new(self.communicator.context().clone()).run()?;
        self.service.close()?;
        if let Allocation::Allocated(start, bytes) = self.made.replace(Allocation::Nothing) {
            release(&mut *self.engine().endpoint()?, start, bytes);
        }
        self.communicator.free(0)
    }
}

/// Gathers the same number of bytes of every member.
fn gather<E: Endpoint + 'static>(of: &Communicator<E>, mine: &[u8]) -> Result<Vec<u8>> {
    let call_id = CallId::of_library(LibraryCall::Window);
    allgather_bytes(CollectiveContext::next(of.context(), call_id), mine)
}

/// The alignment of allocated memory.
#[derive(Clone, Copy)]
struct Aligned(usize);

impl Aligned {
    fn of(info: &Info) -> Self {
        Aligned(info.alignment().unwrap_or(1))
    }

    /// Returns the length to allocate for so many bytes, of which at least one is needed for an address.
    fn bytes(self, bytes: u64) -> usize {
        (bytes.max(1) as usize).saturating_add(self.0 - 1)
    }

    /// Returns the memory from its first aligned address on.
    fn place(self, (start, made): Memory) -> Memory {
        let gap = (start as usize).wrapping_neg() & (self.0 - 1);
        (start.wrapping_add(gap), made)
    }
}

/// Allocates memory of the fabric, if it has any.
fn allocate<E: Endpoint>(own: &Communicator<E>, bytes: usize) -> Result<Option<Memory>> {
    let memory = allocate_for_windows(&*own.engine().endpoint()?, bytes);
    Ok(memory.map(|start| allocated(start, bytes)))
}

fn allocated(start: NonNull<u8>, bytes: usize) -> Memory {
    (start.as_ptr(), Allocation::Allocated(start, bytes))
}

/// Allocates memory that the ranks of the host share, or zeros for a member that is alone.
fn allocate_or_own<E: Endpoint>(own: &Communicator<E>, bytes: usize) -> Result<Option<Memory>> {
    let endpoint = own.engine().endpoint()?;
    let memory = endpoint.host_memory().and_then(|memory| memory.arenas.allocate(bytes));
    let memory = memory.map(|start| allocated(start, bytes));
    Ok(memory.or_else(|| {
        let storage = (own.size() == 1).then(|| Storage::zeroed(bytes))?;
        Some((storage.address(), Allocation::Own(storage)))
    }))
}

/// Lets the first member allocate the memory of all, consecutively: the alignment is that of the first part.
fn allocate_together<E: Endpoint + 'static>(
    own: &Communicator<E>,
    lengths: &[u64],
    aligned: Aligned,
) -> Result<Memory> {
    let all: u64 = lengths.iter().sum();
    let whole = match own.rank() {
        0 => allocate_or_own(own, aligned.bytes(all))?.map(|memory| aligned.place(memory)),
        _ => None,
    };
    if own.size() == 1 {
        return whole.ok_or_else(cannot_share);
    }
    let nowhere = u64::MAX;
    let place = match &whole {
        Some((start, _)) => {
            let endpoint = own.engine().endpoint()?;
            endpoint.host_memory().and_then(|memory| memory.place_of(*start, all as usize))
        }
        None => None,
    };
    let places = gather(own, &place.unwrap_or(nowhere).to_ne_bytes())?;
    let place = places.first_chunk().map_or(nowhere, |word| u64::from_ne_bytes(*word));
    let before: u64 = lengths[..own.rank()].iter().sum();
    let seen = match place {
        u64::MAX => None,
        place => {
            let endpoint = own.engine().endpoint()?;
            endpoint.host_memory().and_then(|memory| memory.memory_at(place, all as usize))
        }
    };
    let start: NonNull<u8> = agree(own, seen)?;
    let made = whole.map_or(Allocation::Nothing, |(_, made)| made);
    Ok((start.as_ptr().wrapping_add(before as usize), made))
}

/// Lets each member allocate its own.
fn allocate_separately<E: Endpoint + 'static>(
    own: &Communicator<E>,
    bytes: u64,
    aligned: Aligned,
) -> Result<Memory> {
    let made = allocate_or_own(own, aligned.bytes(bytes))?;
    agree(own, made.map(|memory| aligned.place(memory)))
}

/// Fails at all members if one of them lacks the value.
fn agree<E: Endpoint + 'static, T>(own: &Communicator<E>, mine: Option<T>) -> Result<T> {
    let all = gather(own, &[u8::from(mine.is_some())])?;
    mine.filter(|_| all.iter().all(|&one| one != 0)).ok_or_else(cannot_share)
}

fn cannot_share() -> Error {
    Error::new(ErrorClass::RmaShared, "the members have no memory that all of them see")
}

impl<E: Endpoint> Window<E> {
    /// Returns the route to each member's memory as a word.
    pub fn routes(self: &Rc<Self>) -> Vec<&'static str> {
        self.service.window().routes().collect()
    }
}
