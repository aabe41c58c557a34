use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use random::SplitMix64;

use super::*;
use crate::page::{LongWait, PollState};

/// The connection of a launcher to whoever started the run.
#[derive(Debug, Default)]
struct Link {
    ranks: usize,
    round: Mutex<u32>,
    words: Mutex<VecDeque<Word>>,
    quiet_after: Option<Duration>,
}

impl WholeRun for Link {
    fn ranks(&self) -> usize {
        self.ranks
    }

    fn round(&self) -> u32 {
        *self.round.lock().unwrap()
    }

    fn quiet_after(&self) -> Option<Duration> {
        self.quiet_after
    }

    fn announce(&self, word: Word) {
        self.words.lock().unwrap().push_back(word);
    }

    fn requests_activities(&self) -> bool {
        false
    }

    fn report_activities(&self, _ranks: &[RankActivity]) {}
}

fn waits(polls: u64, sent: u64, received: u64) -> RankState {
    let state = sent + received;
    let found = PollState { state, sent, received, ..PollState::default() };
    RankState::Waits(LongWait { number: 1, polls, found })
}

fn stand(round: u32, sent: u64, received: u64) -> Word {
    Word::Stand { round, amounts: Amounts { sent, received } }
}

#[test]
fn a_launcher_announces_a_standstill_answers_each_round_and_announces_a_move() {
    let link = Arc::new(Link { ranks: 2, ..Link::default() });
    let mut host = HostPart::new(Arc::clone(&link) as Arc<dyn WholeRun>);
    let mut now = Instant::now();
    let mut words_after = |ranks: &[RankState], has_moved| {
        now += Duration::from_secs(1);
        host.note(now, ranks, if has_moved { Duration::ZERO } else { Duration::from_secs(1) });
        std::mem::take(&mut *link.words.lock().unwrap())
    };
    assert!(words_after(&[waits(1, 7, 4), waits(1, 0, 1)], true).is_empty());
    // The second rank has had five idle polls since the first moment.
    assert!(words_after(&[waits(7, 7, 4), waits(6, 0, 1)], false).is_empty());
    assert_eq!(words_after(&[waits(8, 7, 4), waits(7, 0, 1)], false), [stand(0, 7, 5)]);
    assert!(words_after(&[waits(20, 7, 4), waits(20, 0, 1)], false).is_empty());
    // Polls from before the question do not count.
    *link.round.lock().unwrap() = 1;
    assert!(words_after(&[waits(30, 7, 4), waits(30, 0, 1)], false).is_empty());
    assert!(words_after(&[waits(35, 7, 4), waits(35, 0, 1)], false).is_empty());
    assert_eq!(words_after(&[waits(36, 7, 4), waits(36, 0, 1)], false), [stand(1, 7, 5)]);
    assert_eq!(words_after(&[waits(40, 7, 5), waits(40, 0, 1)], true), [Word::Move]);
    assert_eq!(words_after(&[waits(46, 7, 5), waits(46, 0, 1)], false), [stand(1, 7, 6)]);
}

#[test]
fn a_launcher_announces_once_that_its_ranks_are_quiet_until_one_moves() {
    let quiet_after = Some(Duration::from_secs(10));
    let link = Arc::new(Link { ranks: 8, quiet_after, ..Link::default() });
    let mut host = HostPart::new(Arc::clone(&link) as Arc<dyn WholeRun>);
    let now = Instant::now();
    let mut words_after = |ranks: &[RankState], seconds| {
        host.note(now, ranks, Duration::from_secs(seconds));
        std::mem::take(&mut *link.words.lock().unwrap())
    };
    // A rank that computes prevents the announcement of a standstill for ever.
    let ranks = [waits(1, 7, 4), RankState::Runs];
    assert!(words_after(&ranks, 0).is_empty() && words_after(&ranks, 9).is_empty());
    assert_eq!(words_after(&ranks, 10), [Word::Quiet { waits: true }]);
    assert!(words_after(&ranks, 30).is_empty());
    assert_eq!(words_after(&[RankState::Runs; 2], 0), [Word::Move]);
    assert!(words_after(&[RankState::Runs; 2], 0).is_empty());
    assert_eq!(words_after(&[RankState::Runs; 2], 11), [Word::Quiet { waits: false }]);
}

#[test]
fn amounts_count_only_if_nobody_has_moved_between_two_rounds() {
    let mut search = HangSearch::new(2);
    assert_eq!(search.take(0, stand(0, 5, 3)), NextStep::Wait);
    // The amounts are equal, but each is of another moment.
    assert_eq!(search.take(1, stand(0, 1, 3)), NextStep::Request(1));
    assert_eq!(search.take(0, stand(1, 5, 3)), NextStep::Wait);
    assert_eq!(search.take(1, Word::Move), NextStep::Wait);
    assert_eq!(search.take(1, stand(1, 1, 3)), NextStep::Request(2));
    assert_eq!(search.take(0, stand(2, 5, 3)), NextStep::Wait);
    // A byte is still under way.
    assert_eq!(search.take(1, stand(2, 2, 3)), NextStep::Request(3));
    assert_eq!(search.take(0, stand(3, 5, 3)), NextStep::Wait);
    // The answer to an earlier round.
    assert_eq!(search.take(1, stand(2, 1, 3)), NextStep::Wait);
    assert_eq!(search.take(1, stand(3, 1, 3)), NextStep::Hang);
}

