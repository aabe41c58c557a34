//! The table that says of each option whether a results file may set it.

use fabric_sim::machine::find_built_in;

use crate::fabric_name::{LOCAL, simulated_machine};

/// Where a resumed run takes an option from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// The results file may set it: it describes what is measured, and how.
    File,
    /// The results file may set it to these values; others come from the command line.
    FileIf(fn(&str) -> bool),
    /// The command line alone sets it, and must do so again.
    CommandLine,
    /// The command line alone sets it. The run continues without it, with a note.
    Optional,
    /// It concerns one call of the command, and no later one.
    OneCall,
}

/// All options of the commands that a run can resume, by their names in the definition of the command line.
pub(super) const SOURCES: [(&str, Source); 66] = [
    // run
    ("names", Source::File),
    ("ranks", Source::File),
    ("sizes", Source::File),
    ("precision", Source::File),
    ("confidence", Source::File),
    ("time_limit", Source::File),
    ("launches", Source::File),
    ("spread", Source::File),
    ("turns", Source::File),
    ("algorithm", Source::File),
    ("only", Source::File),
    ("seed", Source::File),
    // Others load libraries, start launchers, open ports, or read a machine file.
    ("fabric", Source::FileIf(is_self_contained)),
    ("mpi_library", Source::CommandLine),
    // Hosts
    ("hosts", Source::CommandLine),
    ("host", Source::CommandLine),
    ("agent", Source::CommandLine),
    ("listen", Source::CommandLine),
    ("reconnect", Source::File),
    ("interfaces", Source::CommandLine),
    // Periods
    ("period", Source::File),
    ("guess", Source::File),
    ("duration", Source::File),
    ("instances", Source::File),
    ("miss_rate", Source::File),
    ("require", Source::File),
    ("width", Source::File),
    ("search_limit", Source::File),
    ("confirm", Source::File),
    ("searches", Source::File),
    ("hygiene", Source::FileIf(leaves_others_their_turn)),
    ("ablate", Source::File),
    ("explain", Source::File),
    ("load", Source::File),
    ("threshold", Source::File),
    ("limit", Source::File),
    ("timer_slack", Source::File),
    // It switches on a tracer of the kernel.
    ("osnoise", Source::CommandLine),
    // Traffic
    ("rule", Source::File),
    ("hits", Source::File),
    ("messages", Source::File),
    ("gap", Source::File),
    ("flush", Source::File),
    // Results
    ("out", Source::OneCall),
    ("resume", Source::OneCall),
    ("format", Source::OneCall),
    ("tables", Source::OneCall),
    ("explain_plan", Source::OneCall),
    // Simulated machines
    ("level", Source::File),
    ("ranks_per_processor", Source::File),
    ("check_results", Source::File),
    ("faults", Source::CommandLine),
    ("trace", Source::Optional),
    // pmp, corner-turn and pipeline. The results file contains the text of `file`, which is not opened again.
    ("file", Source::File),
    ("check", Source::OneCall),
    ("order", Source::File),
    ("matrix", Source::File),
    ("element", Source::File),
    ("messages_only", Source::File),
    ("in_step", Source::File),
    ("pattern_to", Source::OneCall),
    ("granularity", Source::File),
    ("timing", Source::File),
    ("doublings", Source::File),
    ("stages_alone", Source::File),
    ("copies", Source::File),
];

/// Returns whether a fabric loads no library, starts no other program, opens no port and reads no file.
fn is_self_contained(fabric: &str) -> bool {
    let is_built_in = |machine| find_built_in(machine).is_ok();
    fabric == LOCAL || simulated_machine(fabric).is_some_and(is_built_in)
}

/// Returns whether ranks with this isolation run at an ordinary priority.
fn leaves_others_their_turn(hygiene: &str) -> bool {
    !hygiene.split(',').any(|part| part.trim() == "fifo")
}
