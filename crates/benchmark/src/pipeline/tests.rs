//! Whole chains on the reference machine: the sink checks every element.

use contract::{Result, Time, TimeSpan, reference};

use super::*;
use crate::period::{Deadlines, Trial};

/// Runs `matrices` through the chain, back to back, on the reference machine; the sink's verdict.
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

use Function::{CornerTurn, Fft, Weight};

#[test]
fn a_two_dimensional_transform_comes_out_right_in_messages_of_any_size() {
    let stages: [(&[Function], usize); 3] = [(&[Fft], 1), (&[CornerTurn], 1), (&[Fft], 1)];
    for rows_per_message in [1, 2, 4, 8] {
        run(&Chain::of((8, 16, rows_per_message), &stages), Mode::SelfTimed, 5).unwrap();
    }
}

#[test]
fn stages_of_any_number_of_ranks_fit_together() {
    for (first, second, third) in [(1, 2, 4), (4, 2, 1), (2, 2, 2), (2, 4, 2), (4, 4, 4)] {
        let stages: [(&[Function], usize); 4] = [
            (&[Weight, Fft], first),
            (&[Fft, CornerTurn], second),
            (&[], third),
            (&[Fft, CornerTurn], first),
        ];
        run(&Chain::of((16, 8, 2), &stages), Mode::SelfTimed, 3).unwrap();
    }
}

#[test]
fn a_rank_may_work_for_several_stages() {
    let stages: [(&[Function], usize); 3] = [(&[Weight, Fft], 1), (&[CornerTurn], 1), (&[Fft], 1)];
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
    let stages: [(&[Function], usize); 3] = [(&[Fft], 2), (&[CornerTurn], 2), (&[Weight], 1)];
    for (buffers, overlap_sends) in [(1, true), (1, false), (2, false), (5, true)] {
        let chain = Chain { buffers, overlap_sends, ..Chain::of((8, 8, 2), &stages) };
        run(&chain, Mode::SelfTimed, 4).unwrap();
        run(&chain, Mode::Synchronised, 4).unwrap();
    }
}

#[test]
fn messages_flow_without_functions_and_functions_run_without_messages() {
    let chain = Chain::of((8, 4, 2), &[(&[Fft, CornerTurn], 2), (&[Fft], 1)]);
    run(&chain, Mode::MessagesOnly, 3).unwrap();
    run(&chain, Mode::FunctionsOnly, 3).unwrap();
}

#[test]
fn a_lone_corner_turn_is_seen_to_be_done() {
    let turned = Chain::of((8, 4, 4), &[(&[CornerTurn], 1)]);
    run(&turned, Mode::SelfTimed, 2).unwrap();
    // The same chain whose sink expects rows as they were injected.
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

#[test]
fn the_built_in_chain_is_one() {
    let chain = Chain::example();
    assert_eq!((chain.ranks(), chain.matrix_bytes()), (2, 2 << 20));
    // 2 x 512 rows of 5 x 512 x 9 operations.
    assert_eq!(chain.operations(), 2.0 * 512.0 * 5.0 * 512.0 * 9.0);
    // Powers of two up to a rank's share of the matrix.
    assert_eq!(chain.granularities(), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
}

const TEXT: &str = "title = 't'\n[matrix]\nrows = 8\ncolumns = 4\n[flow]\nrows_per_message = 4\n[[stage]]\nfunctions = ['fft', 'corner-turn']\n";

#[test]
fn a_file_says_what_flows_and_what_is_done() {
    let read = Chain::parse("test.toml", TEXT).unwrap();
    let mut expected = Chain::of((8, 4, 4), &[(&[Fft, CornerTurn], 1)]);
    (expected.file, expected.text) = ("test.toml".into(), TEXT.into());
    expected.title = "t".into();
    expected.buffers = 3;
    expected.stages[0].name = "fft + corner-turn".into();
    assert_eq!(read, expected);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let told = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        Chain::parse("test.toml", &TEXT.replace(from, to)).unwrap_err().to_string()
    };
    let cases = [
        (
            "rows = 8",
            "rows = 0",
            "test.toml, line 3: `matrix.rows` is 0; it must be a number from 1 to 65536",
        ),
        (
            "rows = 8",
            "rows = -8",
            "line 3: `rows`: invalid value: integer `-8`, expected a whole number from 0 on",
        ),
        (
            "'fft', 'corner-turn'",
            "'fft', 'turn'",
            "test.toml, line 8: there is no function `turn`; there are `fft`, `weight`, `corner-turn`",
        ),
        (
            "'fft', 'corner-turn'",
            "'corner-turn', 'fft'",
            "line 7: stage 1 (corner-turn + fft) has a function after its corner turn",
        ),
        (
            "rows_per_message = 4",
            "rows_per_message = 3",
            "line 6: the source gives each rank 8 rows, which are no whole number of messages of 3 rows",
        ),
        ("rows_per_message = 4", "rows_per_message = 8", "line 6: the sink gives each rank 4 rows"),
        (
            "'corner-turn']",
            "'corner-turn']\nranks = 3",
            "has 3 ranks, which do not divide its 8 rows",
        ),
        ("columns", "colums", "line 4: unknown field `colums`"),
        ("'corner-turn']", "'corner-turn']\non = []", "line 9: `on` is empty"),
        ("'corner-turn']", "'corner-turn']\non = [1, 1]", "line 9: `on` names rank 1 twice"),
        ("'corner-turn']", "'corner-turn']\non = [4096]", "line 9: `on` names rank 4096"),
        ("'corner-turn']", "'corner-turn']\non = [1]\nranks = 1", "`ranks` must be left out"),
        ("'corner-turn']", "'corner-turn']\non = [3]", "no part of the chain is on rank 2"),
        ("[[stage]]", "[source]\nranks = 3\n[[stage]]", "line 8: the source has 3 ranks, which do"),
        ("[[stage]]", "[sink]\non = [0, 1, 2]\n[[stage]]", "line 8: the sink has 3 ranks"),
        ("[[stage]]\nfunctions = ['fft', 'corner-turn']\n", "", "line 1: there is no [[stage]]"),
    ];
    for (from, to, message) in cases {
        let found = told(from, to);
        assert!(found.contains(message), "{found}\nand not\n{message}");
    }
}
