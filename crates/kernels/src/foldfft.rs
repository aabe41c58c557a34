//! The foldfft: the kernel of a synthetic-aperture-radar chain, in three variants.
//!
//! `n` complex points are weighted by real numbers, folded to `f` points (segments of f added up), transformed, and
//! weighted again by complex numbers (MITRE 1995, section 3.3 and figure 3.4). It combines several operations that are
//! slow with short vectors. The three variants show the effect of each step of optimisation.

mod steps;

use num_complex::Complex32;

use crate::error::{Error, Result};
use crate::error::{check_instructions, check_length, check_whole};
use crate::fft::{BlockFft, LibraryFft, nominal_operations};
use crate::instructions::Instructions;
use steps::Steps;

/// The pairs (n, f) that the paper calls typical.
pub const TYPICAL_SIZES: [(usize, usize); 6] =
    [(64, 8), (128, 16), (256, 32), (16, 16), (64, 64), (512, 512)];

/// Implementation of the foldfft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Plain loops and a radix-2 transform, one instance after the other.
    Plain,
    /// Plain loops around a library's transform, one instance after the other.
    Library,
    /// Every step over a block of instances in vector instructions.
    Blocked,
}

impl Variant {
    /// All variants, the simplest first.
    pub const ALL: [Variant; 3] = [Variant::Plain, Variant::Library, Variant::Blocked];

    /// Returns its name in results files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Library => "library",
            Variant::Blocked => "blocked",
        }
    }
}

/// Returns the nominal operations of one foldfft: 2 n + 2 (n - f) + 5 f log2 f + 6 f.
pub fn foldfft_operations(points: usize, fold: usize) -> f64 {
    (2 * points + 2 * (points - fold) + 6 * fold) as f64 + nominal_operations(fold)
}

/// A plan for foldffts of one size, with its weights.
pub struct FoldFft {
    points: usize,
    fold: usize,
    window: Vec<f32>,
    weights: Vec<Complex32>,
    programme: Programme,
}

enum Programme {
    Plain { roots: Vec<Complex32> },
    Library(LibraryFft),
    Blocked { steps: Steps, fft: Box<BlockFft> },
}

/// Number of complex words in a block, as in the paper: it stays in the first-level cache from step to step.
const BLOCK: usize = 1024;

impl FoldFft {
    /// Plans foldffts of as many points as `window` is long, to as many as there are `weights`.
    ///
    /// # Errors
    /// [`Error::UnevenFold`] unless the number of weights divides that of the window and is a power of two,
    /// [`Error::EmptyTransform`] if there are none.
    pub fn new(window: Vec<f32>, weights: Vec<Complex32>, variant: Variant) -> Result<Self> {
        FoldFft::with_instructions(window, weights, variant, Instructions::best())
    }

    /// As [`FoldFft::new`], with chosen instructions for the blocked variant.
    ///
    /// # Errors
    /// Also [`Error::NoInstructions`] if this processor lacks them.
    pub fn with_instructions(
        window: Vec<f32>,
        weights: Vec<Complex32>,
        variant: Variant,
        instructions: Instructions,
    ) -> Result<Self> {
        let (points, fold) = (window.len(), weights.len());
        if points == 0 || fold == 0 {
            return Err(Error::EmptyTransform);
        }
        if !points.is_multiple_of(fold) || !fold.is_power_of_two() {
            return Err(Error::UnevenFold { points, fold });
        }
        let programme = match variant {
            Variant::Plain => Programme::Plain { roots: half_circle(fold) },
            Variant::Library => Programme::Library(LibraryFft::new(fold)?),
            Variant::Blocked => Programme::Blocked {
                steps: Steps::new(&window, &weights, check_instructions(instructions)?),
                fft: Box::new(BlockFft::with_instructions(fold, instructions)?),
            },
        };
        Ok(FoldFft { points, fold, window, weights, programme })
    }

    /// Computes a foldfft of every `n` points of `input`, contiguous instances, into every `f` points of `output`.
    ///
    /// # Errors
    /// [`Error::BrokenTransform`] if `input` is not a whole number of instances, [`Error::WrongLength`] if `output` has
    /// not the points for as many.
    pub fn compute(&mut self, input: &[Complex32], output: &mut [Complex32]) -> Result<()> {
        let FoldFft { points, fold, .. } = *self;
        check_whole(points, input.len())?;
        check_length("the output of a foldfft", input.len() / points * fold, output.len())?;
        if let Programme::Blocked { steps, fft } = &mut self.programme {
            let instances = (BLOCK / fold).max(1);
            let blocks = input.chunks(instances * points).zip(output.chunks_mut(instances * fold));
            for (input, output) in blocks {
                steps.fold(input, output);
                fft.transform(output)?;
                steps.weigh(output);
            }
            return Ok(());
        }
        for (input, output) in input.chunks(points).zip(output.chunks_mut(fold)) {
            self.fold_one(input, output);
            match &mut self.programme {
                Programme::Plain { roots } => transform_plainly(output, roots),
                Programme::Library(fft) => fft.transform(output)?,
                Programme::Blocked { .. } => unreachable!("done above"),
            }
            for (point, weight) in output.iter_mut().zip(&self.weights) {
                *point *= weight;
            }
        }
        Ok(())
    }

    fn fold_one(&self, input: &[Complex32], output: &mut [Complex32]) {
        output.fill(Complex32::default());
        let segments = input.chunks(self.fold).zip(self.window.chunks(self.fold));
        for (segment, window) in segments {
            for ((sum, point), weight) in output.iter_mut().zip(segment).zip(window) {
                *sum += point * weight;
            }
        }
    }
}

/// Returns e^(-2 pi i k / length) for the first half of k.
fn half_circle(length: usize) -> Vec<Complex32> {
    let root = |k: usize| {
        let angle = -2.0 * std::f64::consts::PI * k as f64 / length as f64;
        Complex32::new(angle.cos() as f32, angle.sin() as f32)
    };
    (0..length / 2).map(root).collect()
}

/// Transforms as in textbooks: decimation in frequency by two, then a permutation from bit-reversed order.
fn transform_plainly(data: &mut [Complex32], roots: &[Complex32]) {
    let length = data.len();
    let mut half = length / 2;
    while half > 0 {
        let step = length / (2 * half);
        for group in data.chunks_mut(2 * half) {
            let (low, high) = group.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let difference = *a - *b;
                *a += *b;
                *b = difference * roots[k * step];
            }
        }
        half /= 2;
    }
    if length > 1 {
        let shift = usize::BITS - length.ilog2();
        for at in 0..length {
            let reversed = at.reverse_bits() >> shift;
            if at < reversed {
                data.swap(at, reversed);
            }
        }
    }
}
