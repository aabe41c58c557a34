//! The picture of a pattern: its stages from left to right, with nodes as lines and messages as arrows between them.

use ::pattern::stages::{Message, link_contention, stages};
use benchmark::PatternText;
use maud::{Markup, html};
use record::Run;

use crate::wording::size;

/// Maximum number of stages drawn. A sentence states that there are more.
const STAGES_DRAWN: usize = 60;
/// Maximum number of nodes of a picture. With more it would be too fine to read.
const NODES_DRAWN: usize = 64;

// Lengths in the units of the picture.
const NODE_GAP: usize = 30;
const LANE: usize = 15;
const STAGE_PAD: usize = 18;
const LEFT: usize = 64;
const TOP: usize = 34;
const ARROW: usize = 6;

/// Returns the pictures of the patterns of all runs, each pattern once.
pub(super) fn pictures(runs: &[Run]) -> Markup {
    let headers = runs.iter().flat_map(|run| &run.headers);
    let mut texts: Vec<PatternText> =
        headers.flat_map(|header| PatternText::among(&header.texts)).collect();
    texts.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.text.cmp(&b.text)));
    texts.dedup();
    html! { @for text in &texts { (picture(text)) } }
}

fn picture(text: &PatternText) -> Markup {
    // The record is untrusted. A text that cannot be read as a pattern is shown as text.
    let Ok(pattern) = text.read() else {
        return html! { (source(text)) };
    };
    let stages = stages(&pattern);
    let nodes = pattern.nodes.len();
    let drawn = &stages[..stages.len().min(STAGES_DRAWN)];
    let contention = stages.iter().map(|stage| link_contention(stage)).max().unwrap_or(0);
    html! {
        figure.pattern {
            figcaption {
                b { (text.title()) } ": " (nodes) " nodes, " (pattern.messages_a_period())
                " messages and " (size(pattern.bytes_a_period())) " a period, in " (stages.len())
                " stages. Each line is a node, each column the messages that can be under way together when all nodes go \
                 in step; below it stands how many of them share the busiest link of a line of nodes, one way ("
                (contention) " at most)."
                @if drawn.len() < stages.len() { " The first " (drawn.len()) " stages are drawn." }
            }
            @if nodes <= NODES_DRAWN && !drawn.is_empty() {
                div.scroll { (drawing(text.title(), nodes, drawn)) }
            }
        }
        (source(text))
    }
}

fn source(text: &PatternText) -> Markup {
    html! { details { summary { "The pattern " (text.title()) } pre { (text.text) } } }
}

/// A message with its lane in the stage.
struct Arrow {
    message: Message,
    lane: usize,
}

/// Assigns to each message the first lane in which no other message covers any of its nodes.
fn in_lanes(stage: &[Message]) -> (Vec<Arrow>, usize) {
    let mut lanes: Vec<Vec<(u32, u32)>> = Vec::new();
    let mut arrows = Vec::new();
    for &message in stage {
        let ends = (message.from.min(message.to), message.from.max(message.to));
        let is_free = |taken: &Vec<(u32, u32)>| {
            taken.iter().all(|&(low, high)| ends.1 < low || high < ends.0)
        };
        let lane = lanes.iter().position(is_free).unwrap_or(lanes.len());
        if lane == lanes.len() {
            lanes.push(Vec::new());
        }
        lanes[lane].push(ends);
        arrows.push(Arrow { message, lane });
    }
    (arrows, lanes.len())
}

