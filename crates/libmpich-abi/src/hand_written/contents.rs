//! The arguments that a datatype was created with. Some are numbers that differ between the ABIs.

use std::ffi::c_int;

use super::export;
use crate::arguments::{Argument, many};
use crate::convert::Convert;
use crate::handles::Datatype;
use crate::numbers::{ArrayOrder, Combiner, Distribution, ErrorCode};
use crate::standard::standard;

const SUBARRAY: c_int = 13;
const DARRAY: c_int = 14;

export!(MPI_Type_get_contents PMPI_Type_get_contents
    (datatype: c_int, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int,
     integers: *mut c_int, addresses: *mut i64, datatypes: *mut c_int) -> c_int,
{
    let there = Datatype::inward(datatype);
    let mut inner = many::<Datatype>(datatypes, max_datatypes);
    let get = standard!(MPI_Type_get_contents:
        fn(usize, c_int, c_int, c_int, *mut c_int, *mut i64, *mut usize) -> c_int);
    let code = get(there, max_integers, max_addresses, max_datatypes, integers, addresses, inner.passed());
    inner.give_back();
    finish(code, there, integers)
});

export!(MPI_Type_get_contents_c PMPI_Type_get_contents_c
    (datatype: c_int, max_integers: i64, max_addresses: i64, max_large_counts: i64, max_datatypes: i64,
     integers: *mut c_int, addresses: *mut i64, large_counts: *mut i64, datatypes: *mut c_int) -> c_int,
{
    let there = Datatype::inward(datatype);
    let mut inner = many::<Datatype>(datatypes, max_datatypes);
    let get = standard!(MPI_Type_get_contents_c:
        fn(usize, i64, i64, i64, i64, *mut c_int, *mut i64, *mut i64, *mut usize) -> c_int);
    let code = get(there, max_integers, max_addresses, max_large_counts, max_datatypes, integers, addresses,
        large_counts, inner.passed());
    inner.give_back();
    finish(code, there, integers)
});

/// Converts the integers that differ between the ABIs: the order of arrays, and their distribution.
unsafe fn finish(code: c_int, datatype: usize, integers: *mut c_int) -> c_int {
    if code != 0 || integers.is_null() {
        return ErrorCode::outward(code);
    }
    let mut numbers = [0_i64; 4];
    let mut combiner = 0;
    let [first, second, third, fourth] = &mut numbers;
    let get = standard!(MPI_Type_get_envelope_c:
        fn(usize, *mut i64, *mut i64, *mut i64, *mut i64, *mut c_int) -> c_int);
    let code = get(datatype, first, second, third, fourth, &mut combiner);
    let count = numbers[0] as usize;
    if code != 0 || count == 0 {
        return ErrorCode::outward(code);
    }
    let integers = std::slice::from_raw_parts_mut(integers, count);
    match Combiner::outward(combiner) {
        SUBARRAY => integers[count - 1] = ArrayOrder::outward(integers[count - 1]),
        DARRAY => {
            // The integers are the size, the rank, the dimensions, their global sizes, their distributions and
            // arguments, their numbers of processes, and the order.
            let dimensions = integers[2] as usize;
            for number in &mut integers[3 + dimensions..3 + 3 * dimensions] {
                *number = Distribution::outward(*number);
            }
            integers[count - 1] = ArrayOrder::outward(integers[count - 1]);
        }
        _ => {}
    }
    0
}
