//! A slow recursion over stages, links and buffers, which predicts chains on a machine without noise. It shares with the
//! chains only the reading of their files.

use benchmark::Chain;

use super::levels::{ELEMENT_BYTES, Level, Rates, levels};

/// A message on its way.
struct Message {
    /// The level and member of the sender of the block.
    from: (usize, usize),
    /// The member of the next level and the block that it is for.
    to: (usize, usize),
    /// True for the receiver's request, which goes against the flow.
    asks: bool,
    /// Times at which it has left its sender, has come to its receiver, and was taken in there.
    left_us: f64,
    came_us: Option<f64>,
    ends_us: Option<f64>,
    /// Time on each link, and the rank that receives it; none for a message of a rank to itself.
    link_us: f64,
    receiver: Option<usize>,
}

/// What a rank learns of its messages: that a block has left it, was asked for, or has arrived.
#[derive(Clone, Copy, PartialEq)]
enum News {
    Left { from: (usize, usize), block: usize },
    Requested { from: (usize, usize), by: usize },
    Arrived { level: usize, member: usize, block: usize },
}

/// The state of one rank's part of a level.
#[derive(Clone, Default)]
struct Part {
    /// Numbers of blocks that are asked for, that are processed, and whose room is free again.
    asked: usize,
    processed: usize,
    freed: usize,
    /// Pieces of each block that have arrived.
    arrived: Vec<usize>,
    /// Number of pieces that each member of the next level has asked for and has not got.
    credit: Vec<usize>,
    /// Pieces that wait to be sent, by member and block; and the number of those that are not received yet.
    queue: Vec<(usize, usize)>,
    away: usize,
    /// Pieces away of each matrix.
    away_of: Vec<usize>,
    /// End of the work on a block.
    busy_until: Option<f64>,
}

/// Returns the time at which the last of this number of matrices has arrived, which follow each other at once.
pub(super) fn ends_us(chain: &Chain, rates: &Rates, matrices: usize) -> f64 {
    let levels = levels(chain, rates);
    let mut world = World::new(&levels, chain, rates, matrices);
    loop {
        while world.advance() {}
        if world.is_done() {
            return world.now_us;
        }
        world.pass();
    }
}

struct World<'a> {
    levels: &'a [Level],
    slots: usize,
    overlaps_sends: bool,
    link: f64,
    matrices: usize,
    now_us: f64,
    parts: Vec<Vec<Part>>,
    /// Messages under way, and the time from which each rank's link is free, outwards and inwards.
    messages: Vec<Message>,
    outwards_us: Vec<f64>,
    inwards_us: Vec<f64>,
    /// What each rank has not yet taken note of.
    news: Vec<Vec<News>>,
}

impl<'a> World<'a> {
    fn new(levels: &'a [Level], chain: &Chain, rates: &Rates, matrices: usize) -> World<'a> {
        let members = chain.ranks();
        let part = |level: &Level| Part {
            credit: vec![0; members],
            arrived: vec![0; matrices * level.blocks],
            away_of: vec![0; matrices],
            ..Part::default()
        };
        let free = vec![0.0; chain.ranks()];
        World {
            levels,
            slots: chain.buffers,
            overlaps_sends: chain.overlap_sends,
            link: rates.link,
            matrices,
            now_us: 0.0,
            parts: levels.iter().map(|level| vec![part(level); level.ranks.len()]).collect(),
            messages: Vec::new(),
            news: vec![Vec::new(); chain.ranks()],
            outwards_us: free.clone(),
            inwards_us: free,
        }
    }

    fn is_done(&self) -> bool {
        let sink = self.levels.len() - 1;
        let all = self.matrices * self.levels[sink].blocks;
        self.parts[sink].iter().all(|part| part.processed == all)
    }

    /// Does one thing that can be done now. Returns whether there was one.
    fn advance(&mut self) -> bool {
        self.end_one()
            || self.request_one()
            || self.send_one()
            || self.hear_one(true)
            || self.begin_one()
            || self.hear_one(false)
    }

    /// Lets the time pass until something ends.
    fn pass(&mut self) {
        let work = self.parts.iter().flatten().filter_map(|part| part.busy_until);
        let next = |one: &Message| one.ends_us.or(one.came_us).unwrap_or(one.left_us);
        let ends = work.chain(self.messages.iter().map(next));
        self.now_us = ends.min_by(f64::total_cmp).expect("something is under way");
    }

    fn end_one(&mut self) -> bool {
        let now_us = self.now_us;
        let leaves = |one: &&mut Message| one.came_us.is_none() && one.left_us <= now_us;
        if let Some(one) = self.messages.iter_mut().find(leaves) {
            one.came_us = Some(now_us + one.link_us);
            let (from, block, asks) = (one.from, one.to.1, one.asks);
            let is_own = one.receiver.is_none();
            if !asks {
                self.send(is_own, from, News::Left { from, block });
            }
            return true;
        }
        let comes = |one: &&mut Message| {
            one.ends_us.is_none() && one.came_us.is_some_and(|us| us <= now_us)
        };
        if let Some(one) = self.messages.iter_mut().find(comes) {
            // A receiver takes messages in one after the other, in the order in which they have come as a whole: a short
            // one does not wait for a long one that is still on the link.
            let mut link = 0.0;
            let inwards_us = one.receiver.map_or(&mut link, |rank| &mut self.inwards_us[rank]);
            *inwards_us = now_us.max(*inwards_us + one.link_us);
            one.ends_us = Some(*inwards_us);
            return true;
        }
        let ended = |one: &Message| one.ends_us.is_some_and(|end_us| end_us <= now_us);
        if let Some(at) = self.messages.iter().position(ended) {
            let Message { from, to: (member, block), asks, receiver, .. } =
                self.messages.swap_remove(at);
            let is_own = receiver.is_none();
            match asks {
                true => self.send(is_own, from, News::Requested { from, by: member }),
                false => {
                    let level = from.0 + 1;
                    self.send(is_own, (level, member), News::Arrived { level, member, block });
                }
            }
            return true;
        }
        for level in 0..self.levels.len() {
            for member in 0..self.parts[level].len() {
                let part = &mut self.parts[level][member];
                if part.busy_until.is_some_and(|end| end <= self.now_us) {
                    part.busy_until = None;
                    self.processed(level, member);
                    return true;
                }
            }
        }
        false
    }

    /// Tells the rank of a part, which takes note of its own blocks at once.
    fn send(&mut self, is_own: bool, (level, member): (usize, usize), news: News) {
        let rank = self.levels[level].ranks[member];
        if is_own { self.hear(news) } else { self.news[rank].push(news) }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Requested { from, by } => self.parts[from.0][from.1].credit[by] += 1,
            News::Arrived { level, member, block } => self.parts[level][member].arrived[block] += 1,
            News::Left { from, block } => self.left(from, block),
        }
    }

