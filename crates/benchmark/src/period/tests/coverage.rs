//! How often the interval of a search covers the truth, on seeded models of machines and jobs: its lower end misses more than
//! it may there, and its upper end does not.

use record::PeriodSearch;

use super::confirmation::Unsteady;
use super::*;

/// Pauses a second in the two performance states of a machine.
const MACHINES: [(&str, [f64; 2]); 3] =
    [("at the limit", [2.0, 3.5]), ("of two states", [0.5, 8.0]), ("restless", [40.0, 60.0])];

/// A job: what an instance takes on a machine with these processors.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// A pattern of messages: one processor, 20 us.
    Pattern,
    /// A turn: it ends when the last of four ranks has worked for 400 us.
    Turn,
    /// A chain of three stages of 100, 150 and 80 us with two buffers between them.
    Chain,
    /// Three tasks of 50 us with periods 1:2:4, each on a processor.
    Hartstone,
}

const JOBS: [Job; 4] = [Job::Pattern, Job::Turn, Job::Chain, Job::Hartstone];
const STAGES_US: [u64; 3] = [100, 150, 80];
const BUFFERS: usize = 2;

impl Job {
    fn processors(self) -> usize {
        match self {
            Job::Pattern => 1,
            Job::Turn => 4,
            Job::Chain | Job::Hartstone => 3,
        }
    }

    /// Makes a trial on these processors.
    fn keep_up(self, machines: &mut [Unsteady], trial: &Trial, deadlines: &mut Deadlines) -> u64 {
        let starts = |instance: u64| trial.start(instance).as_ps();
        let mut last = trial.begin.as_ps();
        let mut ended = |deadlines: &mut Deadlines, instance: u64, at: u64| {
            last = last.max(at);
            deadlines.ended(instance, 0, Time::from_ps(at));
        };
        match self {
            Job::Pattern | Job::Turn => {
                let work = if matches!(self, Job::Pattern) { 20 } else { 400 };
                let mut free = 0;
                for instance in 0..trial.instances {
                    let begin = free.max(starts(instance));
                    let end = |machine: &mut Unsteady| begin + machine.cost_ps(begin, work);
                    free = machines.iter_mut().map(end).max().unwrap();
                    ended(deadlines, instance, free);
                }
            }
            Job::Chain => {
                let usual = STAGES_US.iter().sum::<u64>() * US;
                let mut ends: [Vec<u64>; 3] = Default::default();
                for instance in 0..trial.instances {
                    let mut came = starts(instance);
                    for stage in 0..3 {
                        let free = ends[stage].last().copied().unwrap_or(0);
                        let room = (instance as usize).checked_sub(BUFFERS).filter(|_| stage < 2);
                        let room = room.map_or(0, |before| ends[stage + 1][before]);
                        let begin = came.max(free).max(room);
                        came = begin + machines[stage].cost_ps(begin, STAGES_US[stage]);
                        ends[stage].push(came);
                    }
                    // A result may be as late as usual, and the source must hand its matrix over within a period.
                    let source = ends[0][instance as usize] - STAGES_US[0] * US;
                    ended(deadlines, instance, source.max(came.saturating_sub(usual)));
                }
            }
            Job::Hartstone => {
                for (task, machine) in machines.iter_mut().enumerate() {
                    let (ratio, mut free) = (1 << task, 0);
                    for job in 0..trial.instances / ratio {
                        let begin = free.max(starts(job * ratio));
                        free = begin + machine.cost_ps(begin, 50);
                        let due = (job + 1) * ratio - 1;
                        deadlines.judged(due, task as u64, Time::from_ps(free));
                        last = last.max(free);
                    }
                }
            }
        }
        last
    }
}

/// Searches, or tests a period, on a machine with this seed.
fn search_for(job: Job, pauses_per_s: [f64; 2], seed: u64, real_time: RealTime) -> PeriodSearch {
    let found = std::sync::Mutex::new(None);
    reference::run(1, |rank| {
        let time = Cell::new(0);
        let mut rank = Altered { time_ps: Some(&time), ..Altered::new(rank) };
        let (settings, step) = (settings(real_time.clone()), step("ping-pong"));
        let (definition, overheads) = (definition("ping-pong"), Overheads::default());
        let mut sink = |_| Ok(());
        let mut bench = Bench::new(&mut rank, definition, &step, &settings, overheads, &mut sink);
        let machine = |processor| Unsteady::new(seed * 64 + processor, pauses_per_s);
        let mut machines: Vec<Unsteady> = (0..job.processors() as u64).map(machine).collect();
        let outcome = find(&mut bench, &mut |_, trial, deadlines| {
            time.set(job.keep_up(&mut machines, trial, deadlines).max(time.get()));
            Ok(())
        })?;
        *found.lock().unwrap() = outcome.search;
        Ok(())
    })
    .unwrap();
    found.into_inner().unwrap().unwrap()
}

/// Returns the share of instances of a period that are missed, from about this many seconds.
fn share_missed(job: Job, pauses_per_s: [f64; 2], period_us: f64, seconds: f64) -> f64 {
    let period = TimeSpan::from_ps((period_us * 1e6) as u64);
    let all = (seconds * 1e6 / period_us) as u64;
    let instances = all.min(1 << 20);
    let machine = |processor| Unsteady::new(1_000_000 + processor, pauses_per_s);
    let mut machines: Vec<Unsteady> = (0..job.processors() as u64).map(machine).collect();
    let mut deadlines = Deadlines::new(instances).unwrap();
    let (mut begin, mut missed) = (Time::ZERO + period, 0);
    let parts = all.div_ceil(instances);
    for number in 0..parts {
        let trial = Trial { period, instances, begin, number };
        deadlines.begin(trial);
        begin = Time::from_ps(job.keep_up(&mut machines, &trial, &mut deadlines)) + period;
        begin = begin.max(trial.start(instances));
        let (responses, _) = deadlines.times()[0].as_chunks::<8>();
        let is_late = |bytes: &&[u8; 8]| u64::from_ne_bytes(**bytes) > period.as_ps();
        missed += responses.iter().filter(is_late).count() as u64;
    }
    missed as f64 / (parts * instances) as f64
}

