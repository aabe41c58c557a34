//! The report as one HTML page, in the style of the report of a run.

use std::borrow::Cow;
use std::ffi::OsStr;

use maud::{Markup, html};

use super::model::{CallRow, Doing, Efficiency, Path, Profile, RankRow, WaitRow};
use super::pictures;
use crate::fabric_name::simulated_machine;
use crate::report::document;
use crate::wording::{about_size, quantity, whole_percent};

/// Least share that is printed as a number.
const LEAST_SHARE: f64 = 1e-4;

/// Number of rows of a table that are visible at once. The others are in a section that opens.
const ROWS_SHOWN: usize = 25;

fn s(value: f64) -> String {
    quantity(value, "s")
}

/// Returns a share in words, without a number if it is very small.
pub(super) fn share(share: f64) -> String {
    if share > 0.0 && share < LEAST_SHARE { "< 0.01 %".into() } else { whole_percent(share) }
}

/// Returns the name of a program, without its folder.
pub(super) fn name_of(program: &OsStr) -> Cow<'_, str> {
    std::path::Path::new(program).file_name().unwrap_or(program).to_string_lossy()
}

/// Returns the page.
pub(super) fn page(profile: &Profile) -> String {
    let program = profile.command.split(' ').next().unwrap_or_default();
    let title = format!("What {} did", name_of(program.as_ref()));
    let main = html! {
        h1 { (title) }
        (summary(profile))
        @if !profile.by_rank.is_empty() { (sections(profile)) }
    };
    document(&title, &contents(profile), &main)
}

fn contents(profile: &Profile) -> Markup {
    let parts = [
        ("summary", "Summary", true),
        ("end", "At the end", !profile.at_end.is_empty()),
        ("findings", "Mistakes", !profile.findings.is_empty()),
        ("time", "Over time", !profile.strips.is_empty()),
        ("calls", "Calls", true),
        ("waits", "Who waits for whom", true),
        ("path", "Critical path", true),
        ("ranks", "Ranks", true),
        ("messages", "Messages", true),
        ("reading", "How to read this", true),
    ];
    html! {
        ul { @for (anchor, title, there) in parts {
            @if there && (anchor == "summary" || !profile.by_rank.is_empty()) {
                li { a href={ "#" (anchor) } { (title) } }
            }
        } }
    }
}

fn summary(profile: &Profile) -> Markup {
    let total = |part: fn(&RankRow) -> f64| profile.by_rank.iter().map(part).sum::<f64>();
    let run_s = total(|row| row.run_s);
    let of_run = |part: f64| if run_s > 0.0 { whole_percent(part / run_s) } else { "0 %".into() };
    let messages: u64 = profile.messages.iter().map(|pair| pair.messages).sum();
    let bytes: u64 = profile.messages.iter().map(|pair| pair.bytes).sum();
    let memory = profile.by_rank.iter().map(|row| row.memory_mib).fold(0.0, f64::max);
    html! {
        section #summary {
            h2 { "Summary" }
            p { code { (profile.command) } }
            p { (crate::wording::ranks(profile.ranks)) ", fabric " (profile.fabric) ", " (profile.started) ": " (profile.outcome) "." }
            @if simulated_machine(&profile.fabric).is_some() { p { "All times are virtual: those of the simulated machine." } }
            @for remark in &profile.remarks { p.notice { (first_upper(remark)) "." } }
            @if !profile.by_rank.is_empty() {
                div.tiles {
                    (tile("Run", &s(profile.run_s), "from MPI_Init to the last call"))
                    (tile("In MPI", &of_run(total(|row| row.mpi_s)), "of the time of all ranks"))
                    (tile("Waiting for others", &of_run(total(|row| row.waiting_s)), "of the time of all ranks, in calls that ended"))
                    @if let Some(Efficiency { parallel, load_balance, communication }) = profile.efficiency {
                        (tile("Parallel efficiency", &whole_percent(parallel), "load balance times communication"))
                        (tile("Load balance", &whole_percent(load_balance), "mean computing of a rank, of the most"))
                        (tile("Communication efficiency", &whole_percent(communication), "most computing of a rank, of the run"))
                    }
                    (tile("Sent", &about_size(bytes), &format!("in {messages} messages and accesses")))
                    (tile("Memory", &about_size((memory * 1048576.0) as u64), "the rank with the most"))
                }
            }
        }
    }
}

