//! The result of a search for the shortest period in sentences, with its reservations.

use record::{PeriodSearch, Required, SearchEnd, Trial};

use super::numbers::{percent, quantity, share_at_least, share_at_most, wanted_share};
use super::phrases;

/// Returns the result of a search, with its reservations and its confirmation: sentences without full stops.
pub(crate) fn outcome(search: &PeriodSearch) -> Vec<String> {
    let sentences = [Some(verdict(search)), reservation(search), confirmation(search)];
    sentences.into_iter().flatten().collect()
}

fn verdict(search: &PeriodSearch) -> String {
    let us = |us: f64| quantity(us, "us");
    let basis = basis(search);
    match (search.end, search.shortest_sustained_us, search.longest_refused_us) {
        (SearchEnd::OnePeriod, Some(period), _) => format!("{} ({basis})", claim(search, period)),
        (SearchEnd::OnePeriod, None, Some(period)) => {
            format!("{} ({basis})", refusal(search, period))
        }
        (SearchEnd::OnePeriod, None, None) => {
            let all = all_of(search.trials.iter()).map_or("nothing".into(), |all| counted(&all));
            format!("{all} missed, which leaves the period undecided ({basis})")
        }
        (_, None, _) if !search.unconfirmed.is_empty() => {
            format!("no period is confirmed to be sustained ({basis})")
        }
        (_, Some(sustained), Some(refused)) => format!(
            "{}; {} is refused, and what lies between is undecided ({basis})",
            claim(search, sustained),
            us(refused)
        ),
        (SearchEnd::TimeLimit, Some(sustained), None) => {
            format!("{}, and no period is refused ({basis})", claim(search, sustained))
        }
        (_, Some(sustained), None) => {
            format!("{}, and no shorter period can be timed ({basis})", claim(search, sustained))
        }
        (SearchEnd::TimeLimit, None, Some(refused)) => format!(
            "{} is refused, and no longer period is proven to be sustained ({basis})",
            us(refused)
        ),
        (_, None, Some(refused)) => {
            format!("{} is refused, and so are all shorter periods ({basis})", us(refused))
        }
        (_, None, None) => format!("all periods that were tried are undecided ({basis})"),
    }
}

/// Returns what is wanted, and of how many trials or launches the result is.
fn basis(search: &PeriodSearch) -> String {
    let trials = match search.end {
        SearchEnd::OnePeriod => by_launches(search),
        _ => format!("; {}", phrases::counted(search.trials.len(), "trial")),
    };
    let Required { latency_us, jitter_us } = search.required.unwrap_or_default();
    let limit = |name: &str, us: Option<f64>| {
        us.map_or(String::new(), |us| format!("{name} at most {}, ", quantity(us, "us")))
    };
    format!(
        "wanted: {}{}at most {} missed, at {} confidence{trials}",
        limit("latency", latency_us),
        limit("jitter", jitter_us),
        wanted_share(search.miss_rate),
        percent(search.confidence)
    )
}

/// Returns what the trials of a period that is not refused prove, and if that is not what is wanted, what would prove it.
fn claim(search: &PeriodSearch, period_us: f64) -> String {
    let period = quantity(period_us, "us");
    let verdict = if search.proven { "is sustained" } else { "is not refused" };
    let tried = search.trials.iter().filter(|trial| trial.period_us == period_us);
    // The bound is that of the confirmation, if there is one.
    let tried = search.confirmation.clone().or_else(|| all_of(tried));
    let shown = match (tried, search.miss_rate_max) {
        (Some(all), Some(bound)) => {
            format!(": {}, at most {}", missed(&all), share_at_most(bound))
        }
        _ => String::new(),
    };
    let needed = match search.proven {
        true => String::new(),
        false => format!(
            "; to prove {} takes {} instances without a miss, {}",
            wanted_share(search.miss_rate),
            search.instances_needed,
            phrases::wait(period_us * 1e-6 * search.instances_needed as f64)
        ),
    };
    format!("{period} {verdict}{shown}{needed}")
}

