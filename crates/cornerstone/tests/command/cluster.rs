//! Runs on several hosts: shared memory inside each, TCP or libfabric between them. Most have "hosts" that are all this
//! one; some have two hosts of network name spaces, and are skipped where the system does not allow these.

use std::path::PathBuf;

use crate::lab::{Lab, eventually, signal, skip};
use crate::launching::{compile, library};
use crate::ofi;
use crate::spaces::Hosts;

/// A program in which every rank sends every other a long message and receives from any. Then follow collectives, a
/// window of all ranks, and memory that the ranks of a host share.
pub(crate) const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define COUNT 100000
#define CHECK(what) do { if (!(what)) { fprintf(stderr, "rank %d: %s\n", rank, #what); MPI_Abort(MPI_COMM_WORLD, 9); } } while (0)
int main(int argc, char **argv) {
    int rank, size, local_rank, local_size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *out = malloc(COUNT * sizeof(int)), *in = malloc(COUNT * sizeof(int));
    MPI_Request sends[64];
    for (int i = 0; i < COUNT; i++) out[i] = rank * COUNT + i;
    for (int i = 1; i < size; i++)
        MPI_Isend(out, COUNT, MPI_INT, (rank + i) % size, 7, MPI_COMM_WORLD, &sends[i - 1]);
    int seen = 1 << rank;
    for (int i = 1; i < size; i++) {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        MPI_Recv(in, COUNT, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
        for (int j = 0; j < COUNT; j++) CHECK(in[j] == status.MPI_SOURCE * COUNT + j);
        seen |= 1 << status.MPI_SOURCE;
    }
    CHECK(seen == (1 << size) - 1);
    MPI_Waitall(size - 1, sends, MPI_STATUSES_IGNORE);
    for (int turn = 0; turn < 50; turn++) {
        int root = turn % size, one = rank + turn, sum = 0, value = rank == root ? turn : -1;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * turn + size * (size - 1) / 2);
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(value == turn);
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int j = 0; j < COUNT; j++) CHECK(in[j] == (size - 1) * COUNT + j);
    int put = 100 + rank, got = -1;
    MPI_Win window;
    MPI_Win_create(&got, sizeof got, sizeof got, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&put, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(got == 100 + (rank + size - 1) % size);
    MPI_Win_free(&window);
    MPI_Comm host;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local_rank);
    MPI_Comm_size(host, &local_size);
    int *own, *first, unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, host, &own, &window);
    MPI_Win_fence(0, window);
    *own = rank;
    MPI_Win_fence(0, window);
    MPI_Win_shared_query(window, (local_rank + 1) % local_size, &bytes, &unit, &first);
    int sum = 0;
    MPI_Allreduce(first, &sum, 1, MPI_INT, MPI_SUM, host);
    int expected = 0;
    MPI_Allreduce(&rank, &expected, 1, MPI_INT, MPI_SUM, host);
    CHECK(sum == expected);
    MPI_Win_free(&window);
    MPI_Comm_free(&host);
    printf("rank %d of %d, one of %d\n", rank, size, local_size);
    if (argc > 1 && rank == atoi(argv[1])) { fflush(stdout); for (;;) { } }
    MPI_Finalize();
    return argc > 2 && rank == size - 1 ? 5 : 0;
}
"#;

/// The options for each fabric between hosts, without libfabric where the machine lacks it.
fn outer_fabrics(test: &str) -> Vec<&'static [&'static str]> {
    let over_ofi: &[&str] = &["--fabric", "cluster:ofi:tcp"];
    [&[][..]].into_iter().chain(ofi::is_here(test).then_some(over_ofi)).collect()
}

fn program(lab: &Lab, test: &str) -> Option<PathBuf> {
    library(test).map(|library| compile(lab, &library, PROGRAM))
}

pub(crate) fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

const OF_TWO_HOSTS: [&str; 5] = [
    "rank 0 of 5, one of 2",
    "rank 1 of 5, one of 2",
    "rank 2 of 5, one of 3",
    "rank 3 of 5, one of 3",
    "rank 4 of 5, one of 3",
];

#[test]
fn an_mpi_program_runs_on_the_hosts_of_one_word_and_its_status_comes_back() {
    let lab = Lab::new();
    let Some(program) = program(&lab, "an MPI program on the hosts of one word") else { return };
    let program = program.to_str().unwrap();
    let hosts = ["launch", "--host", "localhost:2,127.0.0.1:4", "-n", "5", program];
    let ended = lab.succeed(&hosts);
    assert_eq!(sorted(&ended.stdout), OF_TWO_HOSTS, "{ended:#?}");
    assert!(lab.becomes_empty());
    let ended = lab.run(&[&hosts[..], &["-1", "fails"]].concat());
    ended.refuses(5, &["rank 4 ended with status 5"]);
    assert!(lab.becomes_empty());
}

