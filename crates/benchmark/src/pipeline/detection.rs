//! The detection of targets in a result: the strongest points must be exactly the targets that the file names.

use contract::{Buffer, Error, Rank, Result};
use kernels::Complex32;

use crate::chain::{Chain, SoughtTarget};

/// Maximum number of results for which a rank stores the ratio of each target.
const KEPT: usize = 64;

/// A rank's part of the search: its rows of one result, and the ratios of each target so far.
pub(super) struct Detection {
    first_row: usize,
    rows: usize,
    columns: usize,
    /// True if the elements are ratios of powers instead of amplitudes.
    are_ratios: bool,
    extent: (usize, usize),
    targets: Vec<SoughtTarget>,
    powers: Vec<f32>,
    /// Ratios in decibels of the latest [`KEPT`] results, for each target of the chain.
    found_db: Vec<Vec<f64>>,
}

/// Signal-to-noise ratio of a target, in all results that were searched.
pub(crate) struct Found {
    /// The target in words.
    pub(crate) target: String,
    /// Ratios in decibels.
    pub(crate) signal_to_noise_db: Vec<f64>,
}

impl Detection {
    /// Creates the search in `rows` rows from `first_row` on; `None` if the chain has no targets.
    pub(super) fn new(
        chain: &Chain,
        first_row: usize,
        rows: usize,
        columns: usize,
    ) -> Option<Self> {
        let last = chain.stages.iter().flat_map(|stage| stage.row_functions()).last();
        (!chain.targets.is_empty()).then(|| Detection {
            first_row,
            rows,
            columns,
            are_ratios: last.is_some_and(|last| last.kind().makes_power_ratios()),
            extent: chain.extent,
            targets: chain.targets.clone(),
            powers: vec![0.0; rows * columns],
            found_db: vec![Vec::with_capacity(KEPT); chain.targets.len()],
        })
    }

    /// Takes a block that begins with `row` of the whole result.
    pub(super) fn take(&mut self, row: usize, block: &[Complex32]) {
        let to = &mut self.powers[(row - self.first_row) * self.columns..][..block.len()];
        let are_ratios = self.are_ratios;
        let power = |x: &Complex32| if are_ratios { x.re } else { x.norm_sqr() };
        to.iter_mut().zip(block).for_each(|(to, x)| *to = power(x));
    }

    /// Searches the result of `matrix`, after all its blocks have been taken. Finds as many points as this rank's rows
    /// have targets, strongest first, and any others that exceed the noise by as much as the faintest target must.
    ///
    /// # Errors
    /// A target that is not found, is faint or is elsewhere, and a point that is no target.
    pub(super) fn judge(&mut self, matrix: u64) -> Result<()> {
        let noise = self.noise();
        let db = |power: f32| 10.0 * f64::from(power / noise).log10();
        let threshold =
            self.targets.iter().map(|one| one.at_least_db).fold(f64::INFINITY, f64::min);
        let own = self.first_row..self.first_row + self.rows;
        let mut missing: Vec<usize> =
            (0..self.targets.len()).filter(|&at| own.contains(&self.targets[at].row)).collect();
        loop {
            let strongest =
                (0..self.powers.len()).max_by(|&a, &b| self.powers[a].total_cmp(&self.powers[b]));
            let Some(at) = strongest.filter(|&at| db(self.powers[at]) >= threshold) else { break };
            let (row, column, found_db) =
                (self.first_row + at / self.columns, at % self.columns, db(self.powers[at]));
            let is_it = |&target: &usize| {
                let SoughtTarget { row: its_row, column: its_column, .. } = self.targets[target];
                (its_row, its_column) == (row, column)
            };
            let Some(place) = missing.iter().position(is_it) else {
                return Err(Error::Program(format!(
                    "a point at row {row}, column {column} of the result of matrix {matrix} is {found_db:.1} dB above the \
                     noise, and no target of the file is there{}",
                    self.still(&missing)
                )));
            };
            let target = missing.swap_remove(place);
            let wanted_db = self.targets[target].at_least_db;
            if found_db < wanted_db {
                return Err(Error::Program(format!(
                    "the target at row {row}, column {column} of the result of matrix {matrix} is {found_db:.1} dB above \
                     the noise, and should be {wanted_db} dB"
                )));
            }
            let kept = &mut self.found_db[target];
            if kept.len() < KEPT {
                kept.push(found_db);
            }
            self.clear_around(at);
        }
        match missing.is_empty() {
            true => Ok(()),
            false => Err(Error::Program(format!(
                "nothing else is {threshold} dB above the noise in the result of matrix {matrix}{}",
                self.still(&missing)
            ))),
        }
    }

    /// Returns the missing targets in words.
    fn still(&self, missing: &[usize]) -> String {
        let place = |&at: &usize| {
            let SoughtTarget { row, column, .. } = self.targets[at];
            format!("; the target at row {row}, column {column} is not found")
        };
        missing.iter().map(place).collect()
    }

