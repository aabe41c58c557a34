//! Tests whole chains on the reference machine: the sink checks every element.

use conformance::reference;
use contract::{Result, Time, TimeSpan};

use super::*;
use crate::chain::Chain;
use crate::period::{Deadlines, Trial};
use crate::stage_functions::Function;

const FFT: Function = Function::FFT;
const TURN: Function = Function::CORNER_TURN;
const WEIGHT: Function = Function::WEIGHT;

/// Runs `matrices` through the chain, back to back, on the reference machine. Returns the sink's verdict.
fn run(chain: &Chain, mode: Mode, matrices: u64) -> Result<()> {
    assert_eq!(chain.mistake(), None);
    reference::run(chain.ranks(), |rank| {
        let mut member = Member::new(chain, mode, 7, rank)?;
        let mut deadlines = Deadlines::new(matrices)?;
        rank.barrier()?;
        for number in 0..2 {
            let (period, begin) = (TimeSpan::ZERO, Time::ZERO);
            let trial = Trial { period, instances: matrices, begin, number };
            deadlines.begin(trial);
            member.keep_up(mode, rank, &trial, &mut deadlines)?;
            rank.barrier()?;
        }
        Ok(())
    })
    .map_err(|(_, error)| error)
}

#[test]
fn a_two_dimensional_transform_comes_out_right_in_messages_of_any_size() {
    let stages: [(&[Function], usize); 3] = [(&[FFT], 1), (&[TURN], 1), (&[FFT], 1)];
    for rows_per_message in [1, 2, 4, 8] {
        run(&Chain::of((8, 16, rows_per_message), &stages), Mode::SelfTimed, 5).unwrap();
    }
}

#[test]
fn stages_of_any_number_of_ranks_fit_together() {
    for (first, second, third) in [(1, 2, 4), (4, 2, 1), (2, 2, 2), (2, 4, 2), (4, 4, 4)] {
        let stages: [(&[Function], usize); 4] =
            [(&[WEIGHT, FFT], first), (&[FFT, TURN], second), (&[], third), (&[FFT, TURN], first)];
        run(&Chain::of((16, 8, 2), &stages), Mode::SelfTimed, 3).unwrap();
    }
}

#[test]
fn a_rank_may_work_for_several_stages() {
    let stages: [(&[Function], usize); 3] = [(&[WEIGHT, FFT], 1), (&[TURN], 1), (&[FFT], 1)];
    // The ranks of the source, the three stages and the sink: all on one, all on two, three for two stages, crosswise.
    let placements: [[&[usize]; 5]; 5] = [
        [&[0]; 5],
        [&[0, 1]; 5],
        [&[1, 0], &[0, 1], &[1, 0], &[0, 1], &[1, 0]],
        [&[0], &[1, 2], &[2, 0], &[0, 1], &[1]],
        [&[0], &[1, 2, 3, 0], &[0, 1], &[3, 2, 1, 0], &[2, 3]],
    ];
    for (placement, mode) in placements.iter().flat_map(|placement| {
        [Mode::SelfTimed, Mode::Synchronised, Mode::MessagesOnly, Mode::FunctionsOnly]
            .map(|mode| (placement, mode))
    }) {
        for (buffers, overlap_sends) in [(1, true), (1, false), (2, true), (3, false)] {
            let mut chain = Chain::of((16, 8, 2), &stages);
            let [source, first, second, third, sink] = placement.map(<[usize]>::to_vec);
            (chain.source, chain.sink) = (source, sink);
            chain
                .stages
                .iter_mut()
                .zip([first, second, third])
                .for_each(|(stage, on)| stage.on = on);
            run(&Chain { buffers, overlap_sends, ..chain }, mode, 4).unwrap();
        }
    }
}

#[test]
fn one_buffer_is_enough_and_sends_need_not_overlap() {
    let stages: [(&[Function], usize); 3] = [(&[FFT], 2), (&[TURN], 2), (&[WEIGHT], 1)];
    for (buffers, overlap_sends) in [(1, true), (1, false), (2, false), (5, true)] {
        let chain = Chain { buffers, overlap_sends, ..Chain::of((8, 8, 2), &stages) };
        run(&chain, Mode::SelfTimed, 4).unwrap();
        run(&chain, Mode::Synchronised, 4).unwrap();
    }
}

#[test]
fn messages_flow_without_functions_and_functions_run_without_messages() {
    let chain = Chain::of((8, 4, 2), &[(&[FFT, TURN], 2), (&[FFT], 1)]);
    run(&chain, Mode::MessagesOnly, 3).unwrap();
    run(&chain, Mode::FunctionsOnly, 3).unwrap();
}

#[test]
fn a_lone_corner_turn_is_seen_to_be_done() {
    let turned = Chain::of((8, 4, 4), &[(&[TURN], 1)]);
    run(&turned, Mode::SelfTimed, 2).unwrap();
    // The same chain with a sink that expects rows as they were injected.
    let error = reference::run(3, |rank| {
        let kept = Chain::of((4, 8, 4), &[(&[], 1)]);
        let chain = if rank.rank() == 2 { &kept } else { &turned };
        let mut member = Member::new(chain, Mode::SelfTimed, 7, rank)?;
        let mut deadlines = Deadlines::new(1)?;
        let trial = Trial { period: TimeSpan::ZERO, instances: 1, begin: Time::ZERO, number: 0 };
        deadlines.begin(trial);
        member.keep_up(Mode::SelfTimed, rank, &trial, &mut deadlines)
    });
    let error = error.unwrap_err().1.to_string();
    assert!(error.contains("wrong data at the sink: matrix 0"), "{error}");
}

/// Tests a small version of the mapping of `pipelines/scalable-mapping.toml`, over 2 nodes a stage, doubled to 8 and
/// 16: 80 ranks, and corner turns of 16 x 16 blocks. A rank of the last stage then has two rows.
#[test]
fn a_mapping_comes_out_right_over_8_and_16_ranks_a_stage() {
    let stages: [(&[Function], usize); 4] = [(&[FFT], 2), (&[TURN], 2), (&[], 2), (&[FFT], 2)];
    let mut mapping = Chain::of((16, 32, 2), &stages);
    (mapping.source, mapping.sink) = (vec![0, 1], vec![8, 9]);
    for (stage, on) in mapping.stages.iter_mut().zip([[2, 3], [4, 5], [4, 5], [6, 7]]) {
        stage.on = on.into();
    }
    for (times, shape, ranks) in [(4, (64, 32), 40), (8, (128, 32), 80)] {
        let doubled = mapping.spread(times);
        assert_eq!(((doubled.rows, doubled.columns), doubled.ranks()), (shape, ranks));
        for mode in [Mode::SelfTimed, Mode::Synchronised] {
            run(&doubled, mode, 2).unwrap();
        }
        // Each stage alone, as `--stages-alone` runs it.
        for group in doubled.groups() {
            run(&doubled.part(group), Mode::SelfTimed, 2).unwrap();
        }
    }
}
