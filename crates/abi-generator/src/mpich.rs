//! Generates the functions and values of the crate libmpich-abi, the library for programs of MPICH's ABI.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::bindings::{local, rust_type};
use super::data::{Abi, Function, Kind, Parameter};

const NOTE: &str = "// Made from abi/ and the data of the standard ABI; do not edit.\n";

/// Content of parameters.txt.
pub(crate) struct Parameters {
    /// Meanings by the name of a parameter, or by FUNCTION.NAME.
    meanings: BTreeMap<String, String>,
    /// Expressions of lengths by the same keys.
    lengths: BTreeMap<String, String>,
    /// Functions that are not generated.
    left_out: BTreeSet<String>,
}

/// Parses parameters.txt.
pub(crate) fn parse(text: &str, abi: &Abi) -> Result<Parameters, String> {
    let mut read = Parameters {
        meanings: BTreeMap::new(),
        lengths: BTreeMap::new(),
        left_out: BTreeSet::new(),
    };
    let mut head = "";
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("abi/parameters.txt, line {}: {what}: {line}", index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            head = line;
            continue;
        }
        let pair = line.split_once(": ");
        match (head, pair) {
            ("[meaning]", Some((meaning, names))) => {
                for name in names.split(' ') {
                    read.meanings.insert(name.into(), meaning.into());
                }
            }
            ("[length]", Some((name, words))) => {
                read.lengths.insert(name.into(), words.into());
            }
            ("[hand_written]", None)
                if abi.functions.iter().all(|function| function.name != line) =>
            {
                return Err(wrong("no such function"));
            }
            ("[hand_written]" | "[absent]", None) => {
                read.left_out.insert(line.into());
            }
            _ => return Err(wrong("not to be understood")),
        }
    }
    Ok(read)
}

/// Returns the pairs of values: those of `own` with those of the standard ABI.
pub(crate) fn values(own: &Abi, standard: &Abi) -> Result<String, String> {
    let mut out = format!("{NOTE}\nuse std::ffi::c_int;\n");
    for section in &own.sections {
        let (name, types) = match &section.kind {
            Kind::Handle(name) => (upper(name), "u32, u16"),
            Kind::Enumeration(name) => (upper(name), "c_int, c_int"),
            Kind::Pointer(_) => ("ADDRESSES".into(), "isize, isize"),
            _ => continue,
        };
        let _ = writeln!(out, "\npub(crate) const {name}: &[({types})] = &[");
        for (name, value) in &section.entries {
            let other = number(standard, name)
                .ok_or_else(|| format!("abi/mpich.txt: the standard ABI has no {name}"))?;
            let _ = writeln!(out, "    ({value}, {other}), // {name}");
        }
        out.push_str("];\n");
        if section.kind == Kind::Enumeration("KeyValue".into()) {
            out.push_str(
                "\n/// The same by name.\npub(crate) mod keys {\n    use std::ffi::c_int;\n\n",
            );
            let used = ["IO", "HOST", "LASTUSEDCODE", "WIN_CREATE_FLAVOR", "WIN_MODEL"];
            for (name, value) in section.entries.iter().filter(|(name, _)| used.contains(&&**name))
            {
                let _ = writeln!(out, "    pub(crate) const {name}: c_int = {value};");
            }
            out.push_str("}\n");
        }
    }
    Ok(out)
}

/// Returns the value of a constant of the standard ABI.
fn number<'a>(abi: &'a Abi, name: &str) -> Option<&'a str> {
    let mut entries = abi.sections.iter().flat_map(|section| &section.entries);
    entries.find(|entry| entry.0 == name).map(|entry| entry.1.as_str())
}

