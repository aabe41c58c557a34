//! Datatypes that select a part of an array of several dimensions: subarrays, and parts of distributed arrays.

use std::rc::Rc;

use super::builder::Builder;
use super::create::resize;
use super::layout::{Construction, Datatype, Distribution, Order, Spread};
use crate::error::{ErrorClass, Result, ensure};

/// One dimension: its length, and its selected parts, each a start and a length.
struct Dimension {
    length: i64,
    parts: Vec<(i64, i64)>,
}

/// Selects in every dimension, from the fastest varying one outwards; the type of each step spans its whole dimension.
fn pick(of: &Rc<Datatype>, dimensions: &[Dimension], order: Order) -> Result<Builder> {
    let fastest_first: Vec<&Dimension> = match order {
        Order::RowMajor => dimensions.iter().rev().collect(),
        Order::ColumnMajor => dimensions.iter().collect(),
    };
    // The construction of the steps is never queried.
    let unasked = || Construction::Duplicate(of.clone());
    let mut current = resize(of, of.lower, of.extent, unasked())?;
    let mut span = of.extent;
    let mut last = Builder::new();
    for dimension in fastest_first {
        let mut builder = Builder::new();
        for &(start, length) in &dimension.parts {
            builder.add(start * span, length, &current)?;
        }
        span *= dimension.length;
        builder.set_bounds(0, span);
        let step = builder.finish(unasked());
        last = Builder::new();
        last.add(0, 1, &step)?;
        last.set_bounds(0, span);
        current = step;
    }
    Ok(last)
}

impl Distribution {
    /// Returns the length of a block in a dimension of `length` over `processes`.
    fn block(self, length: i64, processes: i64) -> i64 {
        match self {
            Distribution::None(_) => length,
            Distribution::Block(None) => (length + processes - 1) / processes,
            Distribution::Cyclic(None) => 1,
            Distribution::Block(Some(block)) | Distribution::Cyclic(Some(block)) => block,
        }
    }

    /// Returns the parts of a dimension of `length` that process `place` of `processes` has.
    fn parts(self, length: i64, processes: i64, place: i64) -> Result<Vec<(i64, i64)>> {
        let block = self.block(length, processes);
        let fits = processes > 0 && length > 0 && block > 0;
        ensure!(
            fits,
            ErrorClass::Argument,
            "blocks of {block} in a dimension of {length} over {processes} processes"
        );
        // A longer block is that of the first process, and the others have nothing.
        let block = block.min(length);
        let covers = !matches!(self, Distribution::Block(_)) || block * processes >= length;
        ensure!(
            covers,
            ErrorClass::Argument,
            "{processes} blocks of {block} do not cover {length}"
        );
        let is_whole = !matches!(self, Distribution::None(_)) || processes == 1;
        ensure!(
            is_whole,
            ErrorClass::Argument,
            "an undistributed dimension over {processes} processes"
        );
        let starts = (place * block..length).step_by((block * processes) as usize);
        Ok(starts.map(|start| (start, block.min(length - start))).collect())
    }
}

impl Datatype {
    /// Creates the datatype of the part of an array of `sizes` that begins at `starts` and has the lengths `parts`,
    /// dimension by dimension. Its extent is that of the whole array.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] without dimensions, and if the part does not lie inside the array.
    pub fn subarray(
        sizes: Vec<i64>,
        parts: Vec<i64>,
        starts: Vec<i64>,
        order: Order,
        of: &Rc<Datatype>,
    ) -> Result<Rc<Datatype>> {
        let dimensions = sizes.len();
        ensure!(dimensions > 0, ErrorClass::Argument, "no dimensions");
        let same = parts.len() == dimensions && starts.len() == dimensions;
        ensure!(same, ErrorClass::Argument, "lists of different lengths");
        let mut picked = Vec::new();
        for index in 0..dimensions {
            let (size, part, start) = (sizes[index], parts[index], starts[index]);
            let inside = size >= 1 && part >= 1 && start >= 0 && start + part <= size;
            ensure!(
                inside,
                ErrorClass::Argument,
                "{part} of {size} from {start} on, in dimension {index}"
            );
            picked.push(Dimension { length: size, parts: vec![(start, part)] });
        }
        let builder = pick(of, &picked, order)?;
        Ok(builder.share(Construction::Subarray { sizes, parts, starts, order, of: of.clone() }))
    }

    /// Creates the datatype of one process's part of an array that is distributed over a grid of processes. Its extent
    /// is that of the whole array.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] if the number of processes of the grid is wrong, or a distribution does not cover its
    /// dimension; [`ErrorClass::Rank`] for a rank outside the grid.
    pub fn distributed(spread: Spread, of: &Rc<Datatype>) -> Result<Rc<Datatype>> {
        let Spread { size, rank, lengths, distributions, processes, order } = &spread;
        let dimensions = lengths.len();
        ensure!(dimensions > 0, ErrorClass::Argument, "no dimensions");
        let same = distributions.len() == dimensions && processes.len() == dimensions;
        ensure!(same, ErrorClass::Argument, "lists of different lengths");
        let whole: i64 = processes.iter().product();
        ensure!(whole == *size, ErrorClass::Argument, "a grid of {whole} for {size} processes");
        ensure!((0..*size).contains(rank), ErrorClass::Rank, "rank {rank} of {size}");
        let mut picked = Vec::new();
        let (mut left, mut beyond) = (*rank, whole);
        for index in 0..dimensions {
            // The grid of processes is in the order of C, whatever the order of the array.
            beyond /= processes[index];
            let (place, length) = (left / beyond, lengths[index]);
            left %= beyond;
            let parts = distributions[index].parts(length, processes[index], place)?;
            picked.push(Dimension { length, parts });
        }
        let builder = pick(of, &picked, *order)?;
        Ok(builder.share(Construction::Distributed { spread, of: of.clone() }))
    }
}
