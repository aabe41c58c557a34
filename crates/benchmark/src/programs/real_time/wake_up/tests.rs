use std::cell::Cell;

use conformance::reference;
use contract::{SleepCall, TracedNoise};

use super::*;
use crate::settings::Settings;
use crate::testing::Altered;

/// A system whose sleeps take five microseconds too long on the clock of a test.
struct Slow<'a>(&'a Cell<u64>);

const LATE_PS: u64 = 5_000_000;

impl OperatingSystem for Slow<'_> {
    fn counts(&mut self) -> Vec<(String, u64)> {
        Vec::new()
    }

    fn begin_trace(&mut self) -> std::result::Result<(), String> {
        Err("a test has no tracer".into())
    }

    fn traced(&mut self) -> Vec<TracedNoise> {
        Vec::new()
    }

    fn sleep(&mut self, _: SleepCall, span: TimeSpan) -> std::result::Result<(), String> {
        self.0.set(self.0.get() + span.as_ps() + LATE_PS);
        Ok(())
    }

    fn yield_processor(&self) {
        std::thread::yield_now();
    }

    fn open_wake_up(&mut self) -> std::result::Result<Vec<u8>, String> {
        Err("a test has no sockets".into())
    }

    fn sleep_until_woken(&mut self, _: TimeSpan) -> std::result::Result<bool, String> {
        Ok(false)
    }

    fn wake(&mut self, _: &[u8]) -> std::result::Result<(), String> {
        Ok(())
    }

    fn hold_off_idle_states(&mut self, _: bool) -> std::result::Result<(), String> {
        Ok(())
    }

    fn load_processor(&mut self, _: bool) -> std::result::Result<(), String> {
        Ok(())
    }
}

const PLAN: Plan = Plan { duration: TimeSpan::from_us(60_000_000), waits_max: 20, seed: 1 };

#[test]
fn the_duration_decides_how_many_waits_there_are() {
    let mut settings = Settings { samples_max: 1, ..Settings::default() };
    settings.real_time.duration_s = Some(4.0);
    // 4 s / 200 us, and ten first waits.
    assert_eq!(Plan::of(&settings).waits_max, 20_010);
}

#[test]
fn the_latency_is_the_time_that_a_call_sleeps_too_long() {
    reference::run(1, |rank| {
        let time = Cell::new(0);
        let rank: &mut dyn Rank = &mut Altered { time_ps: Some(&time), ..Altered::new(rank) };
        let nanosleep = Method::Sleep(SleepCall::ClockNanosleep);
        let late = moment::measure(rank, &mut Slow(&time), nanosleep, &PLAN)?;
        assert_eq!(late, [TimeSpan::from_ps(LATE_PS); 20]);
        // 20 waits of 0.2 to 1 ms and 5 us each.
        assert!((4_100..20_100).contains(&(time.get() / 1_000_000)), "{}", time.get());
        let short = Plan { duration: TimeSpan::from_us(1), ..PLAN };
        assert_eq!(moment::measure(rank, &mut Slow(&time), nanosleep, &short)?.len(), 1);
        Ok(())
    })
    .unwrap();
}

#[test]
fn every_method_waits_as_often_as_it_is_woken() {
    let sleeping = Method::Sleep(SleepCall::Futex);
    for method in [Method::Spin, Method::Yield, sleeping, Method::Receive] {
        reference::run(2, move |rank| {
            assert_eq!(message::check(rank, method), Ok(()));
            // The shared word is zero at first, as the bench leaves it.
            let late = message::measure(rank, &mut Slow(&Cell::new(0)), method, &PLAN)?;
            assert_eq!(late.len(), if rank.rank() == 0 { 20 } else { 0 }, "{method:?}");
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn an_uncertain_clock_and_missing_shared_memory_are_reasons_to_skip() {
    reference::run(1, |rank| {
        let uncertain = Altered { uncertainty: TimeSpan::from_us(3), ..Altered::new(rank) };
        let why = message::check(&uncertain, Method::Receive).unwrap_err();
        assert!(why.contains("is 3.0 us"), "{why}");
        let alone = Altered { has_shared_line: false, ..Altered::new(rank) };
        assert!(message::check(&alone, Method::Yield).unwrap_err().contains("share no memory"));
        assert_eq!(message::check(&alone, Method::Receive), Ok(()));
        Ok(())
    })
    .unwrap();
}

#[test]
fn only_methods_that_sleep_have_cases_without_idle_states() {
    let cases = cases(&Scope { ranks: 2, sizes: None, settings: &Settings::default() });
    let count = |awaited: &str, method: &str| {
        let is = |case: &&Case, name, value: &str| case.parameters[name] == value.into();
        cases.iter().filter(|case| is(case, FOR, awaited) && is(case, BY, method)).count()
    };
    // Without a load and with one, and twice as many for methods that sleep.
    let of_moments = ["spin", "yield", "futex", "clock-nanosleep", "epoll", "receive"];
    assert_eq!(of_moments.map(|method| count("moment", method)), [2, 2, 4, 4, 4, 0]);
    assert_eq!(of_moments.map(|method| count("message", method)), [2, 2, 4, 0, 4, 4]);
}

#[test]
fn lengths_of_waits_are_spread_over_their_range_and_the_same_for_a_seed() {
    let lengths: Vec<TimeSpan> = PLAN.lengths().take(1000).collect();
    assert!(lengths.iter().all(|length| (WAIT_MIN..=WAIT_MAX).contains(length)));
    let middle = TimeSpan::from_us(600);
    let short = lengths.iter().filter(|length| **length < middle).count();
    assert!((400..600).contains(&short), "{short} of 1000");
    assert!(PLAN.lengths().take(1000).eq(lengths));
}
