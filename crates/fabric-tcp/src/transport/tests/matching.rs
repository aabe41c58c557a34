//! Random sends, receives, claims and cancellations of three ranks, compared with a slow model of matching.

use contract::Claim;
use random::SplitMix64;

use super::*;

const RANKS: usize = 3;
const SEEDS: std::ops::Range<u64> = 1..13;
const STEPS: usize = 250;
/// Empty, in one frame with others, longer than the stage, and by RTS and CTS.
const LENGTHS: [usize; 5] = [0, 5, 3000, 20_000, LONG];
/// A byte that no message contains.
const UNTOUCHED: u8 = 0xee;

struct Send {
    from: usize,
    request: Request,
    data: Vec<u8>,
    synchronous: bool,
}

struct Receive {
    request: Request,
    room: Vec<u8>,
}

/// An unexpected message of the model.
struct Message {
    envelope: Envelope,
    send: Send,
}

/// The queues of one rank: of all matching pairs, the oldest receive gets the oldest message.
#[derive(Default)]
struct Waiting {
    receives: Vec<(Selector, Receive)>,
    messages: Vec<Message>,
}

struct Test {
    seed: u64,
    ranks: Ranks,
    waiting: Vec<Waiting>,
    random: SplitMix64,
    /// Numbers of messages received, receives cancelled, and messages claimed.
    counts: [usize; 3],
}

fn fits(selector: &Selector, envelope: &Envelope) -> bool {
    selector.context == envelope.context
        && [None, Some(envelope.source)].contains(&selector.source)
        && [None, Some(envelope.tag)].contains(&selector.tag)
}

impl Test {
    fn new(seed: u64) -> Self {
        let waiting = (0..RANKS).map(|_| Waiting::default()).collect();
        Test {
            seed,
            ranks: Ranks::new(RANKS),
            waiting,
            random: SplitMix64::new(seed),
            counts: [0; 3],
        }
    }

    fn random_selector(&mut self) -> Selector {
        let random = &mut self.random;
        let context = random.pick(&[0, 1, 6]);
        let source = (random.below(3) > 0).then(|| random.below(RANKS) as u32);
        let tag = (random.below(3) > 0).then(|| random.below(2) as u32);
        Selector { context, source, tag }
    }

    fn send(&mut self, number: usize) {
        let random = &mut self.random;
        let (from, to) = (random.below(RANKS), random.below(RANKS));
        let (context, tag) = (random.pick(&[0, 1, 6]), random.below(2) as u32);
        let bytes = random.pick(&LENGTHS);
        let synchronous = random.below(3) == 0;
        let data: Vec<u8> = (0..bytes).map(|at| (number * 7 + at) as u8 % 200).collect();
        let completion = if synchronous { Completion::Synchronous } else { Completion::Local };
        let place = Destination { rank: to, context, tag };
        let sent = self.ranks.engines[from].post_send(place, lend(&data), completion);
        let send = Send { from, request: sent.unwrap(), data, synchronous };
        let envelope = Envelope { context, source: from as u32, tag, bytes, room: bytes };
        let there = &mut self.waiting[to];
        match there.receives.iter().position(|(selector, _)| fits(selector, &envelope)) {
            None => there.messages.push(Message { envelope, send }),
            Some(place) => {
                let (_, receive) = there.receives.remove(place);
                self.complete(to, receive, Message { envelope, send });
            }
        }
    }

    fn receive(&mut self) {
        let (rank, selector) = (self.random.below(RANKS), self.random_selector());
        let mut room = vec![UNTOUCHED; self.random.pick(&[0, 7, LONG + 5])];
        let posted = self.ranks.engines[rank].post_receive(selector, lend_mut(&mut room), false);
        let receive = Receive { request: posted.unwrap(), room };
        let there = &mut self.waiting[rank];
        match there.messages.iter().position(|message| fits(&selector, &message.envelope)) {
            None => there.receives.push((selector, receive)),
            Some(place) => {
                let message = there.messages.remove(place);
                self.complete(rank, receive, message);
            }
        }
    }

