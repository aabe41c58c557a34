//! The requests of a process to the endpoint behind its line. Lists and data follow a request in the buffer.

use contract::{
    AgreedCall, Awaited, CallId, ContextPlace, Envelope, Request, Selector, Time, TimeSpan,
};

use crate::stream::{Reader, Writer, request_of, selector_numbers, selector_of};

/// A request through a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The first request: the process has joined.
    Join {
        version: u64,
    },
    Now,
    WaitUntilTime(Time),
    /// The members follow.
    OpenContext {
        number: u32,
        me: usize,
    },
    CloseContext(ContextPlace),
    /// The data follow, here and in the other sends.
    PostSend {
        to: usize,
        context: u32,
        tag: u32,
        synchronous: bool,
        /// The operation's number in the process, here and below.
        request: Request,
    },
    PostReceive {
        selector: Selector,
        room: usize,
        request: Request,
    },
    Cancel(Request),
    Probe(Selector),
    Claim {
        selector: Selector,
        context: u32,
        tag: u32,
    },
    Progress,
    /// A sleep until something arrives, at most for this time.
    SleepAWhile(TimeSpan),
    /// A turn of others on the rank's processor.
    Yield,
    Test(Request),
    /// The operations follow.
    WaitAny,
    WaitUntil,
    /// The result of a poll that a reply requested.
    Polled(bool),
    Send {
        to: usize,
        context: u32,
        tag: u32,
        bytes: usize,
    },
    Receive {
        selector: Selector,
        room: usize,
    },
    Exchange {
        to: usize,
        context: u32,
        tag: u32,
        selector: Selector,
        room: usize,
    },
    /// A collective, whose parameters and data follow.
    Collective(ContextPlace),
    /// The result of combining elements, as a reply requested; it follows.
    Combined,
    /// A collective that the caller executes by messages.
    Announce {
        place: ContextPlace,
        call: AgreedCall,
    },
    Leave,
    IsHopeless(Request),
    NoneWillSend(Selector),
    GiveUpOn(Request),
    /// The last request, at the end of the process's part, with the computing time of threads that do not count. The
    /// error follows if the process failed.
    Finish {
        failed: bool,
        uncounted_ns: u64,
    },
}

/// Numbers of a request.
const NUMBERS: usize = 8;

impl Ask {
    /// Returns whether the reply reports completed operations. It does not if the process reads a clock, or makes the
    /// request within another call, because their data could not be stored then.
    pub(crate) fn learns_of_requests(&self) -> bool {
        !matches!(
            self,
            Ask::Now
                | Ask::WaitUntilTime(_)
                | Ask::IsHopeless(_)
                | Ask::NoneWillSend(_)
                | Ask::Join { .. }
        )
    }

    /// Returns whether this is a poll, or a rest between polls, which change nothing.
    pub(crate) fn is_poll(&self) -> bool {
        let rests = matches!(self, Ask::SleepAWhile(_) | Ask::Yield);
        rests || matches!(self, Ask::Probe(_) | Ask::Progress | Ask::Test(_))
    }

    /// Returns the events that a blocking request waits for.
    pub(crate) fn awaited(&self) -> Vec<Awaited> {
        match *self {
            Ask::Receive { selector, .. } | Ask::Exchange { selector, .. } => {
                vec![Awaited::Message(selector)]
            }
            Ask::Send { to, context, tag, bytes } => {
                let envelope = Envelope { context, tag, bytes, ..Envelope::default() };
                vec![Awaited::Receive { to, envelope }]
            }
            _ => Vec::new(),
        }
    }

