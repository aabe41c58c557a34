//! The wake-up latency of a rank that waits for a moment or for a message.

mod message;
mod method;
mod moment;
#[cfg(test)]
mod tests;

use contract::{OperatingSystem, Priority, Rank, Result, TimeSpan};
use random::SplitMix64;
use record::{Parameters, Timing as RecordedTiming};

use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::declaration::{Benchmark, Group};
use crate::event::Event;
use crate::options::RunOption;
use crate::period;
use crate::programs::common::{BENCHMARK, NO_DATA};
use crate::ranks::RankRule;
use crate::settings::Settings;
use method::{Event as Awaited, Method};

pub(in crate::programs) const WAKE_UP: Benchmark = Benchmark {
    name: "wake-up",
    group: Group::RealTime,
    summary: "latency of a rank that sleeps until a moment or for a message",
    explains: "Rank 0 waits repeatedly for 0.2 to 1 ms. `latency` is the time by which it continues too late, and \
        `worst` the greatest; of several launches (--launches) their median. With for=moment it waits for a moment of its clock: by spin (polling the \
        clock), yield (with sched_yield after each poll), futex (a wait with a time limit), clock-nanosleep, \
        or epoll (a timer's descriptor). With for=message it waits for rank 1, and the latency begins with \
        rank 1's reading of the clock before it sends: by spin and yield (polling a shared word), futex (a \
        wait on that word), epoll (a datagram socket), or receive (a receive of 8 bytes, as the fabric \
        waits). With load=computing another thread computes on rank 0's processor. With idle=held-off the \
        processors may enter no idle state (/dev/cpu_dma_latency). --duration is the time for each case in \
        each launch (default 1 s, one launch); --hygiene fifo gives rank 0 a fixed priority; --timer-slack sets the \
        time by which Linux may end a sleep later, which a fixed priority has not. A simulated rank continues at once, so \
        there is nothing to measure.",
    ranks: RankRule::Exactly(2),
    cases,
    program: NO_DATA,
    measure,
    lasts_s: Some(|settings, _| settings.real_time.trial_s()),
    options: &[&[RunOption::Duration, RunOption::OsIsolation, RunOption::TimerSlack]],
    repeatable: false,
    ..BENCHMARK
};

const FOR: &str = "for";
const BY: &str = "by";
const LOAD: &str = "load";
const IDLE: &str = "idle";
const NONE: &str = "none";
const COMPUTING: &str = "computing";
const ALLOWED: &str = "allowed";
const HELD_OFF: &str = "held-off";
/// Number of first waits, which use memory and descriptors for the first time. They are kept and flagged.
const WARM_UP: usize = 10;
/// Range of the lengths of waits: long enough that a rank sleeps, and random, so that waits are not in step with the
/// timer's tick.
const WAIT_MIN: TimeSpan = TimeSpan::from_us(200);
const WAIT_MAX: TimeSpan = TimeSpan::from_us(1000);

/// Returns the cases. Idle states have an effect only on ranks that sleep.
fn cases(_: &Scope<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for awaited in Awaited::ALL {
        for method in Method::ALL.into_iter().filter(|method| method.waits_for(awaited)) {
            let idle = if method.sleeps() { &[ALLOWED, HELD_OFF][..] } else { &[ALLOWED] };
            for load in [NONE, COMPUTING] {
                cases.extend(idle.iter().map(|idle| {
                    let names =
                        [(FOR, awaited.name()), (BY, method.name()), (LOAD, load), (IDLE, idle)];
                    let parameters = names.map(|(name, value)| (name.to_string(), value.into()));
                    Case { parameters: Parameters::from(parameters), size_bytes: 0 }
                }));
            }
        }
    }
    cases
}

/// The parameters of a case.
#[derive(Clone, Copy)]
struct Wanted {
    awaited: Awaited,
    method: Method,
    is_loaded: bool,
    holds_idle_off: bool,
}

impl Wanted {
    fn of(bench: &Bench<'_>) -> Result<Wanted> {
        let text = |name| bench.step.parameters.get(name).map(ToString::to_string);
        let awaited = Awaited::ALL.into_iter().find(|one| text(FOR).as_deref() == Some(one.name()));
        let method = Method::ALL.into_iter().find(|one| text(BY).as_deref() == Some(one.name()));
        Ok(Wanted {
            awaited: awaited.ok_or_else(|| bench.unknown(FOR))?,
            method: method.ok_or_else(|| bench.unknown(BY))?,
            is_loaded: text(LOAD).as_deref() == Some(COMPUTING),
            holds_idle_off: text(IDLE).as_deref() == Some(HELD_OFF),
        })
    }

