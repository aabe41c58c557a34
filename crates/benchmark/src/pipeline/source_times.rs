//! The times in which the source of a chain completes a matrix, for the prediction of a search.

use analysis::replay::Source;
use analysis::statistics::Sample;
use contract::{Rank, Result, Time, TimeSpan};

use super::member::Member;
use super::mode::Mode;
use super::sink::SETTLING;
use super::stamps::AllStamps;
use crate::bench::Bench;
use crate::period::{self, Deadlines, Trial};

/// Number of matrices that follow each other at once. The first of them fill the chain.
const MATRICES: u64 = 8 * SETTLING;
/// Number of single matrices.
const ALONE: usize = 9;
/// Longest time of all of them, as a share of the time for finding a period.
const SHARE_MAX: f64 = 0.1;

/// Measures these times for a chain whose matrices take about `each` back to back, as known at rank 0. Returns `None`
/// at other ranks, and if nothing is predicted or there is no time for it. Collective.
///
/// # Errors
/// Any error of the contract.
pub(crate) fn source_of(
    bench: &mut Bench<'_>,
    member: &mut Member,
    each: TimeSpan,
) -> Result<Option<Source>> {
    let Some(finding_s) = period::predicting_s(&bench.settings.real_time) else { return Ok(None) };
    let takes_s = (MATRICES + ALONE as u64) as f64 * each.as_s();
    let mut measures = [u8::from(takes_s <= SHARE_MAX * finding_s)];
    bench.rank.broadcast(0, &mut measures)?;
    if measures == [0] {
        return Ok(None);
    }
    let mut noted = |bench: &mut Bench<'_>, matrices: u64| {
        let mut body = |rank: &mut dyn Rank, trial: &Trial, deadlines: &mut Deadlines| {
            member.keep_up(Mode::SelfTimed, rank, trial, deadlines)
        };
        let begin = period::once_back_to_back(bench, &mut body, matrices)?;
        Ok((begin, member.bring_stamps(bench.rank, matrices)?))
    };
    let mut alone_us = Vec::with_capacity(ALONE);
    for _ in 0..ALONE {
        let (begin, stamps) = noted(bench, 1)?;
        alone_us.extend(stamps.ends(0).first().map(|&end| Time::from_ps(end).since(begin).as_us()));
    }
    let (_, stamps) = noted(bench, MATRICES)?;
    let middle = |times_us: Vec<f64>| Sample::new(times_us).ok().map(|sample| sample.median());
    let both = middle(alone_us).zip(middle(ahead_us(&stamps)));
    let is_known = bench.shape.me == 0;
    Ok(both.filter(|_| is_known).map(|(alone_us, ahead_us)| Source { alone_us, ahead_us }))
}

/// Returns for each matrix after the first ones the time from the end at the source to the result.
fn ahead_us(stamps: &AllStamps) -> Vec<f64> {
    let ends = stamps.ends(0).into_iter().zip(stamps.ends(stamps.levels() - 1));
    let ahead = |(source, result): (u64, u64)| Time::from_ps(result).since(Time::from_ps(source));
    ends.skip(SETTLING as usize).map(|ends| ahead(ends).as_us()).collect()
}