fn drawing(title: &str, nodes: usize, stages: &[Vec<Message>]) -> Markup {
    let columns: Vec<(Vec<Arrow>, usize)> = stages.iter().map(|stage| in_lanes(stage)).collect();
    let widths = columns.iter().map(|(_, lanes)| STAGE_PAD + LANE * lanes);
    let mut begins: Vec<usize> = vec![LEFT];
    begins.extend(widths.scan(LEFT, |at, width| {
        *at += width;
        Some(*at)
    }));
    let end = begins[stages.len()];
    let bottom = TOP + NODE_GAP * (nodes - 1);
    let (width, height) = (end + 8, bottom + 44);
    let longest = stages.iter().flatten().map(|message| message.bytes).max().unwrap_or(0);
    let label = format!("Messages of the pattern {title}, stage by stage");
    html! {
        svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(label) {
            @for (index, (arrows, _)) in columns.iter().enumerate() {
                @if index % 2 == 0 {
                    rect.stage x=(begins[index]) y=(TOP - 14) height=(bottom - TOP + 28)
                        width=(begins[index + 1] - begins[index]) {}
                }
                text.number x=((begins[index] + begins[index + 1]) / 2) y=(TOP - 20) { (index + 1) }
                text.number x=((begins[index] + begins[index + 1]) / 2) y=(bottom + 32) {
                    (link_contention(&arrows.iter().map(|arrow| arrow.message).collect::<Vec<_>>()))
                }
            }
            @for node in 0..nodes {
                line.node x1=(LEFT - 8) x2=(end) y1=(y(node as u32)) y2=(y(node as u32)) {}
                text.name x=(LEFT - 14) y=(y(node as u32) + 4) { "node " (node) }
            }
            @for ((arrows, _), begin) in columns.iter().zip(&begins) {
                @for arrow in arrows { (drawn(arrow, *begin, longest)) }
            }
            text.name x=(LEFT - 14) y=(TOP - 20) { "stage" }
            text.name x=(LEFT - 14) y=(bottom + 32) { "link" }
        }
    }
}

fn y(node: u32) -> usize {
    TOP + NODE_GAP * node as usize
}

/// Draws an arrow from the sender's line to the receiver's. Each direction has a colour, and longer messages are
/// thicker.
fn drawn(arrow: &Arrow, begin: usize, longest: u32) -> Markup {
    let Message { from, to, bytes } = arrow.message;
    let x = begin + STAGE_PAD / 2 + LANE * arrow.lane + LANE / 2;
    let (start, tip) = (y(from), y(to));
    let (class, base) = if from < to { ("down", tip - ARROW) } else { ("up", tip + ARROW) };
    let width = 1.25 + 1.75 * f64::from(bytes) / f64::from(longest.max(1));
    let head = format!("M{} {base} L{} {base} L{x} {tip} Z", x - ARROW / 2 - 1, x + ARROW / 2 + 1);
    html! {
        g class=(class) {
            title { "node " (from) " sends " (size(u64::from(bytes))) " to node " (to) }
            line x1=(x) x2=(x) y1=(start) y2=(base) stroke-width=(format!("{width:.2}")) {}
            circle cx=(x) cy=(start) r="2.6" {}
            path d=(head) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> PatternText {
        PatternText { name: "dir/<b>.pmp".into(), text: text.into() }
    }

    #[test]
    fn every_message_is_an_arrow_with_its_ends_and_its_length() {
        let page = picture(&text("0: S 1 64 KiB R E 1: R S 0 8 E")).into_string();
        assert_eq!(page.matches("class=\"down\"").count(), 1);
        assert_eq!(page.matches("class=\"up\"").count(), 1);
        assert!(page.contains("node 0 sends 64 KiB to node 1"), "{page}");
        assert!(page.contains("2 nodes, 2 messages and 65544 B a period, in 2 stages"), "{page}");
    }

    #[test]
    fn names_and_texts_of_a_record_are_no_markup() {
        let page = picture(&text("0: <script> E")).into_string();
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script>"), "{page}");
        assert!(!page.contains("<b>.pmp"), "{page}");
    }

    #[test]
    fn messages_that_pass_the_same_node_in_a_stage_get_lanes_of_their_own() {
        let message = |from, to| Message { from, to, bytes: 1 };
        let (arrows, lanes) = in_lanes(&[message(0, 3), message(4, 5), message(2, 1)]);
        assert_eq!(arrows.iter().map(|arrow| arrow.lane).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(lanes, 2);
    }

    #[test]
    fn a_pattern_without_messages_is_told_in_words_alone() {
        let page = picture(&text("0: W 0.5 E")).into_string();
        assert!(page.contains("0 messages") && !page.contains("<svg"), "{page}");
    }
}
