//! Our message-passing service under MPICH's ABI, that of `libmpi.so.12`: for programs that were built against MPICH,
//! Intel MPI or MVAPICH.
//!
//! Each function converts its arguments, calls the function of the same name in `libmpi_abi.so.1`, which lies beside
//! this library, and converts what comes back. `abi/mpich.txt` holds the values that differ, `abi/parameters.txt` says
//! what the parameters mean; from them and the data of the standard ABI come
//! `src/values.rs` and `src/bindings`.
//!
//! The rooms, each of which uses only those before it:
//! * `standard`: `libmpi_abi.so.1` and its functions, found by name;
//! * `convert`, `values`, `handles`, `numbers`, `status`: values of one ABI in the other;
//! * `arguments`: arguments of functions, by value, behind pointers, in arrays;
//! * `lengths`: how long arrays are of which the caller does not say so;
//! * `bindings`: the exported functions, generated, as `values` is;
//! * `apart`: those that need more: callbacks, attributes, names of MPI-1 and of Fortran.
//!
//! An exported function is `unsafe` as a whole: its caller passes what the standard asks for. That is stated here once.
#![allow(clippy::missing_safety_doc, unsafe_op_in_unsafe_fn, missing_docs)]

mod apart;
mod arguments;
mod bindings;
mod convert;
mod handles;
mod lengths;
mod numbers;
mod standard;
mod status;
#[rustfmt::skip] // Generated.
mod values;
