//! Registered memory of this rank, and operations on that of others.

use std::ffi::c_int;
use std::ptr::null_mut;

use contract::{
    AtomicElement, AtomicElements, AtomicOperation, OneSidedOperation, Readable, RemotePlace,
    Writable,
};

use super::{Objects, Taken};
use crate::ffi::{self, Fid, Mr};
use crate::slots::{Access, Token};

/// The access to memory that is registered: by this rank and by others.
const ACCESS: u64 =
    ffi::SEND | ffi::RECV | ffi::READ | ffi::WRITE | ffi::REMOTE_READ | ffi::REMOTE_WRITE;

/// The most bytes of one atomic operation for each element: 0 if the provider lacks an operation on it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits([usize; AtomicElement::ALL.len()]);

/// A registration.
pub(super) struct Region {
    mr: *mut Mr,
    place: RemotePlace,
}

impl Region {
    pub(super) fn close(self) {
        let fid = self.mr.cast::<Fid>();
        // SAFETY: the region is open, and is not used again.
        unsafe { ((*(*fid).ops).close)(fid) };
    }
}

impl Objects {
    /// Registers memory. Returns `None` if the provider refuses.
    pub(crate) fn register(&mut self, start: *mut u8, bytes: usize) -> Option<RemotePlace> {
        let mode = self.provider.remote?.mr_mode;
        self.last_key += 1;
        let mut mr: *mut Mr = null_mut();
        // SAFETY: the domain is open, and the caller has lent the memory until the registration ends. With
        // FI_MR_PROV_KEY the provider ignores the key.
        let code = unsafe {
            let reg = (*(*self.domain).mr).reg;
            let (memory, key) = (start.cast_const().cast(), self.last_key);
            reg(self.domain.cast(), memory, bytes, ACCESS, 0, key, 0, &mut mr, null_mut())
        };
        if code != 0 {
            return None;
        }
        let start = if mode & ffi::MR_VIRT_ADDR != 0 { start as u64 } else { 0 };
        let mut region = Region { mr, place: RemotePlace { key: 0, start } };
        if mode & ffi::MR_ENDPOINT != 0 && !self.bind(mr) {
            region.close();
            return None;
        }
        // SAFETY: the region is open.
        region.place.key = unsafe { (*mr).key };
        let place = region.place;
        self.regions.push(region);
        Some(place)
    }

    /// Binds memory to the endpoint. The key is valid from then on.
    fn bind(&self, mr: *mut Mr) -> bool {
        let fid = mr.cast::<Fid>();
        // SAFETY: both are open.
        unsafe {
            let ops = &*(*fid).ops;
            (ops.bind)(fid, self.ep.cast(), 0) == 0
                && (ops.control)(fid, ffi::ENABLE, null_mut()) == 0
        }
    }

    /// Ends a registration.
    pub(crate) fn unregister(&mut self, place: RemotePlace) {
        let found = self.regions.iter().position(|region| region.place == place);
        found.into_iter().for_each(|index| self.regions.swap_remove(index).close());
    }

    /// Returns the elements on which the provider has all operations.
    pub(crate) fn atomic_elements(&self) -> AtomicElements {
        let mut elements = AtomicElements::default();
        let all = AtomicElement::ALL.into_iter();
        all.filter(|&element| self.atomic_bytes_max(element) > 0)
            .for_each(|element| elements.insert(element));
        elements
    }

    /// Returns the most bytes of one atomic operation on such elements.
    pub(crate) fn atomic_bytes_max(&self, element: AtomicElement) -> usize {
        self.limits.0[element as usize]
    }

    pub(super) fn find_limits(&self) -> Limits {
        match self.provider.remote.is_some_and(|remote| remote.has_atomics) {
            true => Limits(
                AtomicElement::ALL.map(|element| self.most_elements(element) * element.bytes()),
            ),
            false => Limits::default(),
        }
    }

    /// Returns the number of elements that every operation accepts at once.
    fn most_elements(&self, element: AtomicElement) -> usize {
        // SAFETY: the endpoint has the capability for atomic operations, and therefore the table.
        let atomic = unsafe { &*(*self.ep).atomic };
        let most = |valid: ffi::Valid, operation: c_int| {
            let mut count = 0;
            // SAFETY: the endpoint is open.
            let code = unsafe { valid(self.ep, element as c_int, operation, &mut count) };
            if code == 0 { count } else { 0 }
        };
        let of_operation = |operation: AtomicOperation| {
            let fetching = most(atomic.readwritevalid, operation as c_int);
            match operation {
                // Without the old values it has no effect.
                AtomicOperation::Read => fetching,
                _ => fetching.min(most(atomic.writevalid, operation as c_int)),
            }
        };
        let all = AtomicOperation::ALL.into_iter().filter(|one| one.applies(element));
        all.map(of_operation).fold(most(atomic.compwritevalid, ffi::CSWAP), usize::min)
    }

