//! The time of a matrix back to back, alone, for predictions on simulated machines.

use contract::{Rank, Result};

use super::member::Member;
use super::mode::Mode;
use crate::chain::Chain;
use crate::period::{Deadlines, Trial, each_on_steady};

/// Returns the time of a matrix of `chain` back to back in microseconds, at rank 0: of the chain, or of its messages alone
/// unless it `computes`. Exact on a simulated machine without pauses. Collective; `chain` has as many ranks as there are.
///
/// # Errors
/// Any error of the contract.
pub fn matrix_us(rank: &mut dyn Rank, chain: &Chain, computes: bool) -> Result<Option<f64>> {
    let mode = if computes { Mode::SelfTimed } else { Mode::MessagesOnly };
    let mut member = Member::new(chain, Mode::SelfTimed, 0, rank)?;
    each_on_steady(rank, &mut |rank: &mut dyn Rank, trial: &Trial, late: &mut Deadlines| {
        member.keep_up(mode, rank, trial, late)
    })
}
