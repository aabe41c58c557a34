//! The tuple space of Linda, over active messages.
//!
//! After Gelernter, *Generative communication in Linda* (1985); workers that withdraw and come back after *Piranha*,
//! leases after *Paradise*. `docs/services.md` states the guarantees.
//!
//! * `value`, `encoding`: tuples and templates, and their bytes;
//! * `store`: the tuples at their home, without messages;
//! * `message`: requests and replies;
//! * `operations`: the operations.

mod encoding;
mod message;
mod operations;
mod store;
mod value;

use contract::{Buffer, Rank, check_rank};

pub use operations::{Function, Leased, TupleOperations};
pub use value::{Field, Template, Tuple, Wanted};

use crate::{ActiveMessages, Call, Handlers, Result};
use store::{Reply, Request, Store};

/// A request from a rank to the home.
const REQUEST: u8 = 0;
/// The home's reply to it.
const REPLY: u8 = 1;
/// A reply to a rank that had to wait, as a request of the home.
const LATE_REPLY: u8 = 2;

/// A tuple space at one rank. To use it, [enter](TupleSpace::enter) it.
pub struct TupleSpace {
    active: ActiveMessages<Mailbox>,
    mailbox: Mailbox,
    home: usize,
    capacity: usize,
}

/// The state of the handlers of one rank.
struct Mailbox {
    /// The tuples, at the home.
    store: Option<Store>,
    /// The reply to this rank's request.
    reply: Option<Reply>,
    /// Number of requests and replies so far.
    handled: u64,
}

impl TupleSpace {
    /// Opens a space among all ranks of `rank`, as a collective with the same arguments. All tuples are at rank `home`,
    /// at most `capacity` of them. No rank has joined it yet.
    ///
    /// # Errors
    /// A home that does not exist, and those of the fabric.
    pub fn open(rank: &mut dyn Rank, home: usize, capacity: usize) -> Result<Self> {
        check_rank(home, rank.size())?;
        let handlers =
            Handlers::new().with(REQUEST, answer).with(REPLY, receive).with(LATE_REPLY, receive);
        let store = (rank.rank() == home).then(|| Store::new(rank.size(), capacity));
        let active = ActiveMessages::open(rank, handlers, Buffer::zeroed(0))?;
        let mailbox = Mailbox { store, reply: None, handled: 0 };
        Ok(TupleSpace { active, mailbox, home, capacity })
    }

    /// Returns the operations. `rank` is the one with which the space was opened.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> TupleOperations<'a> {
        let (home, capacity) = (self.home, self.capacity);
        TupleOperations::new(self.active.enter(rank, &mut self.mailbox), home, capacity)
    }

    /// Closes the space on all ranks, as a collective. The home serves the others until all have called it.
    pub fn close(mut self, rank: &mut dyn Rank) -> Result<()> {
        self.enter(rank).end()?;
        self.active.close(rank, &mut self.mailbox).map(drop)
    }
}

/// Answers a request at the home, or queues a rank that must wait.
fn answer(mailbox: &mut Mailbox, call: &mut Call<'_>) -> Result<()> {
    mailbox.handled += 1;
    let from = call.from();
    let request: Request = message::request(from, call.words(), call.data())?;
    let store = mailbox.store.as_mut().ok_or_else(|| crate::Error::Malformed {
        from,
        what: "it asks a rank where no tuples live".into(),
    })?;
    let Some(reply) = store.handle(from, request) else { return Ok(()) };
    let (words, data) = message::of_reply(&reply)?;
    call.reply_medium(REPLY, &words, &data)
}

/// Takes the reply at the rank that made the request.
fn receive(mailbox: &mut Mailbox, call: &mut Call<'_>) -> Result<()> {
    mailbox.handled += 1;
    mailbox.reply = Some(message::reply(call.from(), call.words(), call.data())?);
    Ok(())
}
