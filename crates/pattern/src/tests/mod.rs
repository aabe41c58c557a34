//! The meaning of the language, its mistakes, and random patterns compared with slow models.

mod language;
mod model;
mod random;
mod refusals;