/// Returns the evidence against a period.
fn refusal(search: &PeriodSearch, period_us: f64) -> String {
    let refusing = || search.trials.iter().filter(|one| one.refused && one.period_us == period_us);
    let bound = refusing().map(|trial| trial.miss_rate_min).fold(0.0, f64::max);
    let shown = all_of(refusing()).map_or(String::new(), |all| {
        format!(": {}, at least {}", missed(&all), share_at_least(bound))
    });
    format!("{} is refused{shown}", quantity(period_us, "us"))
}

/// Returns the verdicts of launches that tried one period, or nothing for one launch.
fn by_launches(search: &PeriodSearch) -> String {
    let launches = &search.trials;
    let count = |is: fn(&Trial) -> bool| launches.iter().filter(|trial| is(trial)).count();
    let (sustained, refused) = (count(|trial| trial.sustained), count(|trial| trial.refused));
    let open = launches.len() - sustained - refused;
    let verdicts = [(sustained, "sustained"), (refused, "refused"), (open, "undecided")];
    let named = verdicts.iter().filter(|(launches, _)| *launches > 0);
    let named: Vec<String> = named.map(|(count, verdict)| format!("{count} {verdict}")).collect();
    match search.launches {
        0 | 1 => String::new(),
        all => format!("; {all} launches: {}", named.join(", ")),
    }
}

/// Returns all instances of trials of one period, as one trial.
fn all_of<'a>(mut trials: impl Iterator<Item = &'a Trial>) -> Option<Trial> {
    let first = trials.next()?.clone();
    Some(trials.fold(first, |all, one| Trial {
        instances: all.instances + one.instances,
        missed: all.missed + one.missed,
        ..all
    }))
}

/// Returns the missed instances of a trial: `12 of 3400 instances of 5.00 ms`.
fn counted(trial: &Trial) -> String {
    let Trial { missed, instances, .. } = trial;
    format!("{missed} of {instances} instances of {}", quantity(trial.period_us, "us"))
}

/// Returns the missed instances of a trial whose period was named: `12 of 3400 missed`.
fn missed(trial: &Trial) -> String {
    format!("{} of {} missed", trial.missed, trial.instances)
}

/// Returns the result of the longer test of the found period, or that there was no time for it, with the periods that
/// failed before. `None` if no period was to be confirmed and none failed.
fn confirmation(search: &PeriodSearch) -> Option<String> {
    let failed = failed(search);
    match (&search.confirmation, search.shortest_sustained_us) {
        (Some(again), _) => {
            let verdict = if holds(again, search) { "confirmed" } else { "it does not hold" };
            let stated = percent(stated(search));
            let before = failed.map_or(String::new(), |failed| format!("; before it {failed}"));
            Some(format!("{verdict}: {}, at most {stated} was stated{before}", kept_up(again)))
        }
        (None, Some(_)) if search.confirm_times > 0 => {
            let before = failed.map_or(String::new(), |failed| format!("; before it {failed}"));
            Some(format!("not confirmed: no time was left to test it for longer{before}"))
        }
        (None, _) => failed,
    }
}

/// Returns the best of the periods that were not confirmed, or `None` if there is none.
fn failed(search: &PeriodSearch) -> Option<String> {
    let best = search.unconfirmed.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let which = match search.unconfirmed.len() {
        1 => "one did not hold:".into(),
        some => format!("{some} did not hold, the best of them"),
    };
    Some(format!("{which} {}, with a bound of {}", kept_up(best), percent(best.miss_rate_max)))
}

fn share(trial: &Trial) -> f64 {
    trial.missed as f64 / trial.instances.max(1) as f64
}

/// Returns the result of a longer test: `tested for 10.0 s, 12 of 2000 instances of 5.00 ms missed, 0.6 %`.
fn kept_up(trial: &Trial) -> String {
    format!(
        "tested for {}, {} missed, {}",
        quantity(trial.period_us * trial.instances as f64, "us"),
        counted(trial),
        percent(share(trial))
    )
}

