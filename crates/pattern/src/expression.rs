//! Numbers in a pattern: constants, names, units and simple arithmetic.

use std::collections::HashMap;

use crate::mistake::{Mistake, TextPlace};

/// A number that may depend on the node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expression {
    pub(crate) place: TextPlace,
    pub(crate) kind: ExpressionKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExpressionKind {
    Number(f64),
    Name(String),
    Negative(Box<Expression>),
    /// One of `+ - * / %` between two numbers.
    Binary(char, Box<Expression>, Box<Expression>),
}

/// The values of names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(HashMap<String, f64>);

/// Names with a fixed meaning, which cannot be defined.
pub(crate) const ACTIONS: [&str; 5] = ["E", "R", "S", "W", "L"];
pub(crate) const NODE: &str = "node";
pub(crate) const NODES: &str = "nodes";
pub(crate) const BY: &str = "by";

/// The units of sizes, in bytes.
pub(crate) const UNITS: [(&str, f64); 7] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Returns whether `name` may not be defined.
pub(crate) fn is_reserved(name: &str) -> bool {
    ACTIONS.contains(&name)
        || [NODE, NODES, BY].contains(&name)
        || UNITS.iter().any(|(unit, _)| *unit == name)
}

impl Names {
    /// Defines `name` as `value`. Returns false if the name is taken.
    pub(crate) fn define(&mut self, name: &str, value: f64) -> bool {
        self.0.insert(name.into(), value).is_none()
    }
}

impl Expression {
    /// Returns its value.
    ///
    /// # Errors
    /// An undefined name, or a division by zero.
    pub(crate) fn value(&self, names: &Names) -> Result<f64, Mistake> {
        match &self.kind {
            ExpressionKind::Number(value) => Ok(*value),
            ExpressionKind::Name(name) => {
                names.0.get(name).copied().ok_or_else(|| unknown(name, self.place))
            }
            ExpressionKind::Negative(inner) => Ok(-inner.value(names)?),
            ExpressionKind::Binary(operator, left, right) => {
                let (a, b) = (left.value(names)?, right.value(names)?);
                match operator {
                    '+' => Ok(a + b),
                    '-' => Ok(a - b),
                    '*' => Ok(a * b),
                    _ if b == 0.0 => {
                        Err(Mistake::new(right.place, "this is 0, and nothing divides by it"))
                    }
                    '/' => Ok(a / b),
                    // As in mathematics: (0 - 1) % 8 is 7, the left neighbour on a ring.
                    _ => Ok(a.rem_euclid(b)),
                }
            }
        }
    }

    /// Returns its value, which must be a whole number from 0 to `most`; `what` is the counted quantity.
    pub(crate) fn whole(&self, names: &Names, what: &str, most: u32) -> Result<u32, Mistake> {
        let value = self.value(names)?;
        let mistake =
            |why: String| Err(Mistake::new(self.place, format!("{what} is {value}{why}")));
        if value.fract() != 0.0 || !value.is_finite() {
            return mistake(", not a whole number".into());
        }
        if value < 0.0 {
            return mistake(", which is below 0".into());
        }
        if value > f64::from(most) {
            return mistake(format!(", which is above {most}"));
        }
        Ok(value as u32)
    }
}

fn unknown(name: &str, place: TextPlace) -> Mistake {
    let why = match name {
        NODE | NODES => {
            format!("`{name}` is known only within a code sequence")
        }
        _ => {
            format!("`{name}` stands for no number; define it further up, as in `{name} = 64 KiB`")
        }
    };
    Mistake::new(place, why)
}
