//! The other end of a link that sends what no link sends.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use random::SplitMix64;

use super::chunk::CHUNK_BYTES_MAX;
use super::*;

/// Number of streams of chunks.
const STREAMS: u64 = 2_000;

/// Sends a stream of chunks whose numbers may be right, while this end writes some data.
fn attack(seed: u64) {
    let mut random = SplitMix64::new(seed);
    let (own, mut other) = UnixStream::pair().unwrap();
    own.set_nonblocking(true).unwrap();
    other.set_nonblocking(true).unwrap();
    let now = Instant::now();
    let mut link = Link::new(1, Duration::from_secs(5), now);
    link.add_lane(0, TcpStream::from(OwnedFd::from(own)), now);
    let written = link.write(&[IoSlice::new(&[7; 300])], now).unwrap();
    assert_eq!(written, 300);
    let mut room = vec![0; 8 << 10];
    for _ in 0..1 + random.below(40) {
        let number = |random: &mut SplitMix64, bound| match random.below(8) {
            0 => random.edge(),
            _ => random.below(bound) as u64,
        };
        let kinds =
            [ChunkKind::Data, ChunkKind::Data, ChunkKind::Acknowledgement, ChunkKind::Question];
        let kind = random.pick(&kinds);
        let bytes = if kind == ChunkKind::Data { 1 + random.below(200) } else { 0 };
        let header = ChunkHeader {
            kind,
            bytes: bytes as u32,
            offset: number(&mut random, 400),
            received: number(&mut random, 310),
            read_here: number(&mut random, 310),
        };
        let mut chunk = header.to_bytes().to_vec();
        chunk.extend(vec![9; bytes.min(CHUNK_BYTES_MAX)]);
        if random.below(32) == 0 {
            random.mutate(&mut chunk);
        }
        // The connection may be gone already.
        let _ = other.write(&chunk);
        while link.read(&mut room, now).is_ok() {}
        link.tend(now);
    }
}

#[test]
fn no_stream_of_chunks_makes_a_link_panic() {
    (0..STREAMS).for_each(attack);
}
