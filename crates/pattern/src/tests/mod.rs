//! What the language means, what it refuses, and random patterns against slow models.

mod language;
mod model;
mod random;
mod refusals;
