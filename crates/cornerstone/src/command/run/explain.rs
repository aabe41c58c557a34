//! `run --explain-plan`: the plans and algorithms of collectives, without measuring them.

mod messages;

use std::ops::ControlFlow;
use std::process::ExitCode;

use benchmark::{Benchmark, EVERYTHING, Job, Launch};
use collectives::plan::{
    Boards, Capabilities, Collective, Owners, PlanRange, Plans, Topology, Transport,
};
use contract::FabricDescription;

use super::request::Request;
use crate::choice::{benchmark_name, makes_own, transport};
use crate::fabric::{FabricOptions, LaunchEnd, RankReport};
use crate::fabric_name::{CLUSTER, is_mpi};
use crate::failure::Failure;
use crate::interruption::interrupted;
use crate::output::{print, table};
use crate::wording::{ranks, size};

/// Starts the ranks of each launch, which end at once, and prints the plans of their collectives: of those that the
/// user named, or of all.
pub(super) fn execute(
    request: &Request,
    launches: &[Launch],
    selected: &[&Benchmark],
) -> Result<ExitCode, Failure> {
    let names = named(request, selected)?;
    let mut explained: Vec<Launch> = Vec::new();
    // One rank has no messages to exchange.
    for launch in launches.iter().filter(|launch| launch.ranks > 1 && launch.number == 0) {
        let idle =
            Launch { job: Job { steps: Vec::new(), ..launch.job.clone() }, ..launch.clone() };
        if !explained.contains(&idle) {
            let fabric = description(request, &idle)?;
            print(&explanation(&fabric, idle.ranks, &names))?;
            explained.push(idle);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the benchmarks that the user named, also by their group or their paper. Empty if nothing was named.
fn named(request: &Request, selected: &[&Benchmark]) -> Result<Vec<String>, Failure> {
    if request.names == [EVERYTHING] {
        return Ok(Vec::new());
    }
    let names: Vec<String> = selected.iter().map(|one| one.name.to_string()).collect();
    let is_collective = |name: &String| Collective::ALL.iter().any(|(_, of)| is_of(name, of));
    if !names.iter().any(is_collective) {
        return Err(Failure::usage("none of the named benchmarks is a collective")
            .hint("`cornerstone list collectives` names them; without a name all are explained"));
    }
    Ok(names)
}

/// Returns whether a benchmark is one of a collective: its name begins with that of the collective.
fn is_of(benchmark: &str, collective: &str) -> bool {
    benchmark.starts_with(&benchmark_name(collective))
}

/// Returns the description of the fabric by rank 0 of a launch.
fn description(request: &Request, launch: &Launch) -> Result<FabricDescription, Failure> {
    let options = FabricOptions {
        simulation: &request.simulation,
        mpi_library: request.mpi_library.as_deref(),
        hosts: request.hosts.as_ref(),
    };
    let mut found = None;
    let ended = request.fabric.run(launch, &options, &mut |report| {
        if let RankReport::Joined(fabric) = report {
            found = Some(fabric);
        }
        ControlFlow::Continue(())
    });
    ended.map_err(|end| match end {
        LaunchEnd::Interrupted(signal) => interrupted(signal),
        LaunchEnd::Failed(message) | LaunchEnd::Impossible(message) => Failure::failed(message),
        LaunchEnd::Stopped => Failure::failed("the run was stopped"),
    })?;
    found.ok_or_else(|| Failure::failed("rank 0 ended without describing the fabric"))
}

/// Returns the plans of programs of Cornerstone, those of MPI programs if the fabric carries them, and the algorithms
/// of collectives by messages.
fn explanation(fabric: &FabricDescription, ranks: usize, names: &[String]) -> String {
    let is_named =
        |collective: &str| names.is_empty() || names.iter().any(|name| is_of(name, collective));
    let by_messages = || messages::table_of(ranks, is_named);
    let Some(plans) = &fabric.plans else { return without_plans(fabric, ranks, by_messages()) };
    let uses_messages = |range: &PlanRange| {
        range.transport == Transport::Messages && is_named(range.collective.name())
    };
    let text = plan_tables(fabric, plans, is_named);
    match plans.ranges.iter().any(uses_messages) {
        true => text + &by_messages(),
        false => text,
    }
}

/// Returns the text for a fabric that has no plans.
fn without_plans(fabric: &FabricDescription, ranks: usize, by_messages: String) -> String {
    let name = &fabric.name;
    if is_mpi(name) {
        return format!(
            "Collectives over {name} are those of the MPI library, which does not say how it makes them.\n"
        );
    }
    let own = match makes_own(fabric) {
        true if name == CLUSTER => {
            " Where all ranks are on one host, its plans are used instead (--fabric local)."
        }
        true => {
            " The machine may make some collectives itself, without them (`cornerstone machines`)."
        }
        false => "",
    };
    format!(
        "{} over {name}: collectives use messages.{own} MPI programs on several hosts use two levels where \
         docs/collectives.md says so.\n\n{by_messages}",
        crate::wording::ranks(ranks)
    )
}

/// Returns the plans of programs of Cornerstone, and of MPI programs.
fn plan_tables(
    fabric: &FabricDescription,
    plans: &Plans,
    is_named: impl Fn(&str) -> bool,
) -> String {
    let text = one_table("programs of Cornerstone", plans, &is_named);
    let Some(shared) = fabric.shared_memory else { return text };
    // The data of a library's programs are not in arenas.
    let boards = Boards { most_bytes: usize::MAX, ..plans.capabilities.boards };
    let capabilities = Capabilities { boards, cma: shared.cma_is_fast };
    let of_library = Plans::of(plans.ranks, plans.topology, capabilities);
    let attach = match shared.cma_is_fast {
        true => "which use cross-memory attach",
        false => "without cross-memory attach",
    };
    text + &one_table(&format!("MPI programs, {attach}"), &of_library, is_named)
}

fn one_table(of: &str, plans: &Plans, is_named: impl Fn(&str) -> bool) -> String {
    let on = match plans.topology {
        Topology::OwnProcessors => "a processor each",
        Topology::Oversubscribed => "oversubscribed",
        Topology::OversubscribedBound => "oversubscribed, bound to processors",
    };
    let header = ["collective", "over", "combined by", "from", "pieces of"].map(String::from);
    let named = plans.ranges.iter().filter(|range| is_named(range.collective.name()));
    let rows: Vec<Vec<String>> = named.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let slots = plans.capabilities.boards.slots;
    let groups = plans.ranges.iter().find_map(|range| range.group_ranks);
    let arriving = groups.map_or(String::new(), |ranks| {
        format!(" Over boards members arrive in groups of {ranks}, the last of each for its group.")
    });
    format!(
        "{}, {on}; {of}\n\n{}\nLengths are of all data, or of a member's block. A rank writes {} pieces before it reads the first.{arriving}\n\n",
        ranks(plans.ranks),
        table(&header, 3, rows),
        slots / 2
    )
}

fn row(range: &PlanRange) -> Vec<String> {
    let name = match range.from_bytes {
        0 => range.collective.name(),
        _ => "",
    };
    let own_first = range.collective == Collective::AllToAll && range.own_block_first;
    let transport = match range.transport {
        Transport::Boards if own_first => "boards, own block first",
        other => transport(other),
    };
    let owners = match range.owners {
        Owners::Nobody => "",
        Owners::Receivers => "the receivers",
        Owners::Chunks => "members that claim chunks",
        Owners::Groups => "the last of each group",
        Owners::Members => "a share each member",
        Owners::Processors => "a share each processor",
    };
    let pieces = range.piece_bytes.map_or(String::new(), size);
    vec![name.into(), transport.into(), owners.into(), from(range), pieces]
}

/// Returns the length from which on a range applies. Many ranges are for lengths above a round one.
fn from(range: &PlanRange) -> String {
    let unit = range.collective.unit_bytes();
    match range.from_bytes.checked_sub(unit) {
        Some(below) if below > 0 && below.is_multiple_of(512) => format!("over {}", size(below)),
        _ => size(range.from_bytes),
    }
}

#[cfg(test)]
mod tests {
    use contract::SharedMemory;

    use super::*;
    use crate::choice::local_with_plans;

    #[test]
    fn plans_of_programs_and_of_libraries_are_told() {
        let described = FabricDescription {
            shared_memory: Some(SharedMemory {
                one_copy_from_bytes: None,
                both_copy_from_bytes: 1 << 19,
                cma_is_fast: true,
                board_line_bytes: Some(48),
            }),
            ..local_with_plans(2)
        };
        let text = explanation(&described, 2, &[]);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        for line in [
            "2 ranks, a processor each; programs of Cornerstone",
            "boards a share each member 96 KiB 72 KiB",
            "messages over 1 MiB",
            "boards over 512 B 64 KiB",
            "2 ranks, a processor each; MPI programs, which use cross-memory attach",
            "from memory to memory, half each 16 KiB",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} is not in\n{text}");
        }
        let none = FabricDescription { name: "tcp".into(), ..FabricDescription::default() };
        let text = explanation(&none, 8, &["broadcast".into()]);
        for words in ["8 ranks over tcp: collectives use messages", "scatter-bruck", "16 KiB"] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
        assert!(!text.contains("allreduce"), "{text}");
        let library = FabricDescription { name: "mpi:mpich".into(), ..Default::default() };
        assert!(explanation(&library, 2, &[]).contains("those of the MPI library"));
    }

    #[test]
    fn only_the_named_collective_is_explained_also_where_it_uses_messages() {
        let text = explanation(&local_with_plans(4), 4, &["allreduce".into()]);
        // Over 1 MiB a program of Cornerstone uses messages, for which the algorithm is Rabenseifner's.
        assert!(text.contains("over 1 MiB") && text.contains("rabenseifner"), "{text}");
        assert!(!text.contains("scatter"), "{text}");
    }
}