/// Returns a reservation about the result and a remedy, or `None` if there is none.
fn reservation(search: &PeriodSearch) -> Option<String> {
    if search.end == SearchEnd::Unsettled {
        return Some(
            "the trials contradict each other: the machine changes; try longer trials (--duration)"
                .into(),
        );
    }
    if search.end == SearchEnd::TimeLimit {
        let limit = search.limit_s.map_or("its time".into(), |s| quantity(s, "s"));
        return Some(format!(
            "the search found no more within its limit of {limit}, and took {} in all: the interval contains the undecided periods; \
             increase --search-limit to narrow it",
            quantity(search.spent_s, "s")
        ));
    }
    if search.end == SearchEnd::NeverSustained {
        return Some(
            "find its pauses with `cornerstone run clock`, or permit more misses with --miss-rate"
                .into(),
        );
    }
    let is_one = search.end == SearchEnd::OnePeriod && search.shortest_sustained_us.is_none();
    if is_one && search.longest_refused_us.is_none() {
        return Some("try longer: --duration, or --instances".into());
    }
    let is_short = search.shortest_sustained_us.is_some() && !search.proven;
    is_short.then(|| "use --instances, or a longer --duration, to prove it".into())
}

/// Returns whether a confirmed period was missed no more often than the search had stated.
pub(crate) fn holds(again: &Trial, search: &PeriodSearch) -> bool {
    again.missed as f64 <= stated(search) * again.instances as f64
}

