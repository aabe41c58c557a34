//! Inputs that are almost right, for tests of everything that reads what others have written: files, frames, and words
//! of shared memory.
//!
//! A mutation keeps most of an input, so that it passes the first checks of a reader and reaches the later ones. It
//! depends on the generator only, so the seed of a failure reproduces it.

use super::SplitMix64;

/// Numbers at which readers go wrong: around zero, around powers of two, and at the ends of each width.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    3,
    47,
    48,
    255,
    256,
    65_535,
    65_536,
    i32::MAX as u64,
    1 << 31,
    u32::MAX as u64,
    1 << 40,
    i64::MAX as u64,
    u64::MAX,
];

/// Texts at which readers of texts go wrong.
const TEXTS: [&str; 20] = [
    "0",
    "-1",
    "1e308",
    "1e-320",
    "NaN",
    "inf",
    "99999999999999999999",
    "4294967296",
    "0.1",
    "\"",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    "\n",
    "\u{1b}[2J",
    "\u{e9}",
];

impl SplitMix64 {
    /// Returns a number that a reader may not expect, or any number.
    pub fn edge(&mut self) -> u64 {
        match self.below(4) {
            0 => self.bits(),
            1 => self.bits() >> self.below(64),
            _ => self.pick(&EDGES).wrapping_add(self.below(3) as u64).wrapping_sub(1),
        }
    }

    /// Changes `bytes` in one to four places.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..1 + self.below(4) {
            self.mutate_once(bytes);
        }
    }

    fn mutate_once(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            bytes.extend(self.bits().to_le_bytes());
            return;
        }
        let at = self.below(bytes.len());
        let length = 1 + self.below((bytes.len() - at).min(64));
        match self.below(9) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.bits() as u8,
            2 => {
                let number = self.edge().to_le_bytes();
                let width = self.pick(&[1, 2, 4, 8]);
                bytes.iter_mut().skip(at).zip(&number[..width]).for_each(|(to, from)| *to = *from);
            }
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let copy = bytes[at..at + length].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            5 => bytes.truncate(at),
            6 => {
                let text = self.pick(&TEXTS);
                bytes.splice(at..at, text.bytes());
            }
            7 => self.replace_number(bytes, at),
            _ => {
                let to = self.below(bytes.len());
                bytes.swap(at, to);
            }
        }
    }

    /// Replaces the next number of a text, if there is one, by a text at which readers go wrong.
    fn replace_number(&mut self, bytes: &mut Vec<u8>, from: usize) {
        let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit) else { return };
        let start = from + start;
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = match self.below(2) {
            0 => self.edge().to_string(),
            _ => self.pick(&TEXTS).into(),
        };
        bytes.splice(start..start + digits, number.bytes());
    }
}
