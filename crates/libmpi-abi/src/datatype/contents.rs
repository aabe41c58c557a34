//! How a datatype was made, as MPI_Type_get_contents tells it.

use std::ffi::c_int;
use std::rc::Rc;
use std::slice::from_ref;

use mpi::{Datatype as Type, Distribution, Made, Order, Spread, Unit};

use crate::abi::*;

/// What the ABI calls the constructor.
pub(super) fn combiner(made: &Made) -> c_int {
    match made {
        Made::Basic(_) | Made::Pair(..) => COMBINER_NAMED,
        Made::Duplicate(_) => COMBINER_DUP,
        Made::Contiguous { .. } => COMBINER_CONTIGUOUS,
        Made::Vector { unit: Unit::Elements, .. } => COMBINER_VECTOR,
        Made::Vector { unit: Unit::Bytes, .. } => COMBINER_HVECTOR,
        Made::Indexed { unit: Unit::Elements, .. } => COMBINER_INDEXED,
        Made::Indexed { unit: Unit::Bytes, .. } => COMBINER_HINDEXED,
        Made::IndexedBlock { unit: Unit::Elements, .. } => COMBINER_INDEXED_BLOCK,
        Made::IndexedBlock { unit: Unit::Bytes, .. } => COMBINER_HINDEXED_BLOCK,
        Made::Structure { .. } => COMBINER_STRUCT,
        Made::Subarray { .. } => COMBINER_SUBARRAY,
        Made::Distributed { .. } => COMBINER_DARRAY,
        Made::Resized { .. } => COMBINER_RESIZED,
        Made::FortranReal { .. } => COMBINER_F90_REAL,
        Made::FortranComplex { .. } => COMBINER_F90_COMPLEX,
        Made::FortranInteger { .. } => COMBINER_F90_INTEGER,
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
    pub(super) fn of(made: &'a Made) -> Self {
        let mut contents = Contents::plain(made);
        if contents.integers.iter().any(|&one| c_int::try_from(one).is_err()) {
            contents.enlarge(made);
        }
        contents
    }

    /// The lists as long as all counts fit an int.
    fn plain(made: &'a Made) -> Self {
        let contents = |integers: Vec<i64>, of| Contents {
            integers,
            types: from_ref(of),
            ..Contents::default()
        };
        match made {
            Made::Basic(_) | Made::Pair(..) => Contents::default(),
            Made::Duplicate(of) => contents(vec![], of),
            Made::Contiguous { count, of } => contents(vec![*count], of),
            Made::Vector { count, length, stride, unit, of } => {
                contents(vec![*count, *length], of).with_places(&[*stride], *unit)
            }
            Made::Indexed { lengths, places, unit, of } => {
                let count = lengths.len() as i64;
                contents([&[count], &lengths[..]].concat(), of).with_places(places, *unit)
            }
            Made::IndexedBlock { length, places, unit, of } => {
                let count = places.len() as i64;
                contents(vec![count, *length], of).with_places(places, *unit)
            }
            Made::Structure { lengths, places, of } => Contents {
                integers: [&[lengths.len() as i64], &lengths[..]].concat(),
                addresses: places.clone(),
                large: vec![],
                types: of,
            },
            Made::Subarray { sizes, parts, starts, order, of } => {
                let first = [sizes.len() as i64];
                let last = [code_of_order(*order)];
                contents([&first, &sizes[..], parts, starts, &last].concat(), of)
            }
            Made::Distributed { spread, of } => contents(of_spread(spread), of),
            Made::Resized { lower, extent, of } => {
                contents(vec![], of).with_places(&[*lower, *extent], Unit::Bytes)
            }
            Made::FortranReal { digits, range } | Made::FortranComplex { digits, range } => {
                Contents {
                    integers: [digits, range].map(or_undefined).into(),
                    ..Contents::default()
                }
            }
            Made::FortranInteger { range } => {
                Contents { integers: vec![or_undefined(range)], ..Contents::default() }
            }
        }
    }

    /// Places in elements stand among the integers, those in bytes among the addresses.
    fn with_places(mut self, places: &[i64], unit: Unit) -> Self {
        match unit {
            Unit::Elements => self.integers.extend(places),
            Unit::Bytes => self.addresses.extend(places),
        }
        self
    }

    /// Moves counts, lengths and places to a list of their own, as if the type was made by the ..._c variant.
    fn enlarge(&mut self, made: &Made) {
        let integers = std::mem::take(&mut self.integers);
        match made {
            Made::Subarray { .. } => {
                self.integers = vec![integers[0], integers[integers.len() - 1]];
                self.large = integers[1..integers.len() - 1].to_vec();
            }
            Made::Distributed { spread, .. } => {
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
