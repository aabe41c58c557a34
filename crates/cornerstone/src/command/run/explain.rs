//! `run --explain-plan`: which way collectives go, without measuring them.

use std::ops::ControlFlow;
use std::process::ExitCode;

use benchmark::{Job, Launch};
use collectives::plan::{
    Boards, Capabilities, Collective, Owners, PlanRange, Plans, Topology, Transport,
};
use contract::record::FabricDescription;

use super::request::Request;
use crate::fabric::{FabricOptions, LaunchEnd, RankReport};
use crate::failure::Failure;
use crate::interruption::interrupted;
use crate::output::{print, table};
use crate::wording::{ranks, size};

/// Starts the ranks of each launch, which end at once, and prints the plans of their collectives.
pub(super) fn execute(request: &Request, launches: &[Launch]) -> Result<ExitCode, Failure> {
    let mut explained: Vec<Launch> = Vec::new();
    // One rank has nothing to exchange.
    for launch in launches.iter().filter(|launch| launch.ranks > 1 && launch.number == 0) {
        let idle =
            Launch { job: Job { steps: Vec::new(), ..launch.job.clone() }, ..launch.clone() };
        if !explained.contains(&idle) {
            print(&explanation(&description(request, &idle)?))?;
            explained.push(idle);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The description of the fabric by rank 0 of a launch.
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
        LaunchEnd::Failed(message) => Failure::failed(message),
        LaunchEnd::Stopped => Failure::failed("the run was stopped"),
    })?;
    found.ok_or_else(|| Failure::failed("rank 0 ended without describing the fabric"))
}

/// The plans of programs of Cornerstone, and of MPI programs on the same fabric, where it carries them.
fn explanation(fabric: &FabricDescription) -> String {
    let Some(plans) = &fabric.plans else {
        let name = &fabric.name;
        return format!(
            "Collectives over {name} have no plans: they go by messages or the library's way.\n"
        );
    };
    let text = one_table("programs of Cornerstone", plans);
    let Some(shared) = fabric.shared_memory else { return text };
    // A library's data do not lie in arenas.
    let boards = Boards { most_bytes: usize::MAX, ..plans.capabilities.boards };
    let capabilities = Capabilities { boards, cma: shared.cma_is_fast };
    let of_library = Plans::of(plans.ranks, plans.topology, capabilities);
    let attach = match shared.cma_is_fast {
        true => "cross-memory attach is the fast way",
        false => "cross-memory attach is not used",
    };
    text + &one_table(&format!("MPI programs, {attach}"), &of_library)
}

fn one_table(of: &str, plans: &Plans) -> String {
    let on = match plans.topology {
        Topology::OwnProcessors => "a processor each",
        Topology::Oversubscribed => "oversubscribed",
        Topology::OversubscribedBound => "oversubscribed, bound to processors",
    };
    let header = ["collective", "over", "combined by", "from", "pieces of"].map(String::from);
    let rows = plans.ranges.iter().map(row).collect();
    let slots = plans.capabilities.boards.slots;
    let groups = plans.ranges.iter().find_map(|range| range.group_ranks);
    let arriving = groups.map_or(String::new(), |ranks| {
        format!(" Over boards members arrive in groups of {ranks}, the last of each for its group.")
    });
    format!(
        "{}, {on}; {of}\n\n{}\nLengths are of all data, or of a member's block. A rank puts {} pieces before it takes the first.{arriving}\n\n",
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
    let way = match range.transport {
        Transport::Messages => "messages",
        Transport::Boards if own_first => "boards, own block first",
        Transport::Boards => "boards",
        Transport::BoardByBoard => "boards, one after the other",
        Transport::Memory => "from memory to memory",
        Transport::MemoryInHalves => "from memory to memory, half each",
    };
    let owners = match range.owners {
        Owners::Nobody => "",
        Owners::Receivers => "whoever gets it",
        Owners::Chunks => "chunks, claimed",
        Owners::Groups => "the last of each group",
        Owners::Members => "a share each member",
        Owners::Processors => "a share each processor",
    };
    let pieces = range.piece_bytes.map_or(String::new(), size);
    vec![name.into(), way.into(), owners.into(), from(range), pieces]
}

/// From which length on. Many ways are for lengths above a round one.
fn from(range: &PlanRange) -> String {
    let unit = range.collective.unit_bytes();
    match range.from_bytes.checked_sub(unit) {
        Some(below) if below > 0 && below.is_multiple_of(512) => format!("over {}", size(below)),
        _ => size(range.from_bytes),
    }
}

#[cfg(test)]
mod tests {
    use contract::record::SharedMemory;

    use super::*;

    #[test]
    fn plans_of_programs_and_of_libraries_are_told() {
        let boards = Boards {
            most_ranks: 32,
            most_bytes: 1 << 20,
            slots: 16,
            slot_bytes: 72 << 10,
            piece_bytes: 32 << 10,
        };
        let capabilities = Capabilities { boards, cma: false };
        let described = FabricDescription {
            name: "local".into(),
            plans: Some(Plans::of(2, Topology::OwnProcessors, capabilities)),
            shared_memory: Some(SharedMemory {
                one_copy_from_bytes: None,
                both_copy_from_bytes: 1 << 19,
                cma_is_fast: true,
                board_line_bytes: Some(48),
            }),
            ..FabricDescription::default()
        };
        let text = explanation(&described);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = text.lines().map(words).collect();
        for line in [
            "2 ranks, a processor each; programs of Cornerstone",
            "boards a share each member 96 KiB 72 KiB",
            "messages over 1 MiB",
            "boards over 512 B 64 KiB",
            "2 ranks, a processor each; MPI programs, cross-memory attach is the fast way",
            "from memory to memory, half each 16 KiB",
        ] {
            assert!(lines.iter().any(|found| found == line), "{line} is not in\n{text}");
        }
        let none = FabricDescription { name: "tcp".into(), ..FabricDescription::default() };
        assert!(explanation(&none).contains("tcp have no plans"));
    }
}
