//! Derives the contents of a report from the records of ranks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use analysis::limits::Limits;
use profile::{Dependence, PathPart, RankRecord, State, Stretch, Wait, WaitKind};

use super::at_end;
use super::conflicts;
use super::findings;
use super::limits;
use super::model::*;
use super::places::{Place, Places};
use super::strips;
use crate::mistakes::Mistake;

/// Maximum number of rows that are kept of waits, and of parts of the path. Further rows are too short to matter.
const MOST_ROWS: usize = 500;

/// Start and outcome of a run.
pub(super) struct About {
    pub(super) command: String,
    pub(super) fabric: String,
    pub(super) started: String,
    pub(super) outcome: String,
    pub(super) ranks: usize,
    /// Time of the launch, in nanoseconds of the system's monotonic clock of this host.
    pub(super) launched_ns: u64,
    /// Limits of this machine, if they are known.
    pub(super) limits: Option<Limits>,
    /// True if all ranks are on this host, so that its clock shows their start-up time.
    pub(super) is_here: bool,
    /// What the launcher knows of the ranks at the end of a run that failed, in lines.
    pub(super) state: Vec<String>,
    /// Remarks for the reader that come before those on the records.
    pub(super) remarks: Vec<String>,
    /// True if a rank is known to have called MPI_Init of our library.
    pub(super) has_joined: bool,
}

/// Results of the records of a run.
pub(super) struct Followed {
    pub(super) messages: Vec<profile::Matched>,
    pub(super) path: Vec<Stretch>,
    pub(super) places: Places,
    /// Time at which the first rank's MPI_Init ended, in seconds of MPI_Wtime.
    pub(super) zero_s: f64,
    /// What `--check` has found, by rank.
    pub(super) mistakes: Vec<Mistake>,
    /// False if there are accesses to windows of which it is not known whether they are in order.
    pub(super) compares_windows: bool,
    pub(super) profile: Profile,
}

/// Creates the report. The records are in the order of their ranks.
pub(super) fn summarise(records: &[RankRecord], about: About) -> Followed {
    let messages = profile::messages(records);
    let functions: Vec<HashMap<u16, u16>> = records
        .iter()
        .map(|record| record.sites.iter().map(|site| (site.index, site.function)).collect())
        .collect();
    let ranks: HashMap<usize, usize> =
        records.iter().enumerate().map(|(index, record)| (record.rank, index)).collect();
    let dependence = |record: &RankRecord, site: u16| {
        let function = functions[ranks[&record.rank]].get(&site).copied().unwrap_or(0);
        profile::function(function).1.dependence().unwrap_or(Dependence::All)
    };
    let arrivals = profile::arrivals(records, &messages, &dependence);
    let waits = profile::waits(records, &arrivals);
    let (path, parts) = profile::critical_path(records, &arrivals);
    let places = Places::of(records);
    let begin = |record: &RankRecord| record.clock.seconds(record.begin);
    let end = |record: &RankRecord| record.clock.seconds(record.last);
    let zero_s = records.iter().map(begin).fold(f64::INFINITY, f64::min);
    let last_s = records.iter().map(end).fold(zero_s, f64::max);
    let run_s = if records.is_empty() { 0.0 } else { last_s - zero_s };
    let waiting = waiting_by_site(records, &waits);
    let floors = limits::floors(records, &messages, about.limits.as_ref(), &dependence);
    let conflicts = profile::conflicts(records, &messages, &dependence);
    let mut mistakes = findings::found(records, &places);
    let compares_windows = conflicts.is_some();
    mistakes.extend(conflicts::found(&conflicts.unwrap_or_default(), records, &places));
    let by_rank: Vec<RankRow> =
        records.iter().map(|record| rank_row(record, &waiting, &about)).collect();
    let profile = Profile {
        schema: SCHEMA,
        generator: crate::report::GENERATOR,
        remarks: remarks(records, &about),
        at_end: at_end::lines(records, &places, &about.state),
        efficiency: efficiency(&by_rank, run_s),
        by_rank,
        calls: call_rows(records, &places, &waiting, &floors),
        waits: wait_rows(records, &places, &waits),
        critical_path: path_summary(records, &places, &path, &parts),
        findings: findings::rows(&mistakes),
        messages: pairs(records),
        sizes: sizes(records),
        strips: strips::strips(records, &waits, &path, zero_s, run_s),
        command: about.command,
        fabric: about.fabric,
        started: about.started,
        outcome: about.outcome,
        ranks: about.ranks,
        run_s,
    };
    Followed { messages, path, places, zero_s, mistakes, compares_windows, profile }
}

