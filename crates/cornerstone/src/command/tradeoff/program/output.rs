//! The comparison in words and as lines.

use std::fmt::Write;

use super::{Comparison, PathTimes, Replayed, TOGETHER};
use crate::output::table;
use crate::wording::{quantity, whole_percent};

/// Least ratio of times that counts as a gain.
const LEAST_GAIN: f64 = 1.001;

/// Returns the names and times of the parts of a critical path.
pub(super) fn parts(path: &PathTimes) -> [(&'static str, f64); 4] {
    [
        ("computing", path.computing_us),
        ("work in MPI", path.library_us),
        ("under way", path.moving_us),
        ("sleeping", path.sleeping_us),
    ]
}

/// Returns the largest part of the critical path, and the single change that gains the most.
pub(super) fn verdict(comparison: &Comparison) -> String {
    let Some((base, others)) = comparison.systems.split_first() else { return String::new() };
    let single = others.iter().filter(|one| one.system != TOGETHER);
    let best = single.max_by(|a, b| a.speedup.total_cmp(&b.speedup));
    let best = best.filter(|one| one.speedup >= LEAST_GAIN);
    let parts = parts(&base.critical_path);
    let longest = parts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are four");
    let share = if base.time_us > 0.0 { longest.1 / base.time_us } else { 0.0 };
    let path = format!("{} of the critical path is {}", whole_percent(share), longest.0);
    match best {
        Some(Replayed { system, speedup, .. }) => {
            format!("{path}; the most is gained by {system} ({speedup:.2} times as fast)")
        }
        None => format!("{path}; nothing here makes the program faster"),
    }
}

pub(super) fn in_words(comparison: &Comparison) -> String {
    let header = [
        "system",
        "time",
        "times as fast",
        "computing",
        "work in MPI",
        "under way",
        "sleeping",
        "changes",
    ];
    let row = |one: &Replayed| {
        let us = |us: f64| quantity(us, "us");
        let mut cells = vec![one.system.clone(), us(one.time_us), format!("{:.2}", one.speedup)];
        cells.extend(parts(&one.critical_path).map(|(_, time_us)| us(time_us)));
        cells.push(one.critical_path.changes.to_string());
        cells
    };
    let mut text = format!(
        "{}: {} ranks, replayed on {} and on other systems.\nTimes are predicted. The last five columns are the critical \
         path: what its time is spent on, and how often it changes its rank.\n\n",
        comparison.program, comparison.ranks, comparison.machine
    );
    let rows = comparison.systems.iter().map(row).collect();
    text += &table(&header.map(String::from), 1, rows);
    let _ = writeln!(text, "\n  {}", verdict(comparison));
    for remark in &comparison.remarks {
        let _ = writeln!(text, "  {remark}");
    }
    text
}

pub(super) fn as_csv(comparison: &Comparison) -> String {
    let mut text = String::from(
        "system,machine,ranks,time_us,speedup,computing_us,library_us,moving_us,sleeping_us,changes,messages,bytes\n",
    );
    let ranks = comparison.ranks;
    for one in &comparison.systems {
        let Replayed { system, machine, time_us, speedup, messages, bytes, .. } = one;
        let times = parts(&one.critical_path).map(|(_, time_us)| time_us.to_string()).join(",");
        let changes = one.critical_path.changes;
        let _ = writeln!(
            text,
            "{system},{machine},{ranks},{time_us},{speedup},{times},{changes},{messages},{bytes}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(system: &str, time_us: f64, base_us: f64) -> Replayed {
        let critical_path = PathTimes {
            computing_us: time_us * 0.25,
            library_us: 0.0,
            moving_us: time_us * 0.75,
            sleeping_us: 0.0,
            changes: 3,
            ends_at_rank: 1,
        };
        Replayed {
            system: system.into(),
            machine: "m".into(),
            time_us,
            speedup: base_us / time_us,
            critical_path,
            messages: 5,
            bytes: 6,
            event_hash: "7".into(),
        }
    }

    fn comparison(times: &[(&str, f64)]) -> Comparison {
        let systems = times.iter().map(|&(name, us)| replayed(name, us, times[0].1)).collect();
        let (program, machine) = ("p".into(), "sim:m".into());
        Comparison { schema: "s", program, ranks: 2, machine, remarks: Vec::new(), systems }
    }

    #[test]
    fn the_best_single_change_is_named_with_what_the_path_is_made_of() {
        let found = comparison(&[
            ("as it is", 100.0),
            ("links x 2", 80.0),
            ("latency / 2", 50.0),
            (TOGETHER, 20.0),
        ]);
        let words = "75 % of the critical path is under way; the most is gained by latency / 2 (2.00 times as fast)";
        assert_eq!(verdict(&found), words);
        let none = comparison(&[("as it is", 100.0), ("links x 2", 100.0)]);
        assert!(verdict(&none).ends_with("nothing here makes the program faster"));
        let line = "links x 2,m,2,80,1.25,20,0,60,0,3,5,6";
        assert_eq!(as_csv(&found).lines().nth(2), Some(line));
    }

    #[test]
    fn a_program_that_took_no_time_is_told_without_a_share() {
        let mut empty = comparison(&[("as it is", 1.0)]);
        empty.systems[0].time_us = 0.0;
        assert!(in_words(&empty).contains("  0 % of the critical path"), "{}", in_words(&empty));
    }
}
