//! Random intercommunicators and graphs over the reference fabric, compared with the data from which they are built.

use crate::ranks::{World, on};
use mpi::{
    Bridge, Cartesian, Comparison, Edge, ErrorClass, Graph, Neighbourhood, Peer, RankTopology,
};
use random::SplitMix64;

/// Returns the group of each rank of the world; neither of the two groups is empty.
fn sides(size: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut sides: Vec<usize> = (0..size).map(|_| random.below(2)).collect();
    let (one, other) = (random.below(size), random.below(size - 1));
    sides[one] = 0;
    sides[if other >= one { other + 1 } else { other }] = 1;
    sides
}

fn between(world: &World, sides: &[usize], leaders: [usize; 2]) -> mpi::Result<World> {
    let side = sides[world.rank()];
    let local = world.split(Some(side as u32), 0)?.expect("every rank gives a colour");
    let members = |side: usize| (0..sides.len()).filter(move |&rank| sides[rank] == side);
    let across = members(1 - side).nth(leaders[1 - side]).expect("a leader is a member");
    let bridge = || Ok(Bridge { context: world.context().clone(), leader: across, tag: 5 });
    local.join_across(leaders[side], bridge)
}

#[test]
fn groups_reach_each_other_for_every_distribution_of_ranks() {
    for seed in 1..=12_u64 {
        println!("seed {seed}");
        let mut random = SplitMix64::new(seed << 20 | 1);
        let size = 2 + random.below(5);
        let sides = sides(size, &mut random);
        let count = |side: usize| sides.iter().filter(|&&one| one == side).count();
        let leaders = [random.below(count(0)), random.below(count(1))];
        let sides = &sides;
        on(size, |world| {
            let both = between(world, sides, leaders)?;
            let me = world.rank();
            let of =
                |side: usize| (0..size).filter(|&rank| sides[rank] == side).collect::<Vec<_>>();
            let (own, others) = (of(sides[me]), of(1 - sides[me]));
            assert_eq!(both.group().members(), own);
            assert_eq!(both.remote_group().unwrap().members(), others);
            assert_eq!((both.rank(), both.size()), (both.group().rank_of(me).unwrap(), own.len()));
            for (rank, &other) in others.iter().enumerate() {
                let mut got = [0_u64];
                let peer = Peer::Rank(rank as u32);
                both.exchange(&[me as u64][..], (peer, 1), &mut got[..], (peer, 1))?;
                assert_eq!(got, [other as u64]);
            }
            // The members that pass high come last.
            let high = sides[me] == (seed % 2) as usize;
            let merged = both.merge(high)?;
            let wanted = if high { [others, own] } else { [own, others] }.concat();
            assert_eq!(merged.group().members(), wanted);
            let mut all = vec![0_u32; size];
            merged.allgather(&[me as u32][..], &mut all[..])?;
            assert_eq!(all.iter().map(|&one| one as usize).collect::<Vec<_>>(), wanted);
            let copy = both.dup(mpi::Attributes::new(), mpi::Info::new())?;
            assert_eq!(copy.compare(&both), Comparison::Congruent);
            assert_eq!(copy.compare(world), Comparison::Unequal);
            assert_eq!(copy.barrier().unwrap_err().class, ErrorClass::Communicator);
            copy.free(0)?;
            merged.free(0)?;
            Ok(both.free(0)?)
        });
    }
}

#[test]
fn groups_that_share_a_rank_or_cannot_meet_are_refused_by_all() {
    on(3, |world| {
        let me = world.rank();
        // Ranks 0 and 1 lead groups that both claim to contain rank 2.
        let whole = world.split(Some(0), 0)?.unwrap();
        let bridge = |leader| Bridge { context: world.context().clone(), leader, tag: 1 };
        let refused = whole.join_across(7, || Ok(bridge(0)));
        assert_eq!(refused.err().unwrap().class, ErrorClass::Rank);
        // An error that only the leader finds is reported to all.
        let wrong = || Err(mpi::Error::new(ErrorClass::Tag, "no such tag"));
        let class = whole.join_across(1, wrong).err().unwrap().class;
        assert_eq!(class, if me == 1 { ErrorClass::Tag } else { ErrorClass::Communicator });
        assert_eq!(whole.merge(true).err().unwrap().class, ErrorClass::Communicator);
        Ok(())
    });
}