/// Reason why no call of ranks was seen that have called MPI_Init, and what to do.
pub(super) const UNSEEN: &str = "the ranks have called MPI_Init past the library that records calls: the program uses libmpi.so.12, \
                                 the interface of MPICH (as PyPI's wheel of mpi4py does), or it takes MPI's functions from a \
                                 library that it has opened itself (dlopen and dlsym, as Julia and ctypes do); build it with \
                                 Cornerstone's mpicc, and link it with libmpi_abi.so.1";

fn remarks(records: &[RankRecord], about: &About) -> Vec<String> {
    let mut remarks = about.remarks.clone();
    let missing: Vec<usize> =
        (0..about.ranks).filter(|&rank| records.iter().all(|record| record.rank != rank)).collect();
    if records.is_empty() && about.has_joined {
        remarks.push(UNSEEN.into());
    } else if records.is_empty() {
        remarks.push(
            "no rank has called MPI_Init of libmpi_abi.so.1, so nothing was seen: the program uses no MPI or another \
             library (also libmpi.so.12, Cornerstone's for programs of MPICH, whose calls are not recorded: compile \
             them with Cornerstone's mpicc), is linked statically, or ended before"
                .into(),
        );
    } else if !missing.is_empty() {
        let who = contract::name_ranks(&missing);
        remarks.push(format!("{who} never called MPI_Init, so there is no data about them"));
    }
    let unfinished: Vec<usize> = records
        .iter()
        .filter(|record| record.state != State::Finalized)
        .map(|record| record.rank)
        .collect();
    if !unfinished.is_empty() {
        let who = contract::name_ranks(&unfinished);
        remarks.push(format!(
            "{who} did not reach the end of MPI_Finalize: a call that never returned is not counted"
        ));
    }
    let cut = records.iter().filter(|record| record.events_lost > 0);
    let cut = cut.filter_map(|record| {
        let last = record.events.last()?;
        Some(record.clock.seconds(last.end) - record.clock.seconds(record.begin))
    });
    if let Some(first) = cut.reduce(f64::min) {
        remarks.push(format!(
            "waits and the critical path are those of the first {}: later calls are in the tables only, for there \
             were too many to keep each",
            crate::wording::quantity(first, "s")
        ));
    }
    remarks
}

/// Returns the waiting time of each rank at each of its places, by the rank and the index of the site.
fn waiting_by_site(records: &[RankRecord], waits: &[Wait]) -> HashMap<(usize, u16), f64> {
    let mut waiting = HashMap::new();
    for wait in waits {
        let record = &records[wait.waiter];
        let site = record.events[wait.event].site;
        *waiting.entry((record.rank, site)).or_insert(0.0) += wait.span_s();
    }
    waiting
}

fn rank_row(record: &RankRecord, waiting: &HashMap<(usize, u16), f64>, about: &About) -> RankRow {
    let span = |ticks: u64| record.clock.span_s(ticks);
    let run_s = span(record.last - record.begin);
    let mpi_s = span(record.sites.iter().map(|site| site.ticks).sum::<u64>()).min(run_s);
    let of_rank = waiting.iter().filter(|((rank, _), _)| *rank == record.rank);
    let started = record.init_ns.saturating_sub(about.launched_ns) as f64 * 1e-9;
    RankRow {
        rank: record.rank,
        host: record.host.clone(),
        state: match record.state {
            State::Finalized => "finalized",
            State::Running => "running",
            State::Aborted => "aborted",
        },
        start_s: if about.is_here { started } else { 0.0 },
        init_s: span(record.begin.saturating_sub(record.init)),
        run_s,
        mpi_s,
        waiting_s: of_rank.fold(0.0, |sum, (_, s)| sum + s),
        outside_s: run_s - mpi_s,
        calls: record.sites.iter().map(|site| site.calls).sum(),
        init_memory_mib: record.begin_memory_kib as f64 / 1024.0,
        memory_mib: record.memory_kib as f64 / 1024.0,
    }
}

