//! Programs of the ranks. The job is one line: the program's name and its numbers. Rank 0 reports `name value` lines.

use contract::{Buffer, Rank, Result, Source, Tag, TagSelector};
use fabric_shm::ShmProcess;
use launcher::Reporter;

use crate::floors;

const TAG: Tag = Tag::new(1);
const IS: TagSelector = TagSelector::Is(TAG);

/// Runs the program that the job names.
pub(crate) fn run(process: &mut ShmProcess) -> Result<()> {
    let job = String::from_utf8_lossy(process.job()).into_owned();
    let reporter = &process.reporter();
    let rank = &mut process.world();
    let words: Vec<&str> = job.split(' ').collect();
    let number = |index: usize| words.get(index).and_then(|word| word.parse().ok()).unwrap_or(0);
    match words[0] {
        "nothing" => Ok(()),
        "memory" => memory(rank, reporter),
        "latency" => latency(rank, reporter, number(1)),
        "bandwidth" => bandwidth(rank, reporter, number(1)),
        "barrier" => barrier(rank, reporter),
        "switch" => switch(rank, reporter),
        "broadcast" => broadcast(rank, reporter, number(1)),
        other => Err(contract::Error::Program(format!("no program {other}"))),
    }
}

/// Measured values, reported at the end: a report wakes the launcher, which would run during the next sample.
#[derive(Default)]
struct Log(Vec<(&'static str, f64)>);

impl Log {
    fn add(&mut self, name: &'static str, value: f64) {
        self.0.push((name, value));
    }

    fn hand_over(self, rank: &mut dyn Rank, reporter: &Reporter) -> Result<()> {
        if rank.rank() == 0 {
            for (name, value) in self.0 {
                reporter.report(format!("{name} {value}").as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Reports the resident memory of the largest rank, in KiB, after every rank has exchanged messages with every other.
fn memory(rank: &mut dyn Rank, reporter: &Reporter) -> Result<()> {
    let mut all = vec![0; 64 * rank.size()];
    let own = all.clone();
    rank.all_to_all(&own, &mut all)?;
    rank.barrier()?;
    let status = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap_or_default();
    let pss = status.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib: f64 =
        pss.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(f64::NAN);
    reporter.report(format!("memory {kib}").as_bytes())
}

/// Measures half round trips, alternating with transfers of one cache line.
fn latency(rank: &mut dyn Rank, reporter: &Reporter, bytes: usize) -> Result<()> {
    let mut log = Log::default();
    const TRIPS: u32 = 2000;
    let data = Buffer::from_bytes(&vec![1; bytes]);
    let mut room = Buffer::zeroed(bytes);
    for _ in 0..60 {
        let floor = floors::hand_over_ns(rank, TRIPS)?;
        let start = rank.now();
        for _ in 0..TRIPS {
            if rank.rank() == 0 {
                rank.send(1, TAG, &data)?;
                rank.receive(Source::Rank(1), IS, &mut room)?;
            } else {
                rank.receive(Source::Rank(0), IS, &mut room)?;
                rank.send(0, TAG, &data)?;
            }
        }
        let measured = rank.now().since(start).as_ns() / f64::from(2 * TRIPS);
        log.add("floor", floor);
        log.add("measured", measured);
    }
    log.hand_over(rank, reporter)
}

/// Measures one-way bandwidth in MB/s over windows of 32 messages, each answered by an empty one, alternating with
/// copies by one core.
fn bandwidth(rank: &mut dyn Rank, reporter: &Reporter, bytes: usize) -> Result<()> {
    let mut log = Log::default();
    let window = ((64 << 20) / bytes).clamp(4, 64);
    let data = Buffer::from_bytes(&vec![1; bytes]);
    let mut room = Buffer::zeroed(bytes);
    for _ in 0..40 {
        let floor = floors::copy_ns(rank, bytes);
        rank.barrier()?;
        let start = rank.now();
        if rank.rank() == 0 {
            rank.send_window(1, TAG, &data, window)?;
            rank.receive(Source::Rank(1), IS, &mut [])?;
        } else {
            rank.receive_window(Source::Rank(0), IS, &mut room, window)?;
            rank.send(0, TAG, &[])?;
        }
        let ns = rank.now().since(start).as_ns() / window as f64;
        log.add("floor", bytes as f64 / floor * 1e3);
        log.add("measured", bytes as f64 / ns * 1e3);
    }
    log.hand_over(rank, reporter)
}

fn barrier(rank: &mut dyn Rank, reporter: &Reporter) -> Result<()> {
    let mut log = Log::default();
    let pair = rank.size() == 2;
    let times = if pair { 2000 } else { 500 };
    for _ in 0..50 {
        if pair {
            let floor = floors::hand_over_ns(rank, times)?;
            log.add("floor", floor);
        }
        rank.barrier()?;
        let start = rank.now();
        for _ in 0..times {
            rank.barrier()?;
        }
        let measured = rank.now().since(start).as_ns() / f64::from(times);
        log.add("measured", measured);
    }
    log.hand_over(rank, reporter)
}

fn switch(rank: &mut dyn Rank, reporter: &Reporter) -> Result<()> {
    let mut log = Log::default();
    for _ in 0..40 {
        let ns = floors::process_switch_ns(rank, 1000)?;
        log.add("floor", ns);
    }
    log.hand_over(rank, reporter)
}

/// Measures broadcasts from rank 0, each from a common start to the end of the slowest rank.
fn broadcast(rank: &mut dyn Rank, reporter: &Reporter, bytes: usize) -> Result<()> {
    let mut log = Log::default();
    let mut data = Buffer::from_bytes(&vec![1; bytes]);
    let mut ends = vec![0; 8 * rank.size()];
    for _ in 0..400 {
        let floor = floors::copy_ns(rank, bytes);
        rank.barrier()?;
        let start = rank.now();
        rank.broadcast(0, &mut data)?;
        let end = rank.now().as_ps().to_le_bytes();
        rank.gather(0, &end, &mut ends)?;
        // Otherwise a rank that is done copies for the next bound while another on its processor has yet to run.
        rank.barrier()?;
        let last = ends.as_chunks().0.iter().map(|end| u64::from_le_bytes(*end)).max();
        log.add("floor", floor);
        log.add("measured", (last.unwrap_or(0) - start.as_ps()) as f64 / 1e3);
    }
    // The same without a pause between broadcasts, for comparison with programs that measure in this manner.
    for _ in 0..30 {
        rank.barrier()?;
        let start = rank.now();
        for _ in 0..100 {
            rank.broadcast(0, &mut data)?;
        }
        rank.barrier()?;
        log.add("stream", rank.now().since(start).as_ns() / 100.0);
    }
    log.hand_over(rank, reporter)
}
