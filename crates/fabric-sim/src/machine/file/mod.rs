//! Machine files: TOML, with the source of every number.

mod array;
mod array_schema;
mod costs;
mod faults;
mod network;
mod place;
mod schema;
mod sci;
mod sci_schema;
mod sources;
mod windows;

use std::sync::Arc;

use definition_files::FileError;

use place::Place;
use schema::{FaultsFile, File, FileLevel, FileWindows};

use super::{Level, Machine, Network, Windows};
use crate::sci::RingSettings;

pub(super) use network::WHOLE_MESSAGE_BYTES;

/// Reads a machine file. Messages name it by `file`.
///
/// # Errors
/// [`FileError::Invalid`] with the line, the field and its permitted values.
pub fn parse(file: &str, text: &str) -> Result<Machine, FileError> {
    let place = Place { file, text, number: 0 };
    let read: File = toml::from_str(text).map_err(|error| place.syntax(&error))?;
    sources::check(&place, &read.source)?;
    let (sci, network) = networks(&place, &read)?;
    let has_rings = sci.is_some();
    let inner_networks = network::inner(&place, &read.inner_network, &network)?;
    let faults = faults::faults(&place, &read.fault, &inner_networks, &network)?;
    let endpoint = costs::endpoint(&place, &read.endpoint)?;
    network::forwarding(&place, &endpoint, &network, &inner_networks)?;
    let machine = Machine {
        level: level(&place, &read, has_rings)?,
        ranks_max: sci.as_ref().map(|sci| sci.shape.hosts() as usize).or(read.ranks_max),
        ranks_per_processor: match read.ranks_per_processor {
            Some(0) => {
                return Err(place.refuse("ranks_per_processor", "is 0; it must be at least 1"));
            }
            given => given.unwrap_or(1),
        },
        processor: costs::processor(&place, &read.processor)?,
        endpoint,
        protocol: costs::protocol(&place, &read.protocol)?,
        network,
        sci,
        inner_networks,
        faults,
        ring_collectives: read
            .ring_collectives
            .map(|ring| costs::ring_collectives(&place, &ring))
            .transpose()?,
        board: read.board.map(|board| costs::board(&place, &board)).transpose()?.map(Arc::new),
        windows: windows(&place, read.windows.as_ref(), has_rings)?,
        array: read.array.map(|read| array::array(&place, &read)).transpose()?,
        pauses: read
            .pause
            .iter()
            .enumerate()
            .map(|(number, pause)| costs::pause(&place, number, pause))
            .collect::<Result<_, _>>()?,
        sources: read.source,
        name: read.name,
        title: read.title,
    };
    if machine.has_variable_paths() && machine.level == Level::LogGp {
        let why = "must be \"packets\": only this level knows which of several ways a message takes, and what breaks";
        return Err(place.refuse("level", why));
    }
    Ok(machine)
}

/// Returns the rings, if the machine has them, and the network that joins all nodes.
fn networks(place: &Place<'_>, read: &File) -> Result<(Option<RingSettings>, Network), FileError> {
    match (&read.sci, &read.network) {
        (Some(rings), _) => {
            let (settings, network) = sci::rings(place, read, rings)?;
            Ok((Some(settings), network))
        }
        (None, Some(network)) => Ok((None, network::outermost(place, network)?)),
        (None, None) => Err(place.without_network()),
    }
}

fn level(place: &Place<'_>, read: &File, has_rings: bool) -> Result<Level, FileError> {
    let given = read.level.map(|level| match level {
        FileLevel::Loggp => Level::LogGp,
        FileLevel::Packets => Level::Packets,
    });
    if has_rings { sci::level(place, given) } else { Ok(given.unwrap_or(Level::LogGp)) }
}

/// Returns the costs of accesses. Rings of SCI carry them out even if the file has no `windows`.
fn windows(
    place: &Place<'_>,
    read: Option<&FileWindows>,
    has_rings: bool,
) -> Result<Option<Windows>, FileError> {
    match read {
        Some(read) => windows::windows(place, read).map(Some),
        None => Ok(has_rings.then(Windows::default)),
    }
}

/// Reads faults from a file of `[[fault]]` tables and adds them to a machine, which is then simulated by packets.
///
/// # Errors
/// As [`parse`].
pub fn add_faults(file: &str, text: &str, machine: &mut Machine) -> Result<(), FileError> {
    let place = Place { file, text, number: 0 };
    let read: FaultsFile = toml::from_str(text).map_err(|error| place.syntax(&error))?;
    if machine.sci.is_some() {
        let why =
            format!("is for other machines: nothing breaks in the rings of `{}`", machine.name);
        return Err(place.refuse("fault", &why));
    }
    machine.faults =
        faults::faults(&place, &read.fault, &machine.inner_networks, &machine.network)?;
    machine.level = Level::Packets;
    Ok(())
}

#[cfg(test)]
mod tests {
    use contract::TimeSpan;

    use super::*;
    use crate::topology::Shape;

    const GOOD: &str = "name = \"x\"\ntitle = \"a machine\"\n[endpoint]\nsend_us = 2.5\n[network]\nshape = \"ring\"\n\
                        one_way = true\nlink_mb_per_s = 40\n[[source]]\nof = [\"endpoint\", \"network\"]\n\
                        kind = \"assumed\"\nfrom = \"a test\"\n";

