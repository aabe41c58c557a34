//! Clock, work, description, and the operating system, if the fabric provides one.

use super::case::{ANY, Case, TWO_OR_MORE};
use super::check::{ensure, expect, fail};
use contract::{
    Error, OperatingSystem, Rank, Result, SleepCall, Source, Tag, TagSelector, Time, TimeSpan,
    Work, WorkKind,
};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("clock/never-goes-back", ANY, never_goes_back),
        Case::new("clock/wait-until-is-not-early", ANY, wait_until_is_not_early),
        Case::new("clock/no-message-arrives-before-it-was-sent", TWO_OR_MORE, causality),
        Case::new("machine/compute-runs-its-body-once", ANY, compute_runs_its_body),
        Case::new("machine/is-described", ANY, is_described),
        Case::new("operating-system/a-sleep-is-no-shorter-than-asked-for", ANY, sleeps),
        Case::new("operating-system/a-rank-is-woken-by-its-address", TWO_OR_MORE, woken),
        Case::new("operating-system/only-the-addressed-rank-is-woken", TWO_OR_MORE, woken_alone),
    ]
}

fn never_goes_back(machine: &mut dyn Rank) -> Result<()> {
    ensure(machine.clock().resolution > TimeSpan::ZERO, || "the clock has no step".into())?;
    let mut last = machine.now();
    for _ in 0..1000 {
        let now = machine.now();
        ensure(now >= last, || format!("the clock went from {last:?} back to {now:?}"))?;
        last = now;
    }
    Ok(())
}

fn wait_until_is_not_early(machine: &mut dyn Rank) -> Result<()> {
    for us in [0, 1, 30, 400] {
        let wanted = machine.now() + TimeSpan::from_us(us);
        machine.wait_until(wanted);
        let now = machine.now();
        ensure(now >= wanted, || format!("woke at {now:?}, before {wanted:?}"))?;
    }
    // A time in the past causes neither a wait nor an error.
    machine.wait_until(Time::ZERO);
    Ok(())
}

/// A time stamp goes around the ring. It must not be later than its receiver's time by more than the clock's
/// uncertainty.
fn causality(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let tag = Tag::new(1);
    let mut stamp = [0; 8];
    for _ in 0..20 {
        if rank > 0 {
            machine.receive(Source::Rank(rank - 1), tag.into(), &mut stamp)?;
            not_before(machine, stamp)?;
        }
        machine.send((rank + 1) % size, tag, &machine.now().as_ps().to_le_bytes())?;
        if rank == 0 {
            machine.receive(Source::Rank(size - 1), tag.into(), &mut stamp)?;
            not_before(machine, stamp)?;
        }
    }
    Ok(())
}

fn not_before(machine: &dyn Rank, stamp: [u8; 8]) -> Result<()> {
    let sent = Time::from_ps(u64::from_le_bytes(stamp));
    let (now, uncertainty) = (machine.now(), machine.clock().uncertainty);
    ensure(now + uncertainty >= sent, || format!("received at {now:?} what was sent at {sent:?}"))
}

fn compute_runs_its_body(machine: &mut dyn Rank) -> Result<()> {
    let mut runs = 0;
    machine.compute(Work::new(WorkKind::FloatingPoint, 1000), &mut || runs += 1);
    // A simulated machine may skip the work and only let its time pass.
    let simulated = machine.describe().name.starts_with("sim:");
    if runs == 1 || (runs == 0 && simulated) {
        Ok(())
    } else {
        fail(format!("the body ran {runs} times"))
    }
}

fn is_described(machine: &mut dyn Rank) -> Result<()> {
    ensure(!machine.describe().name.is_empty(), || "the fabric has no name".into())?;
    expect("this rank is one of the run's", true, machine.rank() < machine.size())
}

/// Tag of messages with the addresses of wake-ups.
const TAG: Tag = Tag::new(3);
const SPAN: TimeSpan = TimeSpan::from_us(2_000);
/// Duration of a sleep. It is longer than a busy machine mostly takes a rank's processor from it, so that a missing
/// sleep is detected.
const SLEEP: TimeSpan = TimeSpan::from_us(20_000);
/// Maximum difference between the clock of a rank and that of the system over a sleep.
const CLOCK_DIFFERENCE_MAX: TimeSpan = TimeSpan::from_us(20);
/// Time after which a rank counts as not woken at all.
const LONGEST_SLEEP: TimeSpan = TimeSpan::from_us(10_000_000);
/// The same, for a rank that was woken before it sleeps.
const SHORT_SLEEP: TimeSpan = TimeSpan::from_us(1_000_000);
/// Maximum length of an address.
const ADDRESS_BYTES: usize = 108;

fn explained<T>(outcome: std::result::Result<T, String>) -> Result<T> {
    outcome.map_err(Error::Program)
}

fn sleeps(machine: &mut dyn Rank) -> Result<()> {
    let Some(mut system) = machine.operating_system() else {
        return Ok(());
    };
    for call in [SleepCall::Futex, SleepCall::ClockNanosleep, SleepCall::Epoll] {
        let begin = machine.now();
        explained(system.sleep(call, SLEEP))?;
        let slept = machine.now().since(begin) + CLOCK_DIFFERENCE_MAX;
        expect(&format!("{call:?} slept long enough"), true, slept >= SLEEP)?;
    }
    Ok(())
}

/// Each rank wakes its predecessor by the received address, and must be woken itself.
fn woken(machine: &mut dyn Rank) -> Result<()> {
    let Some(mut system) = machine.operating_system() else {
        return Ok(());
    };
    let predecessor = predecessors_address(machine, system.as_mut())?;
    explained(system.wake(&predecessor))?;
    let is_woken = explained(system.sleep_until_woken(LONGEST_SLEEP))?;
    expect("woken", true, is_woken)?;
    // No rank closes its descriptor before all have used it.
    machine.barrier()
}

/// Rank 0 wakes the last rank. No other rank may be woken.
fn woken_alone(machine: &mut dyn Rank) -> Result<()> {
    let (rank, size) = (machine.rank(), machine.size());
    let Some(mut system) = machine.operating_system() else {
        return Ok(());
    };
    let predecessor = predecessors_address(machine, system.as_mut())?;
    if rank == 0 {
        explained(system.wake(&predecessor))?;
    }
    machine.barrier()?;
    let longest = if rank == size - 1 { SHORT_SLEEP } else { SPAN };
    let is_woken = explained(system.sleep_until_woken(longest))?;
    let outcome = expect("woken", rank == size - 1, is_woken);
    machine.barrier()?;
    outcome
}

/// Opens the descriptor by which this rank is woken, and returns the address of the rank before it.
fn predecessors_address(
    machine: &mut dyn Rank,
    system: &mut dyn OperatingSystem,
) -> Result<Vec<u8>> {
    let (rank, size) = (machine.rank(), machine.size());
    let address = explained(system.open_wake_up())?;
    expect("an address fits", true, address.len() <= ADDRESS_BYTES)?;
    machine.send((rank + 1) % size, TAG, &address)?;
    let mut other = [0; ADDRESS_BYTES];
    let before = Source::Rank((rank + size - 1) % size);
    let status = machine.receive(before, TagSelector::Is(TAG), &mut other)?;
    Ok(other[..status.bytes].to_vec())
}