    /// Returns the system of this rank, prepared for the case, or the reason why this is impossible.
    fn prepare(
        self,
        rank: &mut dyn Rank,
        slack: Option<TimeSpan>,
    ) -> std::result::Result<Box<dyn OperatingSystem>, String> {
        let mut system = rank.operating_system().ok_or(
            "these ranks have no operating system: on a simulated machine a rank continues at the very \
             moment for which it waits",
        )?;
        if self.awaited == Awaited::Message {
            message::check(rank, self.method)?;
        }
        // Rank 0 waits. A limit on idle states concerns all processors.
        if rank.rank() == 0 {
            system.load_processor(self.is_loaded)?;
            system.hold_off_idle_states(self.holds_idle_off)?;
            if slack.is_some() {
                system.set_timer_slack(slack)?;
            }
        }
        Ok(system)
    }
}

fn measure(bench: &mut Bench<'_>) -> Result<()> {
    let wanted = Wanted::of(bench)?;
    let slack = bench.settings.real_time.timer_slack_s.map(TimeSpan::from_s);
    let (prepared, mine) = match wanted.prepare(bench.rank, slack) {
        Ok(system) => (Some(system), Ok(())),
        Err(why) => (None, Err(why)),
    };
    let refused = period::refusal(bench.rank, mine)?;
    let (Some(mut system), None) = (prepared, &refused) else {
        return bench.skip(refused.unwrap_or_default());
    };
    if let Some(why) = raise_priority(bench)? {
        return bench.skip(format!("a fixed priority (--hygiene fifo) is refused: {why}"));
    }
    bench.clear_shared_line()?;
    let plan = Plan::of(bench.settings);
    let outcome = match wanted.awaited {
        Awaited::Moment => moment::measure(bench.rank, system.as_mut(), wanted.method, &plan),
        Awaited::Message => message::measure(bench.rank, system.as_mut(), wanted.method, &plan),
    };
    // The refusal of a priority that rank 0 never had changes nothing.
    let _ = period::prioritise(bench.rank, Priority::TimeShared);
    // Only rank 0 of a case that asks for it has changed it.
    if slack.is_some() && bench.shape.me == 0 {
        let _ = system.set_timer_slack(None);
    }
    let late = outcome?;
    // The load must end before the next measurement.
    drop(system);
    bench.rank.barrier()?;
    if bench.shape.me == 0 { report(bench, late) } else { Ok(()) }
}

/// Gives rank 0 a fixed priority if the user requests it. The load has begun before, because its threads would inherit
/// the priority. Collective; returns the reason of a refusal.
fn raise_priority(bench: &mut Bench<'_>) -> Result<Option<String>> {
    let wants = bench.settings.real_time.os_isolation.fifo;
    let mine = match wants && bench.shape.me == 0 {
        true => period::prioritise(bench.rank, period::FIFO),
        false => Ok(()),
    };
    period::refusal(bench.rank, mine)
}

/// The duration of a case and the lengths of its waits.
struct Plan {
    duration: TimeSpan,
    waits_max: usize,
    seed: u64,
}

impl Plan {
    fn of(settings: &Settings) -> Plan {
        let duration = TimeSpan::from_s(settings.real_time.trial_s());
        // The duration decides, because a tail needs many waits: no more than this number fit into it.
        let waits_max = (duration.as_ps() / WAIT_MIN.as_ps()) as usize + WARM_UP;
        Plan { duration, waits_max, seed: settings.seed }
    }

    /// Returns the lengths of the waits, an infinite sequence.
    fn lengths(&self) -> impl Iterator<Item = TimeSpan> + use<> {
        let mut random = SplitMix64::new(self.seed);
        let width = (WAIT_MAX.as_ps() - WAIT_MIN.as_ps()) as f64;
        std::iter::repeat_with(move || {
            WAIT_MIN + TimeSpan::from_ps((width * random.uniform()) as u64)
        })
    }
}

fn report(bench: &mut Bench<'_>, late: Vec<TimeSpan>) -> Result<()> {
    let mut samples: Vec<f64> = late.into_iter().map(TimeSpan::as_us).collect();
    // Of very few waits at most half are warm-up.
    let warm_up = WARM_UP.min(samples.len() / 2);
    let rest = samples.split_off(warm_up);
    if rest.is_empty() {
        return bench.skip("no wait ended within --duration; give it more".into());
    }
    let timing = RecordedTiming::of_single_events("time", bench.settings.real_time.trial_s());
    let subject = bench.subject(Parameters::new());
    let worst = rest.iter().copied().fold(0.0, f64::max);
    let worst = subject.metric(("worst", "us"), vec![worst], timing.clone())?;
    let mut latency = subject.metric(("latency", "us"), rest, timing)?;
    latency.warm_up_samples = samples;
    bench.emit(Event::Measured(vec![latency, worst]))
}
