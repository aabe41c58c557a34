//! Generates the exports of the preloaded library, and the list of functions that it observes.

use std::fmt::Write;

use super::bindings::{NOTE, local, rust_type};
use super::data::{Abi, Function};

/// Names of status parameters. A function has at most one.
const STATUSES: [&str; 2] = ["status", "array_of_statuses"];

/// A line of observed.txt.
pub(crate) struct Observed {
    name: String,
    class: String,
    call: String,
}

/// Parses observed.txt: NAME, the class of the function, and the call that records it.
pub(crate) fn parse(text: &str, abi: &Abi) -> Result<Vec<Observed>, String> {
    let mut all: Vec<Observed> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| format!("observed.txt, line {}: {what}: {line}", index + 1);
        let mut words = line.splitn(3, ' ').map(String::from);
        let (Some(name), Some(class), Some(call)) = (words.next(), words.next(), words.next())
        else {
            return Err(wrong("not a name, a class and a call"));
        };
        if !abi.functions.iter().any(|function| function.name == name) {
            return Err(wrong("no such function"));
        }
        if all.iter().any(|one| one.name == name) {
            return Err(wrong("observed twice"));
        }
        all.push(Observed { name, class, call });
    }
    Ok(all)
}

/// Returns the exported functions.
pub(crate) fn entries(abi: &Abi, observed: &[Observed]) -> String {
    let mut out = format!(
        "{NOTE}\
         use std::ffi::{{c_char, c_int, c_void}};\n\n\
         use super::entry;\nuse crate::abi::*;\nuse crate::data::{{At, Data, Root, To}};\nuse crate::observe;\nuse profile::Synchronisation;\n\n"
    );
    for (number, one) in observed.iter().enumerate() {
        for function in &abi.functions {
            let base = function.name.strip_suffix("_c").filter(|_| function.large);
            if base.unwrap_or(&function.name) == one.name {
                out.push_str(&entry(number + 1, function, one));
            }
        }
    }
    out
}

fn entry(number: usize, function: &Function, observed: &Observed) -> String {
    let name = &function.name;
    let parameters: Vec<String> = function
        .parameters
        .iter()
        .map(|one| format!("{}: {}", local(one), rust_type(&one.c_type)))
        .collect();
    let names: Vec<String> = function.parameters.iter().map(local).collect();
    // If the call inspects the status, it names the one that the library must fill in.
    let is_looked_at = |name: &str| observed.call.contains(&format!(" {name})"));
    let status = names.iter().find(|name| STATUSES.contains(&name.as_str()) && is_looked_at(name));
    let status = status.map_or("", String::as_str);
    let real = format!("|{status}| real({})", names.join(", "));
    let (server, arguments) = observed.call.split_once('(').unwrap_or((&observed.call, ")"));
    let comma = if arguments == ")" { "" } else { ", " };
    format!(
        "entry!({number}, MPI_{name}, c\"MPI_{name}\", PMPI_{name}, c\"PMPI_{name}\", c\"cornerstone_MPI_{name}\", ({}), |call, real| observe::{server}(call, {real}{comma}{arguments});\n",
        parameters.join(", ")
    )
}

/// Returns the functions by number, with their classes.
pub(crate) fn functions(observed: &[Observed]) -> String {
    let mut out = String::from(
        "// Made from crates/libprofile/observed.txt; do not edit.\n\nuse super::Class;\n\n\
         /// The functions that are looked at: their names, and what they are. A number is an index and one more.\n\
         pub(super) const FUNCTIONS: &[(&str, Class)] = &[\n",
    );
    for Observed { name, class, .. } in observed {
        let class: String = class
            .split('-')
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .collect::<Vec<_>>()
            .concat();
        let _ = writeln!(out, "    (\"MPI_{name}\", Class::{class}),");
    }
    out.push_str("];\n");
    out
}
