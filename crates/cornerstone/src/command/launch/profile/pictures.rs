//! The pictures of the page: ranks over time, the data between each two ranks, and sizes.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::model::{Doing, Pair, SizeRow, Strip};
use crate::wording::{about_size, quantity, size};

// Lengths in the units of the picture.
const LEFT: f64 = 64.0;
const WIDTH: f64 = 860.0;
const ROW: f64 = 24.0;
const GAP: f64 = 8.0;
const FOOT: f64 = 34.0;

/// Maximum number of rows of a matrix. More ranks are combined into groups.
const GROUPS: usize = 32;
/// Number of shades of a matrix.
const SHADES: usize = 9;

/// Returns the class of a colour.
pub(super) fn class(doing: Doing) -> &'static str {
    match doing {
        Doing::Outside => "doing outside",
        Doing::Mpi => "doing mpi",
        Doing::Waiting => "doing waiting",
    }
}

/// Returns the meaning of the colours.
pub(super) fn legend() -> Markup {
    let all = [
        (Doing::Outside, "computing"),
        (Doing::Mpi, "in MPI"),
        (Doing::Waiting, "waiting for another rank"),
    ];
    html! {
        p.doings { @for (doing, name) in all {
            span { span class={ "swatch " (class(doing)) } aria-hidden="true" {} (name) }
        } }
    }
}

/// Draws a row for each rank, with its activities in each four-hundredth of the run, and a line where it is on the
/// critical path.
pub(super) fn timeline(strips: &[Strip], run_s: f64) -> Markup {
    let height = (ROW + GAP) * strips.len() as f64 + FOOT;
    let x = |s: f64| LEFT + WIDTH * (s / run_s).clamp(0.0, 1.0);
    let y = |index: usize| index as f64 * (ROW + GAP);
    let bottom = height - FOOT;
    let width = LEFT + WIDTH + 40.0;
    html! {
        (legend())
        figure.timeline {
            div.scroll {
                svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img"
                    aria-label="What each rank does over the time of the run" {
                    @for (index, strip) in strips.iter().enumerate() {
                        text.name x=(LEFT - 8.0) y=(y(index) + ROW - 4.0) { "rank " (strip.rank) }
                        rect class=(class(Doing::Outside)) x=(format!("{:.1}", x(strip.begin_s))) y=(y(index)) height=(ROW)
                            width=(format!("{:.1}", x(strip.end_s) - x(strip.begin_s))) {}
                        @let inside = strip.pieces.iter().map(|piece| piece.0);
                        @let waiting = strip.pieces.iter().map(|piece| piece.1);
                        path class=(class(Doing::Mpi)) d=(area(inside, y(index))) {}
                        path class=(class(Doing::Waiting)) d=(area(waiting, y(index))) {}
                        @for &(from, to) in &strip.path {
                            rect.path x=(format!("{:.1}", x(from))) y=(y(index) + ROW) height=(3)
                                width=(format!("{:.1}", (x(to) - x(from)).max(1.0))) {}
                        }
                    }
                    @for tick in 0..=4 {
                        text.number x=(LEFT + WIDTH * f64::from(tick) / 4.0) y=(bottom + 18.0) {
                            (quantity(run_s * f64::from(tick) / 4.0, "s"))
                        }
                    }
                }
            }
            figcaption {
                "Each column is a four-hundredth of the run, and its colours are the shares of that time. The line below a rank marks "
                "where it is on the critical path."
            }
        }
    }
}

/// Returns the outline of shares, one beside the other, that extend down from the top of a row.
fn area(shares: impl ExactSizeIterator<Item = f64>, top: f64) -> String {
    let wide = WIDTH / shares.len().max(1) as f64;
    let mut outline = format!("M{LEFT} {top}");
    let mut last = 0.0;
    for (index, share) in shares.enumerate() {
        if share != last {
            let x = LEFT + wide * index as f64;
            outline += &format!("H{x:.1}V{:.1}", top + ROW * share);
            last = share;
        }
    }
    outline + &format!("H{:.1}V{top}Z", LEFT + WIDTH)
}

