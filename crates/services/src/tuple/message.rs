//! Requests to a space and its replies, as active messages: words and data.

use contract::TimeSpan;

use super::encoding;
use super::store::{Mode, Reply, Request};
use crate::{Error, Result};

const JOIN: u64 = 0;
const LEAVE: u64 = 1;
const END: u64 = 2;
const OUT: u64 = 3;
const MATCH: u64 = 4;
const COMPLETE: u64 = 5;
const GIVE_BACK: u64 = 6;
const RENEW: u64 = 7;

const REMOVES: u64 = 1;
const WAITS: u64 = 2;
const LEASED: u64 = 4;

/// Returns the words and data of a request.
pub(super) fn of_request(request: &Request) -> Result<([u64; 3], Vec<u8>)> {
    let bare = |code, argument| Ok(([code, argument, 0], Vec::new()));
    match request {
        Request::Join => bare(JOIN, 0),
        Request::Leave => bare(LEAVE, 0),
        Request::End => bare(END, 0),
        Request::GiveBack(lease) => bare(GIVE_BACK, *lease),
        Request::Renew(lease) => bare(RENEW, *lease),
        Request::Out(tuples) => Ok(([OUT, 0, 0], encoding::of_tuples(tuples)?)),
        Request::Complete(lease, tuples) => {
            Ok(([COMPLETE, *lease, 0], encoding::of_tuples(tuples)?))
        }
        Request::Match(template, mode) => {
            let flag = |set: bool, flag: u64| if set { flag } else { 0 };
            let flags = flag(mode.removes, REMOVES)
                | flag(mode.waits, WAITS)
                | flag(mode.lease.is_some(), LEASED);
            let length = mode.lease.map_or(0, TimeSpan::as_ps);
            Ok(([MATCH, flags, length], encoding::of_template(template)?))
        }
    }
}

/// Reads a request of rank `from`.
pub(super) fn request(from: usize, words: &[u64], data: &[u8]) -> Result<Request> {
    let malformed = || Error::Malformed { from, what: "it asks nothing of a tuple space".into() };
    let &[code, argument, length] = words else { return Err(malformed()) };
    Ok(match code {
        JOIN => Request::Join,
        LEAVE => Request::Leave,
        END => Request::End,
        OUT => Request::Out(encoding::tuples(data).ok_or_else(malformed)?),
        COMPLETE => Request::Complete(argument, encoding::tuples(data).ok_or_else(malformed)?),
        GIVE_BACK => Request::GiveBack(argument),
        RENEW => Request::Renew(argument),
        MATCH => {
            let has = |flag| argument & flag != 0;
            let lease = has(LEASED).then(|| TimeSpan::from_ps(length));
            let mode = Mode { removes: has(REMOVES), waits: has(WAITS), lease };
            Request::Match(encoding::template(data).ok_or_else(malformed)?, mode)
        }
        _ => return Err(malformed()),
    })
}

const REPLIES: [Reply; 6] = [
    Reply::Done,
    Reply::Absent,
    Reply::Full,
    Reply::NotMember,
    Reply::NoProducerLeft,
    Reply::LeaseLost,
];
const FOUND: u64 = REPLIES.len() as u64;

/// Returns the words and data of a reply.
pub(super) fn of_reply(reply: &Reply) -> Result<([u64; 2], Vec<u8>)> {
    if let Reply::Found(tuple, lease) = reply {
        return Ok(([FOUND, *lease], encoding::of_tuples(std::slice::from_ref(tuple))?));
    }
    let code = REPLIES.iter().position(|one| one == reply);
    Ok(([code.expect("every other reply is in the list") as u64, 0], Vec::new()))
}

/// Reads a reply of rank `from`.
pub(super) fn reply(from: usize, words: &[u64], data: &[u8]) -> Result<Reply> {
    let malformed = || Error::Malformed { from, what: "it is no reply of a tuple space".into() };
    let &[code, lease] = words else { return Err(malformed()) };
    if code == FOUND {
        let tuple = encoding::tuples(data).and_then(|mut all| all.pop());
        return Ok(Reply::Found(tuple.ok_or_else(malformed)?, lease));
    }
    REPLIES.get(code as usize).cloned().ok_or_else(malformed)
}
