//! Generates the Rust side: constants, and the exported functions.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::data::{Abi, Function, Kind, Parameter};

pub(super) const NOTE: &str =
    "// Made from abi/mpi5.txt, abi/beyond.txt and abi/served.txt; do not edit.\n";

/// Implementation of a function: a path in this crate, and further arguments.
pub(crate) struct Server {
    path: String,
    words: Vec<String>,
}

/// Parses served.txt: NAME, the path of the implementation, and further arguments, separated by blanks.
pub(crate) fn parse_served(text: &str, abi: &Abi) -> Result<BTreeMap<String, Server>, String> {
    let mut served = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace().map(String::from);
        let Some(name) = words.next().filter(|first| !first.starts_with('#')) else { continue };
        let wrong = |what: &str| Err(format!("abi/served.txt, line {}: {what}: {name}", index + 1));
        let Some(path) = words.next() else { return wrong("no path") };
        if !abi.functions.iter().any(|function| function.name == name) {
            return wrong("no such function");
        }
        if served.insert(name.clone(), Server { path, words: words.collect() }).is_some() {
            return wrong("served twice");
        }
    }
    Ok(served)
}

pub(crate) fn constants(abi: &Abi) -> String {
    let mut out = String::from(NOTE);
    let mut handles = String::new();
    for section in &abi.sections {
        let (rust_type, wrap) = match &section.kind {
            Kind::Handle(name) => {
                let _ = writeln!(handles, "handle!({name});");
                (name.clone(), true)
            }
            Kind::Int { .. } | Kind::Enumeration(_) | Kind::Number => ("c_int".into(), false),
            Kind::Pointer(_) => ("usize".into(), false),
            Kind::SameCallback => continue,
        };
        for (name, value) in &section.entries {
            if value == "-1" && rust_type == "usize" {
                continue;
            }
            let name = rust_name(name);
            let other = value.starts_with(char::is_alphabetic);
            let value =
                if wrap && !other { format!("{rust_type}({value})") } else { value.clone() };
            let _ = writeln!(out, "pub(crate) const {name}: {rust_type} = {value};");
        }
    }
    out.insert_str(NOTE.len(), "use std::ffi::c_int;\n\nuse super::handle;\n\n");
    out.push('\n');
    out.push_str(&handles);
    let _ = write!(
        out,
        "\n/// The names of the error classes.\npub(crate) const ERROR_CLASSES: &[(c_int, &str)] = &[\n"
    );
    for section in &abi.sections {
        for (name, _) in section.entries.iter().filter(|_| matches!(section.kind, Kind::Int { .. }))
        {
            let class = name.starts_with("ERR_") || name.starts_with("T_ERR_") || name == "SUCCESS";
            if class && name != "ERR_LASTCODE" {
                let _ = writeln!(out, "    ({name}, \"MPI_{name}\"),");
            }
        }
    }
    out.push_str("];\n\n/// The names of the predefined datatypes; of several for one, the first.\npub(crate) const TYPE_NAMES: &[(Datatype, &str)] = &[\n");
    for section in &abi.sections {
        for (name, value) in &section.entries {
            if section.kind == Kind::Handle("Datatype".into()) && value.starts_with("0x") {
                let _ = writeln!(out, "    ({}, \"MPI_{name}\"),", rust_name(name));
            }
        }
    }
    out.push_str("];\n");
    out
}

/// Returns the name in Rust. A name of MPI may begin with a digit, a name of Rust may not.
fn rust_name(name: &str) -> String {
    match name.strip_prefix('2') {
        Some(rest) => format!("TWO_{rest}"),
        None => name.into(),
    }
}

/// Imports of the exported functions.
const IMPORTS: &str = "\
use std::ffi::{c_char, c_double, c_int, c_void};

use mpi::{Direction, Members, Mode, Position, ScanKind};

use super::{call, export, filled};
use crate::abi::*;
use crate::arguments::{Blocks, Data, Operands, Partner, Target};
use crate::attribute::For;
use crate::errors::{self, On};
use crate::operation::UserFunction;
use crate::request::{self, How};
use crate::status::{self, Status};
use crate::{
    attribute, codes, collective, communicator, datatype, environment, failure, file, fortran, group,
    handle, handler, info, operation, packing, partitioned, point, runs, session, tools, topology,
    window,
};

";

