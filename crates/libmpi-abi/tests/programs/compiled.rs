//! The C programs, compiled with the header and the library of this build.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// Returns a folder with the library under the name that the loader searches; it lasts as long as the folder of the
/// tests.
fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let built = std::env::current_exe().unwrap().with_file_name("libmpi_abi.so");
        assert!(built.exists(), "{} was not built", built.display());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        std::fs::create_dir_all(&folder).unwrap();
        for name in ["libmpi_abi.so.1", "libmpi_abi.so"] {
            let _ = std::fs::remove_file(folder.join(name));
            std::os::unix::fs::symlink(&built, folder.join(name)).unwrap();
        }
        folder
    })
}

/// Compiles a program once, because another test may be running it already.
pub(crate) fn compile(name: &str) -> PathBuf {
    static COMPILED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let folder = library_folder();
    let program = folder.join(name);
    let mut compiled = COMPILED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if compiled.contains(&program) {
        return program;
    }
    let ended = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-o"])
        .arg(&program)
        .arg(source.join(format!("{name}.c")))
        .arg(format!("-I{}/include", env!("CARGO_MANIFEST_DIR")))
        .arg(format!("-I{}", folder.display()))
        .arg(format!("-L{}", folder.display()))
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .args(["-lmpi_abi", "-pthread"])
        .output()
        .expect("the tests need a C compiler named cc");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    compiled.insert(program.clone());
    program
}
