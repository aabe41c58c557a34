use fabric_cluster::OuterFabric;

use super::*;
use crate::arguments::{Bind, LaunchFabric};

fn read(words: &str) -> Result<Mpiexec, Failure> {
    MpiexecArguments { words: words.split_whitespace().map(OsString::from).collect() }.read()
}

fn launches(words: &str) -> Vec<LaunchArguments> {
    match read(words) {
        Ok(Mpiexec::Launch(launches)) => launches,
        other => panic!("{words}: {other:?}"),
    }
}

fn refusal(words: &str) -> String {
    format!("{:?}", read(words).expect_err(words))
}

fn program(launch: &LaunchArguments) -> Vec<&str> {
    launch.program.iter().filter_map(|word| word.to_str()).collect()
}

fn variables(launch: &LaunchArguments) -> Vec<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    launch.variables.iter().map(|one| format!("{}={}", text(&one.name), text(&one.value))).collect()
}

#[test]
fn the_number_of_ranks_has_all_its_names() {
    for option in ["-n", "-np", "--n", "--np", "-c"] {
        let launch = &launches(&format!("{option} 3 ./a -n 7 --np"))[0];
        assert_eq!(launch.ranks, 3, "{option}");
        assert_eq!(program(launch), ["./a", "-n", "7", "--np"], "{option}");
    }
    assert_eq!(launches("./a")[0].ranks, 1);
    assert_eq!(program(&launches("-n 2 -- -odd name")[0]), ["-odd", "name"]);
}

#[test]
fn programs_after_a_colon_have_their_own_ranks_folder_and_variables() {
    let all = launches("-genv A 1 -l -n 2 -env B=2 ./a x : -np 3 -wdir /tmp -env C 3 ./b : ./c");
    assert_eq!(all.iter().map(|one| one.ranks).collect::<Vec<_>>(), [2, 3, 1]);
    assert_eq!(program(&all[1]), ["./b"]);
    assert_eq!(variables(&all[0]), ["A=1", "B=2"]);
    assert_eq!(variables(&all[1]), ["A=1", "C=3"]);
    assert_eq!(variables(&all[2]), ["A=1"]);
    assert_eq!(all[1].directory.as_deref(), Some(std::path::Path::new("/tmp")));
    assert!(all[0].directory.is_none() && all[0].prefix);
}

#[test]
fn hosts_get_slots_for_all_ranks() {
    let host = |words: &str| launches(words)[0].hosts.host.clone();
    assert_eq!(host("-n 5 -hosts a,b ./p").as_deref(), Some("a:3,b:3"));
    assert_eq!(host("-n 5 -host a,b -ppn 4 ./p").as_deref(), Some("a:4,b:4"));
    assert_eq!(host("-n 5 -H a:1,b ./p").as_deref(), Some("a:1,b:3"));
    assert_eq!(host("-n 5 -host localhost ./p"), None);
    let all = launches("-host a,b -ppn 4 ./p");
    assert_eq!((all[0].ranks, all[0].fabric()), (8, LaunchFabric::Cluster(OuterFabric::Tcp)));
    // 3 and 3 ranks over two hosts.
    assert_eq!(host("-host a,b -n 3 ./p : -n 3 ./q").as_deref(), Some("a:3,b:3"));
    let file = &launches("-f hosts.txt -n 2 -launcher-exec rsh ./p")[0].hosts;
    assert_eq!(file.hosts.as_deref(), Some(std::path::Path::new("hosts.txt")));
    assert_eq!(file.agent.as_deref(), Some(std::path::Path::new("rsh")));
}

#[test]
fn options_of_launch_go_too_and_habits_change_nothing() {
    let launch =
        &launches("-oversubscribe -genvall --bind-to core --fabric=tcp --watch 60s -n 2 ./p")[0];
    assert_eq!((launch.bind, launch.fabric()), (Bind::Core, LaunchFabric::Tcp));
    assert!(launch.watch.is_some());
    assert!(launches("--check-leaks ./p")[0].check_leaks);
    // PATH is set in every process that runs tests.
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    assert_eq!(variables(&launches("-x PATH -x A=b ./p")[0]), [path.as_str(), "A=b"]);
    assert_eq!(variables(&launches("-genvlist PATH,PATH ./p")[0]), [path.as_str(), path.as_str()]);
}

