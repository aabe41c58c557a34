//! Search, loading and identification of an MPI library.

mod functions;
mod handles;

use std::ffi::{CStr, OsStr, c_int, c_void};
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as Object, RTLD_GLOBAL, RTLD_NOW};

pub(crate) use functions::{General, Long, Short, UserFunction};
pub(crate) use handles::{
    Constants, ERROR_COUNT, ERROR_TRUNCATE, Handle, IN_PLACE, SUCCESS, Status,
};

/// File name of a library with the standard ABI, which every such MPI installs.
pub(crate) const ABI_NAME: &str = "libmpi_abi.so.1";
/// File name of Open MPI's library.
pub(crate) const OPEN_MPI_NAME: &str = "libmpi.so.40";
/// Version of the standard ABI to which the constants and signatures of this crate belong.
const ABI_VERSION: c_int = 1;

/// Error of loading a library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The loader could not open any library.
    #[error("no MPI library can be loaded:\n{}", .tried.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n"))]
    NotFound {
        /// Each file or name tried, with the loader's message.
        tried: Vec<String>,
    },
    /// The library is no MPI.
    #[error("'{}' is no MPI library: it has no MPI_Init", path.display())]
    NoMpi {
        /// Path of the file.
        path: PathBuf,
    },
    /// The MPI has an ABI of its own.
    #[error(
        "'{}' is an MPI with an ABI of its own, not the standard one of MPI 5; the same MPI may have {ABI_NAME} beside it (MPICH from 5.0 on, Intel MPI from 2021.16 on)",
        path.display()
    )]
    OwnAbi {
        /// Path of the file.
        path: PathBuf,
    },
    /// The version of the ABI is unknown.
    #[error(
        "'{}' has version {major}.{minor} of MPI's ABI; this build knows version {ABI_VERSION}",
        path.display()
    )]
    OtherAbi {
        /// Path of the file.
        path: PathBuf,
        /// Major version.
        major: i32,
        /// Minor version.
        minor: i32,
    },
    /// The library lacks functions that an MPI of this ABI has.
    #[error("'{}' is older than it should be: it lacks {}", path.display(), missing.join(", "))]
    Incomplete {
        /// Path of the file.
        path: PathBuf,
        /// Names of the missing functions.
        missing: Vec<String>,
    },
}

/// A loaded MPI: its functions and constants. It stays loaded until the process ends, because no MPI supports
/// unloading.
pub(crate) struct Library {
    /// Path of the file, as the loader resolved it.
    pub(crate) path: PathBuf,
    pub(crate) abi: &'static str,
    pub(crate) constants: Constants,
    pub(crate) general: General,
    pub(crate) short: Short,
    /// `None` if the library is an Open MPI without these functions.
    pub(crate) long: Option<Long>,
}

impl Library {
    /// Loads the library that `given` names, or else the first of `candidates` that the loader can open.
    pub(crate) fn load(given: Option<&Path>, candidates: &[PathBuf]) -> Result<Self, LoadError> {
        let mut tried = Vec::new();
        let wanted = given.map(|path| vec![path.to_path_buf()]);
        for candidate in wanted.as_deref().unwrap_or(candidates) {
            match open(candidate) {
                Ok(object) => return Library::identify(object, candidate),
                Err(reason) => tried.push(reason),
            }
        }
        Err(LoadError::NotFound { tried })
    }

    fn identify(object: Object, name: &Path) -> Result<Self, LoadError> {
        let find = |symbol: &str| address(&object, symbol);
        let Some(init) = find("MPI_Init") else {
            return Err(LoadError::NoMpi { path: name.to_path_buf() });
        };
        let path = file_of(init).unwrap_or_else(|| name.to_path_buf());
        let library = if find("MPI_Abi_get_version").is_some() {
            Library::standard(find, path)
        } else if find("ompi_mpi_comm_world").is_some() {
            Library::open_mpi(find, path)
        } else {
            Err(LoadError::OwnAbi { path })
        }?;
        // An MPI leaves threads, handlers and mappings behind, so its code must stay loaded.
        std::mem::forget(object);
        Ok(library)
    }

    fn standard(
        find: impl Fn(&str) -> Option<*mut c_void>,
        path: PathBuf,
    ) -> Result<Self, LoadError> {
        // Some MPIs have this function in their own ABI too; its result then shows that they lack the standard one.
        let Some((major, minor)) = abi_version(&find).filter(|&(major, _)| major >= 0) else {
            return Err(LoadError::OwnAbi { path });
        };
        if major != ABI_VERSION {
            return Err(LoadError::OtherAbi { path, major, minor });
        }
        // SAFETY: a library that reports this version of the ABI has its functions with the signatures of the standard.
        let long = unsafe { Long::find(&find) };
        let long = long.map_err(|missing| incomplete(&path, missing))?;
        Library::complete(find, path, "MPI 5 standard ABI 1.0", Constants::STANDARD, Some(long))
    }

    fn open_mpi(
        find: impl Fn(&str) -> Option<*mut c_void>,
        path: PathBuf,
    ) -> Result<Self, LoadError> {
        let constants = Constants::open_mpi(|symbol| {
            find(symbol).ok_or_else(|| LoadError::Incomplete {
                path: path.clone(),
                missing: vec![symbol.into()],
            })
        })?;
        // SAFETY: Open MPI's MPI_Count is a `long long` of 64 bits; if it has these functions, they take it.
        let long = unsafe { Long::find(&find) }.ok();
        Library::complete(find, path, "Open MPI's own ABI", constants, long)
    }

