//! The processors of the ranks of a program on one host, as the command line asks for them.

use std::fs;

use launcher::{Binding, LaunchError, LaunchOptions};

use crate::arguments::{Bind, MapBy, PlacementArguments};
use crate::environment::{ProcessorPlace, processor_places};
use crate::progress::note;
use crate::wording::counted;

/// Places of the parts of a machine among [`ProcessorPlace::parts`].
const SOCKET: usize = 0;
const NUMA: usize = 1;
const CACHE: usize = 2;

/// Returns the binding of ranks on this host.
pub(crate) fn binding(placement: &PlacementArguments) -> Binding {
    let is_by_number = placement.map_by == MapBy::Core && placement.processors_each == 1;
    match placement.bind {
        Bind::None => Binding::None,
        Bind::One => Binding::OneForAll,
        Bind::Core if is_by_number => Binding::OneCoreEach,
        Bind::Core | Bind::Cache | Bind::Numa | Bind::Socket => {
            let allowed = launcher::system::allowed_processors().unwrap_or_default();
            let unknown = |&number: &usize| ProcessorPlace {
                number,
                parts: Default::default(),
                kind: String::new(),
            };
            // A machine whose kernel shows no parts counts as one part.
            let places =
                processor_places(&allowed).unwrap_or_else(|| allowed.iter().map(unknown).collect());
            Binding::Sets(sets(&places, placement))
        }
    }
}

/// Returns the processors of the first rank, of the second, and so on; then again from the first on.
fn sets(places: &[ProcessorPlace], placement: &PlacementArguments) -> Vec<Vec<usize>> {
    let level = match placement.map_by {
        MapBy::Core => None,
        MapBy::Cache => Some(CACHE),
        MapBy::Numa => Some(NUMA),
        MapBy::Socket => Some(SOCKET),
    };
    let each = placement.processors_each as usize;
    // What is too small for one rank is left out, unless nothing else is there.
    let blocks = |part: &Vec<&ProcessorPlace>| -> Vec<Vec<usize>> {
        let width = each.min(part.len());
        let numbers: Vec<usize> = part.iter().map(|place| place.number).collect();
        numbers.chunks_exact(width.max(1)).map(<[usize]>::to_vec).collect()
    };
    let parts: Vec<Vec<Vec<usize>>> = parts(places, level).iter().map(blocks).collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or_default();
    let in_turn: Vec<Vec<usize>> = (0..longest)
        .flat_map(|turn| parts.iter().filter_map(move |blocks| blocks.get(turn).cloned()))
        .collect();
    let around = match placement.bind {
        Bind::Cache => CACHE,
        Bind::Numa => NUMA,
        Bind::Socket => SOCKET,
        Bind::None | Bind::Core | Bind::One => return in_turn,
    };
    let wide = self::parts(places, Some(around));
    let part_of = |block: Vec<usize>| {
        let contains = |part: &&Vec<&ProcessorPlace>| part.iter().any(|one| one.number == block[0]);
        let part = wide.iter().find(contains).expect("each processor is in a part");
        part.iter().map(|place| place.number).collect()
    };
    in_turn.into_iter().map(part_of).collect()
}

/// Returns the processors of each part of the machine at a level; all are one part without a level.
fn parts(places: &[ProcessorPlace], level: Option<usize>) -> Vec<Vec<&ProcessorPlace>> {
    let mut parts: Vec<Vec<&ProcessorPlace>> = Vec::new();
    for place in places {
        let is_same = |part: &&mut Vec<&ProcessorPlace>| {
            level.is_none_or(|level| part[0].parts[..=level] == place.parts[..=level])
        };
        match parts.iter_mut().find(is_same) {
            Some(part) => part.push(place),
            None => parts.push(vec![place]),
        }
    }
    parts
}

/// Prints where each of `ranks` will run.
///
/// # Errors
/// The options of the launch are wrong.
pub(crate) fn show(options: &LaunchOptions, ranks: &[usize]) -> Result<(), LaunchError> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    for (rank, processors) in ranks.iter().zip(options.processors_of_ranks()?) {
        let where_ = match &processors[..] {
            [] => "any processor".into(),
            [one] => format!("processor {one}"),
            several => format!("{}: {several:?}", counted(several.len(), "processor")),
        };
        note(&format!("cornerstone: rank {rank} on {}, {where_}", host.trim()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two sockets, each of two caches with two cores.
    fn machine() -> Vec<ProcessorPlace> {
        let place = |number: usize| {
            let (socket, cache) = ((number / 4).to_string(), (number / 2).to_string());
            let core = number.to_string();
            let parts = [socket.clone(), socket, cache, core.clone(), core];
            ProcessorPlace { number, parts, kind: String::new() }
        };
        (0..8).map(place).collect()
    }

    fn of(bind: Bind, map_by: MapBy, processors_each: u32) -> Vec<Vec<usize>> {
        sets(&machine(), &PlacementArguments { bind, map_by, processors_each, show_places: false })
    }

    #[test]
    fn ranks_take_processors_of_parts_in_turn() {
        let one = |numbers: [usize; 8]| numbers.map(|number| vec![number]).to_vec();
        assert_eq!(of(Bind::Core, MapBy::Core, 1), one([0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(of(Bind::Core, MapBy::Socket, 1), one([0, 4, 1, 5, 2, 6, 3, 7]));
        assert_eq!(of(Bind::Core, MapBy::Cache, 1), one([0, 2, 4, 6, 1, 3, 5, 7]));
    }

    #[test]
    fn a_rank_may_have_several_processors_side_by_side() {
        let sets = of(Bind::Core, MapBy::Core, 3);
        assert_eq!(sets, [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(
            of(Bind::Core, MapBy::Numa, 2),
            [[0, 1], [4, 5], [2, 3], [6, 7]],
            "none has processors of two nodes"
        );
        assert_eq!(of(Bind::Core, MapBy::Cache, 9), [[0, 1], [2, 3], [4, 5], [6, 7]]);
    }

    #[test]
    fn a_rank_may_have_the_part_that_contains_its_processor() {
        let (low, high) = (vec![0, 1, 2, 3], vec![4, 5, 6, 7]);
        let by_number = of(Bind::Socket, MapBy::Core, 1);
        assert_eq!((&by_number[0], &by_number[1], &by_number[4]), (&low, &low, &high));
        let in_turn = of(Bind::Numa, MapBy::Numa, 1);
        assert_eq!((&in_turn[0], &in_turn[1], &in_turn[2]), (&low, &high, &low));
        assert_eq!(of(Bind::Cache, MapBy::Core, 1)[2], [2, 3]);
    }
}