    /// Lets a rank that does nothing take note of a message: of a request if it has blocks to send, before it works on, or
    /// of any if it has nothing to work on.
    fn hear_one(&mut self, only_requests: bool) -> bool {
        for rank in 0..self.news.len() {
            let mut parts = self.levels.iter().zip(&self.parts).flat_map(|(level, parts)| {
                level.ranks.iter().zip(parts).filter(move |(own, _)| **own == rank)
            });
            let is_queued = parts.any(|(_, part)| !part.queue.is_empty());
            let wanted = |news: &News| !only_requests || matches!(news, News::Requested { .. });
            let at = self.news[rank].iter().position(wanted);
            let Some(at) = at.filter(|_| self.free(rank) && (is_queued || !only_requests)) else {
                continue;
            };
            let news = self.news[rank].remove(at);
            self.hear(news);
            return true;
        }
        false
    }

    /// Frees the memory of a message for this block.
    fn left(&mut self, (level, member): (usize, usize), block: usize) {
        let blocks = self.levels[level + 1].blocks;
        let (in_place, sender) = (self.levels[level].sets == 0, &mut self.parts[level][member]);
        sender.away -= 1;
        sender.freed += usize::from(in_place);
        sender.away_of[block / blocks] -= 1;
    }

    /// Frees the room of a block, and queues the results that are ready.
    fn processed(&mut self, level: usize, member: usize) {
        let Level { blocks, turns, sets, ref ranks, .. } = self.levels[level];
        let last = level + 1 == self.levels.len();
        let part = &mut self.parts[level][member];
        let (matrix, number) = (part.processed / blocks, part.processed % blocks);
        part.processed += 1;
        part.freed += usize::from(sets > 0 || last);
        let Some(next) = self.levels.get(level + 1) else { return };
        // The rows of the next level in order: of a turned matrix all, else those of this member.
        let mut to: Vec<(usize, usize)> = match turns {
            true if number + 1 < blocks => return,
            true => (0..next.blocks)
                .flat_map(|block| (0..next.ranks.len()).map(move |member| (member, block)))
                .collect(),
            false => {
                let row_of = |number: usize| member * blocks + number;
                let place = |row: usize| (row / next.blocks, row % next.blocks);
                let mut rows: Vec<_> = (0..blocks).map(|number| place(row_of(number))).collect();
                if level == 0 {
                    // The source serves its receivers in turn.
                    rows.sort_by_key(|&(to, block)| (block, to));
                }
                vec![rows[number]]
            }
        };
        if turns && *ranks == next.ranks {
            // A rank's own rows come first.
            to.sort_by_key(|&(other, block)| (block, other != member));
        }
        part.away += to.len();
        part.away_of[matrix] += to.len();
        part.queue.extend(to.into_iter().map(|(to, block)| (to, matrix * next.blocks + block)));
    }

