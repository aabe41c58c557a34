//! Fortran's types by their digits and range (`selected_real_kind`, `selected_int_kind`).

use std::rc::Rc;

use super::create::resize;
use super::kind::Kind;
use super::layout::{Construction, Datatype};
use crate::error::{Error, ErrorClass, Result};

/// A basic element with its decimal digits and its decimal exponent range.
type Choice = (i32, i32, Kind);

/// Stands for integers, which have no digits to request.
const ANY: i32 = i32::MAX;
const INTEGERS: [Choice; 4] = [
    (ANY, 2, Kind::Signed(1)),
    (ANY, 4, Kind::Signed(2)),
    (ANY, 9, Kind::Signed(4)),
    (ANY, 18, Kind::Signed(8)),
];
const REALS: [Choice; 2] = [(6, 37, Kind::Float(4)), (15, 307, Kind::Float(8))];
const COMPLEX: [Choice; 2] = [(6, 37, Kind::Complex(4)), (15, 307, Kind::Complex(8))];

/// Returns the smallest of `choices` with the requested digits and range.
fn smallest(
    choices: &[Choice],
    digits: Option<i32>,
    range: Option<i32>,
    made: Construction,
) -> Result<Rc<Datatype>> {
    let fits = |have: i32, want: Option<i32>| want.is_none_or(|want| want <= have);
    let found = choices.iter().find(|(have, reach, _)| fits(*have, digits) && fits(*reach, range));
    let shown = |number: Option<i32>| number.map_or("any".into(), |number| number.to_string());
    let &(.., kind) = found.ok_or_else(|| {
        let (digits, range) = (shown(digits), shown(range));
        let what = format!("no Fortran type with {digits} digits and a range of {range}");
        Error::new(ErrorClass::Argument, what)
    })?;
    let base = Datatype::basic(kind);
    let mut copy = resize(&base, base.lower, base.extent, made)?;
    // Its bounds are not explicit: in a structure it is padded as its base is.
    copy.has_fixed_bounds = base.has_fixed_bounds;
    copy.commit();
    Ok(Rc::new(copy))
}

impl Datatype {
    /// Creates the type of a real number with this number of decimal digits and this decimal exponent range. It is
    /// committed, as are those below.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] if there is no such type, as below.
    pub fn fortran_real(digits: Option<i32>, range: Option<i32>) -> Result<Rc<Datatype>> {
        smallest(&REALS, digits, range, Construction::FortranReal { digits, range })
    }

    /// Creates the type of a complex number whose parts have these digits and this range.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`].
    pub fn fortran_complex(digits: Option<i32>, range: Option<i32>) -> Result<Rc<Datatype>> {
        smallest(&COMPLEX, digits, range, Construction::FortranComplex { digits, range })
    }

    /// Creates the type of an integer with this number of decimal digits.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`].
    pub fn fortran_integer(range: Option<i32>) -> Result<Rc<Datatype>> {
        smallest(&INTEGERS, None, range, Construction::FortranInteger { range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_type_that_suffices_is_chosen() {
        let kind = |made: Result<Rc<Datatype>>| made.unwrap().only_kind().unwrap();
        assert_eq!(kind(Datatype::fortran_real(Some(6), Some(37))), Kind::Float(4));
        assert_eq!(kind(Datatype::fortran_real(Some(7), None)), Kind::Float(8));
        assert_eq!(kind(Datatype::fortran_complex(None, Some(38))), Kind::Complex(8));
        // 10^4 fits 16 bits, 10^5 does not.
        assert_eq!(kind(Datatype::fortran_integer(Some(4))), Kind::Signed(2));
        assert_eq!(kind(Datatype::fortran_integer(Some(5))), Kind::Signed(4));
        let none = Datatype::fortran_real(Some(16), None).unwrap_err();
        assert_eq!(none.message, "no Fortran type with 16 digits and a range of any");
    }
}