/// A program with collectives in two levels, in communicators whose members of a host are consecutive, or not. The
/// operation composes functions x -> a x + b, so the order matters. The last call of rank `argv[1]` differs from that
/// of the others.
const TWO_LEVELS: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define TURNS 12
#define CHECK(what) do { if (!(what)) { fprintf(stderr, "rank %d, turn %d: %s\n", rank, turn, #what); MPI_Abort(MPI_COMM_WORLD, 9); } } while (0)
enum { LONG = 30000 };
static unsigned out[2 * LONG], in[2 * LONG];
static void compose(void *first, void *then, int *count, MPI_Datatype *type) {
    unsigned *f = first, *g = then;
    (void)type;
    for (int i = 0; i < *count; i++, f += 2, g += 2) g[1] += g[0] * f[1], g[0] *= f[0];
}
static unsigned a(int rank, int i) { return 2 * rank + 3 + i % 5; }
static unsigned b(int rank, int turn, int i) { return 7 * rank + turn + i; }
/* Blocks of one length, and blocks of any, of which one is empty, in the reverse order and with gaps. */
static void gather_at_all(MPI_Comm comm, int turn, int rank, int size) {
    int each = 1 + turn * 200, counts[16], places[16];
    for (int r = 0; r < size; r++) counts[r] = r ? each + r : 0, places[r] = (size - 1 - r) * (each + size + 1);
    for (int i = 0; i < each + size; i++) out[i] = b(rank, turn, i);
    if (turn % 2) {
        MPI_Allgather(out, each, MPI_UNSIGNED, in, each, MPI_UNSIGNED, comm);
    } else {
        for (int i = 0; i < each; i++) in[rank * each + i] = out[i];
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_UNSIGNED, in, each, MPI_UNSIGNED, comm);
    }
    for (int i = 0; i < size * each; i++) CHECK(in[i] == b(i / each, turn, i % each));
    for (int i = 0; i < size * (each + size + 1); i++) in[i] = 5;
    if (turn % 2) {
        MPI_Allgatherv(out, counts[rank], MPI_UNSIGNED, in, counts, places, MPI_UNSIGNED, comm);
    } else {
        for (int i = 0; i < counts[rank]; i++) in[places[rank] + i] = out[i];
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_UNSIGNED, in, counts, places, MPI_UNSIGNED, comm);
    }
    for (int r = 0; r < size; r++)
        for (int i = 0; i < each + size + 1; i++) CHECK(in[places[r] + i] == (i < counts[r] ? b(r, turn, i) : 5));
}
static void all(MPI_Comm comm, MPI_Op op, MPI_Datatype pair) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int turn = 0; turn < TURNS; turn++) {
        int length = turn % 3 ? 1 + turn : LONG, root = turn % size;
        for (int i = 0; i < length; i++) out[2 * i] = a(rank, i), out[2 * i + 1] = b(rank, turn, i);
        if (turn % 2) {
            MPI_Allreduce(out, in, length, pair, op, comm);
        } else {
            for (int i = 0; i < 2 * length; i++) in[i] = out[i];
            MPI_Allreduce(MPI_IN_PLACE, in, length, pair, op, comm);
        }
        for (int i = 0; i < length; i++) {
            unsigned factor = 1, sum = 0;
            for (int r = 0; r < size; r++) factor *= a(r, i), sum = a(r, i) * sum + b(r, turn, i);
            CHECK(in[2 * i] == factor && in[2 * i + 1] == sum);
        }
        for (int i = 0; i < 2 * length; i++) in[i] = rank == root ? out[i] : 0;
        MPI_Bcast(in, length, pair, root, comm);
        for (int i = 0; i < length; i++) CHECK(in[2 * i] == a(root, i) && in[2 * i + 1] == b(root, turn, i));
        gather_at_all(comm, turn, rank, size);
        MPI_Barrier(comm);
    }
}
int main(int argc, char **argv) {
    int rank, turn = -1, sum;
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    all(MPI_COMM_WORLD, op, pair);
    for (int order = 0; order < 2; order++) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, order ? rank % 2 * 10 + rank : -rank, &comm);
        all(comm, op, pair);
        MPI_Comm_free(&comm);
    }
    CHECK(argc > 1);
    if (rank == atoi(argv[1])) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("rank %d has ended\n", rank);
    return 0;
}
"#;

