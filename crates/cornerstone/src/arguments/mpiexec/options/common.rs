//! Options of the standard (MPI 5.0, section 11.5), and those that several MPIs have.

use super::Action::*;
use super::Meaning::{Done, Ignored, Needless, Refused};
use super::{MpiexecOption, option};

pub(super) const OPTIONS: &[MpiexecOption] = &[
    option(
        &["n", "np", "c", "ranks"],
        &["NUMBER"],
        Done(Ranks, "the number of ranks [default: 1, or -ppn times the hosts]"),
    ),
    option(
        &["soft"],
        &["LIST"],
        Done(
            Soft,
            "numbers of ranks that will do, such as 1,4:16:4; the largest up to -n is taken",
        ),
    ),
    option(
        &["wdir", "wd"],
        &["FOLDER"],
        Done(OfProgram("--wdir"), "the working directory of its ranks"),
    ),
    option(
        &["path"],
        &["FOLDERS"],
        Done(SearchPath, "where the program is searched, with colons between"),
    ),
    option(
        &["arch"],
        &["NAME"],
        Done(Architecture, "refuses to start it on another architecture, such as x86_64"),
    ),
    option(
        &["env"],
        &["NAME", "VALUE"],
        Done(Variable { of_all: false }, "an environment variable of its ranks"),
    ),
    option(
        &["x"],
        &["NAME[=VALUE]"],
        Done(OfProgram("--env"), "the same; without a value, the value in this process"),
    ),
    option(
        &["envlist"],
        &["NAMES"],
        Done(
            Variables { of_all: false },
            "variables of this process for its ranks, separated by commas",
        ),
    ),
    option(
        &["host", "hosts", "H"],
        &["LIST"],
        Done(Hosts, "hosts: NAME or NAME:SLOTS, separated by commas"),
    ),
    option(
        &["initial-errhandler"],
        &["NAME"],
        Done(
            ErrorHandler,
            "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, from the start on",
        ),
    ),
    option(
        &["memory-alloc-kinds"],
        &["LIST"],
        Ignored("memory is that of the host (the kinds mpi and system), whatever is asked for"),
    ),
    option(
        &["file"],
        &["FILE"],
        Refused(
            "the standard leaves the contents of that file open: name hosts by -hostfile FILE, programs by -configfile FILE",
        ),
    ),
    option(
        &["configfile", "app"],
        &["FILE"],
        Done(
            ConfigurationFile,
            "programs with their options, one a line; # begins a comment, \\ continues a line",
        ),
    ),
    option(
        &["f", "machinefile", "machine", "hostfile", "default-hostfile"],
        &["FILE"],
        Done(HostsFile, "a file with one host per line: NAME, NAME:SLOTS or NAME slots=SLOTS"),
    ),
    option(
        &["ppn", "perhost", "npernode", "N", "grr"],
        &["NUMBER"],
        Done(RanksPerHost, "the ranks on each host that is named without slots"),
    ),
    option(&["rr", "pernode"], &[], Done(OneRankPerHost, "the same as -ppn 1")),
    option(
        &["launcher-exec", "bootstrap-exec", "launch-agent"],
        &["PROGRAM"],
        Done(Agent, "the program that reaches other hosts, called like ssh"),
    ),
    option(
        &["genv"],
        &["NAME", "VALUE"],
        Done(Variable { of_all: true }, "an environment variable of all ranks"),
    ),
    option(
        &["genvlist"],
        &["NAMES"],
        Done(
            Variables { of_all: true },
            "variables of this process for all ranks, separated by commas",
        ),
    ),
    option(
        &["l", "prepend-rank", "tag-output", "tag-output-detailed", "tag-output-fullname"],
        &[],
        Done(Words(&["--prefix"]), "prefix each line of output with its rank"),
    ),
    option(
        &["s", "stdin"],
        &["RANK"],
        Done(
            Passed("--stdin"),
            "who reads standard input: the number of a rank, all or none [default: 0]",
        ),
    ),
    option(
        &["timeout"],
        &["SECONDS"],
        Done(
            Seconds("--timeout"),
            "end the run after this time with status 124 [default: the variable MPIEXEC_TIMEOUT]",
        ),
    ),
    option(
        &["bind-to"],
        &["PLACE"],
        Done(Binding, "none, core, hwthread, l3cache, numa or socket: the processors of each rank"),
    ),
    option(
        &["map-by"],
        &["PLACE"],
        Done(
            Mapping,
            "slot, core, l3cache, numa, socket, node or ppr:NUMBER:node: the order of the ranks' places",
        ),
    ),
    option(
        &["report-bindings", "display-map", "display-devel-map", "print-rank-map"],
        &[],
        Done(Words(&["--show-places"]), "print the host and the processors of each rank"),
    ),
    option(&["q", "quiet", "silent"], &[], Done(Quiet, "no notes about options without effect")),
    option(&["help", "h", "?"], &[], Done(Help, "this text")),
    option(&["version", "V", "info"], &[], Done(Version, "the version")),
    option(
        &["v", "verbose"],
        &[],
        Done(Verbose, "print where ranks run, and notes on needless options, too"),
    ),
    option(&["tmpdir"], &["FOLDER"], Needless("a run makes no temporary files")),
    option(
        &["gdb", "debug", "tv", "debugger", "stop-on-exec"],
        &[],
        Refused(
            "start a debugger for one rank, `mpiexec -n 1 gdb --args ./program : -n 3 ./program`, or attach one; --on-hang tell keeps a deadlock for it",
        ),
    ),
    option(&["nolocal"], &[], Refused("name the hosts that are to be used by -hosts or -hostfile")),
];