fn tile(name: &str, figure: &str, where_: &str) -> Markup {
    html! { div.tile { span.name { (name) } span.figure { (figure) } span.where { (where_) } } }
}

fn first_upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn sections(profile: &Profile) -> Markup {
    html! {
        @if !profile.at_end.is_empty() { section #end {
            h2 { "At the end" }
            p { "The run ended before these ranks did. A call that never returned is in no table." }
            ul { @for line in &profile.at_end { li { (line) } } }
        } }
        @if !profile.findings.is_empty() { section #findings {
            h2 { "Mistakes in the use of memory" }
            ul.findings { @for row in &profile.findings { li.caution {
                p { "Rank " (row.rank) ": " (row.what) "." }
                @if row.times > 1 { p.where { (row.times) " times" } }
            } } }
        } }
        @if !profile.strips.is_empty() { section #time {
            h2 { "Over time" }
            (pictures::timeline(&profile.strips, profile.run_s))
        } }
        section #calls { h2 { "Calls" } (calls(&profile.calls)) }
        section #waits { h2 { "Who waits for whom" } (waits(&profile.waits)) }
        section #path { h2 { "Critical path" } (path(&profile.critical_path)) }
        section #ranks { h2 { "Ranks" } (ranks(&profile.by_rank)) }
        section #messages {
            h2 { "Messages" }
            (pictures::matrix(&profile.messages, profile.ranks))
            (pictures::sizes(&profile.sizes))
        }
        section #reading { h2 { "How to read this" } (reading()) }
    }
}

/// Returns a table with its first rows visible. The others are in a section that opens.
fn cut<T>(rows: &[T], what: &str, table: &dyn Fn(&[T]) -> Markup) -> Markup {
    let (first, rest) = rows.split_at(rows.len().min(ROWS_SHOWN));
    html! {
        div.scroll { (table(first)) }
        @if !rest.is_empty() { details.table {
            summary { (rest.len()) " more " (what) }
            div.scroll { (table(rest)) }
        } }
    }
}

fn calls(rows: &[CallRow]) -> Markup {
    let is_limited = rows.iter().any(|row| row.share_of_limit.is_some());
    cut(rows, "places", &|rows| {
        html! {
            table.numbers {
                thead { tr {
                    th { "Call" } th.place { "Place" } th { "Share of run" } th { "Time" } th { "Waiting" }
                    th { "Calls" } th { "Mean" } th { "Longest" } th { "Bytes given" } @if is_limited { th { "Of limit" } } th { "Ranks" }
                } }
                tbody { @for row in rows { tr {
                    th scope="row" { code { (row.function) } }
                    td.place { (row.place) }
                    td { (share(row.share_of_run)) }
                    td.median { (s(row.total_s)) }
                    td { @if row.waiting_s > 0.0 { (s(row.waiting_s)) } }
                    td { (row.calls) }
                    td { (s(row.mean_s)) }
                    td { (s(row.longest_s)) }
                    td { @if row.bytes > 0 { (about_size(row.bytes)) } }
                    @if is_limited { td { @if let Some(of_limit) = row.share_of_limit { (share(of_limit)) } } }
                    td { (row.ranks) }
                } } }
            }
        }
    })
}

fn waits(rows: &[WaitRow]) -> Markup {
    if rows.is_empty() {
        return html! { p.calm { "No call that ended had waited for another rank." } };
    }
    let table = |rows: &[WaitRow]| {
        html! {
            table.numbers {
                thead { tr {
                    th { "Rank" } th.place { "waits in" } th { "for rank" } th.place { "which comes with" }
                    th { "Time" } th { "Times" } th { "Longest" } th { "Kind" }
                } }
                tbody { @for row in rows { tr {
                    th scope="row" { (row.rank) }
                    td.place { code { (row.function) } " " (row.place) }
                    td { (row.for_rank) }
                    td.place { code { (row.for_function) } " " (row.for_place) }
                    td.median { (s(row.total_s)) }
                    td { (row.times) }
                    td { (s(row.longest_s)) }
                    td { (row.kind) }
                } } }
            }
        }
    };
    cut(rows, "waits", &table)
}

