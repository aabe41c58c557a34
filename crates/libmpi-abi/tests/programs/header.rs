//! Tests what compilers report about programs that use the header.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Compiles a program in C that is given as text, without linking it.
fn compiled(source: &str, option: &str) -> Output {
    let mut compiler = Command::new("cc")
        .args(["-fsyntax-only", "-Wall", "-Werror", option, "-xc", "-"])
        .arg(format!("-I{}/include", env!("CARGO_MANIFEST_DIR")))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tests need a C compiler named cc");
    compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    compiler.wait_with_output().unwrap()
}

#[test]
fn a_call_of_a_removed_function_names_the_option_that_defines_it() {
    for (function, arguments) in [
        ("MPI_Address", "&value, &place"),
        ("MPI_Errhandler_set", "MPI_COMM_WORLD, MPI_ERRORS_RETURN"),
        ("MPI_Type_extent", "MPI_INT, &place"),
        ("MPI_Type_ub", "MPI_INT, &place"),
    ] {
        let source = format!(
            "#include <mpi.h>\nint value;\nMPI_Aint place;\nvoid call(void) {{ {function}({arguments}); }}\n"
        );
        let ended = compiled(&source, "-O0");
        let words = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success(), "{function}");
        assert!(words.contains(function) && words.contains("DMPI_REMOVED_NAMES"), "{words}");
        let ended = compiled(&source, "-DMPI_REMOVED_NAMES");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
}