#[test]
fn edges_passed_by_any_rank_reach_both_of_their_ends() {
    for seed in 1..=12_u64 {
        println!("seed {seed}");
        let mut random = SplitMix64::new(seed << 24 | 1);
        let size = 1 + random.below(5);
        let edge = |random: &mut SplitMix64| Edge {
            source: random.below(size),
            destination: random.below(size),
            weight: random.below(9) as i32,
        };
        // Edges by the rank that passes them.
        let given: Vec<Vec<Edge>> =
            (0..size).map(|_| (0..random.below(6)).map(|_| edge(&mut random)).collect()).collect();
        let (given, all) = (&given, given.concat());
        on(size, |world| {
            let me = world.rank();
            let graph = world.with_edges(&given[me], true)?;
            let Some(RankTopology::Distributed(own)) = graph.topology() else { panic!() };
            let incoming: Vec<Edge> =
                all.iter().copied().filter(|edge| edge.destination == me).collect();
            let outgoing: Vec<Edge> =
                all.iter().copied().filter(|edge| edge.source == me).collect();
            assert_eq!(own.sources, incoming.iter().map(|edge| edge.source).collect::<Vec<_>>());
            let weights: Vec<i32> = outgoing.iter().map(|edge| edge.weight).collect();
            assert_eq!(own.weights.as_ref().unwrap().1, weights);
            // Each edge carries its weight, and its index among those of its source.
            let numbers: Vec<i32> = (0..outgoing.len() as i32).collect();
            let sent: Vec<i32> = weights.iter().zip(numbers).map(|(w, n)| 100 * w + n).collect();
            let mut got = vec![-1; incoming.len()];
            graph.neighbour_all_to_all(&sent[..], &mut got[..])?;
            for (index, edge) in incoming.iter().enumerate() {
                assert_eq!(got[index] / 100, edge.weight, "edge {index} of rank {me}");
            }
            let mut names = vec![9_u8; 2 * incoming.len()];
            graph.neighbour_allgather(&[me as u8, 7][..], &mut names[..])?;
            let wanted: Vec<u8> = incoming.iter().flat_map(|edge| [edge.source as u8, 7]).collect();
            assert_eq!(names, wanted);
            Ok(graph.free(0)?)
        });
    }
}

#[test]
fn data_sent_in_one_direction_of_a_grid_arrive_from_the_other() {
    // A ring of two: both neighbours are the other rank. A message sent to the lower neighbour arrives there from the
    // higher one.
    on(2, |world| {
        let ring = world.with_cartesian(Cartesian::new(&[2], vec![true])?)?.unwrap();
        let me = world.rank() as i32;
        let mut got = [0; 2];
        ring.neighbour_all_to_all(&[10 * me, 10 * me + 1][..], &mut got[..])?;
        assert_eq!(got, [10 * (1 - me) + 1, 10 * (1 - me)]);
        // There is no rank beyond an open edge, and blocks that no rank sends stay unchanged.
        let line = world.with_cartesian(Cartesian::new(&[2], vec![false])?)?.unwrap();
        let mut got = [-1; 2];
        line.neighbour_allgather(&[me][..], &mut got[..])?;
        assert_eq!(got, if me == 0 { [-1, 1] } else { [0, -1] });
        let lone = line.neighbour_allgather(&[me][..], &mut [0; 3][..]);
        assert_eq!(lone.unwrap_err().class, ErrorClass::Count);
        let none = world.neighbour_allgather(&[me][..], &mut [0; 2][..]);
        assert_eq!(none.unwrap_err().class, ErrorClass::Topology);
        Ok(())
    });
}

#[test]
fn graphs_and_neighbours_that_do_not_fit_are_refused() {
    on(2, |world| {
        let large = world.with_graph(Graph::new(&[0, 0, 0], &[])?);
        assert_eq!(large.err().unwrap().class, ErrorClass::Argument);
        let alone = world.with_graph(Graph::new(&[1], &[0])?)?;
        assert_eq!(alone.is_some(), world.rank() == 0);
        let far = Neighbourhood { sources: vec![2], ..Neighbourhood::default() };
        assert_eq!(world.with_neighbours(far).err().unwrap().class, ErrorClass::Argument);
        Ok(())
    });
}
