//! The types of a tuple's fields. They are below all other modules because errors name them.

/// The type of a field of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FieldKind {
    /// A whole number.
    Integer,
    /// A number in double precision.
    Real,
    /// Words.
    Text,
    /// Any data.
    Bytes,
    /// The number of a function.
    Function,
}
