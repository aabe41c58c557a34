//! The open objects of a provider: its domain, one endpoint, and the completion queue.

mod remote;

use std::ffi::{c_int, c_void};
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::null_mut;

use contract::{Error, Readable, Result, Writable};

use crate::ffi::{self, Address, Av, Cq, CqErrEntry, CqTaggedEntry, Domain, Ep, Fabric, Fid};
use crate::provider::Provider;
use crate::slots::Token;
use remote::{Limits, Region};

/// The most entries of the queue that are read at once.
pub(crate) const BATCH: usize = 16;
/// The longest address of an endpoint, in bytes. Each rank sends the others this many.
pub(crate) const ADDRESS_BYTES: usize = 256;

/// True if the provider has accepted an operation. Otherwise it has no room for it at the moment.
pub(crate) type Taken = Result<bool>;

/// An operation that has completed.
#[derive(Clone, Copy)]
pub(crate) struct Completed {
    pub(crate) token: Token,
    pub(crate) bytes: usize,
    pub(crate) data: u64,
    pub(crate) tag: u64,
    /// The error number of the library, if it has failed.
    pub(crate) error: Option<c_int>,
}

/// The objects of one endpoint. Closing them ends every operation.
pub(crate) struct Objects {
    pub(crate) provider: Provider,
    fabric: *mut Fabric,
    domain: *mut Domain,
    cq: *mut Cq,
    av: *mut Av,
    ep: *mut Ep,
    /// The descriptor that becomes readable when an operation has completed, if the provider has one.
    descriptor: Option<RawFd>,
    /// Registered memory.
    regions: Vec<Region>,
    /// The last key that this rank has chosen.
    last_key: u64,
    limits: Limits,
}

