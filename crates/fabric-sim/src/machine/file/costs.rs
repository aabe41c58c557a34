//! Reads the costs of processors, end points, the protocol, collectives and pauses from a file.

use contract::{TimeSpan, WorkKind};
use definition_files::FileError;

use super::place::Place;
use super::schema::{
    FileAnnouncement, FileBoard, FileEndpoint, FilePause, FileProcessor, FileProtocol, FileRing,
};
use crate::machine::{
    Announcement, Board, NodeCosts, Pause, Processor, Protocol, RANKS_MAX, RingCollectives,
};
use crate::quantity::{Cost, Piecewise};

const POLLING_US: f64 = 0.1;
/// A time slice ends at a tick of the clock. Unix systems have long had 100 ticks a second.
const TIME_SLICE_US: f64 = 10_000.0;
/// Each kind of pause has its own streams of random numbers, and the streams' numbers have room for this number of
/// kinds.
const PAUSES_MAX: usize = 256;

pub(super) fn processor(place: &Place<'_>, file: &FileProcessor) -> Result<Processor, FileError> {
    let mut work = Vec::new();
    for (kind, rate) in [
        (WorkKind::FloatingPoint, file.floating_point_mflops),
        (WorkKind::Fft, file.fft_mflops),
        (WorkKind::CopyBytes, file.copy_mb_per_s),
        (WorkKind::CornerTurnBytes, file.corner_turn_mb_per_s),
        (WorkKind::Reduction, file.reduction_mops),
        (WorkKind::MatrixMultiply, file.matrix_multiply_mflops),
        (WorkKind::Sort, file.sort_mops),
    ] {
        if let Some(rate) = rate {
            let per_byte = place.rate(&format!("processor.{}", kind.rate_key()), rate)?;
            work.push((kind, Piecewise::line(Cost { per_byte, ..Cost::default() })));
        }
    }
    // A transform and a product of matrices are floating-point operations, for which the file may have one rate.
    let floating_point = rate_of(&work, WorkKind::FloatingPoint);
    for kind in [WorkKind::Fft, WorkKind::MatrixMultiply] {
        if rate_of(&work, kind).is_none() {
            work.extend(floating_point.clone().map(|cost| (kind, cost)));
        }
    }
    if !file.copy.is_empty() {
        if file.copy_mb_per_s.is_some() {
            return Err(place.refuse(
                "processor.copy",
                "stands beside `processor.copy_mb_per_s`; give one rate or pieces",
            ));
        }
        let copy = place.pieces("processor.copy", (None, None), &file.copy)?;
        work.push((WorkKind::CopyBytes, copy));
    }
    let polling = place.span("processor.polling_us", file.polling_us.or(Some(POLLING_US)))?;
    if polling == TimeSpan::ZERO {
        return Err(
            place.refuse("processor.polling_us", "is 0; a program that polls would never get on")
        );
    }
    let slice_us = file.time_slice_us.or(Some(TIME_SLICE_US));
    let time_slice = place.span("processor.time_slice_us", slice_us)?;
    if time_slice == TimeSpan::ZERO {
        return Err(place.refuse("processor.time_slice_us", "is 0; no rank would ever get on"));
    }
    let switch = place.span("processor.switch_us", file.switch_us)?;
    if switch >= time_slice {
        return Err(place.refuse(
            "processor.switch_us",
            "takes the whole of `processor.time_slice_us`; no rank would ever get on",
        ));
    }
    Ok(Processor { work, polling, time_slice, switch })
}

fn rate_of(work: &[(WorkKind, Piecewise)], kind: WorkKind) -> Option<Piecewise> {
    work.iter().find(|(its_kind, _)| *its_kind == kind).map(|(_, cost)| cost.clone())
}

pub(super) fn endpoint(place: &Place<'_>, file: &FileEndpoint) -> Result<NodeCosts, FileError> {
    Ok(NodeCosts {
        send: place.pieces("endpoint.send", (file.send_us, file.send_ns_per_byte), &file.send)?,
        receive: place.pieces(
            "endpoint.receive",
            (file.receive_us, file.receive_ns_per_byte),
            &file.receive,
        )?,
        unexpected: place.pieces(
            "endpoint.unexpected",
            (file.unexpected_us, file.unexpected_ns_per_byte),
            &[],
        )?,
        packet_send: place.cost(
            "endpoint.packet_send",
            file.packet_send_us,
            file.packet_send_ns_per_byte,
        )?,
        packet_receive: place.cost(
            "endpoint.packet_receive",
            file.packet_receive_us,
            file.packet_receive_ns_per_byte,
        )?,
        post: place.span("endpoint.post_us", file.post_us)?,
        library_posts: file.library_posts,
        setup: place.pieces("endpoint.setup", (file.setup_us, None), &file.setup)?,
        simplex_from_bytes: simplex(place, file)?,
        gap: place.pieces("endpoint.gap", (file.gap_us, None), &file.gap)?,
        posted_in_memory: file.posted_in_memory,
        engine_overlaps_link: file.engine_overlaps_link,
        co_processor: file.co_processor,
        interleaves_messages: file.interleaves_messages,
        processor_forwards: file.processor_forwards,
        send_waits_for_link: file.send_waits_for_link,
    })
}

