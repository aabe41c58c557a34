//! The functions that stages of a chain apply to rows: a registry, one file each.
//!
//! A new one is a file here with a [`StageFunction`], and a line in [`ALL`]. Chains then know it by its name, sinks
//! check what it makes against its [`directly`](StageFunction::directly), and `--help` and docs/pipelines.md describe
//! its parameters.

mod beamforming;
mod cfar;
mod convolution;
mod corner_turn;
mod fdfir;
mod fft;
mod filter;
mod function;
mod inner_product;
mod magnitude;
mod qr_weights;
mod snapshots;
mod tdfir;
#[cfg(test)]
mod tests;
mod weight;

use contract::Work;
use kernels::{Complex32, Complex64};

pub use function::Function;
pub(crate) use snapshots::steering;

/// All of them, in the order in which they are listed.
static ALL: &[&dyn StageFunction] = &[
    &fft::Fft,
    &weight::Weight,
    &inner_product::InnerProduct,
    &convolution::CONVOLUTION,
    &tdfir::TDFIR,
    &fdfir::FDFIR,
    &qr_weights::QrWeights,
    &beamforming::Beamforming,
    &cfar::Detect,
    &magnitude::Magnitude,
    &corner_turn::Turn,
];

/// A function of a stage, which processes rows.
pub(crate) trait StageFunction: Sync {
    /// What users know of it.
    fn about(&self) -> About;

    /// Whether it makes columns rows. It then needs rows that other ranks have, and is done by the stage.
    fn turns(&self) -> bool {
        false
    }

    /// Whether what it makes are ratios of powers, as detectors do, and no amplitudes.
    fn makes_power_ratios(&self) -> bool {
        false
    }

    /// The length of what it makes of a row of `columns` elements, or why it makes nothing of that.
    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        let _ = function;
        Ok(columns)
    }

    /// The work of doing it to `rows` rows of `columns` elements.
    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work;

    /// Makes what is needed to do it to rows of `columns` elements.
    ///
    /// # Errors
    /// Those of the kernel.
    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared>;

    /// Does it to a whole matrix by definition, in double precision, without the code that chains use.
    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64>;

    /// The permitted error of its result in single precision, as a multiple of a transform's.
    fn error_factor(&self) -> f32 {
        1.0
    }
}

/// What users know of a function.
#[derive(Clone, Copy)]
pub(crate) struct About {
    /// Its name in files.
    pub(crate) name: &'static str,
    /// Its effect, in a few words.
    pub(crate) summary: &'static str,
    /// Its parameters in a file.
    pub(crate) parameters: &'static [Parameter],
}

/// A number that a file may give a function.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// Its default; none if a file must contain it.
    pub(crate) default: Option<usize>,
    /// The least that it may be.
    pub(crate) least: usize,
    pub(crate) meaning: &'static str,
}

/// A function with its tables and its memory.
pub(crate) enum Prepared {
    /// One whose rows stay as long as they are.
    InPlace(Box<dyn InPlace>),
    /// One that makes other rows.
    OutOfPlace(Box<dyn OutOfPlace>),
}

/// A function whose rows stay as long as they are.
pub(crate) trait InPlace {
    /// Applies it to each row of `rows`.
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()>;

    /// As [`apply`](Self::apply), from `input`, which does not change.
    fn apply_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        output.copy_from_slice(input);
        self.apply(output)
    }

    /// As [`apply`](Self::apply), to rows some of whose strips of columns are elsewhere; none if it cannot do that.
    fn apply_joined(
        &mut self,
        whole: &mut [Complex32],
        strips: &[Option<&[Complex32]>],
    ) -> Option<kernels::Result<()>> {
        let _ = (whole, strips);
        None
    }

    /// Whether [`apply_joined`](Self::apply_joined) does it.
    fn joins(&self) -> bool {
        false
    }
}

/// A function that makes rows of another length.
pub(crate) trait OutOfPlace {
    /// Makes rows of `output` of as many rows of `input`.
    fn apply(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()>;
}

/// A description of all functions, a line each, with their parameters.
pub fn list() -> String {
    let parameter = |p: &Parameter| match p.default {
        Some(default) => format!("\n    {}: {} ({default} if not given)", p.name, p.meaning),
        None => format!("\n    {}: {}", p.name, p.meaning),
    };
    let line = |one: &&dyn StageFunction| {
        let About { name, summary, parameters } = one.about();
        let parameters: String = parameters.iter().map(parameter).collect();
        format!("{name:15}{summary}{parameters}\n")
    };
    ALL.iter().map(line).collect()
}
