//! Options of Open MPI's mpirun.

use super::Action::*;
use super::Meaning::{Done, Ignored, Needless, Refused};
use super::{Known, known};

/// Why options of Open MPI's daemons have no effect.
const NO_DAEMONS: &str = "there are no daemons of Open MPI here";

pub(super) const OPTIONS: &[Known] = &[
    known(
        &["oversubscribe", "overload-allowed", "allow-overload"],
        &[],
        Needless("ranks may outnumber the processors"),
    ),
    known(
        &["nooversubscribe", "no-oversubscribe"],
        &[],
        Ignored("ranks may outnumber the processors of this host, and sleep while they wait"),
    ),
    known(&["allow-run-as-root"], &[], Needless("root may start programs")),
    known(
        &["mca", "gmca", "omca", "pmixmca", "prtemca", "gpmixmca"],
        &["NAME", "VALUE"],
        Done(
            Parameter,
            "plm_rsh_agent names the program that reaches other hosts; the rest has no effect, as a note says",
        ),
    ),
    known(
        &["am", "tune-file", "runtime-options", "rtos", "personality"],
        &["VALUE"],
        Ignored("it configures Open MPI"),
    ),
    known(
        &["prefix"],
        &[],
        Done(Prefix, "the same as -l; --prefix FOLDER, as Open MPI has it, has no effect"),
    ),
    known(
        &["noprefix", "no-app-prefix"],
        &[],
        Needless("other hosts have this program at the same path"),
    ),
    known(
        &["rank-by"],
        &["PLACE"],
        Done(
            Ranking,
            "slot, core, fill or node: the numbers of the ranks in the order of their places",
        ),
    ),
    known(&["bycore", "byslot"], &[], Needless("ranks fill one host after the other")),
    known(&["bynode"], &[], Done(ByNode, "the ranks go to the hosts in turn")),
    known(
        &["bysocket"],
        &[],
        Done(Words(&["--map-by", "socket"]), "the ranks go to the sockets in turn"),
    ),
    known(&["bind-to-core"], &[], Done(Words(&["--bind", "core"]), "the same as -bind-to core")),
    known(
        &["bind-to-socket"],
        &[],
        Done(Words(&["--bind", "socket"]), "the same as -bind-to socket"),
    ),
    known(&["bind-to-none"], &[], Needless("ranks are bound only if it is asked for")),
    known(
        &["cpus-per-proc", "cpus-per-rank"],
        &["NUMBER"],
        Done(
            Passed("--processors-each"),
            "the number of processors of each rank, with -bind-to core",
        ),
    ),
    known(
        &["cpu-set", "cpu-list"],
        &["LIST"],
        Refused(
            "write `taskset -c LIST mpiexec ...`: ranks run on the processors that mpiexec may use",
        ),
    ),
    known(&["use-hwthread-cpus"], &[], Needless("every processor that Linux shows counts")),
    known(
        &["npersocket"],
        &["NUMBER"],
        Refused("write --map-by socket --bind-to socket, and the number of ranks by -n"),
    ),
    known(
        &["rankfile", "rf"],
        &["FILE"],
        Refused(
            "write -host a:2,b:1 for the ranks of each host in their order, and --bind-to core",
        ),
    ),
    known(
        &[
            "hetero-nodes",
            "novm",
            "leave-session-attached",
            "debug-daemons",
            "debug-daemons-file",
            "d",
            "debug-devel",
            "no-ready-msg",
            "enable-instant-on-support",
            "daemonize",
            "set-sid",
        ],
        &[],
        Ignored(NO_DAEMONS),
    ),
    known(
        &["display"],
        &["LIST"],
        Done(DisplayList, "map and bind print the host and the processors of each rank"),
    ),
    known(
        &[
            "display-allocation",
            "display-topo",
            "display-diffable-map",
            "show-progress",
            "parsable",
            "parseable",
        ],
        &[],
        Ignored("--show-places prints where ranks run"),
    ),
    known(
        &["do-not-launch"],
        &[],
        Refused("leave it out; --show-places prints where ranks run when they start"),
    ),
    known(
        &["output-filename"],
        &["FOLDER"],
        Done(
            OutputFolder,
            "write the output of rank r to FOLDER/1/rank.r/stdout and stderr, and nowhere else",
        ),
    ),
    known(
        &["output"],
        &["LIST"],
        Done(
            OutputList,
            "tag, rank, timestamp, merge, file=PREFIX, dir=FOLDER, raw, copy or nocopy, separated by commas",
        ),
    ),
    known(
        &["merge-stderr-to-stdout"],
        &[],
        Done(Words(&["--merge-errors"]), "standard error goes to standard output"),
    ),
    known(
        &["timestamp-output"],
        &[],
        Done(Words(&["--timestamps"]), "prefix each line of output with the time (UTC)"),
    ),
    known(
        &["xml", "xml-output"],
        &[],
        Refused(
            "there is no XML: -l marks the lines of each rank, --report=FILE.json is for programs",
        ),
    ),
    known(
        &["xml-file", "xterm"],
        &["VALUE"],
        Refused(
            "write the program that shows or stores the output before the program: `mpiexec -n 2 xterm -e ./program`",
        ),
    ),
    known(
        &["report-state-on-timeout", "get-stack-traces"],
        &[],
        Needless("a run that is out of time prints what each rank does"),
    ),
    known(
        &["report-pid", "report-uri"],
        &["PLACE"],
        Refused("the shell has the number of the process: `mpiexec ... & echo $!`"),
    ),
    known(
        &["preload-binary"],
        &[],
        Refused("copy the program to each host, or put it into a folder that all hosts have"),
    ),
    known(
        &["preload-files", "preload-files-dest-dir"],
        &["FILES"],
        Refused("copy the files to each host, or put them into a folder that all hosts have"),
    ),
    known(&["set-cwd-to-session-dir"], &[], Refused("write -wdir FOLDER")),
    known(
        &["ompi-server", "dvm", "dvm-uri", "hnp"],
        &["URI"],
        Refused(
            "there is no server to join; runs of one user on a host find each other's published names without one",
        ),
    ),
    known(
        &["server-wait-time", "max-restarts", "max-vm-size", "forward-signals", "exec-agent"],
        &["VALUE"],
        Ignored(NO_DAEMONS),
    ),
    known(
        &["enable-recovery", "continuous", "recoverable"],
        &[],
        Refused("a rank that dies ends the others here; leave it out"),
    ),
    known(&["with-ft"], &["KIND"], Refused("a rank that dies ends the others here; leave it out")),
    known(&["disable-recovery"], &[], Needless("a rank that dies ends the others")),
];
