//! The replies of the endpoint behind a line.

use contract::{Envelope, Error, Request};

use crate::stream::{Reader, Writer, request_of};

/// Kind of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The call is over. Numbers follow, and the data of the call.
    Done,
    /// The process must check whether the awaited event has happened.
    Poll,
    /// The process must combine elements: a left and a right operand follow.
    Combine,
    /// The call has failed; the error follows.
    Failed,
}

/// A reply up to its data, which the reader is at afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: Kind,
    /// True if any rank has left the run.
    pub(crate) any_has_left: bool,
    /// Result of the call, as numbers.
    pub(crate) values: [u64; VALUES],
    /// Number of completed operations, which follow.
    pub(crate) ended: usize,
}

pub(crate) const VALUES: usize = 6;

impl Head {
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        let kind = match self.kind {
            Kind::Done => 0,
            Kind::Poll => 1,
            Kind::Combine => 2,
            Kind::Failed => 3,
        };
        writer.numbers(&[kind, self.any_has_left.into()]);
        writer.numbers(&self.values);
        writer.number(self.ended as u64);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Self {
        let kind = match reader.number() {
            0 => Kind::Done,
            1 => Kind::Poll,
            2 => Kind::Combine,
            _ => Kind::Failed,
        };
        let any_has_left = reader.number() != 0;
        Head { kind, any_has_left, values: reader.numbers(), ended: reader.number() as usize }
    }
}

/// Writes an operation that is done, with the data of a receive.
pub(crate) fn write_ended(
    writer: &mut Writer<'_>,
    request: Request,
    envelope: &Envelope,
    data: &[u8],
) {
    writer.number(request.0.into());
    writer.envelope(envelope);
    writer.bytes(data);
}

pub(crate) fn read_ended<'a>(reader: &mut Reader<'a>) -> (Request, Envelope, &'a [u8]) {
    let request = request_of(reader.number());
    let envelope = reader.envelope();
    (request, envelope, reader.bytes())
}

/// Returns an envelope as values of a reply, if there is one.
pub(crate) fn envelope_values(envelope: Option<Envelope>) -> [u64; VALUES] {
    envelope.map_or([0; VALUES], |one| {
        let Envelope { context, source, tag, bytes, room } = one;
        [1, context.into(), source.into(), tag.into(), bytes as u64, room as u64]
    })
}

pub(crate) fn envelope_of(
    [is_some, context, source, tag, bytes, room]: [u64; VALUES],
) -> Option<Envelope> {
    (is_some != 0).then_some(Envelope {
        context: context as u32,
        source: source as u32,
        tag: tag as u32,
        bytes: bytes as usize,
        room: room as usize,
    })
}

/// Writes an error. Errors that need not be distinguished become their text.
pub(crate) fn write_error(writer: &mut Writer<'_>, error: &Error) {
    let (kind, number, words): (u64, usize, &str) = match error {
        Error::RankDied { rank, how } => (1, *rank, how),
        Error::Aborted { why } => (2, 0, why),
        Error::Deadlock { explanation } => (3, 0, explanation),
        Error::MismatchedCollective { explanation } => (4, 0, explanation),
        Error::OutOfMemory { what, bytes } => (5, *bytes as usize, what),
        Error::UnknownRequest => (6, 0, ""),
        Error::RankEnded { rank, before } => (9, *rank, before),
        Error::UnequalCounts { collective, what, expected_bytes, found_bytes } => {
            writer.numbers(&[7, *expected_bytes as u64, *found_bytes as u64]);
            return writer.bytes(format!("{collective}\n{what}").as_bytes());
        }
        Error::InvalidRank { rank, size } => {
            writer.numbers(&[8, *rank as u64, *size as u64]);
            return writer.bytes(&[]);
        }
        other => {
            writer.numbers(&[0, 0, 0]);
            return writer.bytes(other.to_string().as_bytes());
        }
    };
    writer.numbers(&[kind, number as u64, 0]);
    writer.bytes(words.as_bytes());
}

pub(crate) fn read_error(reader: &mut Reader<'_>) -> Error {
    let [kind, first, second] = reader.numbers();
    let (number, words) = (first as usize, reader.text());
    match kind {
        1 => Error::RankDied { rank: number, how: words },
        2 => Error::Aborted { why: words },
        3 => Error::Deadlock { explanation: words },
        4 => Error::MismatchedCollective { explanation: words },
        5 => Error::OutOfMemory { what: words, bytes: first },
        6 => Error::UnknownRequest,
        7 => {
            let (collective, what) = words.split_once('\n').unwrap_or(("", &words));
            let (collective, what) = (collective.into(), what.into());
            let (expected_bytes, found_bytes) = (number, second as usize);
            Error::UnequalCounts { collective, what, expected_bytes, found_bytes }
        }
        8 => Error::InvalidRank { rank: number, size: second as usize },
        9 => Error::RankEnded { rank: number, before: words },
        _ => Error::Program(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Lines;

    #[test]
    fn errors_that_faces_tell_apart_stay_what_they_are() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        let unsupported = Error::Unsupported { fabric: "sim".into(), what: "fly".into() };
        let words = unsupported.to_string();
        for (sent, expected) in [
            (Error::RankDied { rank: 3, how: "x".into() }, None),
            (Error::RankEnded { rank: 3, before: "x".into() }, None),
            (Error::Aborted { why: "y".into() }, None),
            (Error::Deadlock { explanation: "z".into() }, None),
            (Error::MismatchedCollective { explanation: "w".into() }, None),
            (Error::OutOfMemory { what: "v".into(), bytes: 9 }, None),
            (Error::UnknownRequest, None),
            (Error::InvalidRank { rank: 4, size: 2 }, None),
            (unsupported, Some(Error::Program(words))),
        ] {
            let mut writer = Writer::new(&line);
            write_error(&mut writer, &sent);
            writer.end();
            assert_eq!(read_error(&mut Reader::new(&line)), expected.unwrap_or(sent));
        }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let lines = Lines::create(1).unwrap();
        let line = lines.line(0);
        let envelope = Envelope { context: 2, source: 1, tag: 3, bytes: 2, room: 4 };
        for kind in [Kind::Done, Kind::Poll, Kind::Combine, Kind::Failed] {
            let values = envelope_values(Some(envelope));
            let head = Head { kind, any_has_left: true, values, ended: 1 };
            let mut writer = Writer::new(&line);
            head.write(&mut writer);
            write_ended(&mut writer, Request(5), &envelope, b"ab");
            writer.end();
            let mut reader = Reader::new(&line);
            assert_eq!(Head::read(&mut reader), head);
            assert_eq!(read_ended(&mut reader), (Request(5), envelope, &b"ab"[..]));
            assert_eq!(envelope_of(head.values), Some(envelope));
        }
        assert_eq!(envelope_of(envelope_values(None)), None);
    }
}
