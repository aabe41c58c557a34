//! Links over cables that are cut at random times, compared with a stream: all bytes, once, in order.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::lane::STANDSTILL;
use super::*;

const MS: Duration = Duration::from_millis(1);
const LIMIT: Duration = Duration::from_secs(5);

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % end
    }
}

/// Returns two connected non-blocking sockets. What one writes can be read from the other at once, unlike over TCP:
/// time passes much faster here than for the system.
fn pair() -> [TcpStream; 2] {
    let (one, other) = UnixStream::pair().unwrap();
    [one, other].map(|end| {
        end.set_nonblocking(true).unwrap();
        TcpStream::from(OwnedFd::from(end))
    })
}

/// A connection through a cable: data from one end stay here until they are passed to the other.
struct Wire {
    ends: [TcpStream; 2],
    under_way: [Vec<u8>; 2],
}

impl Wire {
    /// Moves up to `most` bytes each way. Returns false if an end is closed.
    fn pump(&mut self, most: usize) -> bool {
        let mut room = vec![0; most];
        for from in [0, 1] {
            match (&self.ends[from]).read(&mut room) {
                Ok(0) => return false,
                Ok(bytes) => self.under_way[from].extend_from_slice(&room[..bytes]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
            let bytes = &mut self.under_way[from];
            match (&self.ends[1 - from]).write(bytes) {
                Ok(count) => drop(bytes.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
        true
    }
}

/// Two ends and the cables between them; each turn takes a millisecond.
struct Model {
    ends: [Link; 2],
    wires: Vec<Option<Wire>>,
    is_up: Vec<bool>,
    now: Instant,
    /// Numbers of bytes written and read, each way.
    written: [u64; 2],
    read: [u64; 2],
    /// Maximum number of bytes that a cable moves in a turn.
    rate: Vec<usize>,
}

/// Returns the byte at a place of the stream that an end sends.
fn byte(end: usize, place: u64) -> u8 {
    (place ^ place >> 8 ^ place >> 16) as u8 ^ end as u8
}

impl Model {
    fn new(paths: usize) -> Self {
        let now = Instant::now();
        let mut model = Model {
            ends: [0, 1].map(|_| Link::new(paths, LIMIT, now)),
            wires: (0..paths).map(|_| None).collect(),
            is_up: vec![true; paths],
            now,
            written: [0; 2],
            read: [0; 2],
            rate: vec![256 << 10; paths],
        };
        (0..paths).for_each(|path| model.connect(path));
        model
    }

    fn connect(&mut self, path: usize) {
        let ([a, near], [b, far]) = (pair(), pair());
        self.wires[path] = Some(Wire { ends: [near, far], under_way: Default::default() });
        self.ends[0].add_lane(path, a, self.now);
        self.ends[1].add_lane(path, b, self.now);
    }

    /// Lets `end` write up to `most` bytes.
    fn write(&mut self, end: usize, most: usize) {
        let from = self.written[end];
        let data: Vec<u8> = (from..from + most as u64).map(|place| byte(end, place)).collect();
        let (one, other) = data.split_at(most / 3);
        let pieces = [IoSlice::new(one), IoSlice::new(other)];
        match self.ends[end].write(&pieces, self.now) {
            Ok(count) => self.written[end] += count as u64,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }

    /// Lets an end read into `room` bytes, and checks the data.
    fn read(&mut self, end: usize, room: usize) {
        let mut room = vec![0; room];
        match self.ends[end].read(&mut room, self.now) {
            Ok(count) => {
                let from = self.read[end];
                for (place, found) in (from..).zip(&room[..count]) {
                    assert_eq!(*found, byte(1 - end, place), "at byte {place}");
                }
                self.read[end] += count as u64;
                assert!(self.read[end] <= self.written[1 - end], "more than was sent");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}"),
        }
    }

    fn read_both(&mut self) {
        (0..2).for_each(|end| self.read(end, 1 << 20));
    }

    /// Simulates a millisecond: cables move bytes, and paths without a connection that moves get one.
    fn turn(&mut self) {
        self.now += MS;
        for path in 0..self.wires.len() {
            let moves = self.wires[path].as_mut().filter(|_| self.is_up[path]);
            if moves.is_some_and(|wire| !wire.pump(self.rate[path])) {
                self.wires[path] = None;
            }
            let is_wanted = self.ends.iter().any(|end| end.wants(self.now).any(|one| one == path));
            if self.is_up[path] && is_wanted {
                self.connect(path);
            }
        }
        let now = self.now;
        self.ends.iter_mut().for_each(|end| end.tend(now));
    }

    fn is_through(&self) -> bool {
        let all = |end: usize| self.read[1 - end] == self.written[end];
        all(0) && all(1) && self.ends.iter().all(Link::is_drained)
    }

    /// Stops cutting, and lets everything arrive.
    fn finish(&mut self) {
        self.is_up.iter_mut().for_each(|up| *up = true);
        for _ in 0..4000 {
            self.turn();
            self.read_both();
            if self.is_through() {
                return;
            }
        }
        panic!("{:?} of {:?} bytes have come", self.read, self.written);
    }
}

/// Makes random writes, reads and cuts of these cables. Returns the number of cuts.
fn random_run(seed: u64, paths: usize, turns: usize) -> usize {
    let mut random = Random(seed);
    let mut model = Model::new(paths);
    let mut cuts = 0;
    for _ in 0..turns {
        let end = random.below(2) as usize;
        let most = [60, 3000, 200_000][random.below(3) as usize];
        model.write(end, 1 + random.below(most) as usize);
        model.turn();
        model.read(random.below(2) as usize, 1 + random.below(300_000) as usize);
        let path = random.below(paths as u64) as usize;
        match random.below(60) {
            // The system of one end, or of both, reports that the connection is gone.
            0 => model.wires[path] = None,
            // Nothing passes, and nobody reports that.
            1 | 2 if model.is_up[path] => model.is_up[path] = false,
            3..6 if !model.is_up[path] => {
                model.is_up[path] = true;
                continue;
            }
            _ => continue,
        }
        cuts += 1;
    }
    model.finish();
    cuts
}

#[test]
fn random_cuts_lose_nothing_and_double_nothing() {
    let mut cuts = 0;
    for seed in 0..16 {
        let found = std::panic::catch_unwind(|| random_run(seed, 1 + seed as usize % 3, 700));
        cuts += found.unwrap_or_else(|_| panic!("seed {seed}"));
    }
    assert!(cuts >= 300, "{cuts} cuts");
}

#[test]
fn long_messages_use_both_cables_and_short_ones_the_first() {
    let mut model = Model::new(2);
    model.rate = vec![50_000, 50_000];
    let carried = |model: &Model| [0, 1].map(|index| model.ends[1].lanes[index].read_here);
    for _ in 0..20 {
        model.write(0, 100);
        model.turn();
        model.read_both();
    }
    model.finish();
    assert_eq!(carried(&model), [2000, 0]);
    for _ in 0..200 {
        model.write(0, 1 << 20);
        model.turn();
        model.read_both();
    }
    let [first, second] = carried(&model);
    // Both cables move the same in a turn, and neither waits for the other.
    assert!(second > first / 2 && first > second / 2, "{first} and {second} bytes");
    assert!(first + second > 200 * 75_000, "{first} and {second} bytes in 200 turns");
    model.finish();
}

#[test]
fn a_silent_cut_moves_the_traffic_and_a_cable_that_is_back_is_used_again() {
    let mut model = Model::new(2);
    let read_after = |model: &mut Model, turns: usize| {
        let before = model.read[1];
        for _ in 0..turns {
            model.write(0, 100_000);
            model.turn();
            model.read_both();
        }
        model.read[1] - before
    };
    assert!(read_after(&mut model, 100) > 0);
    model.is_up[0] = false;
    // Data in flight on the first cable are detected as missing after the standstill, and use the second.
    read_after(&mut model, STANDSTILL.as_millis() as usize + 20);
    let meanwhile = read_after(&mut model, 100);
    assert!(meanwhile > 1_000_000, "{meanwhile} bytes");
    model.is_up[0] = true;
    read_after(&mut model, 300);
    assert!(model.ends[0].lanes.iter().any(|lane| lane.path == 0 && !lane.is_suspect));
    assert!(read_after(&mut model, 100) > 1_000_000);
    model.finish();
}

#[test]
fn a_side_that_has_sent_nothing_learns_of_a_cut_cable_from_the_other() {
    let mut model = Model::new(2);
    model.is_up[0] = false;
    model.write(0, 1000);
    // These are lost with the cable, too, a little later.
    for turn in 0..STANDSTILL.as_millis() + 40 {
        if turn == STANDSTILL.as_millis() - 5 {
            model.write(1, 500);
        }
        model.turn();
        model.read_both();
    }
    assert_eq!(model.read, [500, 1000], "they went over the second cable in the end");
    model.write(1, 1000);
    for _ in 0..10 {
        model.turn();
        model.read_both();
    }
    assert_eq!(model.read[0], 1500, "its answer was not tried over the first one");
    model.finish();
    // The end of a connection is seen by the read after that of its last bytes.
    model.read_both();
    assert!(model.ends.iter().all(|end| end.lanes.iter().all(|lane| !lane.is_suspect)));
}

#[test]
fn a_process_that_computes_is_not_taken_for_dead_and_its_connections_stay() {
    let mut model = Model::new(2);
    model.write(0, 1 << 20);
    // The other end is not tended and reads nothing, for longer than the limit; its system accepts connections.
    for _ in 0..LIMIT.as_millis() + 1000 {
        model.now += MS;
        let now = model.now;
        let wanted = model.ends[0].wants(now).count();
        if wanted > 0 {
            model.ends[0].found_alive(now);
        }
        model.ends[0].tend(now);
        assert!(model.ends[0].check().is_ok());
    }
    assert_eq!(model.ends[0].lanes_ever(), 2);
    model.finish();
}

#[test]
fn a_process_that_is_unreachable_for_the_time_limit_is_gone() {
    let mut model = Model::new(2);
    model.write(0, 1000);
    model.is_up = vec![false; 2];
    let begin = model.now;
    while model.ends[0].check().is_ok() {
        model.turn();
        assert!(model.now - begin < 2 * LIMIT);
    }
    assert!(model.now - begin >= LIMIT);
    let error = model.ends[0].read(&mut [0], model.now).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains("out of reach for 5"), "{error}");
}

#[test]
fn rubbish_costs_the_connection_and_not_the_stream() {
    let mut model = Model::new(1);
    model.write(0, 5000);
    // It is unknown what was in flight when rubbish was written in the middle of it.
    model.wires[0].as_mut().unwrap().under_way[0].extend_from_slice(&[99; 40]);
    model.finish();
    assert_eq!(model.ends[1].lanes_ever(), 2);
}
