//! Handles. Here they are integers that contain their kind: 2 bits for predefined (1) or created (2), 4 bits for the
//! type, and 26 for the index. In the standard ABI they are as wide as pointers: below 0x1000 are the predefined ones,
//! from there on the places of our tables, and from 2^30 on our requests that need no object.

use std::ffi::c_int;

use crate::convert::Convert;
use crate::values;

/// First bits of a handle that was created.
const MADE: u32 = 2 << 30;
/// Position of the type.
const TYPE_SHIFT: u32 = 26;
const INDEX: u32 = (1 << TYPE_SHIFT) - 1;
/// First index of a created handle, because some predefined datatypes look like lower ones.
const FIRST_INDEX: u32 = 16;
/// Bit in the index of a request that needs no object.
const LIGHT: u32 = 1 << 25;

/// First created handle and first request without an object, in the standard ABI.
const STANDARD_MADE: usize = 0x1000;
const STANDARD_LIGHT: usize = 1 << 30;
/// Value that is not a handle of any type, there and here.
const INVALID: u16 = 0;

/// The predefined handles of a type: here, and in the standard ABI.
type Pairs = [(u32, u16)];

fn made(index: u32) -> usize {
    match index & LIGHT {
        0 => STANDARD_MADE + (index - FIRST_INDEX) as usize,
        _ => STANDARD_LIGHT + (index & !LIGHT) as usize,
    }
}

#[inline]
fn inward(foreign: c_int, of_type: u32, predefined_of: impl FnOnce(u32) -> u16) -> usize {
    let bits = foreign as u32;
    let index = bits & INDEX;
    if bits & !INDEX == MADE | of_type << TYPE_SHIFT && index >= FIRST_INDEX {
        return made(index);
    }
    usize::from(predefined_of(bits))
}

#[inline]
fn outward(standard: usize, of_type: u32, predefined: &Pairs) -> c_int {
    let index = match standard {
        STANDARD_LIGHT.. => (standard - STANDARD_LIGHT) as u32 | LIGHT,
        STANDARD_MADE.. => (standard - STANDARD_MADE) as u32 + FIRST_INDEX,
        _ => return predefined_outward(standard, predefined),
    };
    (MADE | of_type << TYPE_SHIFT | index) as c_int
}

// Not inlined: the search would be repeated in hundreds of functions.
#[inline(never)]
fn predefined_outward(standard: usize, predefined: &Pairs) -> c_int {
    let pair = predefined.iter().find(|pair| usize::from(pair.1) == standard);
    pair.map_or(0, |pair| pair.0 as c_int)
}

#[inline(never)]
fn found(predefined: &Pairs, bits: u32) -> u16 {
    predefined.iter().find(|pair| pair.0 == bits).map_or(INVALID, |pair| pair.1)
}

macro_rules! handle {
    ($name:ident, $of_type:expr, $predefined:expr) => {
        handle!($name, $of_type, $predefined, |bits| found($predefined, bits));
    };
    ($name:ident, $of_type:expr, $predefined:expr, $predefined_of:expr) => {
        pub(crate) struct $name;

        impl Convert for $name {
            type Foreign = c_int;
            type Standard = usize;

            #[inline]
            fn inward(foreign: c_int) -> usize {
                inward(foreign, $of_type, $predefined_of)
            }

            #[inline]
            fn outward(standard: usize) -> c_int {
                outward(standard, $of_type, $predefined)
            }
        }
    };
}

handle!(Comm, 0x1, values::COMM);
handle!(Group, 0x2, values::GROUP);
handle!(Datatype, 0x3, values::DATATYPE, predefined_datatype);
handle!(Errhandler, 0x5, values::ERRHANDLER);
handle!(Op, 0x6, values::OP);
handle!(Info, 0x7, values::INFO);
handle!(Win, 0x8, values::WIN);
handle!(Request, 0xb, values::REQUEST);
handle!(Message, 0xb, values::MESSAGE);
handle!(Session, 0xe, values::SESSION);

