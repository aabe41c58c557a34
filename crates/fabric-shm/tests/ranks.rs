//! Runs of real processes: this program starts itself again as the ranks of each case.

use contract::{Rank, Source, Tag, TagSelector};
use fabric_shm::{LaunchOptions, LocalRank, attach_if_rank, launch};

fn main() {
    if let Some(attached) = attach_if_rank() {
        let mut rank = attached.expect("joining the run");
        let outcome = program(&mut rank);
        std::process::exit(rank.finish(outcome));
    }
    for ranks in [1, 2, 3, 8] {
        let start = std::time::Instant::now();
        let mut reports = 0;
        let out = launch(&LaunchOptions::new(ranks, b"ring".to_vec()), &mut |r| {
            println!("{}", String::from_utf8_lossy(r));
            reports += 1;
            std::ops::ControlFlow::Continue(())
        });
        println!("{ranks}: {out:?} {:?} {reports}", start.elapsed());
    }
}

fn program(rank: &mut LocalRank) -> contract::Result<()> {
    let (me, size) = (rank.rank(), rank.size());
    let tag = Tag::new(1);
    for bytes in [0usize, 8, 48, 49, 1000, 10_000, 65536, 65537, 1 << 20, 64 << 20] {
        let start = rank.now();
        let data = vec![me as u8; bytes];
        let mut room = vec![0; bytes];
        let status = rank.send_receive(
            (me + 1) % size,
            tag,
            &data,
            Source::Rank((me + size - 1) % size),
            TagSelector::Is(tag),
            &mut room,
        )?;
        assert_eq!(status.bytes, bytes);
        assert!(room.iter().all(|&b| b == ((me + size - 1) % size) as u8));
        let t = rank.now().since(start);
        if me == 0 {
            rank.report(format!("{bytes}: {} us", t.as_us()).as_bytes())?;
        }
    }
    Ok(())
}