    /// Waits until a message has reached its receive, and compares it.
    fn complete(&mut self, rank: usize, receive: Receive, message: Message) {
        let Message { envelope, send } = message;
        self.counts[0] += 1;
        self.ranks.poll_until(&format!("a message (seed {})", self.seed), |engines| {
            engines[rank].is_done(receive.request) && engines[send.from].is_done(send.request)
        });
        let found = self.ranks.engines[rank].end(receive.request);
        let room = receive.room.len();
        assert_eq!(found, Envelope { room, ..envelope }, "seed {}", self.seed);
        let kept = room.min(send.data.len());
        assert_eq!(receive.room[..kept], send.data[..kept], "seed {}", self.seed);
        assert!(receive.room[kept..].iter().all(|&byte| byte == UNTOUCHED), "seed {}", self.seed);
        let sent = self.ranks.engines[send.from].end(send.request);
        assert_eq!((sent.source, sent.bytes), (send.from as u32, send.data.len()));
    }

    fn cancel(&mut self) {
        let rank = self.random.below(RANKS);
        let receives = &mut self.waiting[rank].receives;
        if !receives.is_empty() {
            let (_, receive) = receives.remove(self.random.below(receives.len()));
            assert!(self.ranks.engines[rank].cancel_receive(receive.request));
            self.counts[1] += 1;
        }
    }

    fn probe_or_claim(&mut self, number: usize) {
        let (rank, selector) = (self.random.below(RANKS), self.random_selector());
        let messages = &mut self.waiting[rank].messages;
        let oldest = messages.iter_mut().find(|one| fits(&selector, &one.envelope));
        let expected = oldest.as_ref().map(|one| one.envelope);
        let engine = &mut self.ranks.engines[rank];
        assert_eq!(engine.probe(&selector, None), Ok(expected), "seed {}", self.seed);
        if self.random.below(2) == 0 {
            return;
        }
        // To another context and tag, for which some receives of the test are posted.
        let (context, tag) = (self.random.pick(&[6, 100]), number as u32 % 2);
        let claimed = engine.probe(&selector, Some(Claim { context, tag }));
        assert_eq!(claimed, Ok(expected), "seed {}", self.seed);
        if let Some(one) = oldest {
            (one.envelope.context, one.envelope.tag) = (context, tag);
            self.counts[2] += 1;
        }
    }

    /// Waits until the queues of each rank equal the model's.
    fn reach_the_model(&mut self) {
        let expected: Vec<(usize, usize)> =
            self.waiting.iter().map(|one| (one.receives.len(), one.messages.len())).collect();
        self.ranks.poll_until(&format!("{expected:?} (seed {})", self.seed), |engines| {
            engines.iter().map(waiting).eq(expected.iter().copied())
        });
        for message in self.waiting.iter().flat_map(|one| &one.messages) {
            let done = self.ranks.engines[message.send.from].is_done(message.send.request);
            assert!(!(done && message.send.synchronous), "seed {}", self.seed);
        }
        for (rank, waiting) in self.waiting.iter().enumerate() {
            let mut requests = waiting.receives.iter().map(|(_, receive)| receive.request);
            assert!(requests.all(|one| !self.ranks.engines[rank].is_done(one)));
        }
    }
}

#[test]
fn random_programs_match_as_in_the_model() {
    let mut totals = [0; 3];
    let mut add = |counts: &[usize; 3]| totals.iter_mut().zip(counts).for_each(|(t, c)| *t += c);
    for seed in SEEDS {
        let mut test = Test::new(seed);
        for number in 0..STEPS {
            match test.random.below(9) {
                0..4 => test.send(number),
                4..7 => test.receive(),
                7 => test.cancel(),
                _ => test.probe_or_claim(number),
            }
            test.reach_the_model();
        }
        add(&test.counts);
    }
    assert!(totals.iter().all(|&total| total > 10), "{totals:?}: too few to mean anything");
}
