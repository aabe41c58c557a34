//! Options of Open MPI's mpirun.

use super::Action::*;
use super::Meaning::{Done, Ignored, Needless, Refused};
use super::{MpiexecOption, option};

/// Why options of Open MPI's daemons have no effect.
const NO_DAEMONS: &str = "there are no daemons of Open MPI here";

pub(super) const OPTIONS: &[MpiexecOption] = &[
    option(
        &["oversubscribe", "overload-allowed", "allow-overload"],
        &[],
        Needless("ranks may outnumber the processors"),
    ),
    option(
        &["nooversubscribe", "no-oversubscribe"],
        &[],
        Ignored("ranks may outnumber the processors of this host, and sleep while they wait"),
    ),
    option(&["allow-run-as-root"], &[], Needless("root may start programs")),
    option(
        &["mca", "gmca", "omca", "pmixmca", "prtemca", "gpmixmca"],
        &["NAME", "VALUE"],
        Done(
            Parameter,
            "plm_rsh_agent names the program that reaches other hosts; the rest has no effect, as a note says",
        ),
    ),
    option(
        &["am", "tune-file", "runtime-options", "rtos", "personality"],
        &["VALUE"],
        Ignored("it configures Open MPI"),
    ),
    option(
        &["prefix"],
        &[],
        Done(Prefix, "the same as -l; --prefix FOLDER, as Open MPI has it, has no effect"),
    ),
    option(
        &["noprefix", "no-app-prefix"],
        &[],
        Needless("other hosts have this program at the same path"),
    ),
    option(
        &["rank-by"],
        &["PLACE"],
        Done(
            Ranking,
            "slot, core, fill or node: the numbers of the ranks in the order of their places",
        ),
    ),
    option(&["bycore", "byslot"], &[], Needless("ranks fill one host after the other")),
    option(&["bynode"], &[], Done(ByNode, "the ranks go to the hosts in turn")),
    option(
        &["bysocket"],
        &[],
        Done(Words(&["--map-by", "socket"]), "the ranks go to the sockets in turn"),
    ),
    option(&["bind-to-core"], &[], Done(Words(&["--bind", "core"]), "the same as -bind-to core")),
    option(
        &["bind-to-socket"],
        &[],
        Done(Words(&["--bind", "socket"]), "the same as -bind-to socket"),
    ),
    option(&["bind-to-none"], &[], Needless("ranks are bound only if it is asked for")),
    option(
        &["cpus-per-proc", "cpus-per-rank"],
        &["NUMBER"],
        Done(
            Passed("--processors-each"),
            "the number of processors of each rank, with -bind-to core",
        ),
    ),
    option(
        &["cpu-set", "cpu-list"],
        &["LIST"],
        Refused(
            "write `taskset -c LIST mpiexec ...`: ranks run on the processors that mpiexec may use",
        ),
    ),
    option(&["use-hwthread-cpus"], &[], Needless("every processor that Linux shows counts")),
    option(
        &["npersocket"],
        &["NUMBER"],
        Refused("write --map-by socket --bind-to socket, and the number of ranks by -n"),
    ),
    option(
        &["rankfile", "rf"],
        &["FILE"],
        Refused(
            "write -host a:2,b:1 for the ranks of each host in their order, and --bind-to core",
        ),
    ),
    option(
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
    option(
        &["display"],
        &["LIST"],
        Done(DisplayList, "map and bind print the host and the processors of each rank"),
    ),
    option(
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
    option(
        &["do-not-launch"],
        &[],
        Refused("leave it out; --show-places prints where ranks run when they start"),
    ),
    option(
        &["output-filename"],
        &["FOLDER"],
        Done(
            OutputFolder,
            "write the output of rank r to FOLDER/1/rank.r/stdout and stderr, and nowhere else",
        ),
    ),
    option(
        &["output"],
        &["LIST"],
        Done(
            OutputList,
            "tag, rank, timestamp, merge, file=PREFIX, dir=FOLDER, raw, copy or nocopy, separated by commas",
        ),
    ),
    option(
        &["merge-stderr-to-stdout"],
        &[],
        Done(Words(&["--merge-errors"]), "standard error goes to standard output"),
    ),
    option(
        &["timestamp-output"],
        &[],
        Done(Words(&["--timestamps"]), "prefix each line of output with the time (UTC)"),
    ),
    option(
        &["xml", "xml-output"],
        &[],
        Refused(
            "there is no XML: -l marks the lines of each rank, --report=FILE.json is for programs",
        ),
    ),
    option(
        &["xml-file", "xterm"],
        &["VALUE"],
        Refused(
            "write the program that shows or stores the output before the program: `mpiexec -n 2 xterm -e ./program`",
        ),
    ),
    option(
        &["report-state-on-timeout", "get-stack-traces"],
        &[],
        Needless("a run that is out of time prints what each rank does"),
    ),
    option(
        &["report-pid", "report-uri"],
        &["PLACE"],
        Refused("the shell has the number of the process: `mpiexec ... & echo $!`"),
    ),
    option(
        &["preload-binary"],
        &[],
        Refused("copy the program to each host, or put it into a folder that all hosts have"),
    ),
    option(
        &["preload-files", "preload-files-dest-dir"],
        &["FILES"],
        Refused("copy the files to each host, or put them into a folder that all hosts have"),
    ),
    option(&["set-cwd-to-session-dir"], &[], Refused("write -wdir FOLDER")),
    option(
        &["ompi-server", "dvm", "dvm-uri", "hnp"],
        &["URI"],
        Refused(
            "there is no server to join; runs of one user on a host find each other's published names without one",
        ),
    ),
    option(
        &["server-wait-time", "max-restarts", "max-vm-size", "forward-signals", "exec-agent"],
        &["VALUE"],
        Ignored(NO_DAEMONS),
    ),
    option(
        &["enable-recovery", "continuous", "recoverable"],
        &[],
        Refused("a rank that dies ends the others here; leave it out"),
    ),
    option(&["with-ft"], &["KIND"], Refused("a rank that dies ends the others here; leave it out")),
    option(&["disable-recovery"], &[], Needless("a rank that dies ends the others")),
];
