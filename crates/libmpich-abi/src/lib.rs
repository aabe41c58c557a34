//! Our message-passing service under MPICH's ABI, that of `libmpi.so.12`: for programs that were built against MPICH,
//! Intel MPI or MVAPICH.
//!
//! Each function converts its arguments, calls the function of the same name in `libmpi_abi.so.1`, which is beside this
//! library, and converts the results. `abi/mpich.txt` has the values that differ, and `abi/parameters.txt` the meaning
//! of the parameters. The build script makes `values` and the functions of `bindings` from them and the data of the standard ABI.
//!
//! The modules, each of which uses only those before it:
//! * `standard`: `libmpi_abi.so.1` and its functions, found by name;
//! * `convert`, `values`, `handles`, `numbers`, `status`: values of one ABI in the other;
//! * `arguments`: arguments of functions, by value, behind pointers, in arrays;
//! * `lengths`: the lengths of arrays that the caller does not pass;
//! * `bindings`: the exported functions, generated, as `values` is;
//! * `hand_written`: functions that need more: callbacks, attributes, names of MPI-1 and of Fortran.
//!
//! An exported function is `unsafe` as a whole: its caller passes the arguments that the standard requires. That is
//! stated here once.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn, missing_docs)]

mod arguments;
mod bindings;
mod convert;
mod hand_written;
mod handles;
mod lengths;
mod numbers;
mod standard;
mod status;
mod values;
