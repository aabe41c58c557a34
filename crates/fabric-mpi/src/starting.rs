//! The start of an MPI, which may end the process without coming back: what is said then.

use std::path::Path;
use std::sync::{Mutex, Once};

use crate::launcher;

/// The library that is starting.
static UNDER_WAY: Mutex<Option<String>> = Mutex::new(None);
static REGISTERED: Once = Once::new();

/// An MPI on its way through MPI_Init. If the process ends meanwhile, it says which library ended it, and under which launcher:
/// the MPI's own words name neither.
pub(crate) struct Starting;

impl Starting {
    pub(crate) fn begin(library: &Path) -> Self {
        // SAFETY: the function may be called at any time, and is there as long as the program.
        REGISTERED.call_once(|| unsafe {
            libc::atexit(explain);
        });
        set(Some(library.display().to_string()));
        Starting
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        set(None);
    }
}

fn set(library: Option<String>) {
    *UNDER_WAY.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = library;
}

extern "C" fn explain() {
    use std::io::Write;
    let Ok(Some(library)) = UNDER_WAY.try_lock().map(|library| library.clone()) else { return };
    let launcher = launcher_words();
    // A closed standard error must not turn the end into a panic.
    let _ = writeln!(
        std::io::stderr(),
        "cornerstone: error: '{library}' ended this process while it started under {launcher}\n  \
         hint: the launcher and the library must be of one MPI: --mpi-library names another library"
    );
}

/// The launcher that started this process, in words.
pub(crate) fn launcher_words() -> String {
    launcher::ancestor()
        .map_or_else(|| "its launcher".into(), |program| format!("'{}'", program.display()))
}
