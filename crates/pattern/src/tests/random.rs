//! Random patterns compared with slow models. Each case has its own seed, which a failure prints.

use std::fmt::Write;

use super::model::{Ends, Op, Rule, ends};
use crate::program::{Cursor, Step};
use crate::{compile, parser, read};
use random::SplitMix64;

/// Returns code for a few nodes with a few messages: some correct, some with actions out of order, lost or added.
fn code(random: &mut SplitMix64) -> Vec<Vec<Op>> {
    let nodes = 2 + random.below(3);
    let mut code = vec![Vec::new(); nodes];
    for _ in 0..1 + random.below(7) {
        let from = random.below(nodes);
        let to = (from + 1 + random.below(nodes - 1)) % nodes;
        let bytes = [8, 4096, 65_536][random.below(3)];
        code[from].push(Op::Send { to, bytes });
        code[to].push(Op::Receive);
    }
    for _ in 0..random.below(16) {
        let of_node = &mut code[random.below(nodes)];
        match random.below(40) {
            0 => of_node.push(Op::Receive),
            1 => drop(of_node.pop()),
            2..8 if of_node.len() > 1 => {
                let at = random.below(of_node.len() - 1);
                of_node.swap(at, at + 1);
            }
            // A send moves before the receive in front of it, which may cause a deadlock if long messages wait.
            _ => {
                let early = of_node
                    .windows(2)
                    .rposition(|pair| pair[0] == Op::Receive && matches!(pair[1], Op::Send { .. }));
                if let Some(at) = early {
                    of_node.swap(at, at + 1);
                }
            }
        }
    }
    code
}

fn text(code: &[Vec<Op>]) -> String {
    let mut text = String::new();
    for (node, actions) in code.iter().enumerate() {
        let _ = write!(text, "{node}:");
        for action in actions {
            let _ = match action {
                Op::Receive => write!(text, " R"),
                Op::Send { to, bytes } => write!(text, " S {to} {bytes}"),
            };
        }
        text += " E\n";
    }
    text
}

#[test]
fn the_checker_agrees_with_every_order_of_events() {
    let (mut sound, mut unbalanced, mut hanging) = (0, 0, 0);
    for seed in 0..4000 {
        let code = code(&mut SplitMix64::new(seed));
        let text = text(&code);
        let generous = ends(&code, Rule::Generous);
        assert!(generous.good != generous.bad, "seed {seed}: the order matters?\n{text}");
        let waiting = ends(&code, Rule::Waiting);
        match read("random", &text) {
            Ok(pattern) => {
                assert!(generous.good && waiting.good, "seed {seed}: accepted\n{text}");
                let twice: Vec<Vec<Op>> = code.iter().map(|ops| ops.repeat(2)).collect();
                let settled = ends(&twice, Rule::FromSources(&pattern.sources));
                assert_eq!(settled, Ends { good: true, bad: false }, "seed {seed}\n{text}");
                sound += 1;
            }
            Err(refusal) if generous.bad => {
                assert!(!refusal.to_string().contains("1024"), "seed {seed}: {refusal}\n{text}");
                unbalanced += 1;
            }
            Err(refusal) => {
                assert!(!waiting.good, "seed {seed}: some order gets through\n{text}{refusal}");
                assert!(refusal.to_string().contains("1024"), "seed {seed}: {refusal}\n{text}");
                hanging += 1;
            }
        }
    }
    // Each kind occurred often enough for a meaningful test.
    assert!(sound > 500 && unbalanced > 500 && hanging > 20, "{sound} {unbalanced} {hanging}");
}

/// Returns random nested actions as text, and their steps.
fn actions(random: &mut SplitMix64, depth: usize) -> (String, Vec<Step>) {
    let (mut text, mut steps) = (String::new(), Vec::new());
    for _ in 0..random.below(5) {
        match random.below(if depth < 4 { 5 } else { 3 }) {
            0 => {
                text += " R";
                steps.push(Step::Receive);
            }
            1 => {
                let (a, b) = (random.below(1000), random.below(1000));
                let _ = write!(text, " S 1 {a} * 2 + {b}");
                steps.push(Step::Send { to: 1, bytes: (2 * a + b) as u32 });
            }
            2 => {
                let eighths = random.below(8);
                let _ = write!(text, " W {eighths} / 8");
                steps.push(Step::WaitUntil { fraction: eighths as f64 / 8.0 });
            }
            _ => {
                let rounds = random.below(4);
                let (inner_text, inner) = actions(random, depth + 1);
                let _ = write!(text, " L {rounds} ({inner_text})");
                steps.extend(inner.repeat(rounds));
            }
        }
    }
    (text, steps)
}

#[test]
fn a_cursor_takes_the_steps_that_loops_stand_for() {
    for seed in 0..2000 {
        let (text, expected) = actions(&mut SplitMix64::new(seed), 0);
        let source = parser::parse(&format!("0: {text} E\n1: E")).expect(&text);
        let pattern = compile::compile("random", &source).expect(&text);
        let mut cursor = Cursor::default();
        let actions = &pattern.nodes[0].actions;
        let found: Vec<Step> =
            std::iter::from_fn(|| cursor.next(actions)).map(|(_, step)| step).collect();
        assert_eq!(found, expected, "seed {seed}:{text}");
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    let pieces = [
        "0",
        "1",
        ":",
        "E",
        "R",
        "S",
        "W",
        "L",
        "(",
        ")",
        "..",
        "by",
        "node",
        "nodes",
        "=",
        "a",
        "8",
        "KiB",
        "+",
        "-",
        "*",
        "/",
        "%",
        ",",
        ".5",
        "1e9",
        "#",
        "\n",
        "é",
        "99999999999999999999",
    ];
    for seed in 0..20_000 {
        let mut random = SplitMix64::new(seed);
        let words: Vec<&str> =
            (0..random.below(16)).map(|_| pieces[random.below(pieces.len())]).collect();
        for text in [words.join(" "), format!("0: {} E 1: R E", words.join(" ")), words.concat()] {
            if let Err(refusal) = read("p", &text) {
                assert!(!refusal.to_string().is_empty(), "seed {seed}");
            }
        }
    }
}