    /// Starts an operation on memory of another rank.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn access(&self, access: &Access, token: Token) -> Taken {
        match &access.operation {
            OneSidedOperation::Write(data) => self.write(access, data, token),
            OneSidedOperation::Read(room) => self.read(access, room, token),
            OneSidedOperation::Atomic { element, operation, operand, fetched } => {
                let kind = (*element, *operation as c_int);
                match fetched {
                    Some(fetched) => self.fetch(access, kind, (operand, fetched), token),
                    None => self.update(access, kind, operand, token),
                }
            }
            OneSidedOperation::CompareAndSwap { element, compare, new, fetched } => {
                self.swap(access, *element, (compare, new, fetched), token)
            }
        }
    }

    fn write(&self, access: &Access, data: &Readable, token: Token) -> Taken {
        let own = ffi::Iov { base: data.as_ptr().cast(), len: data.bytes() };
        let there = ffi::RmaIov { addr: access.address, len: data.bytes(), key: access.key };
        let message = ffi::MsgRma {
            msg_iov: &raw const own,
            desc: null_mut(),
            iov_count: 1,
            addr: access.to as u64,
            rma_iov: &raw const there,
            rma_iov_count: 1,
            context: token.as_context(),
            data: 0,
        };
        // SAFETY: the endpoint is enabled and has writes. The data and the token's memory stay until the operation has
        // completed; the provider copies the rest.
        let code = unsafe {
            let writemsg = (*(*self.ep).rma).writemsg;
            writemsg(self.ep, &raw const message, ffi::DELIVERY_COMPLETE)
        };
        self.taken("fi_writemsg", code)
    }

    fn read(&self, access: &Access, room: &Writable, token: Token) -> Taken {
        let (to, start, bytes) = (access.to as u64, room.as_mut_ptr().cast(), room.bytes());
        let context = token.as_context();
        // SAFETY: as in `write`.
        let code = unsafe {
            let read = (*(*self.ep).rma).read;
            read(self.ep, start, bytes, null_mut(), to, access.address, access.key, context)
        };
        self.taken("fi_read", code)
    }

    fn update(
        &self,
        access: &Access,
        (element, op): (AtomicElement, c_int),
        operand: &Readable,
        token: Token,
    ) -> Taken {
        let count = operand.bytes() / element.bytes();
        let own = ffi::Ioc { addr: operand.as_ptr().cast(), count };
        let there = ffi::RmaIoc { addr: access.address, count, key: access.key };
        let message = ffi::MsgAtomic {
            msg_iov: &raw const own,
            desc: null_mut(),
            iov_count: 1,
            addr: access.to as u64,
            rma_iov: &raw const there,
            rma_iov_count: 1,
            datatype: element as c_int,
            op,
            context: token.as_context(),
            data: 0,
        };
        // SAFETY: as in `write`, for an endpoint with atomic operations.
        let code = unsafe {
            let writemsg = (*(*self.ep).atomic).writemsg;
            writemsg(self.ep, &raw const message, ffi::DELIVERY_COMPLETE)
        };
        self.taken("fi_atomicmsg", code)
    }

    fn fetch(
        &self,
        access: &Access,
        (element, op): (AtomicElement, c_int),
        (operand, fetched): (&Readable, &Writable),
        token: Token,
    ) -> Taken {
        let (own, result) = (operand.as_ptr().cast(), fetched.as_mut_ptr().cast());
        let count = operand.bytes() / element.bytes();
        let &Access { address, key, to, .. } = access;
        let (none, to, kind) = (null_mut(), to as u64, element as c_int);
        let context = token.as_context();
        // SAFETY: as in `update`.
        let code = unsafe {
            let readwrite = (*(*self.ep).atomic).readwrite;
            readwrite(self.ep, own, count, none, result, none, to, address, key, kind, op, context)
        };
        self.taken("fi_fetch_atomic", code)
    }

    fn swap(
        &self,
        access: &Access,
        element: AtomicElement,
        (compare, new, fetched): (&Readable, &Readable, &Writable),
        token: Token,
    ) -> Taken {
        let (own, result) = (new.as_ptr().cast(), fetched.as_mut_ptr().cast());
        let (expected, count) = (compare.as_ptr().cast(), new.bytes() / element.bytes());
        let &Access { address, key, to, .. } = access;
        let (none, to, kind) = (null_mut(), to as u64, element as c_int);
        // SAFETY: as in `update`.
        let code = unsafe {
            let compwrite = (*(*self.ep).atomic).compwrite;
            compwrite(
                self.ep,
                own,
                count,
                none,
                expected,
                none,
                result,
                none,
                to,
                address,
                key,
                kind,
                ffi::CSWAP,
                token.as_context(),
            )
        };
        self.taken("fi_compare_atomic", code)
    }
}