    /// Writes it.
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let mut numbers = [0; NUMBERS];
        let (kind, rest) = self.numbers();
        numbers[0] = kind;
        numbers[1..=rest.len()].copy_from_slice(&rest);
        writer.numbers(&numbers);
    }

    /// Reads it, or returns `None` if this version has no such request.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        Self::of(reader.numbers::<NUMBERS>())
    }

    /// Returns its kind and its parameters.
    fn numbers(&self) -> (u64, [u64; NUMBERS - 1]) {
        let of = |given: &[u64]| {
            let mut numbers = [0; NUMBERS - 1];
            numbers[..given.len()].copy_from_slice(given);
            numbers
        };
        let select = |selector: Selector| selector_numbers(selector);
        let (to_number, request) = (|to: usize| to as u64, |one: Request| u64::from(one.0));
        match *self {
            Ask::Join { version } => (1, of(&[version])),
            Ask::Now => (2, of(&[])),
            Ask::WaitUntilTime(time) => (3, of(&[time.as_ps()])),
            Ask::OpenContext { number, me } => (4, of(&[number.into(), to_number(me)])),
            Ask::CloseContext(place) => (5, of(&[place.0.into()])),
            Ask::PostSend { to, context, tag, synchronous, request: one } => {
                let numbers =
                    [to_number(to), context.into(), tag.into(), synchronous.into(), request(one)];
                (6, of(&numbers))
            }
            Ask::PostReceive { selector, room, request: one } => {
                let [a, b, c] = select(selector);
                (7, of(&[a, b, c, to_number(room), request(one)]))
            }
            Ask::Cancel(one) => (8, of(&[request(one)])),
            Ask::Probe(selector) => (9, of(&select(selector))),
            Ask::Claim { selector, context, tag } => {
                let [a, b, c] = select(selector);
                (10, of(&[a, b, c, context.into(), tag.into()]))
            }
            Ask::Progress => (11, of(&[])),
            Ask::Test(one) => (12, of(&[request(one)])),
            Ask::WaitAny => (13, of(&[])),
            Ask::WaitUntil => (14, of(&[])),
            Ask::Polled(done) => (15, of(&[done.into()])),
            Ask::Send { to, context, tag, bytes } => {
                (16, of(&[to_number(to), context.into(), tag.into(), to_number(bytes)]))
            }
            Ask::Receive { selector, room } => {
                let [a, b, c] = select(selector);
                (17, of(&[a, b, c, to_number(room)]))
            }
            Ask::Exchange { to, context, tag, selector, room } => {
                let [a, b, c] = select(selector);
                (18, of(&[a, b, c, to_number(room), to_number(to), context.into(), tag.into()]))
            }
            Ask::Collective(place) => (19, of(&[place.0.into()])),
            Ask::Combined => (20, of(&[])),
            Ask::Announce { place, call: AgreedCall { id, bytes } } => {
                (21, of(&[place.0.into(), id.bits().into(), bytes as u64]))
            }
            Ask::Leave => (22, of(&[])),
            Ask::IsHopeless(one) => (23, of(&[request(one)])),
            Ask::NoneWillSend(selector) => (24, of(&select(selector))),
            Ask::GiveUpOn(one) => (25, of(&[request(one)])),
            Ask::Finish { failed, uncounted_ns } => (26, of(&[failed.into(), uncounted_ns])),
            Ask::SleepAWhile(longest) => (27, of(&[longest.as_ps()])),
            Ask::Yield => (28, of(&[])),
        }
    }

    fn of([kind, a, b, c, d, e, f, g]: [u64; NUMBERS]) -> Option<Self> {
        let selector = selector_of([a, b, c]);
        let place = ContextPlace(a as u32);
        Some(match kind {
            1 => Ask::Join { version: a },
            2 => Ask::Now,
            3 => Ask::WaitUntilTime(Time::from_ps(a)),
            4 => Ask::OpenContext { number: a as u32, me: b as usize },
            5 => Ask::CloseContext(place),
            6 => Ask::PostSend {
                to: a as usize,
                context: b as u32,
                tag: c as u32,
                synchronous: d != 0,
                request: request_of(e),
            },
            7 => Ask::PostReceive { selector, room: d as usize, request: request_of(e) },
            8 => Ask::Cancel(request_of(a)),
            9 => Ask::Probe(selector),
            10 => Ask::Claim { selector, context: d as u32, tag: e as u32 },
            11 => Ask::Progress,
            12 => Ask::Test(request_of(a)),
            13 => Ask::WaitAny,
            14 => Ask::WaitUntil,
            15 => Ask::Polled(a != 0),
            16 => Ask::Send { to: a as usize, context: b as u32, tag: c as u32, bytes: d as usize },
            17 => Ask::Receive { selector, room: d as usize },
            18 => Ask::Exchange {
                selector,
                room: d as usize,
                to: e as usize,
                context: f as u32,
                tag: g as u32,
            },
            19 => Ask::Collective(place),
            20 => Ask::Combined,
            21 => {
                let call = AgreedCall { id: CallId::from_bits(b as u32), bytes: c as usize };
                Ask::Announce { place, call }
            }
            22 => Ask::Leave,
            23 => Ask::IsHopeless(request_of(a)),
            24 => Ask::NoneWillSend(selector),
            25 => Ask::GiveUpOn(request_of(a)),
            26 => Ask::Finish { failed: a != 0, uncounted_ns: b },
            27 => Ask::SleepAWhile(TimeSpan::from_ps(a)),
            28 => Ask::Yield,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns every kind of request, with different numbers in it.
    fn all(random: [u32; 8], flag: bool) -> Vec<Ask> {
        let [a, b, c, d, e, f, g, h] = random;
        let place = ContextPlace(a);
        let selector =
            Selector { context: a, source: flag.then_some(b & 0xffff), tag: (!flag).then_some(c) };
        let (to, room, context, tag, one) = (d as usize, e as usize, f, g, Request(h));
        vec![
            Ask::Join { version: a.into() },
            Ask::Now,
            Ask::WaitUntilTime(Time::from_ps(u64::from(a) << 31)),
            Ask::OpenContext { number: a, me: to },
            Ask::CloseContext(place),
            Ask::PostSend { to, context, tag, synchronous: flag, request: one },
            Ask::PostReceive { selector, room, request: one },
            Ask::Cancel(one),
            Ask::Probe(selector),
            Ask::Claim { selector, context, tag },
            Ask::Progress,
            Ask::Test(one),
            Ask::WaitAny,
            Ask::WaitUntil,
            Ask::Polled(flag),
            Ask::Send { to, context, tag, bytes: room },
            Ask::Receive { selector, room },
            Ask::Exchange { to, context, tag, selector, room },
            Ask::Collective(place),
            Ask::Combined,
            Ask::Announce { place, call: AgreedCall { id: CallId::from_bits(b), bytes: room } },
            Ask::Leave,
            Ask::IsHopeless(one),
            Ask::NoneWillSend(selector),
            Ask::GiveUpOn(one),
            Ask::Finish { failed: flag, uncounted_ns: u64::from(b) << 31 },
            Ask::SleepAWhile(TimeSpan::from_ps(u64::from(a) << 31)),
            Ask::Yield,
        ]
    }

    proptest! {
        #[test]
        fn every_question_is_read_as_it_was_written(random in any::<[u32; 8]>(), flag: bool) {
            for ask in all(random, flag) {
                let (kind, rest) = ask.numbers();
                let mut numbers = [kind; NUMBERS];
                numbers[1..].copy_from_slice(&rest);
                prop_assert_eq!(Ask::of(numbers), Some(ask));
            }
        }
    }

    #[test]
    fn numbers_of_no_question_are_none() {
        assert_eq!(Ask::of([0; NUMBERS]), None);
        assert_eq!(Ask::of([29, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
