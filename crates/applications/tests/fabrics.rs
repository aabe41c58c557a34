//! Runs all applications on the reference fabric and on a simulated machine, and compares them with the slow direct
//! result.

use applications::multiply::{Blocks, GRAIN_MAX, Rows};
use applications::relaxation::{Check, Cut, Partitions, Relaxation};
use applications::sort::{MasterSort, SampleSort};
use applications::tracking::{Grid, Tracker};
use applications::transform::{StagedTransform, TransposeTransform};
use applications::{Application, Library, Quantity, Spent, Timed};
use contract::{Rank, Result};
use random::mix;

/// Runs an application twice on either fabric, and checks it after each run.
fn on_each<A: Application + 'static>(
    ranks: usize,
    what: &str,
    make: impl Fn(&mut dyn Rank) -> Result<A> + Copy + Send + Sync + 'static,
) {
    let program = move |rank: &mut dyn Rank| run(rank, make).map(drop);
    let reference = conformance::reference::run(ranks, program);
    assert_eq!(reference, Ok(()), "reference fabric, {ranks} ranks, {what}");
    let machine = fabric_sim::machine::find("cluster").unwrap();
    let simulated = fabric_sim::run(&machine, &fabric_sim::Options::new(ranks), program);
    assert_eq!(simulated.map(drop), Ok(()), "simulated machine, {ranks} ranks, {what}");
}

/// Runs an application. Returns the quantities that it reports.
fn run<A: Application + 'static>(
    rank: &mut dyn Rank,
    make: impl Fn(&mut dyn Rank) -> Result<A>,
) -> Result<Vec<Quantity>> {
    let mut application = Box::new(make(rank)?);
    let mut spent = Spent::default();
    for _ in 0..2 {
        Timed::new(rank, &mut spent).run(|rank| application.run(rank))?;
        application.check(rank)?;
    }
    if rank.rank() == 0 {
        Timed::new(rank, &mut spent).run(|rank| application.run_serial(rank))?;
    }
    let printed = application.quantities();
    application.finish(rank)?;
    Ok(printed)
}

/// Returns the error of the first rank that cannot make an application.
fn refusal<A: Application + 'static>(
    ranks: usize,
    make: impl Fn(&mut dyn Rank) -> Result<A> + Copy + Send + Sync + 'static,
) -> String {
    let program = move |rank: &mut dyn Rank| make(rank).map(drop);
    conformance::reference::run(ranks, program).expect_err("it must fail").1.to_string()
}

#[test]
fn products_are_right_whatever_ranks_orders_and_grains() {
    for seed in 0..6 {
        let random = |bound: u64, which: u64| mix(seed ^ mix(which)) % bound;
        let (ranks, order) = (1 + random(6, 1) as usize, 1 + random(40, 2) as usize);
        let grain = 1 + random(GRAIN_MAX as u64, 3) as usize;
        let what = format!("seed {seed}, order {order}, grain {grain}");
        on_each(ranks, &what, move |rank| Blocks::new(rank, order, seed));
        for library in [Library::Messages, Library::Hcs] {
            on_each(ranks, &what, move |rank| Rows::new(rank, (order, grain), library, seed));
        }
    }
    // There are several panels, and blocks that the panels do not divide.
    on_each(6, "order 530", |rank| Blocks::new(rank, 530, 7));
}

#[test]
fn numbers_are_sorted_whatever_ranks_and_counts() {
    for seed in 0..6 {
        let random = |bound: u64, which: u64| mix(seed ^ mix(which)) % bound;
        let (ranks, count) = (1 + random(7, 1) as usize, random(30_000, 2) as usize);
        let what = format!("seed {seed}, {count} numbers");
        on_each(ranks, &what, move |rank| SampleSort::new(rank, count, seed));
        for library in [Library::Messages, Library::Hcs] {
            on_each(ranks, &what, move |rank| MasterSort::new(rank, count, library, seed));
        }
    }
    on_each(5, "fewer numbers than ranks", |rank| SampleSort::new(rank, 3, 1));
    on_each(5, "no numbers", |rank| MasterSort::new(rank, 0, Library::Messages, 1));
}

#[test]
fn transforms_are_right_whatever_ranks_and_lengths() {
    for seed in 0..5 {
        let random = |bound: u64, which: u64| mix(seed ^ mix(which)) % bound;
        let (ranks, bits) = (1 + random(7, 1) as usize, 4 + random(8, 2));
        let (what, count) = (format!("seed {seed}, 2^{bits} points"), 1 << bits);
        on_each(ranks, &what, move |rank| TransposeTransform::new(rank, count, seed));
        let ranks = 1 << random(4, 3);
        for library in [Library::Messages, Library::Hcs] {
            on_each(ranks, &what, move |rank| StagedTransform::new(rank, count, library, seed));
        }
    }
    on_each(7, "fewer rows than ranks", |rank| TransposeTransform::new(rank, 16, 1));
    on_each(3, "2^14 points", |rank| TransposeTransform::new(rank, 1 << 14, 1));
}

#[test]
fn solutions_have_the_same_bits_however_the_square_is_cut_and_checked() {
    for (seed, check) in (0..).zip(Check::ALL.into_iter().cycle().take(9)) {
        let random = |bound: u64, which: u64| mix(seed ^ mix(which)) % bound;
        let cut = Cut::ALL[random(2, 4) as usize];
        let (ranks, per_rank) = (1 + random(5, 1) as usize, 1 + random(4, 2) as usize);
        let order = 20 + random(20, 3) as usize;
        let what = format!("seed {seed}, order {order}, {per_rank} {}", cut.name());
        let partitions = Partitions { cut, per_rank };
        on_each(ranks, &what, move |rank| Relaxation::new(rank, order, partitions, check));
    }
}

