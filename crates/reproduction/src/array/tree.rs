//! A sum over links in as few rounds as possible. In each round half of the remaining processors send to a remaining
//! neighbour.

/// Returns the senders and receivers, round by round, so that everything reaches processor 0 in log2 of `nodes` rounds;
/// `nodes` is a power of two.
///
/// The search begins at the end. In the last round one processor sends to processor 0. In each round before, as many
/// send as there are receivers, each to a neighbour of its own. The order in which neighbours are tried changes from
/// attempt to attempt.
///
/// # Errors
/// A sentence, if no such sum was found.
pub(super) fn rounds(
    links: &[(usize, usize)],
    nodes: usize,
) -> Result<Vec<Vec<(usize, usize)>>, String> {
    const TRIES: usize = 20_000;
    let mut neighbours = vec![Vec::new(); nodes];
    for &(low, high) in links {
        neighbours[low].push(high);
        neighbours[high].push(low);
    }
    let count = nodes.ilog2();
    let found = (0..TRIES).find_map(|attempt| grow(&neighbours, count, attempt));
    found.ok_or_else(|| format!("no sum over these links ends in {count} rounds"))
}

fn grow(neighbours: &[Vec<usize>], count: u32, attempt: usize) -> Option<Vec<Vec<(usize, usize)>>> {
    let mut left = vec![0];
    let mut rounds = Vec::new();
    for round in 0..count as usize {
        // Receiver of each sender in this round.
        let mut receiver = vec![None; neighbours.len()];
        for &to in &left {
            let mut tried = vec![false; neighbours.len()];
            let order = attempt.wrapping_mul(round + 1) + to * attempt / 7;
            if !place(neighbours, &left, to, order, &mut receiver, &mut tried) {
                return None;
            }
        }
        let sends: Vec<(usize, usize)> =
            receiver.iter().enumerate().filter_map(|(from, to)| to.map(|to| (from, to))).collect();
        left.extend(sends.iter().map(|(from, _)| from));
        rounds.push(sends);
    }
    rounds.reverse();
    Some(rounds)
}

/// Finds a sender for `to` among its neighbours, and moves others to other senders (augmenting paths).
fn place(
    neighbours: &[Vec<usize>],
    left: &[usize],
    to: usize,
    order: usize,
    receiver: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    let own = &neighbours[to];
    for index in 0..own.len() {
        let from = own[(index + order) % own.len()];
        if left.contains(&from) || std::mem::replace(&mut tried[from], true) {
            continue;
        }
        let is_free = match receiver[from] {
            None => true,
            Some(other) => place(neighbours, left, other, order, receiver, tried),
        };
        if is_free {
            receiver[from] = Some(to);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric_sim::array::Wiring;

    fn check(rounds: &[Vec<(usize, usize)>], links: &[(usize, usize)], nodes: usize) {
        let mut values = vec![1; nodes];
        for round in rounds {
            let mut busy = vec![false; nodes];
            for &(from, to) in round {
                assert!(links.contains(&(from.min(to), from.max(to))), "{from} to {to}");
                assert!(!std::mem::replace(&mut busy[from], true) && values[from] > 0);
                assert!(!std::mem::replace(&mut busy[to], true));
                values[to] += std::mem::take(&mut values[from]);
            }
        }
        assert_eq!(values[0], nodes);
    }

    #[test]
    fn a_sum_over_the_torus_and_the_shuffle_takes_five_rounds() {
        let mut links = Wiring::EightNeighbours { rows: 6, columns: 6 }.links(32).unwrap();
        links.extend(Wiring::PerfectShuffle.links(32).unwrap());
        links.sort_unstable();
        links.dedup();
        let rounds = rounds(&links, 32).unwrap();
        assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [16, 8, 4, 2, 1]);
        check(&rounds, &links, 32);
    }

    /// Tests wirings without such a sum. Processor 0 receives in each round from another neighbour, so it must have
    /// five. In a ring it has two, and with the shuffle at most four.
    #[test]
    fn too_few_links_have_no_such_sum() {
        let mut links = Wiring::Ring.links(32).unwrap();
        assert!(rounds(&links, 32).is_err());
        links.extend(Wiring::PerfectShuffle.links(32).unwrap());
        assert!(rounds(&links, 32).is_err());
        assert_eq!(rounds(&Wiring::Ring.links(2).unwrap(), 2).unwrap(), [[(1, 0)]]);
    }
}