/// Tests hosts of two and of three ranks. A call that differs from all others is detected from either host.
#[test]
fn collectives_go_in_two_levels_and_find_calls_that_do_not_match() {
    const NAME: &str = "collectives in two levels";
    let lab = Lab::new();
    let Some(library) = library(NAME) else { return };
    let program = compile(&lab, &library, TWO_LEVELS);
    let program = program.to_str().unwrap();
    for fabric in outer_fabrics(NAME) {
        let hosts = ["launch", "--host", "localhost:2,127.0.0.1:3", "-n", "5"];
        let hosts = [&hosts[..], fabric, &[program]].concat();
        let ended = lab.succeed(&[&hosts[..], &["5"]].concat());
        assert_eq!(sorted(&ended.stdout).len(), 5, "{ended:#?}");
        // Ranks 0 and 1 share a host, as do 2, 3 and 4.
        for (other, named) in [("1", "rank 1"), ("4", "rank 4"), ("2", "")] {
            let ended = lab.run(&[&hosts[..], &[other]].concat());
            assert_ne!(ended.status, Some(0), "{ended:#?}");
            let says = |what: &str| ended.stderr.contains(what);
            assert!(says("collectives do not match") && says(named), "{ended:#?}");
            assert!(lab.becomes_empty());
        }
    }
}

#[test]
fn an_mpi_program_runs_across_two_hosts() {
    const NAME: &str = "an MPI program across two hosts";
    let hosts = match Hosts::with_rate(4, "1gbit") {
        Ok(hosts) => hosts,
        Err(why) => return skip(NAME, &why),
    };
    let lab = Lab::new();
    let Some(program) = program(&lab, NAME) else { return };
    let agent = hosts.agent(&lab);
    let [first, second] = &hosts.addresses[..] else { panic!("two hosts") };
    lab.write("hosts", &format!("{first}:2\n{second}:3\n"));
    for fabric in outer_fabrics(NAME) {
        let words = ["launch", "--hosts", "hosts", "--agent", &agent, "-n", "5"];
        let words = [&words[..], fabric, &["./program"]].concat();
        let mut command = hosts.on_first(&lab.command(&words));
        command.current_dir(lab.path(""));
        let ended = lab.spawn(command).wait();
        assert_eq!(ended.status, Some(0), "{ended:#?}");
        assert_eq!(sorted(&ended.stdout), OF_TWO_HOSTS, "{ended:#?}");
        assert!(lab.becomes_empty() && program.exists());
    }
}

/// Tests a cable that is cut without a message. The ranks at its far end are still running.
#[test]
fn a_host_whose_cable_is_cut_is_a_dead_rank_by_name() {
    const NAME: &str = "a host whose cable is cut";
    let hosts = match Hosts::with_rate(5, "1gbit") {
        Ok(hosts) => hosts,
        Err(why) => return skip(NAME, &why),
    };
    let lab = Lab::new();
    if program(&lab, NAME).is_none() {
        return;
    }
    let agent = hosts.agent(&lab);
    let [first, second] = &hosts.addresses[..] else { panic!("two hosts") };
    lab.write("hosts", &format!("{first}:2\n{second}:2\n"));
    // Rank 1 polls for ever, and the others wait for it in MPI_Finalize.
    let words = ["launch", "--hosts", "hosts", "--agent", &agent, "-n", "4", "./program", "1"];
    let mut command = hosts.on_first(&lab.command(&words));
    command.current_dir(lab.path(""));
    let running = lab.spawn(command);
    assert!(eventually(|| of_rank(&lab, "1").len() == 2), "both hosts have a second rank");
    // The cable is not cut while they still connect.
    std::thread::sleep(std::time::Duration::from_secs(2));
    hosts.cut_cable();
    let ended = running.wait();
    ended.refuses(1, &["rank", second, "lost its connection"]);
    assert!(lab.becomes_empty());
}

/// Returns the ranks with this number on their host.
fn of_rank(lab: &Lab, local: &str) -> Vec<u32> {
    let is_rank = |pid: &u32| {
        let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let words = String::from_utf8_lossy(&bytes).into_owned();
        words.contains(&format!("CORNERSTONE_MPI_SEAT=rank={local} "))
    };
    lab.processes().into_iter().filter(is_rank).collect()
}

#[test]
fn a_rank_that_is_killed_ends_all_on_every_host() {
    const NAME: &str = "a rank that is killed on one of several hosts";
    let lab = Lab::new();
    let Some(program) = program(&lab, NAME) else { return };
    let program = program.to_str().unwrap();
    for fabric in outer_fabrics(NAME) {
        // Rank 3 polls for ever, and the others wait for it in MPI_Finalize.
        let words = ["launch", "--host", "localhost:2,127.0.0.1:2", "-n", "4", "--prefix"];
        let running = lab.start(&[&words[..], fabric, &[program, "3"]].concat());
        assert!(eventually(|| of_rank(&lab, "1").len() == 2), "both hosts have a second rank");
        let killed = of_rank(&lab, "1")[0];
        signal(killed, "KILL");
        let ended = running.wait();
        ended.refuses(137, &["was killed by signal 9, SIGKILL"]);
        let named = ["rank 1", "rank 3"].iter().any(|rank| ended.stderr.contains(rank));
        assert!(named, "{ended:#?}");
        assert!(lab.becomes_empty());
    }
}

