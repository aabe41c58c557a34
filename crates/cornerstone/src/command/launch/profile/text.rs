//! The report for the terminal: one screen.

use super::model::{Efficiency, Path, Profile, RankRow};
use super::page::share;
use crate::output::table;
use crate::wording::{about_size, quantity, whole_percent};

/// Number of ranks that are shown individually. Of more ranks the extremes are shown.
const RANKS_SHOWN: usize = 8;
const CALLS_SHOWN: usize = 8;
const WAITS_SHOWN: usize = 5;
const PARTS_SHOWN: usize = 4;

fn s(value: f64) -> String {
    quantity(value, "s")
}

/// Returns the whole text.
pub(super) fn text(profile: &Profile) -> String {
    let mut out = format!("cornerstone: report of {}: {}", profile.command, profile.outcome);
    out += &format!("; {} ranks, {}, {}\n", profile.ranks, profile.fabric, s(profile.run_s));
    for remark in &profile.remarks {
        out += &format!("  note: {remark}\n");
    }
    if profile.by_rank.is_empty() {
        return out;
    }
    out += &ranks(&profile.by_rank);
    out += &calls(profile);
    out += &waits(profile);
    out += &efficiency(profile);
    out += &path(&profile.critical_path);
    out
}

fn times(times: u64) -> String {
    if times == 1 { String::new() } else { format!(" ({times} times)") }
}

fn ranks(rows: &[RankRow]) -> String {
    let header = ["rank", "start", "run", "computing", "in MPI", "waiting", "memory"];
    let cells = |name: String, row: &RankRow| {
        let with_share = |part: f64| {
            let of_run = if row.run_s > 0.0 { part / row.run_s } else { 0.0 };
            format!("{} {:>5}", s(part), whole_percent(of_run))
        };
        vec![
            name,
            s(row.start_s + row.init_s),
            s(row.run_s),
            with_share(row.outside_s),
            with_share(row.mpi_s),
            with_share(row.waiting_s),
            about_size((row.memory_mib * 1048576.0) as u64),
        ]
    };
    let shown: Vec<(String, &RankRow)> = if rows.len() <= RANKS_SHOWN {
        rows.iter().map(|row| (row.rank.to_string(), row)).collect()
    } else {
        let mut sorted: Vec<&RankRow> = rows.iter().collect();
        sorted.sort_by(|a, b| a.mpi_s.total_cmp(&b.mpi_s));
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let median = sorted[sorted.len() / 2];
        let named = |what: &str, row: &RankRow| format!("{} ({what} in MPI)", row.rank);
        vec![
            (named("least", least), least),
            (named("median", median), median),
            (named("most", most), most),
        ]
    };
    let rows = shown.into_iter().map(|(name, row)| cells(name, row)).collect();
    table(&header.map(String::from), 1, rows)
}

fn calls(profile: &Profile) -> String {
    let header = ["call", "place", "share", "time", "waiting", "calls", "mean", "longest"];
    let rows = profile.calls.iter().take(CALLS_SHOWN).map(|row| {
        vec![
            row.function.into(),
            row.place.clone(),
            share(row.share_of_run),
            s(row.total_s),
            s(row.waiting_s),
            row.calls.to_string(),
            s(row.mean_s),
            s(row.longest_s),
        ]
    });
    let more = profile.calls.len().saturating_sub(CALLS_SHOWN);
    let more = if more > 0 { format!("  and {more} more places\n") } else { String::new() };
    format!("\n{}{more}", table(&header.map(String::from), 2, rows.collect()))
}

fn waits(profile: &Profile) -> String {
    let mut out = String::from("\n");
    for row in profile.waits.iter().take(WAITS_SHOWN) {
        out += &format!(
            "  rank {} waited {} in {} ({}) for rank {} ({}), which came with {} ({}){}\n",
            row.rank,
            s(row.total_s),
            row.function,
            row.place,
            row.for_rank,
            row.kind,
            row.for_function,
            row.for_place,
            times(row.times),
        );
    }
    if profile.waits.is_empty() {
        out += "  no call that ended had waited for another rank\n";
    }
    out
}

fn efficiency(profile: &Profile) -> String {
    let line = |Efficiency { parallel, load_balance, communication }| {
        let [parallel, balance, communication] =
            [parallel, load_balance, communication].map(whole_percent);
        format!(
            "  parallel efficiency: {parallel}, of load balance {balance} and communication {communication}\n"
        )
    };
    profile.efficiency.map(line).unwrap_or_default()
}

fn path(path: &Path) -> String {
    if path.length_s <= 0.0 {
        return String::new();
    }
    let mut out = format!(
        "  critical path: {}, of which {} in MPI; it goes from rank to rank {} times\n",
        s(path.length_s),
        whole_percent(path.mpi_s / path.length_s),
        path.changes
    );
    for row in path.parts.iter().take(PARTS_SHOWN) {
        let ranks = contract::name_ranks(&row.ranks);
        out += &format!("    {:>8}  {} ({ranks})\n", share(row.share), row.what);
    }
    out
}