/// The predefined datatypes by the last byte of their handles. It is unique among those with the first bits of
/// [`PREDEFINED`].
static BY_LAST_BYTE: [(u32, u16); 256] = by_last_byte(values::DATATYPE);

const PREDEFINED: u32 = 1 << 30;

const fn by_last_byte(pairs: &Pairs) -> [(u32, u16); 256] {
    let mut table = [(0, INVALID); 256];
    let mut next = 0;
    while next < pairs.len() {
        let (foreign, standard) = pairs[next];
        if foreign & !(PREDEFINED - 1) == PREDEFINED {
            let place = (foreign & 0xff) as usize;
            assert!(table[place].0 == 0, "two datatypes with one last byte");
            table[place] = (foreign, standard);
        }
        next += 1;
    }
    table
}

#[inline]
fn predefined_datatype(bits: u32) -> u16 {
    let (foreign, standard) = BY_LAST_BYTE[(bits & 0xff) as usize];
    if foreign == bits { standard } else { found(values::DATATYPE, bits) }
}

/// Files are pointers here.
pub(crate) struct File;

impl Convert for File {
    type Foreign = usize;
    type Standard = usize;

    fn inward(foreign: usize) -> usize {
        if foreign == 0 { usize::from(found(values::FILE, 0)) } else { foreign }
    }

    fn outward(standard: usize) -> usize {
        if standard == usize::from(found(values::FILE, 0)) { 0 } else { standard }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_datatypes_are_those_of_the_two_abis() {
        for (foreign, standard) in
            [(0x4c00_0405_u32, 0x209), (0x8c00_0001, 0x229), (0x0c00_0000, 0x200)]
        {
            assert_eq!(Datatype::inward(foreign as c_int), standard);
            assert_eq!(Datatype::outward(standard), foreign as c_int);
        }
        // MPI_LB, which MPI-3 removed, and a handle of another type.
        assert_eq!(Datatype::inward(0x4c00_0010), 0);
        assert_eq!(Datatype::inward(0x4400_0000), 0);
        assert_eq!(Comm::inward(0x4400_0000), 0x101);
        assert_eq!(Datatype::outward(0x3ff), 0);
    }

    #[test]
    fn all_predefined_handles_go_and_come_back() {
        for pairs in [values::DATATYPE, values::COMM, values::OP, values::ERRHANDLER] {
            for &(foreign, standard) in pairs {
                assert_eq!(found(pairs, foreign), standard);
                // Of two values of one type the first is handed back.
                let first = pairs.iter().find(|pair| pair.1 == standard).unwrap().0;
                assert_eq!(outward(usize::from(standard), 0, pairs), first as c_int);
            }
        }
        let twice = |(_, standard): &&(u32, u16)| {
            values::DATATYPE.iter().filter(|pair| pair.1 == *standard).count() > 1
        };
        let values: Vec<u32> = values::DATATYPE.iter().filter(twice).map(|pair| pair.0).collect();
        assert_eq!(values, [0x4c00_0246, 0x4c00_0226], "MPIX_C_FLOAT16 and MPI_REAL2");
    }

    #[test]
    fn handles_that_were_made_go_and_come_back() {
        // The first of the tables, the last that fits, the first and another request without an object.
        let last = STANDARD_MADE + (LIGHT - FIRST_INDEX - 1) as usize;
        for standard in
            [STANDARD_MADE, STANDARD_MADE + 5, last, STANDARD_LIGHT, STANDARD_LIGHT + 77]
        {
            assert_eq!(Request::inward(Request::outward(standard)), standard, "{standard:#x}");
        }
        assert_eq!(Comm::outward(STANDARD_MADE) as u32, 0x8400_0010);
        assert_eq!(Comm::inward(Group::outward(STANDARD_MADE)), 0, "a group is no communicator");
        assert_eq!(File::inward(File::outward(0x1003)), 0x1003);
        assert_eq!((File::inward(0), File::outward(0x118)), (0x118, 0));
    }
}
