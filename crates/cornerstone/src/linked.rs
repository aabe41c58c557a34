//! What a program file says of the libraries that it needs, and what the loader makes of it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, ReadCache, ReadRef};

/// Beginnings of the names of the run-time libraries of sanitizers, which must be loaded before all others.
const SANITIZERS: [&str; 6] =
    ["libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."];

/// Returns the run-time libraries of the sanitizers that a program was compiled with.
pub(crate) fn sanitizers(program: &Path) -> Vec<PathBuf> {
    loaded(program, &[], |name| SANITIZERS.iter().any(|start| name.starts_with(start)))
}

/// Returns those of the libraries that the loader would give a program that are wanted, if its file itself names one.
/// `environment` are variables of its ranks.
pub(crate) fn loaded(
    program: &Path,
    environment: &[(OsString, OsString)],
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<PathBuf> {
    let Some(path) = find(program) else { return Vec::new() };
    match Linked::read(&path) {
        Some(file) if file.needed.iter().any(|name| is_wanted(name)) => {
            let all = file.loaded(&path, environment).into_iter();
            all.filter(|(name, _)| is_wanted(name)).map(|(_, path)| path).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the file of a program, as PATH resolves it.
pub(crate) fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        return Some(program.to_path_buf());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Information about the loader in a program file.
pub(crate) struct Linked {
    /// The loader that starts it, if one does.
    pub(crate) loader: Option<PathBuf>,
    /// The libraries that it needs itself.
    pub(crate) needed: Vec<String>,
}

impl Linked {
    /// Returns the libraries that the loader would give the program `path` with these variables, by name. The loader
    /// lists them, and starts nothing.
    fn loaded(&self, path: &Path, environment: &[(OsString, OsString)]) -> Vec<(String, PathBuf)> {
        let Some(loader) = &self.loader else { return Vec::new() };
        let mut list = Command::new(loader);
        list.arg("--list").arg(path).envs(environment.iter().cloned()).stdin(Stdio::null());
        let Ok(listed) = list.output() else { return Vec::new() };
        let text = String::from_utf8_lossy(&listed.stdout);
        let entry = |line: &str| {
            let (name, place) = line.trim().split_once(" => ")?;
            Some((name.to_owned(), PathBuf::from(place.split(" (0x").next()?)))
        };
        text.lines().filter_map(entry).filter(|(_, path)| path.is_file()).collect()
    }

    /// Reads the information from the parts of a file that have it, or returns `None` if it is no program file of this kind of
    /// system.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let data = &ReadCache::new(File::open(path).ok()?);
        let header = FileHeader64::<Endianness>::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, data).ok()?;
        let named = segments.iter().find_map(|one| one.interpreter(endian, data).ok()?);
        let loader = named.map(|name| PathBuf::from(OsStr::from_bytes(name)));
        Some(Linked { loader, needed: needed(header, endian, data).unwrap_or_default() })
    }
}

/// Returns the names of the libraries that a file needs.
fn needed<'a>(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    data: impl ReadRef<'a>,
) -> Option<Vec<String>> {
    let sections = header.sections(endian, data).ok()?;
    let (entries, strings) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, strings).ok()?;
    let names = entries.iter().filter(|one| one.tag(endian) == elf::DT_NEEDED);
    let name = |one| Some(String::from_utf8_lossy(Dyn::string(one, endian, strings).ok()?).into());
    Some(names.filter_map(name).collect())
}