#[test]
fn programs_without_mpi_get_their_input_output_and_rank_on_every_host() {
    let lab = Lab::new();
    let words =
        ["launch", "--host", "localhost:1,127.0.0.1:2", "-n", "3", "--prefix", "echo", "a b"];
    let ended = lab.succeed(&words);
    assert_eq!(sorted(&ended.stdout), ["[0] a b", "[1] a b", "[2] a b"]);
    lab.run(&["launch", "--host", "localhost:1,127.0.0.1:1", "-n", "2", "sh", "-c", "exit 9"])
        .refuses(9, &["status 9"]);
    lab.run(&["launch", "--host", "localhost", "-n", "1", "./not-there"])
        .refuses(127, &["./not-there"]);
    assert!(lab.becomes_empty());
}

#[test]
fn benchmarks_run_on_the_hosts_of_a_batch_system() {
    let lab = Lab::new();
    let words = ["run", "ping-pong", "--fabric", "cluster", "--ranks", "2", "--sizes", "8,64KiB"];
    let mut command =
        lab.command(&[&words[..], &["--time-limit", "50ms", "--out", "a.jsonl"]].concat());
    command.env("SLURM_JOB_NODELIST", "localhost,127.0.0.1");
    command.env("SLURM_TASKS_PER_NODE", "1(x2)");
    let ended = lab.spawn(command).wait();
    assert_eq!(ended.status, Some(0), "{ended:#?}");
    assert_eq!(lab.records("a.jsonl")[0]["fabric"]["name"], "cluster");
    assert!(!lab.measurements("a.jsonl").is_empty() && lab.becomes_empty());
    let mut command = lab.command(&words);
    command.env("SLURM_JOB_NODELIST", "n[1-");
    lab.spawn(command).wait().refuses(2, &["SLURM_JOB_NODELIST='n[1-'", "do not close"]);
}

/// Tests that ranks for which this host has slots stay here, and that others use the job's hosts in their order.
#[test]
fn a_program_in_a_batch_job_uses_its_hosts_when_it_needs_them() {
    let lab = Lab::new();
    let Some(program) = program(&lab, "a program in a batch job") else { return };
    let program = program.to_str().unwrap();
    let launched = |words: &[&str], hosts: &str| {
        let mut command = lab.command(words);
        command.env("SLURM_JOB_NODELIST", hosts).env("SLURM_TASKS_PER_NODE", "2,3");
        lab.spawn(command).wait()
    };
    for launcher in ["launch", "mpiexec"] {
        let ended = launched(&[launcher, "-n", "5", program], "localhost,127.0.0.1");
        assert_eq!(ended.status, Some(0), "{ended:#?}");
        assert_eq!(sorted(&ended.stdout), OF_TWO_HOSTS, "{ended:#?}");
    }
    for (ranks, more) in [("2", &[][..]), ("5", &["--fabric", "local"]), ("5", &[])] {
        let words = [&["launch", "-n", ranks, "--watch", "60s"], more, &["true"]].concat();
        let ended = launched(&words, "localhost,127.0.0.1");
        assert_eq!(ended.status, Some(0), "{ended:#?}");
    }
    // Where several hosts are used, several programs are refused.
    let words = ["mpiexec", "-n", "4", "true", ":", "-n", "1", "true"];
    launched(&words, "localhost,127.0.0.1").refuses(2, &["several programs", "--fabric local"]);
    launched(&["launch", "-n", "6", "true"], "localhost,127.0.0.1")
        .refuses(2, &["the hosts take 5 ranks, not 6", "--fabric local"]);
    // A job that was submitted from this host runs elsewhere.
    launched(&["launch", "-n", "2", "true"], "somewhere.invalid,localhost")
        .refuses(1, &["somewhere.invalid"]);
    assert!(lab.becomes_empty());
}

#[test]
fn hosts_that_make_no_sense_for_a_program_are_refused() {
    let lab = Lab::new();
    let launch = |more: &[&str]| lab.run(&[&["launch", "-n", "3"][..], more, &["true"]].concat());
    launch(&["--host", "a,b:x"]).refuses(2, &["--host: 'b:x': 'x' is not a number of ranks"]);
    launch(&["--host", "localhost:2"]).refuses(2, &["the hosts take 2 ranks, not 3"]);
    launch(&["--fabric", "tcp", "--host", "localhost:3"])
        .refuses(2, &["--fabric tcp is for programs on this host alone"]);
    launch(&["--host", "localhost,somewhere.invalid:2", "--agent", "/nowhere/agent"])
        .refuses(1, &["somewhere.invalid"]);
    assert!(lab.becomes_empty());
}
