//! The choice of the provider: the named one, or the first suitable one that libfabric offers.

mod one_sided;

use std::ffi::{CStr, CString, c_char};
use std::ptr::{NonNull, null, null_mut};

use contract::{Error, Result};

use crate::ffi::{self, Info};
use crate::library::{Library, library};
use crate::tags::Tags;
pub(crate) use one_sided::{AtomicOrder, Remote};

/// The variable by which users restrict the providers of libfabric.
const VARIABLE: &str = "FI_PROVIDER";
/// The bytes that each message carries beside its tag.
const IMMEDIATE_BYTES: usize = 8;
/// The provider for shared memory. Messages overtake each other in the versions that were tried.
const UNORDERED: &str = "shm";

/// A provider and the entry of `fi_getinfo` that describes it.
pub(crate) struct Provider {
    /// The list with the entry, which owns its memory.
    all: Entries,
    info: NonNull<Info>,
    /// Its name in libfabric.
    pub(crate) name: String,
    /// The name of the device or network.
    pub(crate) domain: String,
    /// The longest single message, in bytes.
    pub(crate) message_bytes_max: usize,
    /// The most receives that may be posted at once, or 0 if the provider does not state it.
    pub(crate) receives_max: usize,
    pub(crate) tags: Tags,
    /// Its operations on memory of other ranks, if it has any.
    pub(crate) remote: Option<Remote>,
}

/// Checks that the library can be opened and that a provider can carry messages: the provider `wanted`, or any.
///
/// # Errors
/// The missing part, and the available providers.
pub fn check(wanted: Option<&str>) -> Result<()> {
    Provider::find(wanted).map(drop)
}

impl Provider {
    /// Returns the provider `wanted`, or else the first that the library offers and that keeps messages in order.
    ///
    /// # Errors
    /// If there is none; the error lists the available providers. If the provider does not keep messages in order, or
    /// lacks a property that this fabric requires.
    pub(crate) fn find(wanted: Option<&str>) -> Result<Self> {
        let library = library()?;
        let name = wanted.map(CString::new).transpose().map_err(|_| Error::Unsupported {
            fabric: "libfabric".into(),
            what: "have a provider whose name holds a zero byte".into(),
        })?;
        let hints = Hints::new(library, name)?;
        match query(library, hints.0.as_ptr()) {
            Ok(first) => Ok(Self::of(library, Entries { library, first })?.with_one_sided()),
            Err(code) => Err(none_found(library, wanted, code)),
        }
    }

    fn of(library: &'static Library, all: Entries) -> Result<Self> {
        let info = all.iter().find(|&entry| keeps_order(&provider_name(entry)));
        let info = info.ok_or_else(|| unordered(library))?;
        // SAFETY: an entry of fi_getinfo has all its parts; it lives as long as `all`.
        let (entry, endpoint, domain, fabric, receive) = unsafe {
            let entry = info.as_ref();
            (entry, &*entry.ep_attr, &*entry.domain_attr, &*entry.fabric_attr, &*entry.rx_attr)
        };
        let provider = Provider {
            all,
            info,
            name: text(fabric.prov_name),
            domain: text(domain.name),
            message_bytes_max: endpoint.max_msg_size,
            receives_max: receive.size,
            tags: Tags::of_format(endpoint.mem_tag_format),
            remote: None,
        };
        let lacks = |what: String| Err(provider.cannot(&what));
        if domain.cq_data_size < IMMEDIATE_BYTES {
            return lacks(format!("carry {IMMEDIATE_BYTES} bytes beside a tag"));
        }
        if !provider.tags.are_enough() {
            return lacks(format!(
                "carry the tags of this fabric, because its own have {} bits",
                provider.tags.bits
            ));
        }
        // The token of each operation has the memory that these two modes require.
        if entry.mode & !(ffi::CONTEXT | ffi::CONTEXT2) != 0 {
            return lacks("work without modes that this fabric does not support".into());
        }
        Ok(provider)
    }

    /// Returns the entry, with which objects of the provider are opened.
    pub(crate) fn info(&self) -> *mut Info {
        self.info.as_ptr()
    }

    pub(crate) fn library(&self) -> &'static Library {
        self.all.library
    }

    /// Returns the error of a call of libfabric that returned the error number `code`.
    #[cold]
    pub(crate) fn failed(&self, call: &str, code: i64) -> Error {
        Error::System {
            what: format!("{call} of libfabric over the provider '{}'", self.name),
            reason: self.all.library.describe(code),
        }
    }

    #[cold]
    pub(crate) fn cannot(&self, what: &str) -> Error {
        Error::Unsupported {
            fabric: format!("the libfabric provider '{}'", self.name),
            what: what.into(),
        }
    }
}

/// A list of entries that fi_getinfo returned. It is never empty.
struct Entries {
    library: &'static Library,
    first: NonNull<Info>,
}

