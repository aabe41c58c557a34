//! The numbers of datatypes in time-independent traces, as SimGrid 3.32 writes them.

use super::Mistake;

/// Length of an element in bytes, by the number of its datatype: MPI_DOUBLE, MPI_INT, MPI_CHAR and so on, in the order
/// in which SimGrid declares them.
const ELEMENT_BYTES: [usize; 51] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1,
    1, // double, int, char, short, long, float, byte, long long, signed and unsigned char
    2, 4, 8, 8, 16, 4, 1, 1, 2,
    4, // unsigned short, int, long and long long, long double, wchar, bool, int8 to int32
    8, 1, 2, 4, 8, 8, 16, 32, 8,
    8, // int64, uint8 to uint64, complex of float, double and long double, aint, offset
    8, 16, 16, 8, 8, 8, 16,
    16, // pairs with an int of float, long, double, short, int; of two float, double, long
    4, 4, 8, 16, 8, 16,
    16, // Fortran's real, real4, real8, real16, complex8, complex16, complex32
    4, 2, 4, 8, 16, 32, // Fortran's integer1 to integer16, a long double with an int
];
const PACKED: &str = "57";
/// Word for a datatype that the program has created.
const DERIVED: &str = "-1";

/// Returns the length of an element of a datatype.
pub(super) fn element_bytes(word: &str, line: usize) -> Result<usize, Mistake> {
    if word == DERIVED {
        let why =
            "the datatype is one that the program has made: the trace does not have its length";
        return Err((line, why.into()));
    }
    let bytes_each = word.parse().ok().and_then(|number: usize| ELEMENT_BYTES.get(number).copied());
    let bytes_each = bytes_each.or((word == PACKED).then_some(1));
    bytes_each.ok_or_else(|| (line, format!("'{word}' is no number of a datatype that is known")))
}