pub(crate) fn functions(abi: &Abi, served: &BTreeMap<String, Server>) -> String {
    let mut out = format!("{NOTE}{IMPORTS}");
    for function in &abi.functions {
        let base = function.name.strip_suffix("_c").filter(|_| function.large);
        let server = served.get(base.unwrap_or(&function.name));
        out.push_str(&export(function, server));
    }
    out
}

fn export(function: &Function, server: Option<&Server>) -> String {
    let name = &function.name;
    let parameters = function.parameters.iter().filter(|one| !one.c_type.is_empty());
    let parameters: Vec<String> =
        parameters.map(|one| format!("{}: {}", local(one), rust_type(&one.c_type))).collect();
    let parameters = parameters.join(", ");
    let raw = !is_checked(function);
    let result = rust_type(&function.result);
    let head = if raw { "raw" } else { "checked" };
    let body = match server {
        Some(server) => call(function, server),
        None if name.starts_with("T_") => "Err(failure::no_tools())".into(),
        None => panic!("nothing serves MPI_{name}: abi/served.txt says what does"),
    };
    format!(
        "export!({head} MPI_{name} PMPI_{name} cornerstone_MPI_{name} ({parameters}) -> {result}, {}, {body});\n",
        raised_on(function)
    )
}

/// Returns the expression for the error handler to which a failure is reported.
fn raised_on(function: &Function) -> String {
    let named = |c_type: &str| function.parameters.iter().find(|one| one.c_type == c_type);
    let base = function.name.trim_end_matches("_c");
    match (named("Comm"), named("Win"), named("File")) {
        _ if ["File_open", "File_delete", "Register_datarep"].contains(&base) => {
            "On::File(FILE_NULL)".into()
        }
        _ if function.name == "File_close" => "On::FileAt(fh)".into(),
        (Some(comm), ..) => format!("On::Communicator({})", local(comm)),
        _ if function.name == "Win_free" => "On::WindowAt(win)".into(),
        (_, Some(win), _) => format!("On::Window({})", local(win)),
        _ if named("Session").is_some() => "On::Session(session)".into(),
        _ if function.name.starts_with("T_") => "On::Nobody".into(),
        (_, _, Some(file)) => format!("On::File({})", local(file)),
        _ if named("Errhandler").is_some() && is_checked(function) => {
            "On::Given(errhandler)".into()
        }
        _ => "On::Process".into(),
    }
}

fn call(function: &Function, server: &Server) -> String {
    let mut passed: Vec<&Parameter> =
        function.parameters.iter().filter(|one| !one.c_type.is_empty()).collect();
    let mut words: Vec<String> = server.words.clone();
    for word in &mut words {
        if word == "Nonblocking" || word == "Persistent" {
            let request = passed.pop().expect("a request is the last parameter");
            if passed.last().is_some_and(|last| last.c_type == "Info" && word == "Persistent") {
                passed.pop();
            }
            *word = format!("How::{word}({})", local(request));
        } else if word == "Blocking" {
            *word = "How::Blocking".into();
        }
    }
    let mut arguments =
        match ["point::", "collective::", "window::", "file::", "packing::", "partitioned::"]
            .iter()
            .any(|room| server.path.starts_with(room))
        {
            true => grouped(&passed),
            false => passed.into_iter().map(argument).collect(),
        };
    arguments.extend(words);
    let call = format!("{}({})", server.path, arguments.join(", "));
    let results = function.parameters.iter().filter(|one| is_result(one));
    let checks: String =
        results.map(|one| format!("filled({0}, \"{0}\")?; ", local(one))).collect();
    // A tool passes null for results that it does not need.
    if checks.is_empty() || !is_checked(function) || function.name.starts_with("T_") {
        return call;
    }
    format!("{{ {checks}{call} }}")
}

