//! Independent reads and writes of a process, piece by piece.

use super::disk::Disk;
use super::tile::{Piece, Pieces};
use crate::error::Result;

/// Small pieces with gaps below this length are read together, including the gaps.
const GAP_BYTES: i64 = 4096;

/// Maximum length that is read together.
const TOGETHER_BYTES: i64 = 256 << 10;

/// Writes data to pieces.
pub(super) fn write(disk: &Disk, pieces: Pieces<'_>, data: &[u8]) -> Result {
    let mut rest = data;
    for piece in pieces {
        let (here, after) = rest.split_at(piece.bytes as usize);
        disk.write(here, piece.offset)?;
        rest = after;
    }
    Ok(())
}

/// Reads pieces. Returns the number of their bytes that the file has.
pub(super) fn read(disk: &Disk, pieces: Pieces<'_>, room: &mut [u8]) -> Result<usize> {
    let mut pieces = pieces.peekable();
    let mut gathered: Vec<Piece> = Vec::new();
    let mut span = Vec::new();
    let mut done = 0;
    while let Some(first) = pieces.next() {
        gathered.clear();
        gathered.push(first);
        let follows = |next: &Piece, last: Piece| {
            let gap = next.offset - last.end();
            (0..GAP_BYTES).contains(&gap) && next.end() - first.offset <= TOGETHER_BYTES
        };
        let mut last = first;
        while let Some(next) = pieces.next_if(|next| follows(next, last)) {
            gathered.push(next);
            last = next;
        }
        let wanted: i64 = gathered.iter().map(|piece| piece.bytes).sum();
        let part = &mut room[done..done + wanted as usize];
        let found = match gathered.len() {
            1 => disk.read(part, first.offset)?,
            _ => read_together(disk, &gathered, &mut span, part)?,
        };
        done += found;
        if found < part.len() {
            break;
        }
    }
    Ok(done)
}

/// Reads adjacent pieces at once; `span` is reused memory.
fn read_together(
    disk: &Disk,
    pieces: &[Piece],
    span: &mut Vec<u8>,
    mut room: &mut [u8],
) -> Result<usize> {
    let start = pieces[0].offset;
    let end = pieces.last().map_or(start, |last| last.end());
    span.resize((end - start) as usize, 0);
    let bytes_read = disk.read(span, start)?;
    let mut done = 0;
    for piece in pieces {
        let from = (piece.offset - start) as usize;
        let here = bytes_read.saturating_sub(from).min(piece.bytes as usize);
        let (part, after) = room.split_at_mut(piece.bytes as usize);
        part[..here].copy_from_slice(&span[from..from + here]);
        room = after;
        done += here;
        if here < piece.bytes as usize {
            break;
        }
    }
    Ok(done)
}
