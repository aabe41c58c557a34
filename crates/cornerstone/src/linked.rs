//! What a program file says of the libraries that it needs, and what the loader makes of it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};

/// Beginnings of the names of the run-time libraries of sanitizers, which must be loaded before all others.
const SANITIZERS: [&str; 6] =
    ["libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so", "libclang_rt."];

/// Returns the run-time libraries of the sanitizers that a program was compiled with.
pub(crate) fn sanitizers(program: &Path) -> Vec<PathBuf> {
    let is_sanitizer = |name: &str| SANITIZERS.iter().any(|start| name.starts_with(start));
    let path = find(program);
    let file = path.as_ref().and_then(|path| Linked::read(&fs::read(path).ok()?));
    match (path, file) {
        (Some(path), Some(file)) if file.needed.iter().any(|name| is_sanitizer(name)) => {
            let loaded = file.loaded(&path, &[]);
            loaded
                .into_iter()
                .filter(|(name, _)| is_sanitizer(name))
                .map(|(_, path)| path)
                .collect()
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
    pub(crate) fn loaded(
        &self,
        path: &Path,
        environment: &[(OsString, OsString)],
    ) -> Vec<(String, PathBuf)> {
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

    /// Reads the information, or returns `None` if it is no program file of this kind of system.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let (header, endian) = (file.elf_header(), file.endian());
        let segments = header.program_headers(endian, bytes).ok()?;
        let named = segments.iter().find_map(|one| one.interpreter(endian, bytes).ok()?);
        let loader = named.map(|name| PathBuf::from(OsStr::from_bytes(name)));
        Some(Linked { loader, needed: needed(&file, bytes).unwrap_or_default() })
    }
}

/// Returns the names of the libraries that a file needs.
fn needed(file: &ElfFile64<'_>, bytes: &[u8]) -> Option<Vec<String>> {
    let endian = file.endian();
    let sections = file.elf_header().sections(endian, bytes).ok()?;
    let (entries, strings) = sections.dynamic(endian, bytes).ok()??;
    let strings = sections.strings(endian, bytes, strings).ok()?;
    let names = entries.iter().filter(|one| one.tag(endian) == elf::DT_NEEDED);
    let name = |one| Some(String::from_utf8_lossy(Dyn::string(one, endian, strings).ok()?).into());
    Some(names.filter_map(name).collect())
}