/// Returns the arguments of communication; those that together describe one object are one argument.
fn grouped(parameters: &[&Parameter]) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = parameters;
    while let Some(first) = rest.first() {
        let shapes: Vec<Shape> = rest.iter().take(5).map(|one| shape(one)).collect();
        let (group, length) = match shapes[..] {
            [
                Shape::Memory,
                Shape::Memory,
                Shape::Count | Shape::Array,
                Shape::Type,
                Shape::Operation,
            ] => ("Operands", 5),
            [Shape::Memory, Shape::Array, Shape::Array, Shape::Type | Shape::Array, ..] => {
                ("Blocks", 4)
            }
            [Shape::Memory, Shape::Count, Shape::Type, ..] => ("Data", 3),
            [Shape::Member, Shape::Displacement, Shape::Count, Shape::Type, ..] => ("Target", 4),
            [Shape::Rank, Shape::Tag, ..] => ("Partner", 2),
            _ => {
                arguments.push(argument(first));
                rest = &rest[1..];
                continue;
            }
        };
        let member = |(index, one): (usize, &&Parameter)| match (group, index) {
            // Blocks may have one or two datatypes.
            ("Blocks", 1 | 2) => format!("{}.into()", local(one)),
            _ => argument(one),
        };
        let members: Vec<String> = rest[..length].iter().enumerate().map(member).collect();
        arguments.push(format!("{group}::new({})", members.join(", ")));
        rest = &rest[length..];
    }
    arguments
}

/// Meaning of a parameter of communication.
#[derive(Clone, Copy)]
enum Shape {
    Memory,
    Count,
    Array,
    Type,
    Operation,
    Rank,
    Tag,
    Member,
    Displacement,
    Other,
}

fn shape(parameter: &Parameter) -> Shape {
    match (parameter.c_type.trim_start_matches("const "), parameter.name.as_str()) {
        ("void *", _) => Shape::Memory,
        ("int" | "Count", _) if parameter.varies => Shape::Count,
        (array, _) if array.ends_with("[]") => Shape::Array,
        ("Datatype", _) => Shape::Type,
        ("Op", _) => Shape::Operation,
        ("int", "dest" | "source") => Shape::Rank,
        ("int", "tag" | "sendtag" | "recvtag") => Shape::Tag,
        ("int", "target_rank") => Shape::Member,
        ("Aint", "target_disp") => Shape::Displacement,
        _ => Shape::Other,
    }
}

fn is_checked(function: &Function) -> bool {
    function.result == "int" && !function.name.ends_with("_toint")
}

/// Returns whether a parameter is the place of one result, which must not be null. Statuses may be ignored, strings of
/// length zero may be null, and the arguments of `main` may be absent.
fn is_result(parameter: &Parameter) -> bool {
    let Some(target) = parameter.c_type.strip_suffix('*').map(str::trim) else { return false };
    let may_be_null = ["void", "char", "Status"].contains(&target) || target.ends_with('*');
    let is_argument = parameter.name == "argc" || target.starts_with("const ");
    !may_be_null && !is_argument && !target.contains("_function")
}

fn argument(parameter: &Parameter) -> String {
    let name = local(parameter);
    match parameter.varies {
        true if parameter.c_type.starts_with("User_function ") => {
            format!("UserFunction::small({name})")
        }
        true if parameter.c_type.starts_with("User_function_c ") => {
            format!("UserFunction::large({name})")
        }
        true => format!("{name}.into()"),
        false => name,
    }
}

pub(crate) fn local(parameter: &Parameter) -> String {
    match parameter.name.as_str() {
        "type" => "datatype_".into(),
        name => name.into(),
    }
}

pub(crate) fn rust_type(c_type: &str) -> String {
    if let Some((element, size)) = c_type.split_once('[') {
        let element = match size.strip_prefix("][") {
            Some(size) => format!("[{}; {}]", rust_type(element), size.trim_end_matches(']')),
            None => rust_type(element.trim_start_matches("const ")),
        };
        let mutability = if c_type.starts_with("const ") { "const" } else { "mut" };
        return format!("*{mutability} {element}");
    }
    if let Some(target) = c_type.strip_suffix('*') {
        let constant = target.starts_with("const ");
        let mutability = if constant { "const" } else { "mut" };
        return format!("*{mutability} {}", rust_type(target.trim_start_matches("const ").trim()));
    }
    match c_type.trim_start_matches("const ") {
        "int" | "Fint" | "T_cb_safety" | "T_source_order" => "c_int".into(),
        // Its layout equals that of the C status.
        "F08_status" => "Status".into(),
        "char" => "c_char".into(),
        "void" => "c_void".into(),
        "double" => "c_double".into(),
        "Aint" | "Count" | "Offset" => "i64".into(),
        name if name.ends_with("_function") || name.ends_with("_function_c") => "c_void".into(),
        name if name.starts_with("T_") => "usize".into(),
        name => name.into(),
    }
}