/// Returns the factors of a run that took `run_s`, if any rank has computed.
fn efficiency(rows: &[RankRow], run_s: f64) -> Option<Efficiency> {
    let most_s = rows.iter().map(|row| row.outside_s).fold(0.0, f64::max);
    let mean_s = rows.iter().map(|row| row.outside_s).sum::<f64>() / rows.len().max(1) as f64;
    (most_s > 0.0 && run_s > 0.0).then(|| Efficiency {
        parallel: mean_s / run_s,
        load_balance: mean_s / most_s,
        communication: most_s / run_s,
    })
}

fn call_rows(
    records: &[RankRecord],
    places: &Places,
    waiting: &HashMap<(usize, u16), f64>,
    floors: &HashMap<(usize, u16), f64>,
) -> Vec<CallRow> {
    let all_s: f64 =
        records.iter().map(|record| record.clock.span_s(record.last - record.begin)).sum();
    let mut rows: BTreeMap<Place, (CallRow, BTreeSet<usize>)> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for site in &record.sites {
            let place = places.get(index, site.index);
            let empty = || CallRow {
                function: place.function,
                place: place.at.to_string(),
                ranks: 0,
                calls: 0,
                total_s: 0.0,
                share_of_run: 0.0,
                mean_s: 0.0,
                longest_s: 0.0,
                waiting_s: 0.0,
                bytes: 0,
                share_of_limit: None,
            };
            let (row, ranks) =
                rows.entry(place.clone()).or_insert_with(|| (empty(), BTreeSet::new()));
            ranks.insert(record.rank);
            row.calls += site.calls;
            row.total_s += record.clock.span_s(site.ticks);
            row.longest_s = row.longest_s.max(record.clock.span_s(site.longest));
            row.waiting_s += waiting.get(&(record.rank, site.index)).copied().unwrap_or(0.0);
            row.bytes += site.bytes;
            if let Some(floor_s) = floors.get(&(record.rank, site.index)) {
                // This is the sum of the least times, from which the share is computed below.
                *row.share_of_limit.get_or_insert(0.0) += floor_s;
            }
        }
    }
    let finish = |(mut row, ranks): (CallRow, BTreeSet<usize>)| {
        row.ranks = ranks.len();
        row.mean_s = row.total_s / row.calls.max(1) as f64;
        let moving_s = (row.total_s - row.waiting_s).max(f64::MIN_POSITIVE);
        row.share_of_limit = row.share_of_limit.map(|floor_s| floor_s / moving_s);
        row.share_of_run = if all_s > 0.0 { row.total_s / all_s } else { 0.0 };
        row
    };
    let mut rows: Vec<CallRow> = rows.into_values().map(finish).collect();
    rows.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
    rows
}

/// Returns the name of a kind of wait.
pub(super) fn kind_name(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::LateSender => "late sender",
        WaitKind::LateReceiver => "late receiver",
        WaitKind::Collective => "collective",
    }
}