fn simplex(place: &Place<'_>, file: &FileEndpoint) -> Result<Option<u64>, FileError> {
    match (file.simplex, file.simplex_from_bytes) {
        (true, Some(_)) => Err(place.refuse(
            "endpoint.simplex_from_bytes",
            "stands beside `endpoint.simplex`, which is from 0 bytes on; give one of them",
        )),
        (true, None) => Ok(Some(0)),
        (false, from) => Ok(from),
    }
}

pub(super) fn protocol(place: &Place<'_>, file: &FileProtocol) -> Result<Protocol, FileError> {
    Ok(Protocol {
        eager_bytes: file.eager_bytes.unwrap_or(u64::MAX),
        announcement: match file.announcement {
            Some(FileAnnouncement::Free) => Announcement::Free,
            Some(FileAnnouncement::Message) | None => Announcement::Message,
        },
        control_bytes: file.control_bytes.unwrap_or(0),
        answer: place.span("protocol.answer_us", file.answer_us)?,
    })
}

pub(super) fn ring_collectives(
    place: &Place<'_>,
    file: &FileRing,
) -> Result<RingCollectives, FileError> {
    let span = |key: &str, us| place.span(&format!("ring_collectives.{key}"), Some(us));
    Ok(RingCollectives {
        barrier_entry: span("barrier_entry_us", file.barrier_entry_us)?,
        barrier_hop: span("barrier_hop_us", file.barrier_hop_us)?,
        forward: span("forward_us", file.forward_us)?,
        packet: span("packet_us", file.packet_us)?,
        allgather_entry: span("allgather_entry_us", file.allgather_entry_us)?,
        allgather_step: span("allgather_step_us", file.allgather_step_us)?,
    })
}

pub(super) fn board(place: &Place<'_>, file: &FileBoard) -> Result<Board, FileError> {
    let pieces = |key: &str, pieces| place.pieces(&format!("board.{key}"), (None, None), pieces);
    let slot_bytes = file.slot_bytes.unwrap_or(file.piece_bytes);
    for (key, value, least) in [
        ("piece_bytes", file.piece_bytes, 64),
        ("slot_bytes", slot_bytes, file.piece_bytes),
        ("places", file.places, 2),
    ] {
        if value < least {
            let why = format!("is {value}; it must be at least {least}");
            return Err(place.refuse(&format!("board.{key}"), &why));
        }
    }
    Ok(Board {
        ranks_max: file.ranks_max.unwrap_or(RANKS_MAX),
        bytes_max: file.bytes_max.unwrap_or(u64::MAX),
        line_bytes: file.line_bytes.unwrap_or(u64::MAX),
        piece_bytes: file.piece_bytes,
        slot_bytes,
        places: file.places,
        see: place.span("board.see_us", Some(file.see_us))?,
        further_board: place.span("board.look_us", file.look_us)?,
        put: pieces("put", &file.put)?,
        take: pieces("take", &file.take)?,
        combine: pieces("combine", &file.combine)?,
        crowding_permille: file.crowding_permille.into(),
    })
}

/// Reads the pause with this number.
pub(super) fn pause(
    place: &Place<'_>,
    number: usize,
    file: &FilePause,
) -> Result<Pause, FileError> {
    let span = |key: &str, us| place.span(&format!("pause.{key}"), us);
    let refuse = |key: &str, why: &str| Err(place.refuse_in(number, &format!("pause.{key}"), why));
    let pause = Pause {
        period: span("period_us", Some(file.period_us))?,
        length: span("length_us", Some(file.length_us))?,
        period_jitter: span("period_jitter_us", file.period_jitter_us)?,
        length_jitter: span("length_jitter_us", file.length_jitter_us)?,
        at_once: file.at_once,
        processors: file.processors.clone(),
    };
    if number >= PAUSES_MAX {
        return refuse(
            "period_us",
            &format!("is one kind of pause too many; {PAUSES_MAX} are allowed"),
        );
    }
    if pause.length_jitter > pause.length {
        return refuse("length_jitter_us", "is more than `length_us`");
    }
    if pause.length + pause.length_jitter + pause.period_jitter >= pause.period {
        let why = format!(
            "is {}; with `length_jitter_us` and `period_jitter_us` it must be less than `period_us`, or pauses would meet",
            file.length_us
        );
        return refuse("length_us", &why);
    }
    if pause.processors.as_ref().is_some_and(Vec::is_empty) {
        return refuse("processors", "is empty; leave it out for all processors");
    }
    Ok(pause)
}