impl Entries {
    fn iter(&self) -> impl Iterator<Item = NonNull<Info>> + '_ {
        std::iter::successors(Some(self.first), |entry| {
            // SAFETY: the list consists of whole entries and ends with null.
            NonNull::new(unsafe { entry.as_ref() }.next)
        })
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        // SAFETY: fi_getinfo returned the list, and nothing refers to it any more.
        unsafe { (self.library.functions.freeinfo)(self.first.as_ptr()) };
    }
}

/// Returns the name of the provider of an entry of [`Entries`].
fn provider_name(entry: NonNull<Info>) -> String {
    // SAFETY: an entry of fi_getinfo has all its parts.
    unsafe { text((*entry.as_ref().fabric_attr).prov_name) }
}

/// Returns whether the provider with these layers keeps messages in order, as far as known.
fn keeps_order(name: &str) -> bool {
    name.split(';').all(|layer| layer != UNORDERED)
}

#[cold]
fn unordered(library: &Library) -> Error {
    Error::Unsupported {
        fabric: format!("the provider '{UNORDERED}' of libfabric {}", library.version()),
        what: "keep messages in order, in the versions that were tried: for ranks of one host use --fabric local, \
               for several hosts --fabric cluster, or name another provider, as in ofi:tcp"
            .into(),
    }
}

/// The hints of fi_getinfo: an entry that the library has allocated.
struct Hints(NonNull<Info>, &'static Library);

impl Hints {
    fn new(library: &'static Library, provider: Option<CString>) -> Result<Self> {
        // SAFETY: for a null pointer the function allocates an empty entry.
        let info = unsafe { (library.functions.dupinfo)(null()) };
        let info = NonNull::new(info)
            .ok_or_else(|| Error::OutOfMemory { what: "hints for libfabric".into(), bytes: 0 })?;
        let hints = Hints(info, library);
        // SAFETY: the new entry has all its parts. freeinfo frees the name with the allocator of strdup.
        unsafe {
            let entry = &mut *info.as_ptr();
            entry.caps = ffi::TAGGED | ffi::SEND | ffi::RECV | ffi::DIRECTED_RECV;
            entry.mode = ffi::CONTEXT | ffi::CONTEXT2;
            (*entry.ep_attr).kind = ffi::EP_RDM;
            (*entry.tx_attr).msg_order = ffi::ORDER_SAS;
            (*entry.rx_attr).msg_order = ffi::ORDER_SAS;
            let domain = &mut *entry.domain_attr;
            domain.threading = ffi::THREAD_DOMAIN;
            domain.control_progress = ffi::PROGRESS_MANUAL;
            domain.data_progress = ffi::PROGRESS_MANUAL;
            domain.resource_mgmt = ffi::RM_ENABLED;
            domain.av_type = ffi::AV_TABLE;
            domain.mr_mode = ffi::MR_MODES;
            (*entry.fabric_attr).prov_name =
                provider.map_or(null_mut(), |name| libc::strdup(name.as_ptr()));
        }
        Ok(hints)
    }
}

impl Drop for Hints {
    fn drop(&mut self) {
        // SAFETY: dupinfo returned it.
        unsafe { (self.1.functions.freeinfo)(self.0.as_ptr()) };
    }
}

fn query(library: &Library, hints: *const Info) -> std::result::Result<NonNull<Info>, i64> {
    let mut info = null_mut();
    // SAFETY: the hints are null or a whole entry. Node and service may be null.
    let code = unsafe {
        (library.functions.getinfo)(ffi::API_VERSION, null(), null(), 0, hints, &mut info)
    };
    NonNull::new(info).filter(|_| code == 0).ok_or(i64::from(code))
}

/// Returns the names of all providers that the library offers for any purpose, each once.
fn names(library: &'static Library) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(first) = query(library, null()) else { return names };
    for name in (Entries { library, first }).iter().map(provider_name) {
        if keeps_order(&name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn none_found(library: &'static Library, wanted: Option<&str>, code: i64) -> Error {
    let names = names(library);
    let there = match names.is_empty() {
        true => "there are none".to_string(),
        false => format!("there are: {}", names.join(", ")),
    };
    let layers = |name: &String| name.split(';').any(|layer| Some(layer) == wanted);
    let reason = library.describe(code);
    let variable = std::env::var(VARIABLE).ok();
    let set = variable.map(|value| format!(" ({VARIABLE}={value})")).unwrap_or_default();
    let what = match wanted {
        Some(name) if names.iter().any(|one| one == name || layers(one)) => format!(
            "carry messages over the provider '{name}', which has no tagged messages between any \
             ranks{set}: {reason}; {there}"
        ),
        Some(name) => format!("find the provider '{name}'{set}: {reason}; {there}"),
        None => format!("find a provider with tagged messages{set}: {reason}; {there}"),
    };
    Error::Unsupported { fabric: format!("libfabric {}", library.version()), what }
}

fn text(words: *const c_char) -> String {
    match words.is_null() {
        true => String::new(),
        // SAFETY: names are C strings that live as long as their entry.
        false => unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned(),
    }
}
