//! Tuples, and templates that match them.

use crate::{Error, FieldKind, Result};

/// A value in a tuple.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// A whole number.
    Integer(i64),
    /// A number in double precision. It equals another if both have the same bits.
    Real(f64),
    /// Words.
    Text(String),
    /// Any data.
    Bytes(Vec<u8>),
    /// The number of a function, in a tuple that is still to be computed ([`eval`](super::TupleOperations::eval)).
    Function(u32),
}

/// A sequence of fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tuple(pub Vec<Field>);

/// The requirement for a field of a tuple.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Exactly this value: an *actual*.
    Is(Field),
    /// Any value of this type: a *formal*.
    Any(FieldKind),
}

/// The requirement for a tuple: the same number of fields, each as required.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template(pub Vec<Wanted>);

impl Field {
    /// Returns its type.
    pub fn kind(&self) -> FieldKind {
        match self {
            Field::Integer(_) => FieldKind::Integer,
            Field::Real(_) => FieldKind::Real,
            Field::Text(_) => FieldKind::Text,
            Field::Bytes(_) => FieldKind::Bytes,
            Field::Function(_) => FieldKind::Function,
        }
    }

    fn is_same(&self, other: &Field) -> bool {
        match (self, other) {
            (Field::Real(one), Field::Real(other)) => one.to_bits() == other.to_bits(),
            _ => self == other,
        }
    }
}

impl From<i64> for Field {
    fn from(value: i64) -> Self {
        Field::Integer(value)
    }
}

impl From<f64> for Field {
    fn from(value: f64) -> Self {
        Field::Real(value)
    }
}

impl From<&str> for Field {
    fn from(value: &str) -> Self {
        Field::Text(value.into())
    }
}

impl From<Vec<u8>> for Field {
    fn from(value: Vec<u8>) -> Self {
        Field::Bytes(value)
    }
}

impl<F: Into<Field>> From<F> for Wanted {
    fn from(value: F) -> Self {
        Wanted::Is(value.into())
    }
}

impl From<FieldKind> for Wanted {
    fn from(kind: FieldKind) -> Self {
        Wanted::Any(kind)
    }
}

impl Tuple {
    /// Returns the types of its fields.
    pub(super) fn shape(&self) -> Vec<FieldKind> {
        self.0.iter().map(Field::kind).collect()
    }

    fn field(&self, index: usize, wanted: FieldKind) -> Result<&Field> {
        match self.0.get(index) {
            Some(field) if field.kind() == wanted => Ok(field),
            field => Err(Error::WrongField { index, wanted, found: field.map(Field::kind) }),
        }
    }

    /// Returns the whole number in field `index`.
    ///
    /// # Errors
    /// [`Error::WrongField`] if it is no whole number.
    pub fn integer(&self, index: usize) -> Result<i64> {
        match self.field(index, FieldKind::Integer)? {
            Field::Integer(value) => Ok(*value),
            _ => unreachable!("its type was checked"),
        }
    }

    /// Returns the number in field `index`.
    ///
    /// # Errors
    /// [`Error::WrongField`] if it is of another type.
    pub fn real(&self, index: usize) -> Result<f64> {
        match self.field(index, FieldKind::Real)? {
            Field::Real(value) => Ok(*value),
            _ => unreachable!("its type was checked"),
        }
    }

    /// Returns the bytes in field `index`.
    ///
    /// # Errors
    /// [`Error::WrongField`] if it is of another type.
    pub fn bytes(&self, index: usize) -> Result<&[u8]> {
        match self.field(index, FieldKind::Bytes)? {
            Field::Bytes(value) => Ok(value),
            _ => unreachable!("its type was checked"),
        }
    }
}

impl Template {
    pub(super) fn shape(&self) -> Vec<FieldKind> {
        let kind = |wanted: &Wanted| match wanted {
            Wanted::Is(field) => field.kind(),
            Wanted::Any(kind) => *kind,
        };
        self.0.iter().map(kind).collect()
    }

    /// Returns whether a tuple meets the requirements.
    pub fn matches(&self, tuple: &Tuple) -> bool {
        let is_wanted = |(wanted, field): (&Wanted, &Field)| match wanted {
            Wanted::Is(value) => value.is_same(field),
            Wanted::Any(kind) => *kind == field.kind(),
        };
        self.0.len() == tuple.0.len() && self.0.iter().zip(&tuple.0).all(is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actuals_match_by_value_and_formals_by_type() {
        let tuple = Tuple(vec!["task".into(), 7.into(), 0.5.into()]);
        let template =
            |second: Wanted| Template(vec!["task".into(), second, FieldKind::Real.into()]);
        assert!(template(7.into()).matches(&tuple));
        assert!(template(FieldKind::Integer.into()).matches(&tuple));
        assert!(!template(8.into()).matches(&tuple));
        assert!(!template(7.0.into()).matches(&tuple));
        assert!(!Template(vec!["task".into(), 7.into()]).matches(&tuple));
    }

    #[test]
    fn numbers_are_equal_if_their_bits_are() {
        let is =
            |one: f64, other: f64| Template(vec![one.into()]).matches(&Tuple(vec![other.into()]));
        assert!(is(f64::NAN, f64::NAN));
        assert!(!is(0.0, -0.0));
    }

    #[test]
    fn a_field_of_another_type_is_named() {
        let tuple = Tuple(vec!["task".into(), 7.into()]);
        assert_eq!(tuple.integer(1), Ok(7));
        let words = tuple.real(1).unwrap_err().to_string();
        assert_eq!(words, "field 1 of a tuple is Integer where Real is wanted");
        let words = tuple.integer(2).unwrap_err().to_string();
        assert_eq!(words, "field 2 of a tuple is missing where Integer is wanted");
    }
}