    fn problem(text: &str) -> String {
        parse("m.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_says_what_the_machine_costs() {
        let machine = parse("m.toml", GOOD).unwrap();
        assert_eq!(machine.endpoint.send.of(100), TimeSpan::from_ns(2500));
        assert_eq!(machine.network.shape, Shape::Ring { one_way: true });
        assert_eq!(machine.network.byte_time.rate_per_us(), 40.0);
    }

    #[test]
    fn mistakes_are_named_with_their_line_and_what_is_allowed() {
        let wrong = |from: &str, to: &str| problem(&GOOD.replace(from, to));
        let unknown = wrong("send_us", "sned_us");
        assert!(
            unknown.starts_with(
                "m.toml, line 4: unknown field `sned_us` (is it `send_us`?), expected one of `send_us`"
            ),
            "{unknown}"
        );
        let shape = wrong("\"ring\"", "\"rign\"");
        assert!(
            shape.starts_with(
                "m.toml, line 6: `shape`: unknown variant `rign` (is it `ring`?), expected one of `line`"
            ),
            "{shape}"
        );
        let far = wrong("send_us", "colour");
        assert!(far.contains("unknown field `colour`, expected one of `send_us`"), "{far}");
        let kind = wrong("2.5", "\"fast\"");
        assert_eq!(
            kind,
            "m.toml, line 4: `send_us`: invalid type: string \"fast\", expected a number"
        );
        assert_eq!(
            wrong("send_us = 2.5", "send_us = -1"),
            "m.toml, line 4: `endpoint.send_us` is -1; it must be a number from 0 up to 10^12"
        );
        assert_eq!(
            wrong("= 40", "= 0"),
            "m.toml, line 8: `network.link_mb_per_s` is 0; a rate must be above it"
        );
        assert_eq!(
            wrong("one_way = true", "arity = 4"),
            "m.toml, line 7: `network.arity` does not belong to this shape"
        );
    }

    #[test]
    fn a_network_that_is_none_is_refused() {
        let (before, rest) = GOOD.split_once("[network]").unwrap();
        let after = rest.split_once("[[source]]").unwrap().1;
        let none = problem(&format!("{before}[[source]]{after}"));
        assert!(none.starts_with("m.toml, line 1: missing field `network`; a machine"), "{none}");
        let graph = |links: &str| {
            let shape = format!("shape = \"graph\"\nlinks = {links}");
            GOOD.replace("shape = \"ring\"\none_way = true", &shape)
        };
        assert!(parse("m.toml", &graph("[[0, 1], [1, 2]]")).is_ok());
        assert_eq!(
            problem(&graph("[[0, 1], [2, 3]]")),
            "m.toml, line 7: `network.links` make no network: no links lead from node 2 to node 0"
        );
    }

    #[test]
    fn pauses_must_leave_the_program_something() {
        let wrong = |fields: &str| {
            let good = "[[pause]]\nperiod_us = 9\nlength_us = 1\n";
            let bad = format!("[[pause]]\nperiod_us = 100\n{fields}\n");
            let text = GOOD.replace("[[source]]", &format!("{good}{bad}[[source]]"));
            problem(&text.replace("\"network\"]", "\"network\", \"pause\"]"))
        };
        assert_eq!(
            wrong("length_us = 60\nlength_jitter_us = 10\nperiod_jitter_us = 30"),
            "m.toml, line 14: `pause.length_us` is 60; with `length_jitter_us` and `period_jitter_us` it must be less than \
             `period_us`, or pauses would meet"
        );
        assert_eq!(
            wrong("length_us = 1\nlength_jitter_us = 2"),
            "m.toml, line 15: `pause.length_jitter_us` is more than `length_us`"
        );
        assert_eq!(
            wrong("length_us = 1\nprocessors = []"),
            "m.toml, line 15: `pause.processors` is empty; leave it out for all processors"
        );
    }

    #[test]
    fn a_source_of_nothing_is_refused_where_it_stands() {
        let text = GOOD.replace("\"endpoint\", ", "\"endpoint\", \"endpiont.send_us\", ");
        let line = text.lines().position(|line| line.starts_with("of =")).unwrap() + 1;
        let expected =
            format!("m.toml, line {line}: `source.of` names `endpiont.send_us`, which is not");
        assert!(problem(&text).starts_with(&expected), "{}", problem(&text));
    }

    #[test]
    fn a_pause_without_a_source_is_refused_where_it_stands() {
        let text =
            GOOD.replace("[[source]]", "[[pause]]\nperiod_us = 9\nlength_us = 1\n[[source]]");
        let line = text.lines().position(|line| line == "[[pause]]").unwrap() + 1;
        assert!(problem(&text).starts_with(&format!("m.toml, line {line}: `pause` has no source")));
    }

    #[test]
    fn a_number_without_a_source_is_refused() {
        let text = GOOD.replace("\"endpoint\", ", "");
        assert!(
            problem(&text).starts_with("m.toml, line 4: `endpoint.send_us` has no source"),
            "{}",
            problem(&text)
        );
    }

    #[test]
    fn a_switch_as_long_as_its_slice_is_refused() {
        let sharing = |switch_us: &str| {
            let of = GOOD.replacen("of = [", "of = [\"processor\", ", 1);
            let costs = format!("[processor]\ntime_slice_us = 50\nswitch_us = {switch_us}\n");
            of.replacen("[endpoint]", &format!("{costs}[endpoint]"), 1)
        };
        assert!(parse("m.toml", &sharing("49.9")).is_ok());
        let problem = problem(&sharing("50"));
        let words = "`processor.switch_us` takes the whole of `processor.time_slice_us`";
        assert!(problem.starts_with("m.toml, line ") && problem.contains(words), "{problem}");
    }

    #[test]
    fn pieces_and_a_line_exclude_each_other() {
        let text = GOOD.replace(
            "send_us = 2.5",
            "send_us = 1\nsend = [{ from_bytes = 0, us = 1, ns_per_byte = 0 }]",
        );
        assert!(
            problem(&text).starts_with("m.toml, line 5: `endpoint.send` stands beside"),
            "{}",
            problem(&text)
        );
    }
}
