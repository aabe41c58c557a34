//! The tuple space of Linda, over active messages.
//!
//! After Gelernter, *Generative communication in Linda* (1985); workers that withdraw and come back after *Piranha*,
//! leases after *Paradise*. `docs/services.md` states what is guaranteed.
//!
//! * `value`, `encoding`: tuples and templates, and their bytes;
//! * `store`: where they live, without messages;
//! * `message`: questions and replies;
//! * `visit`: the operations.

mod encoding;
mod message;
mod store;
mod value;
mod visit;

use contract::{Buffer, Rank, check_rank};

pub use value::{Field, Template, Tuple, Wanted};
pub use visit::{Function, Leased, Visit};

use crate::{ActiveMessages, Call, Handlers, Result};
use store::{Ask, Reply, Store};

/// A question from a rank to the home.
const ASK: u8 = 0;
/// The home's reply to it.
const REPLY: u8 = 1;
/// The same, later: a request to a rank that had to wait.
const LATE: u8 = 2;

/// A tuple space, as one rank sees it. To use it, [enter](TupleSpace::enter) it.
pub struct TupleSpace {
    active: ActiveMessages<Mailbox>,
    mailbox: Mailbox,
    home: usize,
    capacity: usize,
}

/// The state of the handlers of one rank.
struct Mailbox {
    /// At the home, the tuples.
    store: Option<Store>,
    /// The reply to this rank's question.
    reply: Option<Reply>,
    /// Questions and replies so far.
    handled: u64,
}

impl TupleSpace {
    /// Opens a space among all ranks of `rank`, each of which calls this as a collective with the same arguments. All
    /// tuples live at rank `home`, at most `capacity` of them. No rank has joined it yet.
    ///
    /// # Errors
    /// A home that does not exist, and those of the fabric.
    pub fn open(rank: &mut dyn Rank, home: usize, capacity: usize) -> Result<Self> {
        check_rank(home, rank.size())?;
        let handlers = Handlers::new().with(ASK, answer).with(REPLY, receive).with(LATE, receive);
        let store = (rank.rank() == home).then(|| Store::new(rank.size(), capacity));
        let active = ActiveMessages::open(rank, handlers, Buffer::zeroed(0))?;
        let mailbox = Mailbox { store, reply: None, handled: 0 };
        Ok(TupleSpace { active, mailbox, home, capacity })
    }

    /// Makes the operations possible. `rank` is the one that the space was opened with.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> Visit<'a> {
        let (home, capacity) = (self.home, self.capacity);
        Visit::new(self.active.enter(rank, &mut self.mailbox), home, capacity)
    }

    /// Closes the space on all ranks, each of which calls this as a collective. The home serves the others until all
    /// have come.
    pub fn close(mut self, rank: &mut dyn Rank) -> Result<()> {
        self.enter(rank).end()?;
        self.active.close(rank, &mut self.mailbox).map(drop)
    }
}

/// At the home: answers a question, or notes who waits.
fn answer(mailbox: &mut Mailbox, call: &mut Call<'_>) -> Result<()> {
    mailbox.handled += 1;
    let from = call.from();
    let ask: Ask = message::ask(from, call.words(), call.data())?;
    let store = mailbox.store.as_mut().ok_or_else(|| crate::Error::Malformed {
        from,
        what: "it asks a rank where no tuples live".into(),
    })?;
    let Some(reply) = store.ask(from, ask) else { return Ok(()) };
    let (words, data) = message::of_reply(&reply)?;
    call.reply_medium(REPLY, &words, &data)
}

/// The origin of the request, which takes the reply.
fn receive(mailbox: &mut Mailbox, call: &mut Call<'_>) -> Result<()> {
    mailbox.handled += 1;
    mailbox.reply = Some(message::reply(call.from(), call.words(), call.data())?);
    Ok(())
}
