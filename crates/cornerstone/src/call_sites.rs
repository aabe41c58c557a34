//! Places in programs: the function and the source line of a call, from debug information.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use addr2line::Loader;
use addr2line::gimli::{self, DwLang};
use call_stack::{ELF_HEAD_BYTES, is_fixed_program};
use cpp_demangle::{DemangleOptions, Symbol};
use launcher::CallSite;
use profile::layout::LIBRARY;

use crate::source_place::SourcePlace;

/// Beginning of the file name of the C library.
const SYSTEM: &str = "libc.so";
/// File name of our library for programs of MPICH, which calls that of the standard ABI.
const MPICH: &str = "libmpi.so.12";

/// Finds the names of places. Each file is read once.
#[derive(Default)]
pub(crate) struct CallSites {
    objects: HashMap<PathBuf, Option<Object>>,
}

struct Object {
    loader: Loader,
    /// True if addresses in the process are those in the file.
    is_fixed: bool,
}

/// Words in which places have been named.
pub(crate) struct NamedText {
    pub(crate) words: String,
    /// The places, each with the number of bytes of the words before it.
    pub(crate) places: Vec<(usize, SourcePlace)>,
}

impl CallSites {
    /// Returns the innermost caller with a known line, or else the innermost with a known function, or else the file of the
    /// first caller.
    pub(crate) fn name(&mut self, callers: &[CallSite]) -> Option<SourcePlace> {
        // Start-up code and observing libraries are skipped, even if only they have debug information.
        let not_own = |site: &&CallSite| {
            let name = file_name(&site.object);
            !name.starts_with(SYSTEM) && ![LIBRARY, MPICH].contains(&&*name)
        };
        let own = callers.iter().filter(not_own);
        let mut places: Vec<SourcePlace> = own.map(|site| self.place(site)).collect();
        let with_line = places.iter().position(|place| place.line.is_some());
        let with_function = || places.iter().position(|place| place.function.is_some());
        match with_line.or_else(with_function) {
            Some(index) => Some(places.swap_remove(index)),
            None => {
                let site = callers.first()?;
                let offset = site.address - site.base;
                let code = Some(format!("{} at {offset:#x}", file_name(&site.object)));
                Some(SourcePlace { code, ..SourcePlace::default() })
            }
        }
    }

    /// Replaces the places that a rank has written as addresses in files (`call_stack::place_of_call`) by functions and
    /// lines.
    pub(crate) fn name_places(&mut self, text: &str) -> NamedText {
        let (mut words, mut rest, mut places) = (String::new(), text, Vec::new());
        while let Some((before, after)) = rest.split_once(" (/") {
            words += before;
            rest = after;
            let place = after.split_once(')').and_then(|(places, rest)| {
                let sites: Option<Vec<_>> = format!("/{places}").split(" < ").map(site).collect();
                Some((self.name(&sites?)?, rest))
            });
            match place {
                Some((place, after)) => {
                    let before = words.len();
                    words += &format!(" ({place})");
                    places.push((before, place));
                    rest = after;
                }
                None => words += " (/",
            }
        }
        NamedText { words: words + rest, places }
    }

    fn place(&mut self, site: &CallSite) -> SourcePlace {
        let object = self.objects.entry(site.object.clone()).or_insert_with_key(|path| open(path));
        object.as_ref().map(|object| find(object, site)).unwrap_or_default()
    }
}

/// Reads an address in a file. A program that is not loaded anywhere else has its own addresses.
fn site(text: &str) -> Option<CallSite> {
    let (path, address) = text.rsplit_once("+0x")?;
    Some(CallSite { object: path.into(), address: u64::from_str_radix(address, 16).ok()?, base: 0 })
}

fn open(path: &Path) -> Option<Object> {
    let mut head = [0; ELF_HEAD_BYTES];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    Some(Object { loader: Loader::new(path).ok()?, is_fixed: is_fixed_program(&head) })
}

fn find(object: &Object, site: &CallSite) -> SourcePlace {
    let address = if object.is_fixed { site.address } else { site.address - site.base };
    let mut place = SourcePlace::default();
    if let Ok(mut frames) = object.loader.find_frames(address)
        && let Ok(Some(frame)) = frames.next()
    {
        place.function = frame
            .function
            .and_then(|name| Some(source_name(&name.raw_name().ok()?, name.language)));
        place.line = frame.location.and_then(|at| Some((at.file?.to_owned(), at.line?)));
    }
    if place.function.is_none() {
        place.function = object.loader.find_symbol(address).map(|symbol| source_name(symbol, None));
    }
    place
}

/// Returns the name that a function has in its source, without parameters and result: these are long where templates
/// are used, and the line beside the name distinguishes overloaded functions.
fn source_name(symbol: &str, language: Option<DwLang>) -> String {
    addr2line::demangle(symbol, gimli::DW_LANG_Rust)
        .or_else(|| cpp_name(symbol))
        .or_else(|| fortran_name(symbol, language))
        .unwrap_or_else(|| symbol.to_owned())
}

fn cpp_name(symbol: &str) -> Option<String> {
    let options = DemangleOptions::new().no_params().no_return_type();
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// Returns the name of a procedure in Fortran. gfortran names a procedure of a module `__MODULE_MOD_PROCEDURE`, and
/// compilers append an underscore to the names of others.
fn fortran_name(symbol: &str, language: Option<DwLang>) -> Option<String> {
    let of_module = symbol.strip_prefix("__").and_then(|name| name.split_once("_MOD_"));
    if let Some((module, procedure)) = of_module {
        return Some(format!("{module}::{procedure}"));
    }
    let is_fortran = matches!(
        language?,
        gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
    );
    let name = symbol.strip_suffix('_').filter(|_| is_fortran)?;
    (!name.ends_with('_')).then(|| name.to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(object: &str) -> CallSite {
        CallSite { object: object.into(), address: 0x5012, base: 0x5000 }
    }

    #[test]
    fn functions_have_the_names_of_their_source_without_parameters() {
        let fortran = Some(gimli::DW_LANG_Fortran08);
        let cases = [
            ("main", None, "main"),
            // ddot(int, double const*)
            ("_Z4ddotiPKd", Some(gimli::DW_LANG_C_plus_plus_14), "ddot"),
            // void Mesh::scatter<double>(double*)
            ("_ZN4Mesh7scatterIdEEvPT_", None, "Mesh::scatter<double>"),
            ("_ZN4halo8exchange17h0123456789abcdefE", None, "halo::exchange"),
            ("__tea_module_MOD_tea_exchange", fortran, "tea_module::tea_exchange"),
            ("driver_", fortran, "driver"),
            ("MAIN__", fortran, "MAIN__"),
            // A name of C may end so, too.
            ("driver_", Some(gimli::DW_LANG_C99), "driver_"),
            ("driver_", None, "driver_"),
        ];
        for (symbol, language, name) in cases {
            assert_eq!(source_name(symbol, language), name);
        }
    }

    #[test]
    fn a_place_in_a_file_that_says_nothing_is_the_file_and_an_offset() {
        let lab = tempfile::tempdir().unwrap();
        let path = lab.path().join("program");
        std::fs::write(&path, "this is no program, but long enough for a head").unwrap();
        let mut sites = CallSites::default();
        let program = site(path.to_str().unwrap());
        assert_eq!(sites.name(&[program]).unwrap().to_string(), "program at 0x12");
        assert_eq!(sites.name(&[site("/not/there.so")]).unwrap().to_string(), "there.so at 0x12");
        assert_eq!(sites.name(&[]), None);
    }
}