/// A rank of the model. It publishes what it has done in its idle polls only, as real ranks do.
#[derive(Clone, Copy, Default)]
struct ModelRank {
    polls: u64,
    sent: u64,
    received: u64,
    published: (u64, u64, u64),
}

/// Ranks on hosts that pass messages on, each of which takes a random time, as do the words of launchers.
struct Model {
    random: SplitMix64,
    now: Instant,
    ranks: Vec<Vec<ModelRank>>,
    /// The hosts and ranks to which messages are under way, and the steps that these still take.
    under_way: Vec<(usize, usize, usize)>,
    messages_left: usize,
    links: Vec<Arc<Link>>,
    launchers: Vec<(HostPart, Standstill)>,
    search: HangSearch,
    /// A word arrives in one of so many steps.
    word_steps: usize,
    /// The rounds that were asked for, which arrive later.
    requested: Vec<u32>,
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let ranks: Vec<Vec<ModelRank>> = (0..2 + random.below(2))
            .map(|_| vec![ModelRank::default(); 1 + random.below(3)])
            .collect();
        let size = ranks.iter().map(Vec::len).sum();
        let links: Vec<Arc<Link>> =
            ranks.iter().map(|_| Arc::new(Link { ranks: size, ..Link::default() })).collect();
        let launcher = |link: &Arc<Link>| {
            (HostPart::new(Arc::clone(link) as Arc<dyn WholeRun>), Standstill::default())
        };
        let mut model = Model {
            now: Instant::now(),
            under_way: Vec::new(),
            messages_left: random.below(60),
            launchers: links.iter().map(launcher).collect(),
            search: HangSearch::new(ranks.len()),
            word_steps: random.pick(&[1, 30, 300]),
            requested: vec![0; ranks.len()],
            links,
            ranks,
            random,
        };
        model.send(0, 0);
        model
    }

    fn send(&mut self, host: usize, rank: usize) {
        let to = self.random.below(self.ranks.len());
        let receiver = self.random.below(self.ranks[to].len());
        // Some take longer than a whole search.
        let longest = self.random.pick(&[20, 20, 20, 400]);
        let steps = self.random.below(longest);
        self.under_way.push((to, receiver, steps));
        self.ranks[host][rank].sent += 1;
    }

    /// A poll of a rank.
    fn poll(&mut self, host: usize, rank: usize) {
        let arrived = |&(to, receiver, steps): &(usize, usize, usize)| {
            (to, receiver, steps) == (host, rank, 0)
        };
        match self.under_way.iter().position(arrived) {
            Some(index) => {
                self.under_way.swap_remove(index);
                self.ranks[host][rank].received += 1;
                for _ in 0..self.random.below(3).min(self.messages_left) {
                    self.messages_left -= 1;
                    self.send(host, rank);
                }
            }
            None => {
                let one = &mut self.ranks[host][rank];
                one.polls += 1;
                one.published = (one.polls, one.sent, one.received);
            }
        }
    }

    /// A check of a launcher, and the arrival of a word from it and to it. Returns whether a hang is proved.
    fn check(&mut self, host: usize) -> bool {
        let published = |one: &ModelRank| waits(one.published.0, one.published.1, one.published.2);
        let ranks: Vec<RankState> = self.ranks[host].iter().map(published).collect();
        let (part, standstill) = &mut self.launchers[host];
        let stands = standstill.note(self.now, &ranks);
        part.note(self.now, &ranks, stands);
        let from = self.random.below(self.ranks.len());
        let arrives = self.random.below(self.word_steps) == 0;
        let mut words = self.links[from].words.lock().unwrap();
        let word = if arrives { words.pop_front() } else { None };
        drop(words);
        if let Some(word) = word {
            match self.search.take(from, word) {
                NextStep::Hang => return true,
                NextStep::Request(round) => self.requested.fill(round),
                NextStep::Wait => {}
            }
        }
        let to = self.random.below(self.ranks.len());
        *self.links[to].round.lock().unwrap() = self.requested[to];
        false
    }
}

#[test]
fn a_hang_is_found_once_nothing_is_under_way_between_hosts_and_never_before() {
    for seed in 1..200 {
        let mut model = Model::new(seed);
        let is_found = (0..60_000).any(|_| {
            let pause_ms = 1 + model.random.below(40) as u64;
            model.now += Duration::from_millis(pause_ms);
            model.under_way.iter_mut().for_each(|one| one.2 = one.2.saturating_sub(1));
            let host = model.random.below(model.ranks.len());
            let rank = model.random.below(model.ranks[host].len());
            model.poll(host, rank);
            let checked = model.random.below(model.ranks.len());
            let is_proved = model.check(checked);
            assert!(!is_proved || model.under_way.is_empty(), "seed {seed}");
            is_proved
        });
        assert!(is_found, "seed {seed}");
    }
}