fn path(path: &Path) -> Markup {
    if path.length_s <= 0.0 {
        return html! { p { "No rank has recorded a call, so there is no path." } };
    }
    html! {
        p {
            "The run took as long as this chain of activities: " (s(path.length_s)) ", of which "
            (whole_percent(path.outside_s / path.length_s)) " is computing and "
            (whole_percent(path.mpi_s / path.length_s)) " MPI. It goes from one rank to another "
            (path.changes) " times. Making anything else faster does not shorten the run."
        }
        (cut(&path.parts, "parts", &|rows| html! {
            table.numbers {
                thead { tr { th { "Part" } th { "Share" } th { "Time" } th { "Ranks" } } }
                tbody { @for row in rows { tr {
                    th.place scope="row" { (row.what) }
                    td.median { (share(row.share)) }
                    td { (s(row.total_s)) }
                    td { (contract::name_ranks(&row.ranks)) }
                } } }
            }
        }))
    }
}

fn ranks(rows: &[RankRow]) -> Markup {
    let part_of = |part: f64, row: &RankRow| if row.run_s > 0.0 { part / row.run_s } else { 0.0 };
    let bar = |row: &RankRow| {
        let moving = (row.mpi_s - row.waiting_s).max(0.0);
        [(row.outside_s, Doing::Outside), (moving, Doing::Mpi), (row.waiting_s, Doing::Waiting)]
    };
    let table = |rows: &[RankRow]| {
        html! {
            table.numbers {
                thead { tr {
                    th { "Rank" } th { "Share" } th { "Start" } th { "MPI_Init" } th { "Run" } th { "Computing" }
                    th { "In MPI" } th { "Waiting" } th { "Calls" } th { "Memory" } th { "Host, end" }
                } }
                tbody { @for row in rows { tr {
                    th scope="row" { (row.rank) }
                    td { span.portions { @for (part, doing) in bar(row) {
                        span class=(pictures::class(doing)) style=(format!("width:{:.1}%", 100.0 * part_of(part, row))) {}
                    } } }
                    td { (s(row.start_s)) }
                    td { (s(row.init_s)) }
                    td { (s(row.run_s)) }
                    td { (s(row.outside_s)) }
                    td { (s(row.mpi_s)) }
                    td { (s(row.waiting_s)) }
                    td { (row.calls) }
                    td { (about_size((row.memory_mib * 1048576.0) as u64)) }
                    td { (row.host) ", " (row.state) }
                } } }
            }
        }
    };
    html! { (pictures::legend()) (cut(rows, "ranks", &table)) }
}

fn reading() -> Markup {
    let words = [
        (
            "Computing",
            "The time of a rank outside of the recorded MPI functions, from the end of MPI_Init to its last call.",
        ),
        (
            "Waiting",
            "The part of a call in which the rank could only wait: the message was not yet sent (late sender), the receive was not yet posted (late receiver), or other ranks had not yet reached the collective. The rest of a call is the cost of communication.",
        ),
        (
            "Calls that poll",
            "MPI_Test, MPI_Iprobe and similar calls do not wait. Time in loops around them is in MPI if the loop does nothing else, and not counted as waiting; the critical path goes from such a loop to the rank that ended it.",
        ),
        (
            "Efficiency",
            "The factors of the POP project. Parallel efficiency is the mean computing time of a rank over the time of the run. It is the product of load balance (mean over most computing of a rank) and communication efficiency (most computing of a rank over the time of the run): the first is lost by uneven work, the second by messages and by waits for each other in turn.",
        ),
        (
            "Bytes given",
            "The data that the calls of a place send or contribute to a collective: the root's data of a broadcast once, the parts for all ranks of an all-to-all.",
        ),
        (
            "Of limit",
            "The least time of the calls on this machine, divided by the time in which they were not waiting: for a received message the transfer of a line and one copy of the rest, for a blocking send the copy, for a member of a blocking collective the transfer of a line if it needs data of others, and one copy of what it gives. Other calls have no bound: sends that are only started or fit a line, waits for them, collectives that are only started, files and windows.",
        ),
        ("Memory", "The maximum resident memory of the process, as the system counts it."),
    ];
    html! { dl.glossary { @for (word, meaning) in words { dt { (word) } dd { (meaning) } } } }
}
