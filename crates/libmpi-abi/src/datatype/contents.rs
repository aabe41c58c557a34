//! The construction of a datatype for MPI_Type_get_contents.

use std::ffi::c_int;
use std::rc::Rc;
use std::slice::from_ref;

use mpi::{Construction, Datatype as Type, Distribution, Order, Spread, Unit};

use crate::abi::*;

/// Returns the ABI's number of the constructor.
pub(super) fn combiner(made: &Construction) -> c_int {
    match made {
        Construction::Basic(_) | Construction::Pair(..) => COMBINER_NAMED,
        Construction::Duplicate(_) => COMBINER_DUP,
        Construction::Contiguous { .. } => COMBINER_CONTIGUOUS,
        Construction::Vector { unit: Unit::Elements, .. } => COMBINER_VECTOR,
        Construction::Vector { unit: Unit::Bytes, .. } => COMBINER_HVECTOR,
        Construction::Indexed { unit: Unit::Elements, .. } => COMBINER_INDEXED,
        Construction::Indexed { unit: Unit::Bytes, .. } => COMBINER_HINDEXED,
        Construction::IndexedBlock { unit: Unit::Elements, .. } => COMBINER_INDEXED_BLOCK,
        Construction::IndexedBlock { unit: Unit::Bytes, .. } => COMBINER_HINDEXED_BLOCK,
        Construction::Structure { .. } => COMBINER_STRUCT,
        Construction::Subarray { .. } => COMBINER_SUBARRAY,
        Construction::Distributed { .. } => COMBINER_DARRAY,
        Construction::Resized { .. } => COMBINER_RESIZED,
        Construction::FortranReal { .. } => COMBINER_F90_REAL,
        Construction::FortranComplex { .. } => COMBINER_F90_COMPLEX,
        Construction::FortranInteger { .. } => COMBINER_F90_INTEGER,
    }
}

/// The lists of MPI_Type_get_contents.
#[derive(Default)]
pub(super) struct Contents<'a> {
    pub(super) integers: Vec<i64>,
    pub(super) addresses: Vec<i64>,
    pub(super) large: Vec<i64>,
    pub(super) types: &'a [Rc<Type>],
}

impl<'a> Contents<'a> {
    pub(super) fn of(made: &'a Construction) -> Self {
        let mut contents = Contents::plain(made);
        if contents.integers.iter().any(|&one| c_int::try_from(one).is_err()) {
            contents.enlarge(made);
        }
        contents
    }

    /// Returns the lists for a construction whose counts all fit an int.
    fn plain(made: &'a Construction) -> Self {
        let contents = |integers: Vec<i64>, of| Contents {
            integers,
            types: from_ref(of),
            ..Contents::default()
        };
        match made {
            Construction::Basic(_) | Construction::Pair(..) => Contents::default(),
            Construction::Duplicate(of) => contents(vec![], of),
            Construction::Contiguous { count, of } => contents(vec![*count], of),
            Construction::Vector { count, length, stride, unit, of } => {
                contents(vec![*count, *length], of).with_places(&[*stride], *unit)
            }
            Construction::Indexed { lengths, places, unit, of } => {
                let count = lengths.len() as i64;
                contents([&[count], &lengths[..]].concat(), of).with_places(places, *unit)
            }
            Construction::IndexedBlock { length, places, unit, of } => {
                let count = places.len() as i64;
                contents(vec![count, *length], of).with_places(places, *unit)
            }
            Construction::Structure { lengths, places, of } => Contents {
                integers: [&[lengths.len() as i64], &lengths[..]].concat(),
                addresses: places.clone(),
                large: vec![],
                types: of,
            },
            Construction::Subarray { sizes, parts, starts, order, of } => {
                let first = [sizes.len() as i64];
                let last = [code_of_order(*order)];
                contents([&first, &sizes[..], parts, starts, &last].concat(), of)
            }
            Construction::Distributed { spread, of } => contents(of_spread(spread), of),
            Construction::Resized { lower, extent, of } => {
                contents(vec![], of).with_places(&[*lower, *extent], Unit::Bytes)
            }
            Construction::FortranReal { digits, range }
            | Construction::FortranComplex { digits, range } => Contents {
                integers: [digits, range].map(or_undefined).into(),
                ..Contents::default()
            },
            Construction::FortranInteger { range } => {
                Contents { integers: vec![or_undefined(range)], ..Contents::default() }
            }
        }
    }

    /// Adds places: in elements to the integers, in bytes to the addresses.
    fn with_places(mut self, places: &[i64], unit: Unit) -> Self {
        match unit {
            Unit::Elements => self.integers.extend(places),
            Unit::Bytes => self.addresses.extend(places),
        }
        self
    }

    /// Moves counts, lengths and places to a list of their own, as if the ..._c variant had created the type.
    fn enlarge(&mut self, made: &Construction) {
        let integers = std::mem::take(&mut self.integers);
        match made {
            Construction::Subarray { .. } => {
                self.integers = vec![integers[0], integers[integers.len() - 1]];
                self.large = integers[1..integers.len() - 1].to_vec();
            }
            Construction::Distributed { spread, .. } => {
                let lengths = 3..3 + spread.lengths.len();
                self.large = integers[lengths.clone()].to_vec();
                self.integers = [&integers[..lengths.start], &integers[lengths.end..]].concat();
            }
            _ => self.large = [integers, std::mem::take(&mut self.addresses)].concat(),
        }
    }
}

fn or_undefined(number: &Option<c_int>) -> i64 {
    i64::from(number.unwrap_or(UNDEFINED))
}

fn code_of_order(order: Order) -> i64 {
    i64::from(match order {
        Order::RowMajor => ORDER_C,
        Order::ColumnMajor => ORDER_FORTRAN,
    })
}

fn of_spread(spread: &Spread) -> Vec<i64> {
    let codes = spread.distributions.iter().map(|one| match *one {
        Distribution::None(argument) => (DISTRIBUTE_NONE, argument),
        Distribution::Block(argument) => (DISTRIBUTE_BLOCK, argument),
        Distribution::Cyclic(argument) => (DISTRIBUTE_CYCLIC, argument),
    });
    let (how, arguments): (Vec<c_int>, Vec<Option<i64>>) = codes.unzip();
    let mut integers = vec![spread.size, spread.rank, spread.lengths.len() as i64];
    integers.extend(&spread.lengths);
    integers.extend(how.into_iter().map(i64::from));
    let default = i64::from(DISTRIBUTE_DFLT_DARG);
    integers.extend(arguments.into_iter().map(|argument| argument.unwrap_or(default)));
    integers.extend(&spread.processes);
    integers.push(code_of_order(spread.order));
    integers
}
