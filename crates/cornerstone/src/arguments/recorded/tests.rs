//! What resumed runs take from recorded command lines.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use crate::arguments::RunFormat;

fn typed(line: &str) -> Typed {
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    Typed::read(&words).unwrap_or_else(|| panic!("{line}"))
}

fn run(line: &str) -> RunArguments {
    typed(line).arguments().unwrap_or_else(|| panic!("{line}"))
}

/// Options of all commands that can be resumed, without those of clap.
fn options() -> Vec<Arg> {
    let of = |name| {
        let command = Arguments::command();
        let options = command.find_subcommand(name).unwrap().get_arguments();
        options.filter(|one| *one.get_id() != "help").cloned().collect::<Vec<_>>()
    };
    RESUMABLE.into_iter().flat_map(of).collect()
}

#[test]
fn the_table_has_exactly_the_options_of_the_commands_that_can_be_resumed() {
    let defined: BTreeSet<String> = options().iter().map(|one| one.get_id().to_string()).collect();
    let in_table: BTreeSet<String> = SOURCES.iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(in_table, defined);
    assert_eq!(in_table.len(), SOURCES.len(), "an option has two rows");
}

#[test]
fn no_option_that_names_a_path_or_an_address_is_taken_from_a_file() {
    let names_a_place = |one: &Arg| {
        let value = one.get_value_parser().type_id();
        value == TypeId::of::<PathBuf>() || value == TypeId::of::<std::net::SocketAddr>()
    };
    let options = options();
    let places: BTreeSet<&str> =
        options.iter().filter(|one| names_a_place(one)).map(|one| one.get_id().as_str()).collect();
    assert!(places.len() >= 9, "{places:?}");
    let from_files = places.into_iter().filter(|id| {
        let (_, source) = SOURCES.iter().find(|(its_id, _)| its_id == id).unwrap();
        matches!(source, Source::File | Source::FileIf(_))
    });
    // `file` is the chain or the pattern, whose text the results file contains.
    assert_eq!(from_files.collect::<Vec<_>>(), ["file"]);
}

#[test]
fn what_acts_on_the_world_is_withheld_unless_it_is_typed_today() {
    let recorded = typed(
        "cornerstone run ping-pong --fabric cluster --host=a,b --agent ./it's --ranks 2 --trace t \
         --interfaces eth0,eth1 --hygiene pin,fifo --osnoise --mpi-library l.so --listen 1.2.3.4:5",
    );
    let withheld = recorded.withheld(None);
    let required = [
        "--fabric cluster",
        "--mpi-library l.so",
        "--host a,b",
        "--agent './it'\\''s'",
        "--listen 1.2.3.4:5",
        "--interfaces eth0",
        "--interfaces eth1",
        "--hygiene pin,fifo",
        "--osnoise",
    ];
    assert_eq!(withheld.required, required);
    assert_eq!(withheld.optional, ["--trace t"]);
    let taken = recorded.arguments().unwrap();
    assert_eq!((taken.names, taken.ranks), (vec!["ping-pong".into()], Some(RankCounts(vec![2]))));
    assert!(taken.fabric.is_none() && taken.hosts.agent.is_none() && !taken.tasks.osnoise);
    let today = typed(
        "cornerstone run --resume a --fabric tcp --hosts h --agent x --trace u --interfaces eth0 --hygiene pin \
         --osnoise --mpi-library m.so --listen 1.2.3.4:6",
    );
    let withheld = recorded.withheld(Some(&today));
    assert!(withheld.required.is_empty() && withheld.optional.is_empty());
}

#[test]
fn fabrics_of_this_process_alone_are_taken_and_files_of_machines_are_not_opened() {
    for fabric in ["local", "sim:cluster"] {
        let taken = run(&format!("cornerstone run --fabric {fabric}"));
        assert_eq!(taken.fabric.unwrap().to_string(), fabric);
    }
    for fabric in ["tcp", "cluster", "ofi", "mpi", "mpi:mpich", "sim:/dev/zero.toml", "sim:x"] {
        let recorded = typed(&format!("cornerstone run --fabric {fabric}"));
        assert!(recorded.arguments().unwrap().fabric.is_none(), "{fabric}");
        assert_eq!(recorded.withheld(None).required, [format!("--fabric {fabric}")]);
    }
}

#[test]
fn a_resumed_run_keeps_what_is_not_given_again() {
    let earlier = run("cornerstone run ping-pong --ranks 2,4 --seed 7 --out x.jsonl");
    assert_eq!(earlier.out, None);
    let now = RunArguments { seed: Some(9), format: RunFormat::Json, ..RunArguments::default() };
    let now = now.or(earlier);
    assert_eq!(now.names, ["ping-pong"]);
    assert_eq!(now.ranks, Some(RankCounts(vec![2, 4])));
    assert_eq!(now.seed, Some(9));
    assert_eq!(now.format, RunFormat::Json);
}

#[test]
fn the_other_commands_that_measure_are_resumed_as_runs() {
    let pmp = run("cornerstone pmp p.pmp --ranks 2 --period 1ms");
    assert_eq!((&pmp.names[..], pmp.ranks), (&["pmp".to_string()][..], Some(RankCounts(vec![2]))));
    let chain = run("cornerstone pipeline c.toml --granularity=8,16 --doublings 1 --copies");
    let chain = chain.pipeline.unwrap();
    assert_eq!((chain.rows_per_message, chain.doublings, chain.copies), (vec![8, 16], 1, true));
    let turn = run("cornerstone corner-turn --ranks 2,4 --matrix 8x8");
    assert_eq!(turn.corner_turn.unwrap().matrix, Some((8, 8)));
    let words: Vec<String> = ["cornerstone", "list"].map(String::from).to_vec();
    assert!(Typed::read(&words).is_none());
}

#[test]
fn words_of_a_stranger_neither_leave_their_quotes_nor_control_the_terminal() {
    assert_eq!(shell_word("a b"), "'a b'");
    assert_eq!(shell_word("$(x)"), "'$(x)'");
    assert_eq!(shell_word("a'; x"), "'a'\\''; x'");
    assert_eq!(shell_word("\u{1b}[2J\n"), "'\\u{1b}[2J\\u{a}'");
}
