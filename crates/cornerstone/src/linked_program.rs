//! What a program file says to the loader: whether it is linked dynamically, and which libraries it needs.

use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{Dyn, ElfFile64, FileHeader, ProgramHeader};

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
    /// True if the loader starts it.
    pub(crate) has_loader: bool,
    pub(crate) needed: Vec<String>,
}

impl Linked {
    /// Reads the information, or returns `None` if it is no program file of this kind of system.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
        let (header, endian) = (file.elf_header(), file.endian());
        let segments = header.program_headers(endian, bytes).ok()?;
        let has_loader = segments.iter().any(|one| one.p_type(endian) == elf::PT_INTERP);
        Some(Linked { has_loader, needed: needed(&file, bytes).unwrap_or_default() })
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

/// Beginnings of the names of the run-time libraries of sanitizers, which must be loaded before all others.
const SANITIZERS: [&str; 3] = ["libasan.so", "libtsan.so", "libhwasan.so"];

/// Returns the library of the sanitizer with which a program was compiled, if it has one.
pub(crate) fn sanitizer(program: &Path) -> Option<String> {
    let needed = Linked::read(&std::fs::read(find(program)?).ok()?)?.needed;
    needed.into_iter().find(|name| SANITIZERS.iter().any(|start| name.starts_with(start)))
}