/// A line of options, program and arguments is the same for `mpiexec` and `launch`.
#[test]
fn a_value_that_may_be_missing_is_given_by_a_sign_alone() {
    const PAGE: &str = "page.html";
    for (words, report, expected) in [
        ("-n 2 --report ./heat", vec![""], vec!["./heat"]),
        ("-n 2 --report ./heat 300", vec![""], vec!["./heat", "300"]),
        ("--report -n 2 ./heat 300", vec![""], vec!["./heat", "300"]),
        ("-n 2 --report -- ./heat --report", vec![""], vec!["./heat", "--report"]),
        ("-n 2 --report ./heat -n 300 --quiet", vec![""], vec!["./heat", "-n", "300", "--quiet"]),
        ("-n 2 --report=page.html ./heat 300", vec![PAGE], vec!["./heat", "300"]),
        ("-n 2 --report=page.html --report ./heat 300", vec![PAGE, ""], vec!["./heat", "300"]),
        ("-n 2 --check --report ./heat 300", vec![""], vec!["./heat", "300"]),
        ("-n 2 --trace t.json --report ./heat 300", vec![""], vec!["./heat", "300"]),
        ("-n 2 --report --trace t.json ./heat 300", vec![""], vec!["./heat", "300"]),
        ("-n 2 --report --fabric sim:cluster ./heat", vec![""], vec!["./heat"]),
    ] {
        let launched = read_launch(words.split(' ').map(OsString::from).collect()).unwrap();
        for launch in [&launched, &launches(words)[0]] {
            assert_eq!((launch.ranks, program(launch)), (2, expected.clone()), "{words}");
            assert_eq!(launch.observation.report, report, "{words}");
        }
    }
}

#[test]
fn what_is_unknown_missing_or_impossible_is_named() {
    for (words, expected) in [
        ("", "no program"),
        ("-n 2", "no program"),
        ("-n 2 ./a :", "no program"),
        ("-n", "-n needs a value"),
        ("-n 0 ./a", "not '0'"),
        ("-np many ./a", "not 'many'"),
        ("-frob ./a", "does not know the option '-frob'"),
        ("--chek ./a", "did you mean --check?"),
        ("--reprot=a.html ./a", "did you mean --report?"),
        ("-gnev A 1 ./a", "did you mean -genv?"),
        ("-machinfile f ./a", "did you mean -machinefile?"),
        ("--frob ./a", "does not know the option '--frob'"),
        ("-envnone ./a", "-envnone is not supported"),
        ("-configfile f", "-configfile is not supported"),
        ("-launcher slurm ./a", "-launcher slurm is not supported"),
        ("-bind-to socket ./a", "core or none"),
        ("-n 1 ./a : -genv A 1 ./b", "'-genv' stands after a ':'"),
        ("--fabric pigeon ./a", "pigeon"),
        ("-x CORNERSTONE_NO_SUCH_VARIABLE ./a", "CORNERSTONE_NO_SUCH_VARIABLE"),
        ("-host a -f b ./a", "--host"),
    ] {
        let refused = refusal(words);
        assert!(refused.contains(expected), "{words}: {refused}");
    }
}

#[test]
fn help_and_version_are_answered_without_a_program() {
    assert!(matches!(read("-help"), Ok(Mpiexec::Help)));
    assert!(matches!(read("--help"), Ok(Mpiexec::Help)));
    assert!(matches!(read("-n 2 --version"), Ok(Mpiexec::Version)));
    assert_eq!(program(&launches("./a --help")[0]), ["./a", "--help"]);
    let long: Vec<_> = MPIEXEC_HELP.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:?}");
}