#[test]
fn tracks_are_the_true_ones_whatever_ranks_and_grids() {
    for seed in 0..6 {
        let random = |bound: u64, which: u64| mix(seed ^ mix(which)) % bound;
        let (ranks, frames) = (1 + random(7, 1) as usize, 1 + random(60, 2) as usize);
        let [ranges, depths, bearings] = [3, 4, 5].map(|which| 4 + random(9, which) as usize);
        let grid = Grid { ranges, depths, bearings };
        let what = format!("seed {seed}, {grid:?}, {frames} frames");
        on_each(ranks, &what, move |rank| Tracker::new(rank, grid, frames, seed));
    }
    let few = Grid { ranges: 1, depths: 1, bearings: 5 };
    on_each(5, "a place a rank", move |rank| Tracker::new(rank, few, 20, 1));
    let words = refusal(6, move |rank| Tracker::new(rank, few, 20, 1));
    assert!(words.contains("a grid of 5 places cannot be divided among 6 ranks"), "{words}");
    let words = refusal(2, move |rank| Tracker::new(rank, few, 0, 1));
    assert!(words.contains("nothing to track"), "{words}");
}

/// The efficiency must be that of figure 9 of the paper: 93.80 % on four SHARCs. The value for eight was not used for
/// fitting.
#[test]
fn the_ring_of_sharcs_tracks_as_efficiently_as_was_published() {
    let efficiency = |ranks: usize| {
        let (sender, printed) = std::sync::mpsc::channel();
        let program = move |rank: &mut dyn Rank| {
            let mut tracker = Tracker::new(rank, Grid::PUBLISHED, 50, 1)?;
            let (mut spent, mut alone) = (Spent::default(), Spent::default());
            Timed::new(rank, &mut spent).run(|rank| tracker.run(rank))?;
            if rank.rank() == 0 {
                Timed::new(rank, &mut alone).run(|rank| tracker.run_serial(rank))?;
                sender.send(alone.total.as_us() / spent.total.as_us() / ranks as f64).unwrap();
            }
            Ok(())
        };
        let machine = fabric_sim::machine::find("sharc-ring").unwrap();
        let options = fabric_sim::Options::new(ranks);
        fabric_sim::run(&machine, &options, program).map(drop).unwrap();
        printed.recv().unwrap()
    };
    // The rate of the machine's processors was fitted to this value.
    let four = efficiency(4);
    assert!((four - 0.938).abs() < 0.005, "{four}");
    let eight = efficiency(8);
    assert!((0.75..0.9).contains(&eight), "{eight}");
}

/// The checks that wait must find the same iteration on any number of ranks. The one that does not wait finds a later
/// one.
#[test]
fn iterations_do_not_depend_on_the_partitions_unless_nobody_waits() {
    let iterations = |ranks: usize, check: Check| {
        let (sender, printed) = std::sync::mpsc::channel();
        let partitions = Partitions { cut: Cut::Blocks, per_rank: 2 };
        let program = move |rank: &mut dyn Rank| {
            let found = run(rank, |rank| Relaxation::new(rank, 30, partitions, check))?;
            sender.send(found[0].value).unwrap();
            Ok(())
        };
        let machine = fabric_sim::machine::find("cluster").unwrap();
        fabric_sim::run(&machine, &fabric_sim::Options::new(ranks), program).map(drop).unwrap();
        let all: Vec<f64> = printed.iter().collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all[0]
    };
    let synchronous = iterations(1, Check::Synchronous);
    assert_eq!([2, 5].map(|ranks| iterations(ranks, Check::Synchronous)), [synchronous; 2]);
    let statistical = iterations(1, Check::Statistical);
    assert_eq!([2, 5].map(|ranks| iterations(ranks, Check::Statistical)), [statistical; 2]);
    assert!(iterations(5, Check::Asynchronous) >= synchronous);
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let partitions = Partitions { cut: Cut::Strips, per_rank: 8 };
    let words = refusal(2, move |rank| Relaxation::new(rank, 4, partitions, Check::Synchronous));
    assert!(words.contains("4 x 4 points cannot be cut into 16 strips"), "{words}");
    let words = refusal(2, |rank| TransposeTransform::new(rank, 100, 1));
    assert!(words.contains("power of two"), "{words}");
    let words = refusal(3, |rank| StagedTransform::new(rank, 64, Library::Messages, 1));
    assert!(words.contains("by 3 ranks"), "{words}");
    let words = refusal(2, |rank| Rows::new(rank, (8, 9), Library::Messages, 1));
    assert!(words.contains("1 to 8 can"), "{words}");
    let words = refusal(2, |rank| SampleSort::new(rank, usize::MAX / 4, 1));
    assert!(words.contains("memory"), "{words}");
}

/// A worker that ends while the master waits for its rows must be an error of the master, and not a hang.
#[test]
fn a_rank_that_ends_while_the_master_waits_ends_the_run() {
    for library in [Library::Messages, Library::Hcs] {
        let program = move |rank: &mut dyn Rank| {
            let mut rows = Rows::new(rank, (16, 1), library, 1)?;
            if rank.rank() == 1 {
                return Err(contract::Error::Program("this worker has enough".into()));
            }
            let mut spent = Spent::default();
            rows.run(&mut Timed::new(rank, &mut spent))
        };
        let (_, error) = conformance::reference::run(2, program).expect_err("it must end");
        assert!(error.to_string().contains("enough"), "{error}");
    }
}
