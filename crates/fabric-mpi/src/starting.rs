//! Start of an MPI. If MPI_Init ends the process instead of returning an error, a message is printed at exit.

use std::path::Path;
use std::sync::{Mutex, Once};

use crate::launcher;

/// Library whose MPI_Init is running.
static UNDER_WAY: Mutex<Option<String>> = Mutex::new(None);
static REGISTERED: Once = Once::new();

/// Guard that lives while MPI_Init runs. If the process ends meanwhile, the library and the launcher are printed: the
/// message of the MPI names neither.
pub(crate) struct Starting;

impl Starting {
    pub(crate) fn begin(library: &Path) -> Self {
        // SAFETY: the function may be called at any time, and exists as long as the program.
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
    let launcher = describe_launcher();
    // Standard error may be closed; this must not cause a panic.
    let _ = writeln!(
        std::io::stderr(),
        "cornerstone: error: '{library}' ended this process while it started under {launcher}\n  \
         hint: the launcher and the library must be of one MPI: --mpi-library names another library"
    );
}

/// Returns the launcher that started this process, for a message.
pub(crate) fn describe_launcher() -> String {
    launcher::ancestor()
        .map_or_else(|| "its launcher".into(), |program| format!("'{}'", program.display()))
}
