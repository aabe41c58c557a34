//! Our message-passing service under the standard ABI of MPI 5: `libmpi_abi.so.1`.
//!
//! The crate `mpi` implements MPI's objects. This crate adds their handles, and the arguments and return codes of C.
//! `abi/mpi5.txt` contains the whole ABI as data, and `abi/served.txt` maps each function of MPI to a function here.
//! `include/mpi.h`, `src/abi` and `src/bindings` are generated from the two. All functions are implemented.
//!
//! Each module uses only those before it in this list:
//! * `abi`: constants and handle types;
//! * `shared`, `handle`: values of the whole process, and tables of objects by handle, one for each kind of object;
//! * `failure`, `codes`: error codes, their classes, and their names;
//! * `text`, `arguments`: strings and arrays of C;
//! * `info`, `attribute`, `datatype`, `operation`, `status`, `handler`: objects that need no communication;
//! * `chosen`, `threads`, `process`: the fabric, several threads of a program, and the state of this process;
//! * `request`, `group`, `communicator`, `topology`, `packing`, `point`, `collective`, `window`, `file`: the chapters
//!   of the standard;
//! * `runs`: processes that were started separately;
//! * `errors`: selection of the error handler, and the end of a job;
//! * `leaks`, `environment`: initialisation and finalisation;
//! * `bindings`: the exported functions, which convert a result to a return code.
//!
//! At most one thread is in the library at a time: `threads` ensures that if the program does not.
//!
//! A function that implements one of MPI's is `unsafe` as a whole: it is sound because its caller passes the pointers
//! that the standard requires, with as many elements behind each. That is stated here once and not at each of them. An
//! `unsafe` block in a safe function states its own reason.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn)]

mod abi;
mod arguments;
mod attribute;
mod bindings;
mod chosen;
mod codes;
mod collective;
mod communicator;
mod datatype;
mod ending;
mod environment;
mod errors;
mod failure;
mod file;
mod fortran;
mod group;
mod handle;
mod handler;
mod info;
mod leaks;
mod notes;
mod operation;
mod packing;
mod partitioned;
mod point;
mod process;
mod request;
mod runs;
mod session;
mod shared;
mod status;
mod text;
mod threads;
mod tools;
mod topology;
mod window;