    /// Returns the mean power of noise, from the median, which targets hardly change: the power of Gaussian noise is
    /// exponential, and its median ln 2 of its mean. Ratios already refer to the noise.
    fn noise(&self) -> f32 {
        if self.are_ratios {
            return 1.0;
        }
        let mut powers = self.powers.clone();
        let middle = powers.len() / 2;
        let (_, median, _) = powers.select_nth_unstable_by(middle, f32::total_cmp);
        (*median / std::f32::consts::LN_2).max(f32::MIN_POSITIVE)
    }

    /// Clears the elements into which a target at index `at` may have spilled.
    fn clear_around(&mut self, at: usize) {
        let (row, column) = (at / self.columns, at % self.columns);
        let rows = row.saturating_sub(self.extent.0)..(row + self.extent.0 + 1).min(self.rows);
        let columns =
            column.saturating_sub(self.extent.1)..(column + self.extent.1 + 1).min(self.columns);
        for row in rows {
            self.powers[row * self.columns..][..self.columns][columns.clone()].fill(0.0);
        }
    }
}

/// Gathers the targets found by the sink's ranks at rank 0; `mine` are those of this rank. Collective; the other ranks
/// receive nothing.
pub(super) fn bring(
    rank: &mut dyn Rank,
    chain: &Chain,
    mine: Option<&Detection>,
) -> Result<Vec<Found>> {
    let kept = |target: usize| mine.map_or(&[][..], |mine| &mine.found_db[target]);
    let room =
        |target: usize| (0..KEPT).map(move |at| kept(target).get(at).copied().unwrap_or(f64::NAN));
    let mine: Vec<u8> =
        (0..chain.targets.len()).flat_map(room).flat_map(|db| db.to_ne_bytes()).collect();
    let ranks = if rank.rank() == 0 { rank.size() } else { 0 };
    let mut all = Buffer::try_zeroed(ranks * mine.len())?;
    rank.gather(0, &mine, &mut all)?;
    if ranks == 0 {
        return Ok(Vec::new());
    }
    let all = all.elements::<f64>();
    let found = |(at, target): (usize, &SoughtTarget)| Found {
        target: format!("row {}, column {}", target.row, target.column),
        signal_to_noise_db: all
            .chunks(chain.targets.len() * KEPT)
            .flat_map(|rank| &rank[at * KEPT..][..KEPT])
            .copied()
            .filter(|db| !db.is_nan())
            .collect(),
    };
    Ok(chain.targets.iter().enumerate().map(found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the detection of a chain whose sink must find targets with 10 dB at these places of 8 x 16 elements.
    fn searching(places: &[(usize, usize)]) -> Detection {
        let mut chain = Chain::of((8, 16, 1), &[(&[], 1)]);
        let target =
            |&(row, column): &(usize, usize)| SoughtTarget { row, column, at_least_db: 10.0 };
        chain.targets = places.iter().map(target).collect();
        chain.extent = (1, 1);
        let mut detection = Detection::new(&chain, 0, 8, 16).unwrap();
        // The median power of 1 is that of noise of power 1 / ln 2.
        detection.take(0, &[Complex32::new(1.0, 0.0); 8 * 16]);
        detection
    }

    /// Sets the point there to power `power`.
    fn put(detection: &mut Detection, (row, column): (usize, usize), power: f32) {
        detection.powers[row * 16 + column] = power;
    }

    #[test]
    fn targets_are_found_with_what_they_spill() {
        let mut detection = searching(&[(2, 3), (6, 9)]);
        put(&mut detection, (2, 3), 100.0);
        put(&mut detection, (3, 4), 50.0);
        put(&mut detection, (6, 9), 1000.0);
        detection.judge(0).unwrap();
        // 100 ln 2 is 18.41 dB.
        let close = |found: f64, right: f64| assert!((found - right).abs() < 0.01, "{found}");
        close(detection.found_db[0][0], 18.41);
        close(detection.found_db[1][0], 28.41);
    }

    #[test]
    fn what_is_not_as_it_should_be_is_told() {
        let refusal = |points: &[((usize, usize), f32)]| {
            let mut detection = searching(&[(2, 3)]);
            points.iter().for_each(|&(place, power)| put(&mut detection, place, power));
            detection.judge(5).unwrap_err().to_string()
        };
        assert!(refusal(&[]).contains(
            "nothing else is 10 dB above the noise in the result of matrix 5; the target at row 2"
        ));
        let moved = refusal(&[((2, 4), 100.0)]);
        assert!(
            moved.contains("a point at row 2, column 4 of the result of matrix 5 is 18.4 dB"),
            "{moved}"
        );
        assert!(moved.contains("the target at row 2, column 3 is not found"), "{moved}");
        let more = refusal(&[((2, 3), 100.0), ((7, 15), 50.0)]);
        assert!(more.contains("row 7, column 15") && !more.contains("not found"), "{more}");
        let mut faint = searching(&[(2, 3), (6, 9)]);
        faint.targets[0].at_least_db = 25.0;
        put(&mut faint, (2, 3), 100.0);
        put(&mut faint, (6, 9), 100.0);
        let faint = faint.judge(0).unwrap_err().to_string();
        assert!(faint.contains("is 18.4 dB above the noise, and should be 25 dB"), "{faint}");
    }
}