/// Draws the amount of data between each two ranks.
pub(super) fn matrix(pairs: &[Pair], ranks: usize) -> Markup {
    if pairs.is_empty() {
        return html! { p { "No messages were sent between two ranks." } };
    }
    let wide = ranks.div_ceil(GROUPS).max(1);
    let mut cells: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for pair in pairs {
        let cell = cells.entry((pair.from / wide, pair.to / wide)).or_default();
        *cell = (cell.0 + pair.messages, cell.1 + pair.bytes);
    }
    let most = cells.values().map(|cell| cell.1).max().unwrap_or(0).max(1);
    let shade = |bytes: u64| (bytes as f64 / most as f64 * (SHADES - 1) as f64).round() as usize;
    let groups = ranks.div_ceil(wide);
    let name = |group: usize| match wide {
        1 => group.to_string(),
        _ => format!("{}–{}", group * wide, ((group + 1) * wide).min(ranks) - 1),
    };
    html! {
        div.scroll { table.heat {
            caption { "Bytes from the rank of the row to the rank of the column" }
            thead { tr { th {} @for to in 0..groups { th scope="col" { (name(to)) } } } }
            tbody { @for from in 0..groups { tr {
                th scope="row" { (name(from)) }
                @for to in 0..groups {
                    @if let Some(&(messages, bytes)) = cells.get(&(from, to)) {
                        td class={ "heat-" (shade(bytes)) } title={ (messages) " messages, " (bytes) " bytes" } {
                            (about_size(bytes))
                        }
                    } @else { td.none { "" } }
                }
            } } }
        } }
    }
}

/// Draws the number of messages of each size.
pub(super) fn sizes(rows: &[SizeRow]) -> Markup {
    let kinds = [
        ("messages", "Sizes of messages between two ranks"),
        ("collectives", "Sizes of what ranks give to collectives"),
        ("windows", "Sizes of access to windows"),
    ];
    html! {
        div.shares { @for (kind, title) in kinds {
            @let rows: Vec<&SizeRow> = rows.iter().filter(|row| row.kind == kind).collect();
            @let most = rows.iter().map(|row| row.count).max().unwrap_or(1) as f64;
            @if !rows.is_empty() {
                table.bars {
                    caption { (title) }
                    tbody { @for row in rows { tr {
                        th scope="row" { (bounds(row.from_bytes, row.below_bytes)) }
                        td.track aria-hidden="true" { div.bar {
                            span.fill data-run="0" style=(format!("width:{:.2}%", 100.0 * row.count as f64 / most)) {}
                        } }
                        td { (row.count) }
                    } } }
                }
            }
        } }
    }
}

/// Returns the bounds of sizes: `64 B to 127 B`. From a KiB on, the upper bound is the next power of two, exclusive.
fn bounds(from_bytes: u64, below_bytes: u64) -> String {
    match below_bytes {
        1 => "empty".into(),
        2 => "1 B".into(),
        ..=1024 => format!("{} to {}", size(from_bytes), size(below_bytes - 1)),
        _ => format!("{} to below {}", size(from_bytes), size(below_bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_sizes_are_round_numbers_of_their_unit() {
        assert_eq!(bounds(0, 1), "empty");
        assert_eq!(bounds(1, 2), "1 B");
        assert_eq!(bounds(512, 1024), "512 B to 1023 B");
        assert_eq!(bounds(1024, 2048), "1 KiB to below 2 KiB");
        assert_eq!(bounds(1 << 20, 1 << 21), "1 MiB to below 2 MiB");
    }

    /// The shares are four columns with a width of 215: nothing, half, half, and all of a row that is 24 high and
    /// begins at 10.
    #[test]
    fn an_outline_steps_where_a_share_changes() {
        let found = area([0.0, 0.5, 0.5, 1.0].into_iter(), 10.0);
        assert_eq!(found, "M64 10H279.0V22.0H709.0V34.0H924.0V10Z");
    }
}