/// Share of instances that may be missed.
const WANTED: f64 = 0.01;

/// Shortest periods that miss no more than that, of each job on each machine, in microseconds (`the_truth`).
const TRUTHS_US: [[f64; 3]; 4] = [
    [98.0, 703.0, 3681.0],
    [3091.0, 3620.0, 5220.0],
    [2039.0, 2617.0, 5220.0],
    [675.0, 1218.0, 3774.0],
];

/// Prints [`TRUTHS_US`].
#[test]
#[ignore = "long"]
fn the_truth() {
    for job in JOBS {
        let of = |machine: [f64; 2]| {
            let (mut low, mut high) = (20.0_f64, 100_000.0_f64);
            while high / low > 1.01 {
                let middle = (low * high).sqrt();
                let seconds = (40.0 * middle).min(8000.0);
                match share_missed(job, machine, middle, seconds) > WANTED {
                    true => low = middle,
                    false => high = middle,
                }
            }
            high.round()
        };
        println!("{:?}", MACHINES.map(|(_, machine)| of(machine)));
    }
}

/// What some searches found.
#[derive(Debug, Default)]
struct Coverage {
    lower: usize,
    upper: usize,
    false_lower: usize,
    false_upper: usize,
    false_either: usize,
    widths: Vec<f64>,
    uppers: Vec<f64>,
}

fn coverage(job: Job, machine: [f64; 2], truth_us: f64, limit_s: f64, searches: u64) -> Coverage {
    let mut all = Coverage::default();
    for seed in 0..searches {
        let requested =
            RealTime { search_limit_s: Some(limit_s), miss_rate: WANTED, ..RealTime::default() };
        let search = search_for(job, machine, seed, requested);
        let lower = search.longest_refused_us;
        let upper = search.shortest_sustained_us.filter(|_| search.proven);
        // The truth is known to a hundredth.
        let false_lower = lower.is_some_and(|us| us > 1.01 * truth_us);
        let false_upper = upper.is_some_and(|us| us < truth_us / 1.02);
        all.lower += usize::from(lower.is_some());
        all.upper += usize::from(upper.is_some());
        all.false_lower += usize::from(false_lower);
        all.false_upper += usize::from(false_upper);
        all.false_either += usize::from(false_lower || false_upper);
        all.widths.extend(lower.zip(upper).map(|(lower, upper)| upper / lower));
        all.uppers.extend(upper.map(|us| us / truth_us));
    }
    all.widths.sort_by(f64::total_cmp);
    all.uppers.sort_by(f64::total_cmp);
    all
}

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Prints the table of docs/results.md.
#[test]
#[ignore = "long"]
fn intervals_cover_the_truth() {
    let searches = std::env::var("SEARCHES").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let mut rows = Vec::new();
    for (job, truths_us) in JOBS.into_iter().zip(TRUTHS_US) {
        for ((name, machine), truth_us) in MACHINES.into_iter().zip(truths_us) {
            rows.extend([15.0, 60.0].map(|limit_s| (job, name, machine, truth_us, limit_s)));
        }
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let row = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(&(job, name, machine, truth_us, limit_s)) = rows.get(row) else { break };
                    let all = coverage(job, machine, truth_us, limit_s, searches);
                    let line = format!(
                        "| {job:?} | {name} | {limit_s} s | {} | {} | {} | {} | {} | {:.2} | {:.2} |",
                        all.widths.len(),
                        all.lower,
                        all.upper,
                        all.false_lower,
                        all.false_upper,
                        median(&all.widths),
                        median(&all.uppers)
                    );
                    found.lock().unwrap().push((row, line, all));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(row, ..)| *row);
    println!(
        "| job | machine | limit | both ends | lower | upper | false lower | false upper | width | upper/truth |"
    );
    found.iter().for_each(|(_, line, _)| println!("{line}"));
    let all = found.len() as f64 * searches as f64;
    let sum = |of: fn(&Coverage) -> usize| found.iter().map(|(.., all)| of(all)).sum::<usize>();
    let mean = |of: fn(&Coverage) -> f64| {
        let logs: Vec<f64> =
            found.iter().map(|(.., all)| of(all).ln()).filter(|ln| ln.is_finite()).collect();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    };
    let share = |of: fn(&Coverage) -> usize| 100.0 * sum(of) as f64 / all;
    println!(
        "SUM {:?}: covers {:.1} %, false lower {}, false upper {}, both ends {:.1} %, refused {:.1} %, proven {:.1} %, width {:.2}, upper {:.2}",
        std::env::var("WITHOUT").unwrap_or_default(),
        100.0 - share(|all| all.false_either),
        sum(|all| all.false_lower),
        sum(|all| all.false_upper),
        share(|all| all.widths.len()),
        share(|all| all.lower),
        share(|all| all.upper),
        mean(|all| median(&all.widths)),
        mean(|all| median(&all.uppers)),
    );
    assert!(100 * sum(|all| all.false_either) <= (8.0 * all) as usize);
}
