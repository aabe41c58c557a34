//! Time that the interpreter of patterns adds to each action, on a fabric that does nothing. The target is 30 ns an
//! action.

use std::hint::black_box;
use std::time::Instant;

use benchmark::Interpreter;
use contract::{
    Buffer, ClockQuality, Completed, FabricDescription, Posted, Progress, Rank, Result, Source,
    Status, Tag, TagSelector, Time, TimeSpan, Work,
};

/// Two ranks in one: every message arrives at once, and no data are moved.
struct Nothing {
    posted: Option<Buffer>,
}

impl Rank for Nothing {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn now(&self) -> Time {
        Time::ZERO
    }

    fn clock(&self) -> ClockQuality {
        ClockQuality { resolution: TimeSpan::ZERO, uncertainty: TimeSpan::ZERO, is_virtual: true }
    }

    fn wait_until(&mut self, time: Time) {
        black_box(time);
    }

    fn compute(&mut self, _: Work, body: &mut dyn FnMut()) {
        body();
    }

    fn every_rank_has_a_processor(&self) -> bool {
        true
    }

    fn processor(&self) -> Option<usize> {
        None
    }

    fn describe(&self) -> FabricDescription {
        FabricDescription::default()
    }

    fn send(&mut self, to: usize, tag: Tag, data: &[u8]) -> Result<()> {
        black_box((to, tag, data.as_ptr()));
        Ok(())
    }

    fn receive(&mut self, _: Source, _: TagSelector, _: &mut [u8]) -> Result<Status> {
        Ok(Status { source: 1, tag: Tag::new(0), bytes: 0 })
    }

    fn send_receive(
        &mut self,
        (to, send_tag, data): (usize, Tag, &[u8]),
        (from, receive_tag, buffer): (Source, TagSelector, &mut [u8]),
    ) -> Result<Status> {
        self.send(to, send_tag, data)?;
        self.receive(from, receive_tag, buffer)
    }

    fn post_send(&mut self, _: usize, _: Tag, buffer: Buffer) -> Result<Posted> {
        self.posted = Some(buffer);
        Ok(Posted::new(0))
    }

    fn post_receive(&mut self, _: Source, _: TagSelector, buffer: Buffer) -> Result<Posted> {
        self.posted = Some(buffer);
        Ok(Posted::new(0))
    }

    fn wait(&mut self, _: Posted) -> Result<Completed> {
        let buffer = self.posted.take().expect("the interpreter posts before it waits");
        let status = Status { source: 1, tag: Tag::new(0), bytes: 0 };
        Ok(Completed { buffer, status, in_place: None })
    }

    fn test(&mut self, posted: Posted) -> Result<Progress> {
        Ok(Progress::Done(self.wait(posted)?))
    }

    fn probe(&mut self, _: Source, _: TagSelector) -> Result<Option<Status>> {
        Ok(None)
    }
}

const ACTIONS: u32 = 1000;
const PERIODS: u32 = 2000;

fn main() {
    // `cargo bench` measures; `cargo test --benches` only checks that the program runs.
    let periods = if std::env::args().any(|word| word == "--bench") { PERIODS } else { 1 };
    println!("{:<34} {:>12}", "pattern of node 0", "ns an action");
    for (name, node_0, node_1) in [
        ("sends", "L 1000 (S 1 8)", "L 1000 (R)"),
        ("receives", "L 1000 (R)", "L 1000 (S 0 8)"),
        ("waits", "L 1000 (W 0.5)", ""),
        ("sends and receives", "L 500 (S 1 8 R)", "L 500 (R S 0 8)"),
        ("loops of one action", "L 500 (L 1 (S 1 8) L 1 (R))", "L 500 (R S 0 8)"),
    ] {
        let ns = overhead_ns(&format!("0: {node_0} E\n1: {node_1} E"), periods);
        println!("{name:<34} {ns:>12.1}");
    }
}

/// Returns the least of five runs, because disturbances only add to a run.
fn overhead_ns(text: &str, periods: u32) -> f64 {
    let pattern = pattern::read("overhead", text).expect("the pattern is sound");
    let mut rank = Nothing { posted: None };
    // Called through a pointer, as the interpreter calls any fabric.
    let rank: &mut dyn Rank = black_box(&mut rank);
    let mut interpreter = Interpreter::new(&pattern, 0, 1).expect("there is memory");
    interpreter.begin(rank).expect("nothing fails here");
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let begin = Instant::now();
        for _ in 0..periods {
            interpreter.period(rank, Time::ZERO, TimeSpan::from_us(1)).expect("nothing fails here");
        }
        let ns = begin.elapsed().as_nanos() as f64;
        best = best.min(ns / f64::from(periods) / f64::from(ACTIONS));
    }
    best
}