    /// Asks for a block for which there is room.
    fn request_one(&mut self) -> bool {
        for level in 1..self.levels.len() {
            for member in 0..self.parts[level].len() {
                let (before, own) = (&self.levels[level - 1], &self.levels[level]);
                let (asked, all) = (self.parts[level][member].asked, self.matrices * own.blocks);
                let is_sending = !self.overlaps_sends && self.parts[level][member].away > 0;
                let has_room = asked < all.min(self.room(level, member)) && !is_sending;
                if !has_room || !self.free(own.ranks[member]) {
                    continue;
                }
                let row = member * own.blocks + asked % own.blocks;
                let senders = match before.turns {
                    true => 0..before.ranks.len(),
                    false => row / before.blocks..row / before.blocks + 1,
                };
                self.parts[level][member].asked += 1;
                senders
                    .for_each(|sender| self.transfer((level - 1, sender), (member, asked), true));
                return true;
            }
        }
        false
    }

    fn send_one(&mut self) -> bool {
        for level in 0..self.levels.len() - 1 {
            for member in 0..self.parts[level].len() {
                let part = &self.parts[level][member];
                let is_requested = |&(to, _): &(usize, usize)| part.credit[to] > 0;
                let at = part.queue.iter().position(is_requested);
                let Some(at) = at.filter(|_| self.free(self.levels[level].ranks[member])) else {
                    continue;
                };
                let (to, block) = self.parts[level][member].queue.remove(at);
                self.parts[level][member].credit[to] -= 1;
                self.transfer((level, member), (to, block), false);
                return true;
            }
        }
        false
    }

    /// Returns the number of blocks for which a part has room.
    fn room(&self, level: usize, member: usize) -> usize {
        let own = self.levels[level].ranks[member];
        let senders = &self.levels[level - 1];
        // Blocks that all come from the rank itself are handed over one by one.
        let from_own = !senders.turns && senders.ranks == self.levels[level].ranks
            || senders.ranks.iter().all(|&rank| rank == own);
        self.parts[level][member].freed + if from_own { 1 } else { self.slots }
    }

    /// Sends a block, or asks for it.
    fn transfer(&mut self, from: (usize, usize), to: (usize, usize), asks: bool) {
        let (level, next) = (&self.levels[from.0], &self.levels[from.0 + 1]);
        let (mut sender, mut receiver) = (level.ranks[from.1], next.ranks[to.0]);
        let pieces = if level.turns { level.ranks.len() } else { 1 };
        let mut bytes = (next.rows * next.columns) as f64 * ELEMENT_BYTES / pieces as f64;
        if asks {
            (sender, receiver, bytes) = (receiver, sender, 0.0);
        }
        let is_sent = sender != receiver;
        let link_us = if is_sent { bytes / self.link } else { 0.0 };
        let mut left_us = self.now_us;
        if is_sent {
            left_us = self.outwards_us[sender].max(self.now_us) + link_us;
            self.outwards_us[sender] = left_us;
        }
        let receiver = is_sent.then_some(receiver);
        let (came_us, ends_us) = (None, None);
        self.messages.push(Message {
            from,
            to,
            asks,
            left_us,
            came_us,
            ends_us,
            link_us,
            receiver,
        });
    }

    fn free(&self, rank: usize) -> bool {
        self.levels.iter().zip(&self.parts).all(|(level, parts)| {
            level
                .ranks
                .iter()
                .zip(parts)
                .all(|(&own, part)| own != rank || part.busy_until.is_none())
        })
    }

    /// Begins the block furthest down the chain that a free rank can process.
    fn begin_one(&mut self) -> bool {
        for level in (0..self.levels.len()).rev() {
            for member in 0..self.parts[level].len() {
                if self.free(self.levels[level].ranks[member]) && self.can_begin(level, member) {
                    let end_us = self.now_us + self.levels[level].work_us;
                    self.parts[level][member].busy_until = Some(end_us);
                    return true;
                }
            }
        }
        false
    }

    fn can_begin(&self, level: usize, member: usize) -> bool {
        let Level { blocks, sets, .. } = self.levels[level];
        let part = &self.parts[level][member];
        if part.processed == self.matrices * blocks {
            return false;
        }
        if level == 0 {
            return part.away == 0;
        }
        let before = &self.levels[level - 1];
        let pieces = if before.turns { before.ranks.len() } else { 1 };
        if !self.overlaps_sends && part.away > 0 {
            return false;
        }
        let begins = part.processed.is_multiple_of(blocks);
        let used = part.away_of.iter().filter(|away| **away > 0).count();
        part.arrived[part.processed] == pieces && (sets == 0 || !begins || used < sets)
    }
}
