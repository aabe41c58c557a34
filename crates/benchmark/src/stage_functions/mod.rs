//! The functions that stages of a chain apply to rows: a registry, one file each.
//!
//! A new one is a file here with a [`StageFunction`], and a line in [`ALL`]. Chains then find it by its name, sinks
//! check its results against [`directly`](StageFunction::directly), and `--help` and docs/pipelines.md describe its
//! parameters.

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

/// All functions, in the order in which they are listed.
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
    /// Returns its description for users.
    fn about(&self) -> About;

    /// Returns whether it makes columns rows. It then needs rows that other ranks have, and the stage itself carries it
    /// out.
    fn turns(&self) -> bool {
        false
    }

    /// Returns whether its results are ratios of powers, as those of detectors, instead of amplitudes.
    fn makes_power_ratios(&self) -> bool {
        false
    }

    /// Returns the length of its result for a row of `columns` elements, or the reason why there is none.
    fn columns(&self, function: &Function, columns: usize) -> Result<usize, String> {
        let _ = function;
        Ok(columns)
    }

    /// Returns the work of applying it to `rows` rows of `columns` elements.
    fn work(&self, function: &Function, rows: usize, columns: usize) -> Work;

    /// Prepares it for rows of `columns` elements.
    ///
    /// # Errors
    /// Those of the kernel.
    fn prepare(&self, function: &Function, columns: usize) -> kernels::Result<Prepared>;

    /// Applies it to a whole matrix by definition, in double precision, without the code that chains use.
    fn directly(&self, function: &Function, input: &[Complex64], columns: usize) -> Vec<Complex64>;

    /// Returns the permitted error of its result in single precision, as a multiple of a transform's.
    fn error_factor(&self) -> f32 {
        1.0
    }
}

/// Description of a function for users.
#[derive(Clone, Copy)]
pub(crate) struct About {
    /// Name in files.
    pub(crate) name: &'static str,
    /// Effect in a few words.
    pub(crate) summary: &'static str,
    /// Parameters in a file.
    pub(crate) parameters: &'static [Parameter],
}

/// A number of a function that a file may specify.
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// Default; `None` if a file must contain it.
    pub(crate) default: Option<usize>,
    /// Smallest permitted value.
    pub(crate) least: usize,
    pub(crate) meaning: &'static str,
}

/// A function with its tables and its memory.
pub(crate) enum Prepared {
    /// A function that keeps the length of rows.
    InPlace(Box<dyn InPlace>),
    /// A function that changes the length of rows.
    OutOfPlace(Box<dyn OutOfPlace>),
}

/// A function that keeps the length of rows.
pub(crate) trait InPlace {
    /// Applies it to each row of `rows`.
    fn apply(&mut self, rows: &mut [Complex32]) -> kernels::Result<()>;

    /// As [`apply`](Self::apply), from `input`, which does not change.
    fn apply_into(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()> {
        output.copy_from_slice(input);
        self.apply(output)
    }

    /// As [`apply`](Self::apply), to rows some of whose strips of columns are in other memory. Returns `None` if it
    /// does not support that.
    fn apply_joined(
        &mut self,
        whole: &mut [Complex32],
        strips: &[Option<&[Complex32]>],
    ) -> Option<kernels::Result<()>> {
        let _ = (whole, strips);
        None
    }

    /// Returns whether [`apply_joined`](Self::apply_joined) is supported.
    fn joins(&self) -> bool {
        false
    }
}

/// A function that makes rows of another length.
pub(crate) trait OutOfPlace {
    /// Computes rows of `output` from as many rows of `input`.
    fn apply(&mut self, input: &[Complex32], output: &mut [Complex32]) -> kernels::Result<()>;
}

/// Returns a description of all functions, a line each, with their parameters.
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
