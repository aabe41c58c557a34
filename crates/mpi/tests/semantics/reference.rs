//! MPI in Rust over the reference fabric.

use crate::ranks::{Outcome, World, on};
use mpi::{
    Attributes, Datatype, Element, ErrorClass, Group, Incoming, Info, Operation, Outgoing, Peer,
    Predefined, ScanKind,
};

/// Runs a program on 1 to 5 ranks; each must succeed.
fn on_each_size(program: impl Fn(&World) -> Outcome + Sync) {
    for ranks in 1..=5 {
        on(ranks, &program);
    }
}

fn rank(number: usize) -> Peer {
    Peer::Rank(number as u32)
}

#[test]
fn a_message_goes_round_the_ring() {
    on_each_size(|world| {
        let (me, size) = (world.rank(), world.size());
        let (next, before) = ((me + 1) % size, (me + size - 1) % size);
        let mut got = [0.0_f64; 3];
        let mine = [me as f64, 0.5, -1.0];
        let status = world.exchange(&mine[..], (rank(next), 7), &mut got[..], (Peer::Any, 7))?;
        assert_eq!((status.source, status.tag, status.bytes), (rank(before), Some(7), 24));
        assert_eq!(got, [before as f64, 0.5, -1.0]);
        Ok(())
    });
}

#[test]
fn a_message_that_does_not_fit_is_an_error_and_is_gone() {
    on(2, |world| {
        if world.rank() == 0 {
            world.send(&[1_i32, 2, 3][..], rank(1), 1)?;
            world.send(&[4_i32][..], rank(1), 1)?;
            return Ok(());
        }
        let mut room = [0_i32; 2];
        let error = world.receive(&mut room[..], rank(0), 1).unwrap_err();
        assert_eq!(error.class, ErrorClass::Truncated);
        assert_eq!(room, [1, 2]);
        let status = world.receive(&mut room[..], rank(0), None)?;
        assert_eq!((status.bytes, room), (4, [4, 2]));
        Ok(())
    });
}

#[test]
fn wrong_arguments_are_errors_of_the_right_class() {
    on(2, |world| {
        let class = |outcome: mpi::Result| outcome.unwrap_err().class;
        assert_eq!(class(world.send(&[1_u8][..], rank(2), 0)), ErrorClass::Rank);
        assert_eq!(class(world.send(&[1_u8][..], Peer::Any, 0)), ErrorClass::Rank);
        assert_eq!(class(world.send(&[1_u8][..], rank(0), 1 << 31)), ErrorClass::Tag);
        assert_eq!(class(world.broadcast(&mut [0_u8][..], 2)), ErrorClass::Root);
        let odd = world.all_to_all(&[1_u8, 2, 3][..], &mut [0_u8; 4][..]);
        assert_eq!(class(odd), ErrorClass::Count);
        let bits = Predefined::BitAnd;
        let floats = world.allreduce(&[1.0_f64][..], &mut [0.0_f64][..], bits);
        assert_eq!(class(floats), ErrorClass::Operation);
        Ok(())
    });
}

#[test]
fn collectives_move_and_combine_the_specified_data() {
    on_each_size(|world| {
        let (me, size) = (world.rank() as u64, world.size() as u64);
        let last = world.size() - 1;
        let mut data = [if me + 1 == size { 40 } else { 0_u64 }, me];
        world.broadcast(&mut data[..1], last)?;
        assert_eq!(data, [40, me]);

        let mut all = vec![0_u64; world.size()];
        world.allgather(&[me * me][..], &mut all[..])?;
        assert_eq!(all, (0..size).map(|rank| rank * rank).collect::<Vec<_>>());

        // Rank r sends 10 r + s to rank s.
        let mine: Vec<u64> = (0..size).map(|to| 10 * me + to).collect();
        world.all_to_all(&mine[..], &mut all[..])?;
        assert_eq!(all, (0..size).map(|from| 10 * from + me).collect::<Vec<_>>());

        let mut sum = [0_u64; 2];
        world.allreduce(&[me, 1][..], &mut sum[..], Predefined::Sum)?;
        assert_eq!(sum, [size * (size - 1) / 2, size]);

        world.scan(&[me, 1][..], &mut sum[..], Predefined::Sum, ScanKind::Inclusive)?;
        assert_eq!(sum, [me * (me + 1) / 2, me + 1]);

        let mut own = [0_u64];
        let ones: Vec<u64> = (0..size).map(|rank| rank + me).collect();
        world.reduce_scatter(&ones[..], &mut own[..], Predefined::Sum)?;
        assert_eq!(own, [size * me + size * (size - 1) / 2]);
        world.barrier()?;
        Ok(())
    });
}

