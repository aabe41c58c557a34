//! A train of messages in one direction, in packets or whole, acknowledged or not.

use analysis::limits::{BoundRule, Traffic};
use contract::{Rank, Result, Source};
use record::{ParameterValue, Parameters};

use super::window;
use crate::case::{Case, Scope, sized};
use crate::data::Data;
use crate::declaration::{Benchmark, Group};
use crate::paper;
use crate::program::Program;
use crate::programs::common::{BENCHMARK, BETWEEN_TWO, ITS_TAG, TAG, from_first_to_second};
use crate::shape::Role;

pub(in crate::programs) const ADJACENT_PAIR: Benchmark = Benchmark {
    name: "adjacent-pair",
    group: Group::Bandwidths,
    summary: "one-way rate over message and packet size, with and without acknowledgement",
    explains: "Rank 0 sends 64 messages, one after the other, and rank 1 receives them; rank 0 times from its \
        first call to the last (or only) empty message by which rank 1 acknowledges. With acknowledgement=yes, \
        rank 1 acknowledges each message, and rank 0 waits for it; otherwise only the last. With packet_bytes, \
        rank 0 divides each message into packets of that size. The time is a 64th, the rate is size / time. There \
        are fewer messages above 4 MiB: 256 MiB in total, but at least 4. The paper sends 1000 messages of 256 KiB \
        per run, and has one rate.",
    source: paper::MITRE.part("section 4.1.1"),
    bound: BoundRule::Pair(traffic),
    cases,
    program: Program {
        blocks: from_first_to_second,
        event: train,
        parts: |shape| window(shape) as u64,
        ..BETWEEN_TWO
    },
    ..BENCHMARK
};

/// The report's own sizes (its tables 4.2 and 4.3), and larger packets than its machine had.
const SIZES: [u64; 5] = [1, 1 << 10, 16 << 10, 256 << 10, 1 << 20];
const PACKETS: [u64; 7] = [128, 256, 512, 1024, 1792, 8 << 10, 64 << 10];
const CUT_SIZE: u64 = 256 << 10;
/// Maximum number of packets of a message.
const PACKETS_MAX: u64 = 16 << 10;

fn cases(scope: &Scope) -> Vec<Case> {
    let cut_size = scope.sizes.map_or(CUT_SIZE, |sizes| sizes.largest());
    let whole = sized(scope, &SIZES).into_iter().map(|case| (case.size_bytes, None));
    let cut = PACKETS
        .into_iter()
        .filter(|&packet| packet < cut_size && packet >= cut_size / PACKETS_MAX)
        .map(|packet| (cut_size, Some(packet)));
    let all: Vec<_> = whole.chain(cut).collect();
    let case = |acknowledgement: bool, (size_bytes, packet): (u64, Option<u64>)| {
        let mut parameters = Parameters::from([("acknowledgement".into(), acknowledgement.into())]);
        parameters.extend(packet.map(|packet| ("packet_bytes".into(), packet.into())));
        Case { parameters, size_bytes }
    };
    [false, true].into_iter().flat_map(|yes| all.iter().map(move |&one| case(yes, one))).collect()
}

/// Returns the traffic: an acknowledged message is a round trip; messages without acknowledgement follow one another as
/// in a stream.
fn traffic(parameters: &Parameters) -> Traffic {
    let acknowledged = parameters.get("acknowledgement") == Some(&ParameterValue::Flag(true));
    Traffic { hand_overs: if acknowledged { 2 } else { 0 }, blocks: 1 }
}

fn train(rank: &mut dyn Rank, data: &mut Data) -> Result<()> {
    if data.role == Role::Other {
        return Ok(());
    }
    let messages = window(&data.shape);
    for message in 1..=messages {
        let acknowledged = data.shape.acknowledgement || message == messages;
        match data.role {
            Role::First => send(rank, data, acknowledged)?,
            _ => receive(rank, data, acknowledged)?,
        }
    }
    Ok(())
}

fn send(rank: &mut dyn Rank, data: &Data, acknowledged: bool) -> Result<()> {
    if data.send.is_empty() {
        rank.send(data.peer, TAG, &[])?;
    }
    for packet in data.send.chunks(data.shape.packet_bytes.max(1)) {
        rank.send(data.peer, TAG, packet)?;
    }
    if acknowledged {
        rank.receive(Source::Rank(data.peer), ITS_TAG, &mut [])?;
    }
    Ok(())
}

fn receive(rank: &mut dyn Rank, data: &mut Data, acknowledged: bool) -> Result<()> {
    if data.receive.is_empty() {
        rank.receive(Source::Rank(data.peer), ITS_TAG, &mut [])?;
    }
    for packet in data.receive.chunks_mut(data.shape.packet_bytes.max(1)) {
        rank.receive(Source::Rank(data.peer), ITS_TAG, packet)?;
    }
    if acknowledged {
        rank.send(data.peer, TAG, &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknowledgement_costs_a_round_trip_and_a_stream_none() {
        let hand_overs = |acknowledgement: bool| {
            let parameters = [("acknowledgement".into(), acknowledgement.into())];
            traffic(&Parameters::from(parameters)).hand_overs
        };
        assert_eq!([hand_overs(true), hand_overs(false)], [2, 0]);
    }

    #[test]
    fn packets_cut_the_largest_message_and_are_smaller_than_it() {
        let sizes = Some("8,1KiB".parse().unwrap());
        let settings = crate::Settings::default();
        let cases = cases(&Scope { ranks: 2, sizes: sizes.as_ref(), settings: &settings });
        // Two sizes whole and packets of 128, 256 and 512 bytes, each with and without acknowledgement.
        assert_eq!(cases.len(), 10);
        let cut = cases.iter().filter(|case| case.parameters.contains_key("packet_bytes"));
        assert!(cut.clone().all(|case| case.size_bytes == 1024) && cut.count() == 6);
        // 1 GiB / 16384 = 64 KiB: only the largest packets.
        let sizes = Some("1GiB".parse().unwrap());
        let scope = Scope { ranks: 2, sizes: sizes.as_ref(), settings: &settings };
        assert_eq!(super::cases(&scope).len(), 4);
    }
}
