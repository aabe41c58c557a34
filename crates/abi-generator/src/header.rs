//! Generates mpi.h.

use std::fmt::Write;

use super::data::{Abi, Function, Kind, Section};
use super::removed;

const TOP: &str = "\
/* The MPI 5 standard ABI, as a header for C and C++. Made from abi/mpi5.txt and abi/beyond.txt; do not edit. */
#ifndef MPI_H_STANDARD_ABI
#define MPI_H_STANDARD_ABI

#include <stdint.h>

#ifdef __cplusplus
extern \"C\" {
#endif

/* An address or the difference of two, a place in a file, and what holds either. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* An INTEGER of Fortran, which handles and the words of a status are there, and a TYPE(MPI_Status). */
typedef int MPI_Fint;
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;
";

const BOTTOM: &str = "
#ifdef __cplusplus
}
#endif

#endif
";

/// Handle types of the tools interface, which have no special values.
const TOOL_HANDLES: [&str; 6] = [
    "T_enum",
    "T_cvar_handle",
    "T_pvar_handle",
    "T_pvar_session",
    "T_event_registration",
    "T_event_instance",
];

pub(crate) fn write(abi: &Abi) -> String {
    let mut out = String::from(TOP);
    for section in abi.sections.iter().filter(|one| matches!(one.kind, Kind::Handle(_))) {
        let Kind::Handle(name) = &section.kind else { continue };
        let _ = write!(out, "\ntypedef struct MPI_ABI_{name} *MPI_{name};\n");
        macros(&mut out, section, &format!("MPI_{name}"));
    }
    out.push('\n');
    for name in TOOL_HANDLES {
        let _ = writeln!(out, "typedef struct MPI_ABI_{name} *MPI_{name};");
    }
    for section in &abi.sections {
        match &section.kind {
            Kind::Int { title } => {
                let _ = write!(out, "\n/* {title} */\nenum {{");
                enumerators(&mut out, section);
                out.push_str("\n};\n");
            }
            Kind::Enumeration(name) => {
                let _ = write!(out, "\ntypedef enum MPI_{name} {{");
                enumerators(&mut out, section);
                let _ = write!(out, "\n}} MPI_{name};\n");
            }
            Kind::Number => {
                out.push('\n');
                for (name, value) in &section.entries {
                    let _ = writeln!(out, "#define MPI_{name} {value}");
                }
            }
            _ => {}
        }
    }
    out.push('\n');
    for callback in &abi.callbacks {
        let result = c_type(&callback.result);
        let _ = writeln!(out, "typedef {result} MPI_{}({});", callback.name, parameters(callback));
    }
    for section in abi.sections.iter().filter(|one| one.kind == Kind::SameCallback) {
        for (name, same) in &section.entries {
            let _ = writeln!(out, "typedef MPI_{same} MPI_{name};");
        }
    }
    for section in &abi.sections {
        if let Kind::Pointer(name) = &section.kind {
            out.push('\n');
            macros(&mut out, section, &c_type(name));
        }
    }
    for prefix in ["MPI_", "PMPI_"] {
        out.push('\n');
        for function in &abi.functions {
            let result = c_type(&function.result);
            let _ = writeln!(out, "{result} {prefix}{}({});", function.name, parameters(function));
        }
    }
    out.push_str(removed::NAMES);
    out.push_str(BOTTOM);
    out
}

fn macros(out: &mut String, section: &Section, c_type: &str) {
    for (name, value) in &section.entries {
        let _ = if value.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            writeln!(out, "#define MPI_{name} (({c_type}){value})")
        } else {
            writeln!(out, "#define MPI_{name} MPI_{value}")
        };
    }
}

fn enumerators(out: &mut String, section: &Section) {
    let lines: Vec<String> =
        section.entries.iter().map(|(name, value)| format!("\n    MPI_{name} = {value}")).collect();
    out.push_str(&lines.join(","));
}

/// Returns a type of the data with its prefix: `const Count[]` becomes `const MPI_Count[]`.
fn c_type(short: &str) -> String {
    let own = short.trim_start_matches("const ");
    let constant = if own.len() < short.len() { "const " } else { "" };
    let prefix = if own.starts_with(char::is_uppercase) { "MPI_" } else { "" };
    format!("{constant}{prefix}{own}")
}

fn parameters(function: &Function) -> String {
    if function.parameters.is_empty() {
        return "void".into();
    }
    let one = |parameter: &super::data::Parameter| {
        if parameter.c_type.is_empty() {
            return parameter.name.clone();
        }
        let whole = c_type(&parameter.c_type);
        match whole.split_once('[') {
            Some((element, size)) => format!("{element} {}[{size}", parameter.name),
            None => format!("{whole} {}", parameter.name),
        }
    };
    function.parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}
