//! Options of the standard (MPI 5.0, section 11.5), and those that several MPIs have.

use super::Action::*;
use super::Meaning::{Done, Ignored, Needless, Refused};
use super::{Known, known};

pub(super) const OPTIONS: &[Known] = &[
    known(
        &["n", "np", "c", "ranks"],
        &["NUMBER"],
        Done(Ranks, "the number of ranks [default: 1, or -ppn times the hosts]"),
    ),
    known(
        &["soft"],
        &["LIST"],
        Done(
            Soft,
            "numbers of ranks that will do, such as 1,4:16:4; the largest up to -n is taken",
        ),
    ),
    known(
        &["wdir", "wd"],
        &["FOLDER"],
        Done(OfProgram("--wdir"), "the working directory of its ranks"),
    ),
    known(
        &["path"],
        &["FOLDERS"],
        Done(SearchPath, "where the program is searched, with colons between"),
    ),
    known(
        &["arch"],
        &["NAME"],
        Done(Architecture, "refuses to start it on another architecture, such as x86_64"),
    ),
    known(
        &["env"],
        &["NAME", "VALUE"],
        Done(Variable { of_all: false }, "an environment variable of its ranks"),
    ),
    known(
        &["x"],
        &["NAME[=VALUE]"],
        Done(OfProgram("--env"), "the same; without a value, the value in this process"),
    ),
    known(
        &["envlist"],
        &["NAMES"],
        Done(
            Variables { of_all: false },
            "variables of this process for its ranks, separated by commas",
        ),
    ),
    known(
        &["host", "hosts", "H"],
        &["LIST"],
        Done(Hosts, "hosts: NAME or NAME:SLOTS, separated by commas"),
    ),
    known(
        &["initial-errhandler"],
        &["NAME"],
        Done(
            ErrorHandler,
            "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, from the start on",
        ),
    ),
    known(
        &["memory-alloc-kinds"],
        &["LIST"],
        Ignored("memory is that of the host (the kinds mpi and system), whatever is asked for"),
    ),
    known(
        &["file"],
        &["FILE"],
        Refused(
            "the standard leaves the contents of that file open: name hosts by -hostfile FILE, programs by -configfile FILE",
        ),
    ),
    known(
        &["configfile", "app"],
        &["FILE"],
        Done(
            ConfigurationFile,
            "programs with their options, one a line; # begins a comment, \\ continues a line",
        ),
    ),
    known(
        &["f", "machinefile", "machine", "hostfile", "default-hostfile"],
        &["FILE"],
        Done(HostsFile, "a file with one host per line: NAME, NAME:SLOTS or NAME slots=SLOTS"),
    ),
    known(
        &["ppn", "perhost", "npernode", "N", "grr"],
        &["NUMBER"],
        Done(RanksPerHost, "the ranks on each host that is named without slots"),
    ),
    known(&["rr", "pernode"], &[], Done(OneRankPerHost, "the same as -ppn 1")),
    known(
        &["launcher-exec", "bootstrap-exec", "launch-agent"],
        &["PROGRAM"],
        Done(Agent, "the program that reaches other hosts, called like ssh"),
    ),
    known(
        &["genv"],
        &["NAME", "VALUE"],
        Done(Variable { of_all: true }, "an environment variable of all ranks"),
    ),
    known(
        &["genvlist"],
        &["NAMES"],
        Done(
            Variables { of_all: true },
            "variables of this process for all ranks, separated by commas",
        ),
    ),
    known(
        &["l", "prepend-rank", "tag-output", "tag-output-detailed", "tag-output-fullname"],
        &[],
        Done(Words(&["--prefix"]), "prefix each line of output with its rank"),
    ),
    known(
        &["s", "stdin"],
        &["RANK"],
        Done(
            Passed("--stdin"),
            "who reads standard input: the number of a rank, all or none [default: 0]",
        ),
    ),
    known(
        &["timeout"],
        &["SECONDS"],
        Done(
            Seconds("--timeout"),
            "end the run after this time with status 124 [default: the variable MPIEXEC_TIMEOUT]",
        ),
    ),
    known(
        &["bind-to"],
        &["PLACE"],
        Done(Binding, "none, core, hwthread, l3cache, numa or socket: the processors of each rank"),
    ),
    known(
        &["map-by"],
        &["PLACE"],
        Done(
            Mapping,
            "slot, core, l3cache, numa, socket, node or ppr:NUMBER:node: the order of the ranks' places",
        ),
    ),
    known(
        &["report-bindings", "display-map", "display-devel-map", "print-rank-map"],
        &[],
        Done(Words(&["--show-places"]), "print the host and the processors of each rank"),
    ),
    known(&["q", "quiet", "silent"], &[], Done(Quiet, "no notes about options without effect")),
    known(&["help", "h", "?"], &[], Done(Help, "this text")),
    known(&["version", "V", "info"], &[], Done(Version, "the version")),
    known(
        &["v", "verbose"],
        &[],
        Done(Verbose, "print where ranks run, and notes on needless options, too"),
    ),
    known(&["tmpdir"], &["FOLDER"], Needless("a run makes no temporary files")),
    known(
        &["gdb", "debug", "tv", "debugger", "stop-on-exec"],
        &[],
        Refused(
            "start a debugger for one rank, `mpiexec -n 1 gdb --args ./program : -n 3 ./program`, or attach one; --on-hang tell keeps a deadlock for it",
        ),
    ),
    known(&["nolocal"], &[], Refused("name the hosts that are to be used by -hosts or -hostfile")),
];
