//! Datatypes in files in the portable form (MPI 5, section 14.5.1): constructed in the same way from shorter numbers.

use std::rc::Rc;

use super::kind::Kind;
use super::layout::{Construction, Datatype};
use crate::error::Result;

/// Returns a kind in memory with the length of `kind` in the portable form.
fn as_long(kind: Kind) -> Kind {
    match kind {
        Kind::Long => Kind::Signed(4),
        Kind::UnsignedLong => Kind::Unsigned(4),
        Kind::WideCharacter => Kind::Unsigned(2),
        other => other,
    }
}

impl Datatype {
    /// Returns the same type with numbers of the portable form's lengths. Places in bytes stay.
    ///
    /// # Errors
    /// [`ErrorClass::NoMemory`](crate::ErrorClass::NoMemory) for a type of too many separate pieces.
    pub(crate) fn in_portable_form(of: &Rc<Datatype>) -> Result<Rc<Datatype>> {
        use Construction as How;
        let part = Datatype::in_portable_form;
        if of.runs().iter().all(|run| as_long(run.kind) == run.kind) {
            return Ok(of.clone());
        }
        match of.made().clone() {
            How::Basic(kind) => Ok(Datatype::basic(as_long(kind))),
            How::Pair(value, index) => Ok(Datatype::pair(as_long(value), as_long(index))),
            How::Duplicate(of) => part(&of),
            How::Contiguous { count, of } => Datatype::contiguous(count, &part(&of)?),
            How::Vector { count, length, stride, unit, of } => {
                Datatype::vector(count, length, stride, unit, &part(&of)?)
            }
            How::Indexed { lengths, places, unit, of } => {
                Datatype::indexed(lengths, places, unit, &part(&of)?)
            }
            How::IndexedBlock { length, places, unit, of } => {
                Datatype::indexed_block(length, places, unit, &part(&of)?)
            }
            How::Structure { lengths, places, of } => {
                let of = of.iter().map(part).collect::<Result<_>>()?;
                Datatype::structure(lengths, places, of)
            }
            How::Subarray { sizes, parts, starts, order, of } => {
                Datatype::subarray(sizes, parts, starts, order, &part(&of)?)
            }
            How::Distributed { spread, of } => Datatype::distributed(spread, &part(&of)?),
            How::Resized { lower, extent, of } => Datatype::resized(lower, extent, &part(&of)?),
            // None of these is longer in memory.
            How::FortranReal { .. } | How::FortranComplex { .. } | How::FortranInteger { .. } => {
                Ok(of.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Unit;

    #[test]
    fn strides_of_elements_shrink_with_them_and_places_in_bytes_stay() {
        let long = Datatype::basic(Kind::Long);
        let every_third = Datatype::vector(2, 1, 3, Unit::Elements, &long).unwrap();
        let there = Datatype::in_portable_form(&every_third).unwrap();
        // Two numbers of 4 bytes, the second three numbers after the first.
        assert_eq!((there.size(), there.extent(), there.runs()[1].offset), (8, 16, 12));
        let places = Datatype::indexed(vec![1, 1], vec![0, 24], Unit::Bytes, &long).unwrap();
        let there = Datatype::in_portable_form(&places).unwrap();
        assert_eq!((there.size(), there.runs()[1].offset), (8, 24));
        let double = Datatype::basic(Kind::Float(8));
        assert!(Rc::ptr_eq(&Datatype::in_portable_form(&double).unwrap(), &double));
    }
}