impl Objects {
    /// Opens an endpoint of `provider`.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn open(provider: Provider) -> Result<Self> {
        let mut objects = Objects {
            provider,
            fabric: null_mut(),
            domain: null_mut(),
            cq: null_mut(),
            av: null_mut(),
            ep: null_mut(),
            descriptor: None,
            regions: Vec::new(),
            last_key: 0,
            limits: Limits::default(),
        };
        // After an error, `drop` closes what has been opened.
        objects.open_all()?;
        objects.limits = objects.find_limits();
        Ok(objects)
    }

    fn open_all(&mut self) -> Result<()> {
        let info = self.provider.info();
        let functions = &self.provider.library().functions;
        // SAFETY: the entry has all its parts and outlives the objects. Each object is opened by the table of an object
        // that is open.
        unsafe {
            let code = (functions.fabric)((*info).fabric_attr, &mut self.fabric, null_mut());
            self.done("fi_fabric", code)?;
            let fabric = &*(*self.fabric).ops;
            let code = (fabric.domain)(self.fabric, info, &mut self.domain, null_mut());
            self.done("fi_domain", code)?;
            self.open_queue()?;
            let domain = &*(*self.domain).ops;
            let mut attributes = ffi::AvAttr {
                kind: ffi::AV_TABLE,
                rx_ctx_bits: 0,
                count: 0,
                ep_per_node: 0,
                name: std::ptr::null(),
                map_addr: null_mut(),
                flags: 0,
            };
            let code = (domain.av_open)(self.domain, &mut attributes, &mut self.av, null_mut());
            self.done("fi_av_open", code)?;
            let code = (domain.endpoint)(self.domain, info, &mut self.ep, null_mut());
            self.done("fi_endpoint", code)?;
            let bind = (*(*self.ep).fid.ops).bind;
            let endpoint = self.ep.cast::<Fid>();
            let code = bind(endpoint, self.cq.cast(), ffi::SEND | ffi::RECV);
            self.done("fi_ep_bind of a completion queue", code)?;
            self.done("fi_ep_bind of an address vector", bind(endpoint, self.av.cast(), 0))?;
            let code = ((*(*self.ep).fid.ops).control)(endpoint, ffi::ENABLE, null_mut());
            self.done("fi_enable", code)
        }
    }

    /// Opens the queue with a descriptor to sleep on, or without one if the provider has none.
    unsafe fn open_queue(&mut self) -> Result<()> {
        let mut code = 0;
        for wait_obj in [ffi::WAIT_FD, ffi::WAIT_NONE] {
            let mut attributes = ffi::CqAttr {
                size: 0,
                flags: 0,
                format: ffi::CQ_FORMAT_TAGGED,
                wait_obj,
                signaling_vector: 0,
                wait_cond: 0,
                wait_set: null_mut(),
            };
            // SAFETY: the domain is open.
            unsafe {
                let open = (*(*self.domain).ops).cq_open;
                code = open(self.domain, &mut attributes, &mut self.cq, null_mut());
                if code != 0 {
                    continue;
                }
                let mut descriptor: c_int = -1;
                let control = (*(*self.cq).fid.ops).control;
                let out = (&raw mut descriptor).cast::<c_void>();
                if wait_obj == ffi::WAIT_FD && control(self.cq.cast(), ffi::GETWAIT, out) == 0 {
                    self.descriptor = Some(descriptor).filter(|&one| one >= 0);
                }
            }
            return Ok(());
        }
        self.done("fi_cq_open", code)
    }

    fn done(&self, call: &str, code: c_int) -> Result<()> {
        if code >= 0 { Ok(()) } else { Err(self.provider.failed(call, i64::from(code))) }
    }

    /// Returns this endpoint's address, padded with zeros.
    ///
    /// # Errors
    /// The provider's, or that it is too long.
    pub(crate) fn address(&self) -> Result<[u8; ADDRESS_BYTES]> {
        let mut address = [0; ADDRESS_BYTES];
        let mut bytes = ADDRESS_BYTES;
        // SAFETY: the endpoint is enabled, and there is room for `bytes` bytes.
        let code = unsafe {
            let getname = (*(*self.ep).cm).getname;
            getname(self.ep.cast(), address.as_mut_ptr().cast(), &mut bytes)
        };
        self.done("fi_getname", code)?;
        Ok(address)
    }

    /// Registers the addresses of all ranks, in their order. Ranks are used as addresses from then on.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn know(&mut self, addresses: &[[u8; ADDRESS_BYTES]]) -> Result<()> {
        for (rank, address) in addresses.iter().enumerate() {
            let mut inserted: Address = Address::MAX;
            // SAFETY: the vector is open, and the address was returned by `address` in some rank.
            let code = unsafe {
                let insert = (*(*self.av).ops).insert;
                insert(self.av, address.as_ptr().cast(), 1, &mut inserted, 0, null_mut())
            };
            self.done("fi_av_insert", code)?;
            if code != 1 || inserted != rank as Address {
                return Err(self.provider.cannot("number addresses from 0 on"));
            }
        }
        Ok(())
    }

    /// Sends `data` under `tag`, with the word `beside` beside the tag.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn send(
        &self,
        to: usize,
        tag: u64,
        data: Readable,
        immediate: u64,
        token: Token,
    ) -> Taken {
        let (start, bytes, to) = (data.as_ptr().cast(), data.bytes(), to as Address);
        let context = token.as_context();
        // SAFETY: the endpoint is enabled. The memory and the token's memory stay until the operation has completed.
        let code = unsafe {
            let send = (*(*self.ep).tagged).senddata;
            send(self.ep, start, bytes, null_mut(), immediate, to, tag, context)
        };
        self.taken("fi_tsenddata", code)
    }

    /// Starts to receive a message with `tag`, except for the ignored bits, into `room`. Without `from`, from any
    /// address.
    ///
    /// # Errors
    /// The provider's.
    pub(crate) fn receive(
        &self,
        from: Option<u32>,
        (tag, ignored): (u64, u64),
        room: &Writable,
        token: Token,
    ) -> Taken {
        let from = from.map_or(ffi::ADDRESS_UNSPECIFIED, Address::from);
        let (start, context) = (room.as_mut_ptr().cast(), token.as_context());
        // SAFETY: as in `send`.
        let code = unsafe {
            let receive = (*(*self.ep).tagged).recv;
            receive(self.ep, start, room.bytes(), null_mut(), from, tag, ignored, context)
        };
        self.taken("fi_trecv", code)
    }

    fn taken(&self, call: &str, code: isize) -> Taken {
        match code {
            0 => Ok(true),
            code if code == -ffi::EAGAIN => Ok(false),
            code => Err(self.provider.failed(call, code as i64)),
        }
    }

    /// Reads up to [`BATCH`] completed operations.
    ///
    /// # Errors
    /// The provider's, if the queue itself has failed.
    pub(crate) fn completed(&self, all: &mut Vec<Completed>) -> Result<()> {
        let none = CqTaggedEntry {
            op_context: null_mut(),
            flags: 0,
            len: 0,
            buf: null_mut(),
            data: 0,
            tag: 0,
        };
        let mut entries = [none; BATCH];
        // SAFETY: the queue is open, of this format, and there is room for this number of entries.
        let code = unsafe { ((*(*self.cq).ops).read)(self.cq, entries.as_mut_ptr(), BATCH) };
        match code {
            count if count >= 0 => {
                for entry in entries.iter().take(count as usize) {
                    all.extend(Token::of_context(entry.op_context).map(|token| Completed {
                        token,
                        bytes: entry.len,
                        data: entry.data,
                        tag: entry.tag,
                        error: None,
                    }));
                }
                Ok(())
            }
            code if code == -ffi::EAGAIN => Ok(()),
            code if code == -ffi::EAVAIL => self.failed_one(all),
            code => Err(self.provider.failed("fi_cq_read", code as i64)),
        }
    }

    /// Reads an operation that has failed.
    fn failed_one(&self, all: &mut Vec<Completed>) -> Result<()> {
        let mut entry = CqErrEntry {
            op_context: null_mut(),
            flags: 0,
            len: 0,
            buf: null_mut(),
            data: 0,
            tag: 0,
            olen: 0,
            err: 0,
            prov_errno: 0,
            err_data: null_mut(),
            err_data_size: 0,
            later: [0; 4],
        };
        // SAFETY: as in `completed`.
        let code = unsafe { ((*(*self.cq).ops).readerr)(self.cq, &mut entry, 0) };
        if code == -ffi::EAGAIN {
            return Ok(());
        }
        if code < 0 {
            return Err(self.provider.failed("fi_cq_readerr", code as i64));
        }
        match Token::of_context(entry.op_context) {
            Some(token) => {
                let CqErrEntry { len: bytes, data, tag, .. } = entry;
                let error = Some(entry.err);
                all.push(Completed { token, bytes, data, tag, error });
                Ok(())
            }
            None => Err(self.provider.failed("an operation", i64::from(entry.err))),
        }
    }

    /// Returns whether the queue has a descriptor to sleep on.
    pub(crate) fn can_sleep(&self) -> bool {
        self.descriptor.is_some()
    }

    /// Returns the descriptor to sleep on, or `None` if there is none or an operation has already completed.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        let descriptor = self.queue_descriptor()?;
        let mut queue = self.cq.cast::<Fid>();
        // SAFETY: fabric and queue are open.
        let is_quiet = unsafe {
            let trywait = (*(*self.fabric).ops).trywait;
            trywait(self.fabric, &mut queue, 1) == 0
        };
        is_quiet.then_some(descriptor)
    }

    /// Returns the same, also if an operation has already completed.
    pub(crate) fn queue_descriptor(&self) -> Option<BorrowedFd<'_>> {
        // SAFETY: the descriptor belongs to the queue, which outlives the result.
        self.descriptor.map(|descriptor| unsafe { BorrowedFd::borrow_raw(descriptor) })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Memory that is bound to the endpoint must be closed before it.
        self.regions.drain(..).for_each(Region::close);
        let all: [*mut Fid; 5] = [
            self.ep.cast(),
            self.av.cast(),
            self.cq.cast(),
            self.domain.cast(),
            self.fabric.cast(),
        ];
        for object in all.into_iter().filter(|object| !object.is_null()) {
            // SAFETY: it is open, all objects that were opened by it are closed, and it is not used again.
            unsafe { ((*(*object).ops).close)(object) };
        }
    }
}

/// Returns the error for a rank that uses another provider.
pub(crate) fn other_provider(own: &Provider, rank: usize, theirs: &str) -> Error {
    Error::Unsupported {
        fabric: format!("the libfabric provider '{}'", own.name),
        what: format!(
            "reach rank {rank}, whose provider is '{theirs}': name one for all, as in ofi:tcp"
        ),
    }
}
