//! Options of MPICH's and Intel MPI's mpiexec (Hydra).

use super::Action::*;
use super::Meaning::{Done, Ignored, Needless, Refused};
use super::{MpiexecOption, option};

/// Why options for another way of starting ranks have no effect.
const OTHER_STARTER: &str = "ranks are started without PMI and proxies";
/// What serves in place of an empty environment.
const UNSET: &str =
    "ranks have the environment of mpiexec: `env -u NAME` before the program takes a variable away";

pub(super) const OPTIONS: &[MpiexecOption] = &[
    option(
        &["envall", "genvall", "envuser", "genvuser"],
        &[],
        Needless("ranks have the environment of mpiexec"),
    ),
    option(&["envnone", "genvnone"], &[], Refused(UNSET)),
    option(&["envexcl", "genvexcl"], &["NAMES"], Refused(UNSET)),
    option(
        &["launcher", "bootstrap"],
        &["NAME"],
        Done(Starter, "ssh, or fork for this host alone; -launcher-exec names other programs"),
    ),
    option(
        &["bootstrap-exec-args"],
        &["WORDS"],
        Refused("write a script that calls ssh with these words, and name it by -launcher-exec"),
    ),
    option(
        &["rmk"],
        &["NAME"],
        Needless("the hosts of a job of SLURM, PBS or LSF are found by its variables"),
    ),
    option(
        &["iface"],
        &["NAME"],
        Done(
            Interface,
            "the network between hosts: an interface, or a network such as 10.1.0.0/16",
        ),
    ),
    option(
        &["outfile-pattern", "outfile"],
        &["PATTERN"],
        Done(
            Passed("--output-files"),
            "write standard output to files; %r is the rank, %h the host",
        ),
    ),
    option(
        &["errfile-pattern", "errfile"],
        &["PATTERN"],
        Done(Passed("--error-files"), "the same for standard error"),
    ),
    option(
        &["prepend-pattern"],
        &["PATTERN"],
        Refused("-l prefixes each line with [RANK], --timestamps with the time"),
    ),
    option(&["ordered-output"], &[], Needless("in files and pipes, lines of ranks stay whole")),
    option(
        &["check-mpi", "check_mpi"],
        &[],
        Done(Words(&["--check"]), "report mistakes of the program"),
    ),
    option(
        &["trace-pt2pt", "trace-collectives", "aps", "mps"],
        &[],
        Refused(
            "write --report for a profile with waits and the critical path, --trace FILE for Perfetto",
        ),
    ),
    option(
        &["gtool", "gtoolfile"],
        &["TOOL"],
        Refused(
            "write the tool before the program, as in `mpiexec -n 1 valgrind ./program : -n 3 ./program`; CORNERSTONE_MPI_RANK has the rank",
        ),
    ),
    option(
        &["print-all-exitcodes"],
        &[],
        Ignored("the first rank that fails is named with its status, which is that of mpiexec"),
    ),
    option(
        &["membind"],
        &["POLICY"],
        Refused("write `numactl` before the program; its memory is then placed as it says"),
    ),
    option(
        &["usize"],
        &["SIZE"],
        Ignored(
            "MPI_UNIVERSE_SIZE is the number of ranks and processors, and MPI_Comm_spawn starts any number more",
        ),
    ),
    option(
        &["disable-auto-cleanup"],
        &[],
        Refused("a rank that dies ends the others here; leave it out"),
    ),
    option(&["enable-auto-cleanup", "cleanup"], &[], Needless("a rank that dies ends the others")),
    option(
        &["nameserver"],
        &["HOST"],
        Needless("runs of one user on a host find each other's published names without a server"),
    ),
    option(
        &["topolib"],
        &["NAME"],
        Needless("the places of processors are those that Linux shows"),
    ),
    option(
        &["demux", "localhost", "branch-count", "pmi-port", "pmi-args", "proxy-id"],
        &["VALUE"],
        Ignored(OTHER_STARTER),
    ),
    option(
        &[
            "disable-hostname-propagation",
            "skip-launch-node",
            "order-nodes",
            "enable-x",
            "disable-x",
            "noconf",
            "silent-abort",
            "hostos",
        ],
        &[],
        Ignored(OTHER_STARTER),
    ),
    option(
        &["use-app-topology", "gpus-per-proc", "gpu-subdevs-per-proc", "tune"],
        &["VALUE"],
        Ignored("it tunes another MPI"),
    ),
    option(
        &[
            "ib", "IB", "rdma", "RDMA", "dapl", "DAPL", "psm", "PSM", "psm2", "PSM2", "ofi", "OFI",
            "mx", "MX", "tcp", "shm",
        ],
        &[],
        Ignored(
            "messages use shared memory, and TCP between hosts, or libfabric there with --fabric cluster:ofi",
        ),
    ),
    option(&["umask"], &["MASK"], Refused("set it before: `umask 027; mpiexec ...`")),
    option(
        &["ilp64"],
        &[],
        Refused(
            "compile the program for the integers that it needs; the launcher has no part in it",
        ),
    ),
];