/// Converts `ArrayOrder` to `ARRAY_ORDER`.
fn upper(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

/// Imports of the functions.
const IMPORTS: &str = "\
use std::ffi::{c_char, c_double, c_int, c_void};

use crate::arguments::*;
use crate::convert::{Convert, Same};
use crate::handles::*;
use crate::lengths::*;
use crate::numbers::*;
use crate::standard::Entry;
use crate::status::Status;

";

/// Returns the exported functions.
pub(crate) fn functions(abi: &Abi, parameters: &Parameters) -> String {
    let mut out = format!("{NOTE}{IMPORTS}");
    for function in &abi.functions {
        let base = function.name.strip_suffix("_c").filter(|_| function.large);
        let base = base.unwrap_or(&function.name);
        if !parameters.left_out.contains(base) {
            out.push_str(&forward(function, base, parameters));
        }
    }
    out
}

fn forward(function: &Function, base: &str, parameters: &Parameters) -> String {
    let name = &function.name;
    let all = function.parameters.iter().filter(|one| !one.c_type.is_empty());
    let converted: Vec<(String, String, String)> = all
        .map(|one| {
            let (rust_type, argument) = convert(one, base, parameters);
            (local(one), rust_type, argument)
        })
        .collect();
    let list: Vec<String> = converted.iter().map(|one| format!("{}: {}", one.0, one.1)).collect();
    let arguments: String = converted.iter().map(|one| format!("{}, ", one.2)).collect();
    let result = match function.result.as_str() {
        "int" => "ErrorCode".into(),
        other => format!("Same<{}>", rust_type(other)),
    };
    format!(
        "forward!(MPI_{name} PMPI_{name} ({}) -> {result}, ({}));\n",
        list.join(", "),
        arguments.trim_end()
    )
}

/// Returns the type of a parameter in the exported function, and the expression that converts it to an argument.
fn convert(parameter: &Parameter, function: &str, parameters: &Parameters) -> (String, String) {
    let (name, c_type) = (local(parameter), parameter.c_type.as_str());
    let of = |map: &BTreeMap<String, String>| {
        let own = map.get(&format!("{function}.{}", parameter.name));
        own.or_else(|| map.get(&parameter.name)).cloned()
    };
    let length =
        || length(&of(&parameters.lengths).unwrap_or_else(|| panic!("{function}: {name}")));
    match c_type {
        "Status *" if name == "array_of_statuses" => {
            return ("*mut Status".into(), format!("many_statuses({name}, {})", length()));
        }
        "Status *" => return ("*mut Status".into(), format!("one_status({name})")),
        "const Status *" => return ("*const Status".into(), format!("one_status_in({name})")),
        "void *" | "const void *" if ["sendbuf", "recvbuf", "buffer"].contains(&&*name) => {
            return ("*const c_void".into(), format!("buffer_address({name})"));
        }
        "Offset" if function == "File_set_view" => {
            return ("i64".into(), format!("displacement({name})"));
        }
        _ => {}
    }
    let bare = c_type.trim_start_matches("const ");
    let base = bare.split([' ', '[', '*']).next().unwrap_or_default();
    let kind = if HANDLES.contains(&base) {
        base.into()
    } else if base == "int" {
        of(&parameters.meanings).filter(|meaning| meaning != "Plain").unwrap_or_default()
    } else {
        String::new()
    };
    let foreign = if kind == "File" { "usize" } else { "c_int" };
    match (kind.as_str(), &bare[base.len()..]) {
        // The standard lists some function types without the star of a pointer.
        ("", _) if bare.ends_with("_function") => ("*mut c_void".into(), format!("plain({name})")),
        ("", _) => (rust_type(c_type), format!("plain({name})")),
        (_, "") => (foreign.into(), format!("by_value::<{kind}>({name})")),
        (_, " *") => (format!("*mut {foreign}"), format!("at::<{kind}>({name})")),
        (_, "[]") if c_type.starts_with("const ") => {
            (format!("*const {foreign}"), format!("many_in::<{kind}>({name}, {})", length()))
        }
        (_, "[]") => (format!("*mut {foreign}"), format!("many::<{kind}>({name}, {})", length())),
        _ => (rust_type(c_type), format!("plain({name})")),
    }
}

const HANDLES: &[&str] = &[
    "Comm",
    "Datatype",
    "Errhandler",
    "File",
    "Group",
    "Info",
    "Message",
    "Op",
    "Request",
    "Session",
    "Win",
];

/// Returns the expression of a length: `count`, or `members comm` as a call.
fn length(words: &str) -> String {
    match words.split_once(' ') {
        None => words.into(),
        Some((function, arguments)) => format!("{function}({})", arguments.replace(' ', ", ")),
    }
}
