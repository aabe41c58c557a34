//! Tests programs and launchers of other MPIs beside ours, and tools of the user beside `--report` and `--check`.

use std::process::{Command, Stdio};

use crate::lab::{Lab, eventually, skip};
use crate::launching::{built, lab_with, run_program};

/// A program that prints the number of ranks.
const SIZE: &str = "#include <mpi.h>\n#include <stdio.h>\n\
    int main(int c, char **v) { int size; MPI_Init(&c, &v); MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
    printf(\"%d\\n\", size); MPI_Finalize(); return 0; }";

/// Compiles in the folder of a lab.
fn cc(lab: &Lab, words: &[&str]) {
    let ended = Command::new("cc").args(words).current_dir(lab.path("")).output().unwrap();
    assert!(ended.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

/// Makes `libmpi.so.40`, which has a name of MPI libraries and is not ours.
fn other_library(lab: &Lab) {
    lab.write("library.c", "int MPI_Init(int *c, char ***v) { return 0; }\n");
    cc(lab, &["-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", "library.c", "-o", "libmpi.so.40"]);
}

#[test]
fn a_program_of_another_mpi_and_its_launcher_are_warned_of() {
    let Some(lab) = lab_with("a program of another MPI", SIZE) else { return };
    let ours = run_program(&lab, &["-n", "2"], "");
    assert_eq!((&*ours.stdout, &*ours.stderr), ("2\n2\n", ""));
    other_library(&lab);
    lab.write(
        "other.c",
        "int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }\n",
    );
    cc(&lab, &["other.c", "./libmpi.so.40", "-Wl,-rpath,$ORIGIN", "-o", "other"]);
    let warned = lab.succeed(&["mpiexec", "-n", "2", "./other", ":", "-n", "1", "./other"]).stderr;
    assert_eq!(warned.matches("warning: './other' uses").count(), 1, "{warned}");
    assert!(warned.contains("libmpi.so.40, another MPI's library"), "{warned}");
    assert_eq!(lab.succeed(&["mpiexec", "-n", "1", "./other"]).stderr, "");
    // The variables of a process that MPICH's mpiexec has started.
    let mut alone = Command::new(lab.path("program"));
    alone.envs([("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("PMI_FD", "77")]);
    let ended = lab.spawn(alone).wait();
    assert_eq!((ended.status, &*ended.stdout), (Some(0), "1\n"));
    assert!(ended.stderr.contains("has started 4 processes of this program"), "{ended:#?}");
}

/// As Python does: the file of the program names no MPI.
#[test]
fn a_program_that_loads_another_mpi_later_is_warned_of() {
    let lab = Lab::new();
    other_library(&lab);
    let source = "#include <dlfcn.h>\n#include <unistd.h>\n\
        int main(void) { if (!dlopen(\"./libmpi.so.40\", RTLD_NOW)) return 1;\n\
        while (access(\"go\", F_OK)) usleep(1000); return 0; }\n";
    lab.write("later.c", source);
    cc(&lab, &["later.c", "-o", "later", "-ldl"]);
    let mut command = lab.command(&["mpiexec", "-n", "2", "./later"]);
    let errors = std::fs::File::create(lab.path("errors")).unwrap();
    let mut child = command.stdin(Stdio::null()).stderr(errors).spawn().unwrap();
    let warned = || std::fs::read_to_string(lab.path("errors")).unwrap();
    assert!(eventually(|| warned().contains("warning: the program uses")), "{}", warned());
    lab.write("go", "");
    assert!(child.wait().unwrap().success());
    assert!(warned().contains("libmpi.so.40, another MPI's library"), "{}", warned());
}

/// A tool counts calls, and calls the profiling names itself.
const TOOL: &str = "#include <mpi.h>\n#include <stdio.h>\nstatic int sends;\n\
    int MPI_Send(const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c) {\n\
    sends++; return PMPI_Send(b, n, t, d, g, c); }\n\
    int MPI_Finalize(void) { int r; PMPI_Comm_rank(MPI_COMM_WORLD, &r);\n\
    if (r == 0) fprintf(stderr, \"tool: %d sends\\n\", sends); return PMPI_Finalize(); }\n";
const SENDS: &str = "#include <mpi.h>\nint main(int c, char **v) { int r, x = 0; MPI_Init(&c, &v);\n\
    MPI_Comm_rank(MPI_COMM_WORLD, &r); for (int i = 0; i < 3; i++) {\n\
    if (r == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n\
    if (r == 1) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }\n\
    MPI_Finalize(); return 0; }";

#[test]
fn a_tool_of_the_user_and_the_report_see_every_call() {
    let name = "a tool of the user beside the report";
    let Some(lab) = lab_with(name, SENDS) else { return };
    if built(name, "libcornerstone_profile.so", "libprofile").is_none() {
        return;
    }
    lab.write("tool.c", TOOL);
    let include = format!("-I{}/../libmpi-abi/include", env!("CARGO_MANIFEST_DIR"));
    cc(&lab, &["-shared", "-fPIC", &include, "tool.c", "-o", "libtool.so"]);
    let here = lab.path("").canonicalize().unwrap();
    let here = here.to_str().unwrap();
    let rpath = format!("-Wl,-rpath,{here}");
    cc(&lab, &[&include, "program.c", "./libtool.so", &rpath, "-L.", "-lmpi_abi", "-o", "linked"]);
    cc(&lab, &[&include, "program.c", "tool.c", &rpath, "-L.", "-lmpi_abi", "-o", "contains"]);
    let tool = format!("{here}/libtool.so");
    let both_see = |command: &mut Command| {
        let ended = command.output().unwrap();
        let text = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.success() && text.contains("tool: 3 sends"), "{text}");
        let report = std::fs::read_to_string(lab.path("report.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let calls = report["calls"].as_array().unwrap().iter();
        let sends = calls.filter(|call| call["function"] == "MPI_Send");
        assert_eq!(sends.map(|call| call["calls"].as_u64().unwrap()).sum::<u64>(), 3, "{report}");
    };
    let report = ["mpiexec", "-n", "2", "--report=report.json"];
    both_see(lab.command(&[&report[..], &["./program"]].concat()).env("LD_PRELOAD", &tool));
    both_see(
        &mut lab.command(&[&report[..], &["-genv", "LD_PRELOAD", &tool, "./program"]].concat()),
    );
    both_see(&mut lab.command(&[&report[..], &["./linked"]].concat()));
    both_see(&mut lab.command(&[&report[..], &["./contains"]].concat()));
}

#[test]
fn a_library_that_is_opened_apart_is_the_reason_why_nothing_was_seen() {
    let name = "a library that is opened apart";
    let source = "#include <dlfcn.h>\nint main(int c, char **v) {\n\
        void *h = dlopen(\"./libmpi_abi.so.1\", RTLD_NOW | RTLD_LOCAL);\n\
        int (*init)(int *, char ***) = dlsym(h, \"MPI_Init\"); int (*end)(void) = dlsym(h, \"MPI_Finalize\");\n\
        return init(&c, &v) || end(); }\n";
    let Some(lab) = lab_with(name, SIZE) else { return };
    if built(name, "libcornerstone_profile.so", "libprofile").is_none() {
        return;
    }
    lab.write("apart.c", source);
    cc(&lab, &["apart.c", "-o", "apart", "-ldl"]);
    let reported = lab.succeed(&["mpiexec", "-n", "2", "--report=report.html", "./apart"]).stderr;
    assert!(reported.contains("a library that it has opened itself"), "{reported}");
    let checked = lab.run(&["mpiexec", "-n", "2", "--check", "./apart"]);
    checked.refuses(3, &["checked nothing", "a library that it has opened itself"]);
}

/// Debian's programs name `libmpich.so.12`; a link of that name leads to our library.
#[test]
fn a_link_with_a_name_of_mpich_runs_on_a_simulated_machine() {
    let name = "a link with a name of MPICH";
    let lab = Lab::new();
    let Some(library) = built(name, "libmpich_abi.so", "libmpich-abi") else { return };
    let Some(own) = crate::launching::library(name) else { return };
    lab.write(
        "stub.c",
        "int MPI_Init(int *c, char ***v) { return 0; } int MPI_Finalize(void) { return 0; }\n",
    );
    cc(&lab, &["-shared", "-fPIC", "-Wl,-soname,libmpich.so.12", "stub.c", "-o", "libstub.so"]);
    let source = "int MPI_Init(int *, char ***); int MPI_Finalize(void);\n\
        int main(int c, char **v) { return MPI_Init(&c, &v) || MPI_Finalize(); }\n";
    lab.write("program.c", source);
    cc(&lab, &["program.c", "libstub.so", "-o", "program"]);
    for (file, link) in [(&library, "libmpich.so.12"), (&own, "libmpi_abi.so.1")] {
        std::os::unix::fs::symlink(file, lab.path(link)).unwrap();
    }
    let folder = lab.path("");
    let words = ["mpiexec", "-n", "2", "--fabric", "sim:cluster", "-genv", "LD_LIBRARY_PATH"];
    lab.succeed(&[&words[..], &[folder.to_str().unwrap(), "./program"]].concat());
    let refused = lab.run(&["launch", "-n", "2", "--fabric", "sim:cluster", "./program"]);
    refused.refuses(2, &["libmpich.so.12, another MPI's library"]);
}

/// The places in the binding and the interpreter would be the same for every call.
#[test]
fn a_deadlock_of_a_python_program_names_its_lines() {
    let name = "a deadlock of a Python program";
    let Some(library) = crate::launching::library(name) else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        return skip(name, "there is no python3");
    }
    let lab = Lab::new();
    let source = "import ctypes, sys\n\
        mpi = ctypes.CDLL(sys.argv[1])\n\
        mpi.MPI_Init(None, None)\n\
        world, rank = ctypes.c_void_p(0x101), ctypes.c_int()\n\
        mpi.MPI_Comm_rank(world, ctypes.byref(rank))\n\
        def exchange(peer):\n\
        \x20   mpi.MPI_Probe(peer, 5, world, ctypes.create_string_buffer(64))\n\
        exchange(1 - rank.value)\n";
    lab.write("dead.py", source);
    let library = library.to_str().unwrap();
    let ended = lab.run(&["mpiexec", "-n", "2", "python3", "dead.py", library]);
    ended.refuses(122, &["deadlock", "in MPI_Probe (exchange, dead.py:7) for tag 5 of rank 0"]);
}
