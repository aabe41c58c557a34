//! SCI_LIB and HCS_LIB.

mod blocks;
mod mistakes;
mod shared;
mod signals;

use contract::{Rank, TimeSpan};
use services::hcs::{ClusterError, ClusterOptions, ClusterResult, Ended, Node, cluster_init};

use crate::on_each;

/// A time-out that nothing in these tests reaches, and one that some waits reach.
const LONG: TimeSpan = TimeSpan::from_us(20_000_000);
const SHORT: TimeSpan = TimeSpan::from_us(30_000);

/// Runs `body` on each node of a cluster, on either fabric.
fn in_cluster(nodes: usize, body: fn(&mut Node<'_>) -> ClusterResult<()>) {
    ends_with(nodes, LONG, body, Ended::default());
}

/// As [`in_cluster`], with a time-out and the expected rest at the end.
fn ends_with(
    nodes: usize,
    timeout: TimeSpan,
    body: fn(&mut Node<'_>) -> ClusterResult<()>,
    expected: Ended,
) {
    // It is leaked because the program of ranks must be `'static`. A test leaks little.
    let expected: &'static Ended = Box::leak(Box::new(expected));
    on_each(nodes, move |rank| {
        let ended = cluster(rank, timeout, body).map_err(ClusterError::into_contract)?;
        assert_eq!(&ended, expected, "node {}", rank.rank());
        Ok(())
    });
}

fn cluster(
    rank: &mut dyn Rank,
    timeout: TimeSpan,
    body: impl Fn(&mut Node<'_>) -> ClusterResult<()>,
) -> ClusterResult<Ended> {
    let options = ClusterOptions { timeout, shared_bytes: 1 << 16 };
    let mut cluster = cluster_init(rank, options)?;
    body(&mut cluster.enter(rank))?;
    cluster.safe_exit(rank)
}

/// Returns the words of an error.
fn words<T>(outcome: ClusterResult<T>) -> String {
    outcome.err().expect("it must fail").to_string()
}