    fn complete(
        find: impl Fn(&str) -> Option<*mut c_void>,
        path: PathBuf,
        abi: &'static str,
        constants: Constants,
        long: Option<Long>,
    ) -> Result<Self, LoadError> {
        // SAFETY: the callers have determined which interface the library has. In both, handles are of pointer size and
        // integers are C's `int`, as in these signatures.
        let tables = unsafe { (General::find(&find), Short::find(&find)) };
        match tables {
            (Ok(general), Ok(short)) => Ok(Library { path, abi, constants, general, short, long }),
            (general, short) => {
                let missing = [general.err(), short.err()].into_iter().flatten().flatten();
                Err(incomplete(&path, missing.collect()))
            }
        }
    }

    /// Returns the status at `index` of an array that the library has written with its own element size.
    pub(crate) fn status_at(&self, statuses: &[Status], index: usize) -> Status {
        let offset = index * self.constants.status_bytes;
        assert!(offset + size_of::<Status>() <= size_of_val(statuses), "there is such a status");
        let mut status = Status::default();
        // SAFETY: `offset` and as many bytes as the library's statuses have are inside `statuses`; a status is plain
        // integers.
        unsafe {
            let from = statuses.as_ptr().cast::<u8>().add(offset);
            let to = (&raw mut status).cast::<u8>();
            std::ptr::copy_nonoverlapping(from, to, self.constants.status_bytes);
        }
        status
    }

    /// Returns the version of MPI that the library implements.
    pub(crate) fn version(&self) -> (i32, i32) {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are live; the function may be called at any time.
        unsafe { (self.general.get_version)(&mut major, &mut minor) };
        (major, minor)
    }

    /// Returns the first line of the library's version text.
    pub(crate) fn version_line(&self) -> String {
        // Each length exceeds the MAX_... constants of both interfaces.
        let mut room = [0u8; 16384];
        let mut length = 0;
        // SAFETY: the room is larger than MPI_MAX_LIBRARY_VERSION_STRING (8192, Open MPI 256); any time is allowed.
        unsafe { (self.general.get_library_version)(room.as_mut_ptr().cast(), &mut length) };
        let words = CStr::from_bytes_until_nul(&room).unwrap_or_default().to_string_lossy();
        let line = words.lines().next().unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn open(name: &Path) -> Result<Object, String> {
    // SAFETY: loading runs the library's initialisers. The user requests that by naming the library, or by installing
    // it where the loader searches for an MPI. RTLD_GLOBAL because MPIs load plug-ins that refer to them.
    let opened = unsafe { Object::open(Some(name.as_os_str()), RTLD_NOW | RTLD_GLOBAL) };
    opened.map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let words = source.unwrap_or_else(|| error.to_string());
        if words.contains(&*name.to_string_lossy()) {
            words
        } else {
            format!("{}: {words}", name.display())
        }
    })
}

fn address(object: &Object, symbol: &str) -> Option<*mut c_void> {
    // SAFETY: the symbol is only used as an address here; the callers check its further use.
    let found = unsafe { object.get::<*mut c_void>(symbol.as_bytes()) };
    found.ok().map(|symbol| symbol.into_raw()).filter(|address| !address.is_null())
}

fn abi_version(find: impl Fn(&str) -> Option<*mut c_void>) -> Option<(i32, i32)> {
    type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let found = find("MPI_Abi_get_version")?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the function of this name has had this signature since the ABI has existed, and may be called at any
    // time.
    let status = unsafe {
        let get = std::mem::transmute::<*mut c_void, GetVersion>(found);
        get(&mut major, &mut minor)
    };
    (status == SUCCESS).then_some((major, minor))
}

/// Returns the file that contains the code at `address`.
fn file_of(address: *mut c_void) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: all-zero is a valid Dl_info; dladdr only reads the address and fills the struct.
    let name = unsafe {
        let mut info = std::mem::zeroed::<libc::Dl_info>();
        if libc::dladdr(address, &mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr(info.dli_fname)
    };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

fn incomplete(path: &Path, missing: Vec<&'static str>) -> LoadError {
    let missing = missing.into_iter().map(String::from).collect();
    LoadError::Incomplete { path: path.to_path_buf(), missing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(given: &str) -> LoadError {
        match Library::load(Some(Path::new(given)), &[]) {
            Ok(library) => panic!("{} was loaded", library.path.display()),
            Err(error) => error,
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = refusal("/nowhere/libmpi_abi.so.1");
        assert!(error.to_string().contains("/nowhere/libmpi_abi.so.1"), "{error}");
    }

    #[test]
    fn a_library_that_is_no_mpi_is_refused() {
        let error = refusal("libm.so.6");
        assert_eq!(error, LoadError::NoMpi { path: "libm.so.6".into() });
        assert!(error.to_string().contains("no MPI_Init"));
    }

    #[test]
    fn without_a_name_each_failed_candidate_is_reported() {
        let candidates = [PathBuf::from("/nowhere/a.so"), PathBuf::from("/nowhere/b.so")];
        let Err(LoadError::NotFound { tried }) = Library::load(None, &candidates) else {
            panic!("something was loaded from nowhere");
        };
        assert_eq!(tried.len(), 2);
        assert!(tried[0].contains("/nowhere/a.so") && tried[1].contains("/nowhere/b.so"));
    }
}