fn wait_rows(records: &[RankRecord], places: &Places, waits: &[Wait]) -> Vec<WaitRow> {
    type Key = (WaitKind, usize, u16, usize, u16);
    let mut sums: BTreeMap<Key, (u64, f64, f64)> = BTreeMap::new();
    for wait in waits {
        let site = records[wait.waiter].events[wait.event].site;
        let other = records[wait.cause].events[wait.cause_event].site;
        let key = (wait.kind, wait.waiter, site, wait.cause, other);
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1 + wait.span_s(), sum.2.max(wait.span_s()));
    }
    let mut all: Vec<(Key, (u64, f64, f64))> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    all.truncate(MOST_ROWS);
    let row = |((kind, waiter, site, cause, other), (times, total_s, longest_s)): (Key, _)| {
        let (at, from) = (places.get(waiter, site), places.get(cause, other));
        WaitRow {
            kind: kind_name(kind),
            rank: records[waiter].rank,
            function: at.function,
            place: at.at.to_string(),
            for_rank: records[cause].rank,
            for_function: from.function,
            for_place: from.at.to_string(),
            times,
            total_s,
            longest_s,
        }
    };
    all.into_iter().map(row).collect()
}

fn path_summary(
    records: &[RankRecord],
    places: &Places,
    path: &[Stretch],
    parts: &BTreeMap<(usize, PathPart), f64>,
) -> Path {
    let length_s: f64 = parts.values().sum();
    let mut of_ranks: BTreeMap<usize, f64> = BTreeMap::new();
    let mut rows: BTreeMap<String, (f64, BTreeSet<usize>)> = BTreeMap::new();
    let (mut mpi_s, mut outside_s) = (0.0, 0.0);
    for (&(record, part), &s) in parts {
        let rank = records[record].rank;
        *of_ranks.entry(rank).or_default() += s;
        let place = |site: u16| places.get(record, site).to_string();
        let what = match part {
            PathPart::In(site) => {
                mpi_s += s;
                format!("in {}", place(site))
            }
            PathPart::UnderWay(site) => {
                mpi_s += s;
                format!("a message under way to {}", place(site))
            }
            PathPart::Between(before, after) => {
                outside_s += s;
                let before = before.map_or("MPI_Init".into(), place);
                let after = after.map_or("the end".into(), place);
                format!("computing between {before} and {after}")
            }
        };
        let row = rows.entry(what).or_default();
        row.0 += s;
        row.1.insert(rank);
    }
    let row = |(what, (total_s, ranks)): (String, (f64, BTreeSet<usize>))| PathRow {
        what,
        ranks: ranks.into_iter().collect(),
        total_s,
        share: if length_s > 0.0 { total_s / length_s } else { 0.0 },
    };
    let mut rows: Vec<PathRow> = rows.into_iter().map(row).collect();
    rows.sort_by(|a, b| b.total_s.total_cmp(&a.total_s));
    rows.truncate(MOST_ROWS);
    let by_rank = of_ranks.into_iter().map(|(rank, total_s)| PathRank { rank, total_s });
    Path {
        length_s,
        changes: path.windows(2).filter(|pair| pair[0].record != pair[1].record).count(),
        mpi_s,
        outside_s,
        by_rank: by_rank.collect(),
        parts: rows,
    }
}

fn pairs(records: &[RankRecord]) -> Vec<Pair> {
    let of = |record: &RankRecord| {
        let from = record.rank;
        let peers = record.peers.clone().into_iter().enumerate();
        peers.filter(|(_, peer)| peer.messages > 0).map(move |(to, peer)| Pair {
            from,
            to,
            messages: peer.messages,
            bytes: peer.bytes,
        })
    };
    records.iter().flat_map(of).collect()
}

fn sizes(records: &[RankRecord]) -> Vec<SizeRow> {
    let mut rows = Vec::new();
    for (kind, name) in ["messages", "collectives", "windows"].into_iter().enumerate() {
        for bin in 0..profile::layout::histogram::BINS {
            let entries = records.iter().filter_map(|record| record.histograms.get(kind)?.get(bin));
            let (count, bytes) =
                entries.fold((0, 0), |sum, one| (sum.0 + one.messages, sum.1 + one.bytes));
            if count > 0 {
                let from_bytes = if bin == 0 { 0 } else { 1 << (bin - 1) };
                rows.push(SizeRow { kind: name, from_bytes, below_bytes: 1 << bin, count, bytes });
            }
        }
    }
    rows
}