#[test]
fn the_root_alone_gathers_scatters_and_reduces() {
    on_each_size(|world| {
        let (me, size) = (world.rank(), world.size());
        let root = size / 2;
        let mut all = vec![0_i32; 2 * size];
        let room = (me == root).then_some(&mut all[..]);
        world.gather(&[me as i32, -1][..], room, root)?;
        let expected: Vec<i32> = (0..size as i32).flat_map(|rank| [rank, -1]).collect();
        if me == root {
            assert_eq!(all, expected);
        }
        let data = (me == root).then_some(&expected[..]);
        let mut part = [7_i32; 2];
        world.scatter(data, &mut part[..], root)?;
        assert_eq!(part, [me as i32, -1]);
        Ok(())
    });
}

/// Returns the composition of two permutations of three elements: it is associative and not commutative.
fn composed(first: u32, second: u32) -> u32 {
    let image = |of: u32, place: u32| of >> (4 * place) & 0xf;
    (0..3).map(|place| image(second, image(first, place)) << (4 * place)).sum()
}

#[test]
fn operations_that_do_not_commute_are_applied_in_the_order_of_the_ranks() {
    on_each_size(|world| {
        let of_rank = |rank: usize| [0x201, 0x021, 0x102][rank % 3];
        let expected = (0..world.size()).map(of_rank).reduce(composed).unwrap();
        let root = world.size() - 1;
        for is_to_all in [true, false] {
            let operation = Operation::of_elements::<u32>(false, composed);
            let (mine, mut result) = ([of_rank(world.rank())], [0_u32]);
            if is_to_all {
                world.allreduce(&mine[..], &mut result[..], operation)?;
            } else {
                let room = (world.rank() == root).then_some(&mut result[..]);
                world.reduce(&mine[..], room, operation, root)?;
            }
            if is_to_all || world.rank() == root {
                assert_eq!(result[0], expected);
            }
        }
        Ok(())
    });
}

#[test]
fn parts_have_their_own_ranks_and_messages() {
    on_each_size(|world| {
        let (me, size) = (world.rank(), world.size());
        // Odd and even ranks in separate groups, in reverse order.
        let part = world.split(Some((me % 2) as u32), -(me as i64))?.expect("all have a colour");
        let mates: Vec<usize> = (0..size).rev().filter(|rank| rank % 2 == me % 2).collect();
        assert_eq!(part.group().members(), mates);
        assert_eq!(mates[part.rank()], me);
        let mut sum = [0_u64];
        part.allreduce(&[me as u64][..], &mut sum[..], Predefined::Sum)?;
        assert_eq!(sum[0], mates.iter().sum::<usize>() as u64);
        assert!(world.split(None, 0)?.is_none());
        part.free(0)?;
        let alone = world.create(&Group::from(vec![size - 1]))?;
        assert_eq!(alone.is_some(), me == size - 1);
        Ok(())
    });
}

#[test]
fn no_wildcard_takes_a_message_of_another_communicator() {
    on(2, |world| {
        let other = world.dup(Attributes::new(), Info::new())?;
        if world.rank() == 0 {
            world.send(&[1_u8][..], rank(1), 5)?;
            other.send(&[2_u8][..], rank(1), 5)?;
            return Ok(());
        }
        let (mut first, mut second) = ([0_u8], [0_u8]);
        let status = other.receive(&mut first[..], Peer::Any, None)?;
        assert_eq!((status.source, status.tag), (rank(0), Some(5)));
        world.receive(&mut second[..], Peer::Any, None)?;
        assert_eq!((first, second), ([2], [1]));
        Ok(())
    });
}

#[test]
fn a_started_collective_progresses_while_the_program_waits_for_a_message() {
    on_each_size(|world| {
        let (me, size) = (world.rank(), world.size());
        let (copy, request) = world.start_dup(Attributes::new(), Info::new())?;
        let mut got = [0_u32];
        let (next, before) = (rank((me + 1) % size), rank((me + size - 1) % size));
        world.exchange(&[me as u32][..], (next, 0), &mut got[..], (before, 0))?;
        assert_eq!(before, Peer::Rank(got[0]));
        request.wait()?;
        copy.barrier()?;
        Ok(())
    });
}

#[test]
fn data_with_gaps_travel_without_them() {
    on(2, |world| {
        let column = Datatype::vector(3, 1, 4, mpi::Unit::Elements, &f32::datatype())?;
        column.commit();
        let matrix: Vec<f32> = (0..12).map(|index| index as f32).collect();
        if world.rank() == 0 {
            // From the second number on: 1, 5, 9.
            world.send(Outgoing::new(&matrix[1..], 1, &column)?, rank(1), 0)?;
            return Ok(());
        }
        let mut zeros = [0.0_f32; 12];
        world.receive(Incoming::new(&mut zeros[..9], 1, &column)?, rank(0), 0)?;
        let mut expected = [0.0; 12];
        (expected[0], expected[4], expected[8]) = (1.0, 5.0, 9.0);
        assert_eq!(zeros, expected);
        Ok(())
    });
}
