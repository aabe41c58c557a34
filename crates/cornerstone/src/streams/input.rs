//! Standard input that every rank reads.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use launcher::Input;

use super::failed;
use crate::arguments::Readers;
use crate::failure::Failure;

const PIECE_BYTES: usize = 64 << 10;

/// Returns the standard input of so many ranks. If all read it, threads copy this process's to each of them: one that
/// reads slowly holds up no other.
pub(super) fn input(readers: Readers, ranks: usize) -> Result<Input, Failure> {
    match readers {
        Readers::None => return Ok(Input::Empty),
        Readers::One(rank) if rank < ranks => return Ok(Input::Of(rank)),
        Readers::One(rank) => {
            let why = format!("rank {rank} is to read standard input, and there are {ranks} ranks");
            return Err(Failure::usage(why).hint("ranks count from 0"));
        }
        Readers::All => {}
    }
    let mut files = Vec::new();
    let mut writers = Vec::new();
    for rank in 0..ranks {
        let (reader, writer) = io::pipe().map_err(|error| failed(rank, &error))?;
        files.push(Arc::new(File::from(OwnedFd::from(reader))));
        let (sender, receiver) = channel();
        let write = move || copy(&receiver, File::from(OwnedFd::from(writer)));
        thread::Builder::new().spawn(write).map_err(|error| failed(rank, &error))?;
        writers.push(sender);
    }
    thread::Builder::new().spawn(|| send_to_all(writers)).map_err(|error| failed(0, &error))?;
    Ok(Input::Each(files))
}

/// Reads this process's standard input to its end, and sends each piece to every rank that still reads.
fn send_to_all(mut writers: Vec<Sender<Arc<[u8]>>>) {
    let mut piece = vec![0; PIECE_BYTES];
    while !writers.is_empty() {
        match io::stdin().lock().read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                let piece: Arc<[u8]> = piece[..length].into();
                writers.retain(|writer| writer.send(piece.clone()).is_ok());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes the pieces to a rank, until there are no more or the rank has closed its input.
fn copy(pieces: &Receiver<Arc<[u8]>>, mut to: File) {
    while let Ok(piece) = pieces.recv() {
        if to.write_all(&piece).is_err() {
            return;
        }
    }
}