/// Returns the miss rate that a search states: the requested one, or the one that it shows if that is greater.
fn stated(search: &PeriodSearch) -> f64 {
    search.miss_rate_max.unwrap_or(0.0).max(search.miss_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(end: SearchEnd, refused: Option<f64>, sustained: Option<f64>) -> PeriodSearch {
        PeriodSearch {
            longest_refused_us: refused,
            shortest_sustained_us: sustained,
            proven: true,
            miss_rate_max: Some(0.009),
            instances_needed: 299,
            limit_s: Some(30.0),
            spent_s: 30.4,
            ..PeriodSearch::new(end, 0.01, 0.95)
        }
    }

    #[test]
    fn an_interval_is_told_with_what_proves_it() {
        let trials = vec![trial(2, 0.02), trial(0, 0.0099)];
        let settled = PeriodSearch { trials, ..found(SearchEnd::Settled, Some(4.9e3), Some(5e3)) };
        let words = "5.00 ms is sustained: 2 of 600 missed, at most 0.90 %; 4.90 ms is refused, and what lies \
            between is undecided (wanted: at most 1 % missed, at 95 % confidence; 2 trials)";
        assert_eq!((verdict(&settled), reservation(&settled)), (words.into(), None));
    }

    #[test]
    fn what_is_not_proven_is_not_called_sustained_and_says_what_a_proof_takes() {
        // 1 - 0.05^(1/400) = 0.746 %; 2995731 instances of 20 ms are 59915 s.
        let rare = PeriodSearch {
            miss_rate: 1e-6,
            proven: false,
            miss_rate_max: Some(0.00746),
            instances_needed: 2_995_731,
            trials: vec![Trial { period_us: 2e4, instances: 400, ..trial(0, 0.00746) }],
            ..found(SearchEnd::OnePeriod, None, Some(2e4))
        };
        let words = "20.0 ms is not refused: 0 of 400 missed, at most 0.75 %; to prove 1e-6 takes 2995731 instances \
            without a miss, 16 h 38 min (wanted: at most 1e-6 missed, at 95 % confidence)";
        assert_eq!(verdict(&rare), words);
        assert!(reservation(&rare).unwrap().contains("--instances"));
    }

    #[test]
    fn a_search_that_ran_out_of_time_says_so_whatever_it_found() {
        for (refused, sustained, words) in [
            (Some(4.0), Some(9.0), "9.00 µs is sustained; 4.00 µs is refused"),
            (Some(4.0), None, "4.00 µs is refused, and no longer period is proven"),
            (None, Some(9.0), "9.00 µs is sustained, and no period is refused"),
            (None, None, "all periods that were tried are undecided"),
        ] {
            let search = found(SearchEnd::TimeLimit, refused, sustained);
            assert!(verdict(&search).starts_with(words), "{}", verdict(&search));
            assert!(
                reservation(&search)
                    .unwrap()
                    .contains("its limit of 30.0 s, and took 30.4 s in all"),
                "{:?}",
                reservation(&search)
            );
        }
    }

    /// Returns a trial of 300 instances of 5 ms, 1.5 s in all.
    fn trial(missed: u64, miss_rate_max: f64) -> Trial {
        Trial {
            period_us: 5e3,
            begin_s: 0.0,
            instances: 300,
            missed,
            miss_rate_max,
            miss_rate_min: 0.003,
            sustained: false,
            refused: false,
            proven: false,
            response_median_us: 1.0,
        }
    }

    #[test]
    fn what_came_of_confirming_is_told() {
        let search = found(SearchEnd::Settled, Some(4.9e3), Some(5e3));
        assert_eq!(confirmation(&search), None, "none was wanted");
        let none = PeriodSearch { confirm_times: 10, ..search.clone() };
        assert!(confirmation(&none).unwrap().starts_with("not confirmed: no time was left"));
        let held = PeriodSearch { confirmation: Some(trial(3, 0.0099)), ..none.clone() };
        let words = "confirmed: tested for 1.50 s, 3 of 300 instances of 5.00 ms missed, 1 %, at \
            most 1 % was stated";
        assert_eq!(confirmation(&held).unwrap(), words);
        let unconfirmed = vec![trial(9, 0.06), trial(6, 0.05)];
        let second = PeriodSearch { unconfirmed: unconfirmed.clone(), ..held };
        let best = "2 did not hold, the best of them tested for 1.50 s, 6 of 300 instances of 5.00 ms \
            missed, 2 %, with a bound of 5 %";
        assert_eq!(confirmation(&second).unwrap(), format!("{words}; before it {best}"));
        let never = PeriodSearch { unconfirmed, ..found(SearchEnd::TimeLimit, Some(4.9e3), None) };
        assert_eq!(confirmation(&never).unwrap(), best);
        assert!(verdict(&never).starts_with("no period is confirmed to be sustained (wanted: at"));
    }

    #[test]
    fn one_period_that_is_neither_sustained_nor_refused_is_told_with_its_counts() {
        let search = PeriodSearch {
            trials: vec![trial(3, 0.026)],
            ..found(SearchEnd::OnePeriod, None, None)
        };
        let words = verdict(&search);
        assert!(
            words.starts_with(
                "3 of 300 instances of 5.00 ms missed, which leaves the period undecided"
            ),
            "{words}"
        );
        assert!(reservation(&search).unwrap().contains("--duration"));
    }

    #[test]
    fn launches_that_tried_one_period_are_counted_by_their_verdicts() {
        let sustaining = Trial { sustained: true, ..trial(0, 0.0099) };
        let refusing = Trial { refused: true, ..trial(9, 0.06) };
        let verdict_of = |refused, sustained, trials: &[&Trial]| {
            let trials: Vec<Trial> = trials.iter().map(|&trial| trial.clone()).collect();
            verdict(&PeriodSearch {
                launches: trials.len(),
                trials,
                ..found(SearchEnd::OnePeriod, refused, sustained)
            })
        };
        let wanted = "(wanted: at most 1 % missed, at 95 % confidence";
        let every = verdict_of(None, Some(5e3), &[&sustaining, &sustaining]);
        let shown = "5.00 ms is sustained: 0 of 600 missed, at most 0.90 %";
        assert_eq!(every, format!("{shown} {wanted}; 2 launches: 2 sustained)"));
        let some = verdict_of(Some(5e3), None, &[&sustaining, &refusing, &trial(3, 0.026)]);
        let verdicts = "3 launches: 1 sustained, 1 refused, 1 undecided";
        let against = "5.00 ms is refused: 9 of 300 missed, at least 0.30 %";
        assert_eq!(some, format!("{against} {wanted}; {verdicts})"));
        // 300 instances with 3 missed, and 300 with none.
        let open = verdict_of(None, None, &[&trial(3, 0.026), &sustaining]);
        let missed = "3 of 600 instances of 5.00 ms missed, which leaves the period undecided";
        assert_eq!(open, format!("{missed} {wanted}; 2 launches: 1 sustained, 1 undecided)"));
        let alone = verdict_of(Some(5e3), None, &[&refusing]);
        assert_eq!(alone, format!("{against} {wanted})"));
    }

    #[test]
    fn a_machine_that_sustains_nothing_is_to_be_examined() {
        let never = found(SearchEnd::NeverSustained, Some(1e5), None);
        assert!(verdict(&never).starts_with("100 ms is refused, and so are all shorter periods"));
        assert!(reservation(&never).unwrap().contains("cornerstone run clock"));
    }
}
