use super::*;

fn read(words: &str) -> Result<Mpiexec, Failure> {
    MpiexecArguments { words: words.split_whitespace().map(OsString::from).collect() }.read()
}

fn launches(words: &str) -> Vec<LaunchArguments> {
    match read(words) {
        Ok(Mpiexec::Launch(launches, _)) => launches,
        other => panic!("{words}: {other:?}"),
    }
}

fn refusal(words: &str) -> String {
    format!("{:?}", read(words).expect_err(words))
}

fn program(launch: &LaunchArguments) -> Vec<&str> {
    launch.program.iter().filter_map(|word| word.to_str()).collect()
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
        ("-n 1 ./a : -genv A 1 ./b", "'-genv' stands after a ':'"),
        ("--fabric pigeon ./a", "pigeon"),
        ("-x CORNERSTONE_NO_SUCH_VARIABLE ./a", "CORNERSTONE_NO_SUCH_VARIABLE"),
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
    let text = MpiexecArguments::help();
    let long: Vec<_> = text.lines().filter(|line| line.chars().count() > 100).collect();
    assert!(long.is_empty(), "{long:?}");
}
