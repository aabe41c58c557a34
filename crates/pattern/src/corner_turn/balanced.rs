//! A corner turn in which messages cross the links of the line as evenly as possible.
//!
//! The n (n - 1) blocks go in 2 (n - 1) stages, the minimum if a node sends or receives one message at a time. Every
//! two stages are a round: the nodes are paired, and each pair sends in one direction in the first stage and in the
//! other in the second.
//!
//! # The pairs
//! A round-robin tournament of n players has n - 1 rounds, in which each two players meet once. The places of the
//! players on the line may be chosen freely. They determine the number c of pairs of a round that lie across each link.
//! l (n - l) pairs in all lie across the link behind l nodes, so c is n/4 on average in the middle. For random places c
//! stays within a multiple of the square root of n log n of its mean, for all rounds and links at once (a swap of two
//! places changes c by at most 2; so McDiarmid's inequality for permutations bounds each, and there are fewer than n^2
//! of them). The places are therefore searched for from a random beginning, always the same.
//!
//! # The directions
//! In each pair of neighbours 2t, 2t + 1 on the line, one sends and one receives. In each pair of the round, one sends
//! and one receives as well. Both are possible at once: neighbours and pairs together join the nodes to circles in
//! which they alternate, so every circle is even, and its nodes send and receive alternately. The number of messages
//! that cross a link to the right, less the number that cross it to the left, is the number of senders on its left side
//! less that of receivers there (pairs that lie wholly on that side cancel out). It is 0 or 1, because the neighbours
//! cancel out too. So the c messages across a link are divided between its two directions as evenly as possible, and at
//! most c/2, rounded up, go in the same direction.
//!
//! # The quality
//! The link in the middle must carry (n/2)^2 messages in each direction in 2 (n - 1) stages: more than n/8 a stage. In
//! the published pattern n/4 messages share it; in this one n/8 + O(sqrt(n log n)). For n = 8 both have 2: the three
//! nodes left of link 3 are odd in number, so one or three pairs lie across it, and three in eight of the fourteen
//! stages, as 30 messages cross it.

use random::SplitMix64;

/// Seed of the search for places.
const SEED: u64 = 1995;
/// Maximum number of swaps in the search.
const SWAPS_MAX: usize = 40_000;
/// Bound of the search's work: every swap examines every round and link. It keeps the search below a second.
const EXAMINED_MAX: usize = 120_000_000;

/// Returns the stages for `nodes` nodes, an even number.
pub(super) fn stages(nodes: usize) -> Vec<Vec<(usize, usize)>> {
    let rounds = tournament(nodes);
    let places = search(&rounds, nodes);
    let mut stages = Vec::new();
    for round in &rounds {
        let pairs: Vec<_> = round.iter().map(|&(a, b)| (places[a], places[b])).collect();
        let there = directed(&pairs, nodes);
        let back = there.iter().map(|&(from, to)| (to, from)).collect();
        stages.extend([there, back]);
    }
    stages
}

/// Returns the rounds of a tournament of an even number of players, by the circle method. In round r two players meet
/// if their numbers add up to r modulo the players less one. The last player meets the remaining one.
fn tournament(players: usize) -> Vec<Vec<(usize, usize)>> {
    let last = players - 1;
    let round = |r: usize| {
        let opponent = |x: usize| match (r + last - x) % last {
            same if same == x => last,
            other => other,
        };
        (0..last).map(|x| (x, opponent(x))).filter(|(x, y)| x < y).collect()
    };
    (0..last).map(round).collect()
}

/// Returns the position of each player on the line.
fn search(rounds: &[Vec<(usize, usize)>], nodes: usize) -> Vec<usize> {
    let mut random = SplitMix64::new(SEED);
    let mut places: Vec<usize> = (0..nodes).collect();
    random.shuffle(&mut places);
    let mut best = unevenness(rounds, &places);
    for _ in 0..SWAPS_MAX.min(EXAMINED_MAX / (nodes * nodes)) {
        let (a, b) = (random.below(nodes), random.below(nodes));
        places.swap(a, b);
        let now = unevenness(rounds, &places);
        // An equally good one is accepted too, so that the search crosses plateaus.
        if now <= best {
            best = now;
        } else {
            places.swap(a, b);
        }
    }
    places
}

/// Returns the objective of the search: first the largest contention of all rounds, then the sum over the rounds.
fn unevenness(rounds: &[Vec<(usize, usize)>], places: &[usize]) -> (usize, usize) {
    let mut opens = vec![0isize; places.len()];
    let contentions = rounds.iter().map(|round| contention(round, places, &mut opens));
    // The number of rounds with the largest contention counts, so that the search makes progress before the last of
    // them is gone.
    contentions.fold((0, 0), |(power, sum), contention| {
        (power + (1usize << (2 * contention).min(40)), sum + contention)
    })
}

/// Returns the number of messages that share the busiest link when the pairs of a round are directed as above.
fn contention(round: &[(usize, usize)], places: &[usize], opens: &mut [isize]) -> usize {
    opens.fill(0);
    for &(a, b) in round {
        let (a, b) = (places[a], places[b]);
        opens[a.min(b)] += 1;
        opens[a.max(b)] -= 1;
    }
    let mut across = 0;
    let busiest = opens.iter().map(|change| {
        across += change;
        across
    });
    busiest.max().map_or(0, |pairs| (pairs as usize).div_ceil(2))
}

/// Returns the pairs as sender and receiver.
fn directed(pairs: &[(usize, usize)], nodes: usize) -> Vec<(usize, usize)> {
    let mut partner = vec![0; nodes];
    for &(a, b) in pairs {
        partner[a] = b;
        partner[b] = a;
    }
    let mut sends = vec![None; nodes];
    for first in 0..nodes {
        let mut at = first;
        // Follow the circle: the partner does the opposite, and the partner's neighbour the opposite again.
        while sends[at].is_none() {
            sends[at] = Some(true);
            sends[partner[at]] = Some(false);
            at = partner[at] ^ 1;
        }
    }
    let sender_first =
        |&(a, b): &(usize, usize)| if sends[a] == Some(true) { (a, b) } else { (b, a) };
    pairs.iter().map(sender_first).collect()
}
