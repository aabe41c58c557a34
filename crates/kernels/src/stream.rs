//! STREAM: four loops over long vectors that measure memory, not arithmetic.
//!
//! Written anew from the definition in McCalpin, "Memory bandwidth and machine balance in current high performance
//! computers" (1995): copy c = a, scale b = q c, add c = a + b, triad a = b + q c, in this order.

use std::hint::black_box;

use crate::error::{Error, Result};

/// Factor of scale and triad.
const Q: f64 = 3.0;

/// One of the four loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loop {
    /// c = a
    Copy,
    /// b = q c
    Scale,
    /// c = a + b
    Add,
    /// a = b + q c
    Triad,
}

impl Loop {
    /// The loops in their order.
    pub const ALL: [Loop; 4] = [Loop::Copy, Loop::Scale, Loop::Add, Loop::Triad];

    /// Returns its name in results files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Loop::Copy => "copy",
            Loop::Scale => "scale",
            Loop::Add => "add",
            Loop::Triad => "triad",
        }
    }

    /// Returns the nominal number of moved bytes for each element: 16, or 24 if two vectors are read.
    pub fn bytes_per_element(self) -> u64 {
        match self {
            Loop::Copy | Loop::Scale => 16,
            Loop::Add | Loop::Triad => 24,
        }
    }
}

/// The three vectors, and the expected values of their elements.
pub struct Stream {
    vectors: [Vec<f64>; 3],
    expected: [f64; 3],
}

impl Stream {
    /// Creates vectors of `elements` numbers. To measure memory, each should be four times as large as the last-level
    /// cache.
    pub fn new(elements: usize) -> Self {
        let expected = [1.0, 2.0, 0.0];
        let vector = |value: f64| {
            let mut vector = vec![0.0; elements];
            // Zeroed memory is not mapped until it is written. This write keeps page faults out of the measurement.
            vector.fill(black_box(value));
            vector
        };
        Stream { vectors: expected.map(vector), expected }
    }

    /// Returns the number of elements of a vector.
    pub fn elements(&self) -> usize {
        self.vectors[0].len()
    }

    /// Runs one loop.
    pub fn run(&mut self, which: Loop) {
        let [a, b, c] = &mut self.vectors;
        let q = black_box(Q);
        match which {
            Loop::Copy => c.copy_from_slice(black_box(a)),
            Loop::Scale => b.iter_mut().zip(c.iter()).for_each(|(b, c)| *b = q * c),
            Loop::Add => {
                let sums = a.iter().zip(b.iter()).map(|(a, b)| a + b);
                c.iter_mut().zip(sums).for_each(|(c, sum)| *c = sum);
            }
            Loop::Triad => {
                let sums = b.iter().zip(c.iter()).map(|(b, c)| b + q * c);
                a.iter_mut().zip(sums).for_each(|(a, sum)| *a = sum);
            }
        }
        black_box(&mut self.vectors);
        let [a, b, c] = &mut self.expected;
        match which {
            Loop::Copy => *c = *a,
            Loop::Scale => *b = Q * *c,
            Loop::Add => *c = *a + *b,
            Loop::Triad => *a = *b + Q * *c,
        }
    }

    /// Compares every element with the expected result of the loops so far. The values are small integers and so exact,
    /// until they overflow to infinity.
    ///
    /// # Errors
    /// [`Error::WrongResult`] with the first element that differs by more than rounding.
    pub fn check(&self) -> Result<()> {
        for ((vector, expected), name) in
            self.vectors.iter().zip(self.expected).zip(["a", "b", "c"])
        {
            let right = |found: &f64| {
                *found == expected || (found - expected).abs() <= 1e-12 * expected.abs()
            };
            if let Some(at) = vector.iter().position(|found| !right(found)) {
                let explanation =
                    format!("element {at} of {name} is {}, but must be {expected}", vector[at]);
                return Err(Error::WrongResult { benchmark: "stream", explanation });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_round_by_hand() {
        let mut stream = Stream::new(5);
        let rounds = [
            (Loop::Copy, [1.0, 2.0, 1.0]),
            (Loop::Scale, [1.0, 3.0, 1.0]),
            (Loop::Add, [1.0, 3.0, 4.0]),
            (Loop::Triad, [15.0, 3.0, 4.0]),
        ];
        for (which, expected) in rounds {
            stream.run(which);
            stream.check().unwrap();
            assert_eq!([0, 1, 2].map(|at| stream.vectors[at][4]), expected);
        }
    }

    #[test]
    fn a_wrong_element_is_named() {
        let mut stream = Stream::new(3);
        stream.vectors[1][2] = 7.0;
        let said = stream.check().unwrap_err().to_string();
        assert_eq!(said, "stream: element 2 of b is 7, but must be 2");
    }
}
