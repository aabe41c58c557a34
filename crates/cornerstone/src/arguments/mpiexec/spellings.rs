//! Spellings of mpiexec's options as scripts have them, each with what happens: the words of `launch`, a note, or a
//! refusal.

use std::ffi::{OsStr, OsString};

use super::{Translated, options, read_launch, translate};

/// What becomes of a command line.
enum Outcome {
    /// These words of `launch`, for each program, with `|` between.
    Starts(&'static str),
    /// The same, and a line with these words.
    Notes(&'static str, &'static str),
    /// Refused, with these words.
    Refuses(&'static str),
    Helps,
    Versions,
}

use Outcome::*;

#[rustfmt::skip]
const SPELLINGS: &[(&str, Outcome)] = &[
    // The standard.
    ("-n 4 ./a x -n 7", Starts("-n 4 -- ./a x -n 7")),
    ("-np 4 ./a", Starts("-n 4 -- ./a")),
    ("--np 4 ./a", Starts("-n 4 -- ./a")),
    ("--n=4 ./a", Starts("-n 4 -- ./a")),
    ("-c 4 ./a", Starts("-n 4 -- ./a")),
    ("./a", Starts("-n 1 -- ./a")),
    ("-n 2 -- -a b", Starts("-n 2 -- -a b")),
    ("-n 10 -soft 1,2:8:2 ./a", Starts("-n 8 -- ./a")),
    ("-soft 4 ./a", Starts("-n 4 -- ./a")),
    ("-n 2 -soft 4:8 ./a", Refuses("-soft 4:8 names no number of ranks up to -n")),
    ("-n 2 -host localhost ./a", Starts("-n 2 -- ./a")),
    ("-n 1 -host localhost ./a : -n 2 -host 127.0.0.1 ./b", Starts("-n 1 -- ./a | -n 2 -- ./b")),
    ("-n 1 ./a : -n 2 -host alpha ./b", Refuses("several programs run on this host alone")),
    ("-n 2 -wdir /tmp ./a : -n 1 ./b", Starts("-n 2 --wdir /tmp -- ./a | -n 1 -- ./b")),
    ("-n 2 -path /no/such/folder:/bin sh -c true", Starts("-n 2 -- /bin/sh -c true")),
    ("-n 2 -path /no/such/folder ./a", Starts("-n 2 -- ./a")),
    ("-arch vax ./a", Refuses("this host is")),
    ("-file f ./a", Refuses("name hosts by -hostfile FILE, programs by -configfile FILE")),
    ("-initial-errhandler mpi_errors_return ./a",
        Starts("-n 1 --env CORNERSTONE_MPI_INITIAL_ERRHANDLER=mpi_errors_return -- ./a")),
    ("-initial-errhandler mine ./a", Refuses("write mpi_errors_are_fatal, mpi_errors_abort")),
    ("-memory-alloc-kinds system,cuda -n 2 ./a", Notes("-n 2 -- ./a", "the kinds mpi and system")),
    ("-n 4 -configfile f", Refuses("-configfile stands last")),
    ("-configfile f ./a", Refuses("-configfile stands last")),
    ("-configfile /no/such/file", Refuses("'/no/such/file': No such file")),
    ("-n 1 ./a : -configfile f", Refuses("'-configfile' stands after a ':'")),
    // Environment.
    ("-genv A 1 -n 2 -env B=2 ./a : -n 3 -env C 3 ./b",
        Starts("-n 2 --env A=1 --env B=2 -- ./a | -n 3 --env A=1 --env C=3 -- ./b")),
    ("-genv A=1 -n 2 ./a", Starts("-n 2 --env A=1 -- ./a")),
    ("-x A=1 -x PATH -n 2 ./a", Starts("-n 2 --env A=1 --env PATH -- ./a")),
    ("-genvlist HOME,PATH -n 2 ./a", Starts("-n 2 --env HOME --env PATH -- ./a")),
    ("-n 2 -envlist HOME ./a", Starts("-n 2 --env HOME -- ./a")),
    ("-genvall -n 2 -envall ./a", Starts("-n 2 -- ./a")),
    ("-v -genvall -n 2 ./a", Notes("-n 2 --show-places -- ./a", "-genvall is needless: ranks have")),
    ("-envnone -n 2 ./a", Refuses("`env -u NAME` before the program")),
    ("-genvnone -n 2 ./a", Refuses("`env -u NAME` before the program")),
    // Hosts.
    ("-hosts localhost -n 8 ./a", Starts("-n 8 -- ./a")),
    ("-hosts localhost:2 -n 8 ./a", Starts("-n 8 -- ./a")),
    ("-hosts a,b -ppn 4 ./a", Starts("-n 8 --host a:4,b:4 -- ./a")),
    ("-H a:1,b -n 5 ./a", Starts("-n 5 --host a:1,b:3 -- ./a")),
    ("--host a,b --map-by node -n 3 ./a", Starts("-n 3 --host a:1,b:1,a:1 -- ./a")),
    ("--host a,b --rank-by node -n 3 ./a", Starts("-n 3 --host a:1,b:1,a:1 -- ./a")),
    ("--host a,b --bynode -n 3 ./a", Starts("-n 3 --host a:1,b:1,a:1 -- ./a")),
    ("--host a,b --map-by ppr:2:node ./a", Starts("-n 4 --host a:2,b:2 -- ./a")),
    ("--host a,b --npernode 2 ./a", Starts("-n 4 --host a:2,b:2 -- ./a")),
    ("--host a,b --pernode ./a", Starts("-n 2 --host a:1,b:1 -- ./a")),
    ("-rr -hosts a,b -n 2 ./a", Starts("-n 2 --host a:1,b:1 -- ./a")),
    ("-N 2 -n 2 ./a", Starts("-n 2 -- ./a")),
    ("-f /no/such/file -n 2 ./a", Refuses("'/no/such/file': No such file")),
    ("-fabric localhost ./a", Refuses("did you mean")),
    ("-hosts a -iface eth1 -n 2 ./a", Starts("-n 2 --host a:2 --interfaces eth1 -- ./a")),
    ("-iface eth1 -n 2 ./a", Notes("-n 2 -- ./a", "-iface has no effect: all ranks are on this host")),
    ("-launcher ssh -n 2 ./a", Starts("-n 2 -- ./a")),
    ("-bootstrap fork -n 2 ./a", Starts("-n 2 -- ./a")),
    ("-launcher slurm -n 2 ./a", Refuses("-launcher slurm is not supported")),
    ("-launcher-exec rsh -hosts a -n 1 ./a", Starts("-n 1 --agent rsh --host a:1 -- ./a")),
    ("-nolocal -n 2 ./a", Refuses("name the hosts that are to be used")),
    ("-rmk slurm -n 2 ./a", Starts("-n 2 -- ./a")),
    // Places.
    ("--bind-to core -n 2 ./a", Starts("-n 2 --bind core -- ./a")),
    ("-bind-to hwthread -n 2 ./a", Starts("-n 2 --bind core -- ./a")),
    ("--bind-to none -n 2 ./a", Starts("-n 2 --bind none -- ./a")),
    ("--bind-to socket -n 2 ./a", Starts("-n 2 --bind socket -- ./a")),
    ("--bind-to numa -n 2 ./a", Starts("-n 2 --bind numa -- ./a")),
    ("--bind-to l3cache -n 2 ./a", Starts("-n 2 --bind cache -- ./a")),
    ("--bind-to core:overload-allowed -n 2 ./a", Starts("-n 2 --bind core -- ./a")),
    ("-bind-to core:2 -n 2 ./a", Starts("-n 2 --bind core --processors-each 2 -- ./a")),
    ("-bind-to user:0,1 -n 2 ./a", Refuses("taskset -c LIST mpiexec")),
    ("--map-by socket --bind-to core -n 2 ./a", Starts("-n 2 --bind core --map-by socket -- ./a")),
    ("--map-by socket -n 2 ./a", Notes("-n 2 -- ./a", "--map-by socket has no effect: ranks are bound to no")),
    ("--map-by :OVERSUBSCRIBE -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--map-by slot:PE=2 -n 2 ./a", Starts("-n 2 --bind core --processors-each 2 -- ./a")),
    ("--map-by numa:PE=2,SPAN --bind-to core -n 2 ./a",
        Starts("-n 2 --bind core --map-by numa --processors-each 2 -- ./a")),
    ("--map-by seq -n 2 ./a", Refuses("write slot, core, l3cache, numa, socket, node")),
    ("--map-by ppr:2:socket -n 2 ./a", Refuses("write ppr:NUMBER:node")),
    ("--rank-by core -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--rank-by socket -n 2 ./a", Refuses("ranks are numbered as --map-by places them")),
    ("--bysocket --bind-to-core -n 2 ./a", Starts("-n 2 --map-by socket --bind core -- ./a")),
    ("--cpus-per-proc 2 --bind-to core -n 2 ./a", Starts("-n 2 --processors-each 2 --bind core -- ./a")),
    ("--cpu-set 0,1 -n 2 ./a", Refuses("taskset -c LIST mpiexec")),
    ("--rankfile f -n 2 ./a", Refuses("-host a:2,b:1")),
    ("--use-hwthread-cpus -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--report-bindings -n 2 ./a", Starts("-n 2 --show-places -- ./a")),
    ("--display-map -n 2 ./a", Starts("-n 2 --show-places -- ./a")),
    ("--display map,allocation -n 2 ./a", Notes("-n 2 --show-places -- ./a", "--display allocation has no")),
    ("-print-rank-map -n 2 ./a", Starts("-n 2 --show-places -- ./a")),
    ("--oversubscribe -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--nooversubscribe -n 2 ./a", Notes("-n 2 -- ./a", "ranks may outnumber the processors")),
    ("-membind local -n 2 ./a", Refuses("`numactl` before the program")),
    // Input and output.
    ("-l -n 2 ./a", Starts("-n 2 --prefix -- ./a")),
    ("-prepend-rank -n 2 ./a", Starts("-n 2 --prefix -- ./a")),
    ("--tag-output --timestamp-output -n 2 ./a", Starts("-n 2 --prefix --timestamps -- ./a")),
    ("-prepend-pattern %r: -n 2 ./a", Refuses("-l prefixes each line")),
    ("--merge-stderr-to-stdout -n 2 ./a", Starts("-n 2 --merge-errors -- ./a")),
    ("--output tag,timestamp,merge -n 2 ./a", Starts("-n 2 --prefix --timestamps --merge-errors -- ./a")),
    ("--output dir=out:nocopy -n 2 ./a",
        Starts("-n 2 --output-files out/1/rank.%r/stdout --error-files out/1/rank.%r/stderr -- ./a")),
    ("--output file=out -n 2 ./a", Starts("-n 2 --output-files out.%r --merge-errors -- ./a")),
    ("--output xml -n 2 ./a", Refuses("--output xml is not supported")),
    ("--output-filename log -n 2 ./a",
        Starts("-n 2 --output-files log/1/rank.%r/stdout --error-files log/1/rank.%r/stderr -- ./a")),
    ("-outfile-pattern o.%r -errfile-pattern e.%r -n 2 ./a",
        Starts("-n 2 --output-files o.%r --error-files e.%r -- ./a")),
    ("-s all -n 2 ./a", Starts("-n 2 --stdin all -- ./a")),
    ("--stdin 1 -n 2 ./a", Starts("-n 2 --stdin 1 -- ./a")),
    ("-ordered-output -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--xterm 0 -n 2 ./a", Refuses("xterm -e ./program")),
    ("--xml -n 2 ./a", Refuses("there is no XML")),
    // Time, and how a run ends.
    ("--timeout 60 -n 2 ./a", Starts("-n 2 --timeout 60 -- ./a")),
    ("-timeout -1 -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--report-state-on-timeout --get-stack-traces -n 2 ./a", Starts("-n 2 -- ./a")),
    ("-disable-auto-cleanup -n 2 ./a", Refuses("a rank that dies ends the others here")),
    ("--enable-recovery -n 2 ./a", Refuses("a rank that dies ends the others here")),
    ("--with-ft ulfm -n 2 ./a", Refuses("a rank that dies ends the others here")),
    ("-print-all-exitcodes -n 2 ./a", Notes("-n 2 -- ./a", "the first rank that fails is named")),
    ("-usize 8 -n 2 ./a", Notes("-n 2 -- ./a", "MPI_UNIVERSE_SIZE")),
    // What is Open MPI's own.
    ("--allow-run-as-root -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--mca btl self,tcp -mca pml ob1 -n 2 ./a", Notes("-n 2 -- ./a", "--mca btl has no effect: it configures")),
    ("--mca plm_rsh_agent rsh -H a -n 1 ./a", Starts("-n 1 --agent rsh --host a:1 -- ./a")),
    ("-q --mca btl self -n 2 ./a", Starts("-n 2 -- ./a")),
    ("--prefix /tmp -n 2 ./a", Notes("-n 2 -- ./a", "--prefix /tmp has no effect")),
    ("--prefix /no/such/folder -n 2 ./a", Refuses("leave --prefix FOLDER out")),
    ("--prefix -n 2 ./a", Starts("-n 2 --prefix -- ./a")),
    ("-n 2 --prefix sh -c true", Starts("-n 2 --prefix -- sh -c true")),
    ("--do-not-launch -n 2 ./a", Refuses("--show-places")),
    ("--debug -n 2 ./a", Refuses("gdb --args ./program")),
    ("--ompi-server f -n 2 ./a", Refuses("there is no server to join")),
    ("-gtool x -n 2 ./a", Refuses("valgrind ./program")),
    ("-check_mpi -n 2 ./a", Starts("-n 2 --check -- ./a")),
    // Help, options of `launch`, and mistakes.
    ("--version", Versions),
    ("-n 2 -V ./a", Versions),
    ("-info", Versions),
    ("-help", Helps),
    ("--help", Helps),
    ("--report --fabric tcp -n 2 ./a", Starts("-n 2 --report --fabric tcp -- ./a")),
    ("--bind core -l -l -n 2 ./a", Starts("-n 2 --bind core --prefix --prefix -- ./a")),
    ("--oversubscribe=1 -n 2 ./a", Refuses("--oversubscribe takes no value")),
    ("--mca=btl tcp -n 2 ./a", Refuses("write --mca NAME VALUE")),
    ("--map-bby core -n 2 ./a", Refuses("did you mean -map-by?")),
    ("--allow-run-as-rot -n 2 ./a", Refuses("did you mean -allow-run-as-root?")),
    ("--timeout many -n 2 ./a", Refuses("many")),
];

/// Returns what becomes of a command line, in the words of the table: what is started or why not, and the notes.
fn outcome(words: &str) -> (String, Vec<String>) {
    let list: Vec<OsString> = words.split(' ').map(OsString::from).collect();
    let (launches, notes) = match translate(&list, None) {
        Ok(Translated::Launch(launches, notes)) => (launches, notes),
        Ok(other) => return (format!("{other:?}"), Vec::new()),
        Err(failure) => return (format!("{failure:?}"), Vec::new()),
    };
    let line = |words: &Vec<OsString>| words.join(OsStr::new(" ")).into_string().unwrap();
    let started: Vec<String> = launches.iter().map(line).collect();
    match launches.into_iter().try_for_each(|words| read_launch(words).map(drop)) {
        Ok(()) => (started.join(" | "), notes),
        Err(failure) => (format!("{failure:?}"), notes),
    }
}

#[test]
fn each_spelling_is_carried_out_or_accepted_or_refused_with_a_remedy() {
    let mut wrong = Vec::new();
    for (words, expected) in SPELLINGS {
        let (found, notes) = outcome(words);
        let is_right = match expected {
            Starts(launch) => found == *launch && notes.is_empty(),
            Notes(launch, note) => found == *launch && notes.iter().any(|line| line.contains(note)),
            Refuses(why) => found.starts_with("Failure") && found.contains(why),
            Helps => found == "Help",
            Versions => found == "Version",
        };
        wrong.extend((!is_right).then(|| format!("{words}: {found} {notes:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(SPELLINGS.len() >= 100);
}

#[test]
fn a_file_has_the_programs_and_a_variable_the_time() {
    let lab = tempfile::tempdir().unwrap();
    let file = lab.path().join("programs");
    let text =
        "# one\n-l -genv A 1\n-n 2 -env B 'x y' ./a -n 3 \\\n  more\n-n 1 -wdir /tmp ./b : ./c\n";
    std::fs::write(&file, text).unwrap();
    let translated = |words: &[&str], time| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        match translate(&words, time) {
            Ok(Translated::Launch(launches, _)) => launches,
            other => panic!("{other:?}"),
        }
    };
    let launches = translated(&["-configfile", file.to_str().unwrap()], Some("90"));
    let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
    let mut first = words("-n 2 --timeout 90 --prefix --env A=1 --env B=x_y -- ./a -n 3 more");
    first[8] = "B=x y".into();
    let second = words("-n 1 --env A=1 --wdir /tmp -- ./b");
    assert_eq!(launches, [first, second, words("-n 1 --env A=1 -- ./c")]);
    // The option comes after the variable, so it counts.
    let given = translated(&["--timeout", "5", "./a"], Some("90"));
    assert_eq!(given, [words("-n 1 --timeout 90 --timeout 5 -- ./a")]);
    assert_eq!(translated(&["./a"], Some("-1")), [words("-n 1 -- ./a")]);
    assert!(translate(&words("./a"), Some("soon")).is_err());
    std::fs::write(&file, "-n 2 ./a\n-n many ./b\n").unwrap();
    let wrong = translate(&["-configfile".into(), file.into()], None).unwrap_err();
    assert!(wrong.message().contains("programs', line 2: mpiexec: -n needs a number"), "{wrong:?}");
}

#[test]
fn hosts_of_a_file_have_slots_in_the_ways_of_all_mpis() {
    let lab = tempfile::tempdir().unwrap();
    let placed = |text: &str, options: &str| {
        let file = lab.path().join("hosts");
        std::fs::write(&file, text).unwrap();
        let words = format!("{options} -f {} -n 4 ./a", file.display());
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        match translate(&words, None) {
            Ok(Translated::Launch(launches, _)) => {
                let words = launches[0].iter().map(|word| word.to_str().unwrap());
                words.collect::<Vec<_>>().join(" ")
            }
            other => panic!("{other:?}"),
        }
    };
    // This host takes any number of ranks.
    assert_eq!(placed("localhost slots=2\n", ""), "-n 4 -- ./a");
    assert_eq!(placed("localhost\n", ""), "-n 4 -- ./a");
    let of_fabric = placed("localhost:4\n", "--fabric cluster");
    assert_eq!(of_fabric, "-n 4 --fabric cluster --host localhost:4 -- ./a");
    assert_eq!(placed("# two\na slots=3\nb\tslots=1\n", ""), "-n 4 --host a:3,b:1 -- ./a");
    assert_eq!(placed("a:1\nb:3\n", ""), "-n 4 --host a:1,b:3 -- ./a");
    assert_eq!(placed("a\nb\n", ""), "-n 4 --host a:2,b:2 -- ./a");
    assert_eq!(placed("a\na\nb\nb\n", ""), "-n 4 --host a:1,a:1,b:1,b:1 -- ./a");
}

#[test]
fn no_name_is_in_the_table_twice_and_every_reason_is_there() {
    let mut names: Vec<&str> = options::all().flat_map(|option| option.names).copied().collect();
    names.sort_unstable();
    let before = names.len();
    names.dedup();
    assert_eq!(names.len(), before);
    for option in options::all() {
        let words = match option.meaning {
            options::Meaning::Done(_, words)
            | options::Meaning::Needless(words)
            | options::Meaning::Ignored(words)
            | options::Meaning::Refused(words) => words,
        };
        assert!(words.len() > 5 && !words.ends_with('.'), "{option:?}");
    }
}

/// The page is written from the table.
#[test]
fn the_page_on_options_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mpiexec.md");
    let page = std::fs::read_to_string(path).unwrap();
    let tables = super::help::tables();
    assert!(page.contains(&tables), "put this into docs/mpiexec.md:\n{tables}");
}
