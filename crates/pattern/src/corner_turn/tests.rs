//! Corner turns compared with the figure of the paper, and with the properties of every corner turn.

use std::collections::BTreeSet;

use super::*;
use crate::program::{Pattern, Step};
use crate::stages::{node_contention, stages};

/// Figure 6.4, in its own abbreviation: `S7` sends a block to node 7.
const FIGURE_6_4: &str = "
0: R S7 R S6 R S5 R S4 R S3 R S2 S1 R E
1: S6 R S7 R S4 R S5 R S2 R S3 R R S0 E
2: R S5 R S4 R S7 R S6 R S1 S0 R S3 R E
3: S4 R S5 R S6 R S7 R S0 R R S1 R S2 E
4: R S3 S2 R R S1 S0 R R S7 R S6 S5 R E
5: S2 R R S3 S0 R R S1 S6 R S7 R R S4 E
6: R S1 S0 R R S3 S2 R R S5 S4 R S7 R E
7: S0 R R S1 S2 R R S3 S4 R R S5 R S6 E
";

/// Returns the code of each node as the figure writes it.
fn abbreviated(pattern: &Pattern) -> String {
    let mut lines = String::from("\n");
    for (number, node) in pattern.nodes.iter().enumerate() {
        let mut cursor = crate::Cursor::default();
        lines += &format!("{number}:");
        while let Some((_, step)) = cursor.next(&node.actions) {
            lines += &match step {
                Step::Send { to, .. } => format!(" S{to}"),
                _ => " R".into(),
            };
        }
        lines += " E\n";
    }
    lines
}

fn pattern(design: Design, nodes: usize) -> Pattern {
    design.schedule(nodes).unwrap().to_pattern(4096)
}

#[test]
fn the_recursive_pattern_for_eight_nodes_is_figure_6_4() {
    assert_eq!(abbreviated(&pattern(Design::Recursive, 8)), FIGURE_6_4);
}

#[test]
fn the_recursive_pattern_for_four_nodes_is_the_last_six_stages_of_the_figures_first_half() {
    let tail = |line: &str| {
        let (node, code) = line.split_once(':').unwrap();
        let words: Vec<&str> = code.split_whitespace().collect();
        format!("{node}: {}\n", words[words.len() - 7..].join(" "))
    };
    let half: String = FIGURE_6_4.trim().lines().take(4).map(tail).collect();
    assert_eq!(abbreviated(&pattern(Design::Recursive, 4)), format!("\n{half}"));
}

#[test]
fn two_nodes_swap() {
    for design in Design::ALL {
        let found: BTreeSet<_> = design.schedule(2).unwrap().stages.concat().into_iter().collect();
        assert_eq!(found, BTreeSet::from([(0, 1), (1, 0)]));
    }
}

#[test]
fn every_node_sends_a_block_to_every_other_and_is_busy_with_one_message_in_each_stage() {
    let counts = [2, 4, 6, 8, 10, 12, 14, 16, 26, 32, 64];
    let both = counts.into_iter().flat_map(|nodes| Design::ALL.map(|design| (design, nodes)));
    for (design, nodes) in both {
        let Ok(schedule) = design.schedule(nodes) else { continue };
        let all: Vec<_> = schedule.stages.concat();
        let different: BTreeSet<_> = all.iter().filter(|(from, to)| from != to).collect();
        assert_eq!((all.len(), different.len()), (nodes * (nodes - 1), all.len()));
        assert_eq!(schedule.stages.len(), 2 * (nodes - 1), "{design:?} {nodes}");
        for stage in &schedule.stages {
            let busy: BTreeSet<_> = stage.iter().flat_map(|&(from, to)| [from, to]).collect();
            assert_eq!((stage.len(), busy.len()), (nodes / 2, nodes), "{design:?} {nodes}");
        }
    }
}

/// Checks that the stages of the pattern in execution are those of the schedule that it was made from.
#[test]
fn nodes_in_step_run_the_stages_of_the_schedule() {
    for (design, nodes) in [(Design::Recursive, 16), (Design::Balanced, 16), (Design::Balanced, 6)]
    {
        let schedule = design.schedule(nodes).unwrap();
        let run = stages(&schedule.to_pattern(1 << 16));
        assert_eq!(run.len(), schedule.stages.len());
        for (run, made) in run.iter().zip(&schedule.stages) {
            let run: BTreeSet<_> = run.iter().map(|m| (m.from as usize, m.to as usize)).collect();
            assert_eq!(run, made.iter().copied().collect());
        }
        assert!(run.iter().all(|stage| node_contention(stage) == 1));
    }
}

/// Counts messages over each link one by one.
fn slow_contention(stage: &[(usize, usize)], nodes: usize) -> usize {
    let mut most = 0;
    for link in 0..nodes - 1 {
        let (mut right, mut left) = (0, 0);
        for &(from, to) in stage {
            right += usize::from(from <= link && to > link);
            left += usize::from(to <= link && from > link);
        }
        most = most.max(right).max(left);
    }
    most
}

#[test]
fn the_balanced_pattern_shares_links_less_and_no_pattern_could_do_much_better() {
    // The link in the middle carries (n/2)^2 messages in each direction in 2 (n - 1) stages, so some stage has at
    // least:
    let bound = |nodes: usize| (nodes * nodes / 4).div_ceil(2 * (nodes - 1));
    for (nodes, recursive, balanced) in [(4, 1, 1), (8, 2, 2), (16, 4, 3), (32, 8, 6), (64, 16, 11)]
    {
        let most = |design: Design| {
            let schedule = design.schedule(nodes).unwrap();
            let contention = schedule.link_contention();
            let slow: Vec<_> =
                schedule.stages.iter().map(|stage| slow_contention(stage, nodes)).collect();
            assert_eq!(contention, slow);
            (contention.iter().copied().max().unwrap(), contention.iter().sum::<usize>())
        };
        let ((old, old_sum), (new, new_sum)) = (most(Design::Recursive), most(Design::Balanced));
        assert_eq!((old, new), (recursive, balanced), "{nodes} nodes");
        assert!(bound(nodes) <= new && new_sum <= old_sum, "{nodes} nodes: {new_sum} {old_sum}");
        assert!(new_sum >= nodes * nodes / 4);
    }
}

#[test]
fn numbers_of_nodes_without_a_design_are_refused() {
    assert_eq!(Design::Recursive.schedule(6), Err(NoDesign::NoPowerOfTwo(6)));
    assert_eq!(Design::Recursive.schedule(0), Err(NoDesign::NoPowerOfTwo(0)));
    assert_eq!(Design::Balanced.schedule(7), Err(NoDesign::Odd(7)));
    assert_eq!(Design::Balanced.schedule(2048), Err(NoDesign::TooMany(2048)));
}

#[test]
fn stages_held_in_step_begin_when_those_before_are_over() {
    let pattern = Design::Recursive.schedule(8).unwrap().held_in_step().to_pattern(100);
    let mut waits = Vec::new();
    let mut cursor = crate::Cursor::default();
    while let Some((_, step)) = cursor.next(&pattern.nodes[3].actions) {
        if let Step::WaitUntil { fraction } = step {
            waits.push(fraction);
        }
    }
    // Eight stages with two messages on a link, then six with one: 22 in all.
    let begins = [2, 4, 6, 8, 10, 12, 14, 16, 17, 18, 19, 20, 21];
    assert_eq!(waits, begins.map(|begin| f64::from(begin) / 22.0));
}
