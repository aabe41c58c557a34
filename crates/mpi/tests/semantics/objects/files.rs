//! Files against a slow oracle, which locates every byte of a view separately.

use std::path::Path;
use std::rc::Rc;

use conformance::reference::ReferenceEndpoint;
use mpi::{
    Access, AccessMode, Datatype, ErrorClass, File, Incoming, Info, Kind, Members, Outgoing,
    Position, Representation, Unit, Whence, delete_file,
};

use super::random::Random;
use crate::ranks::on;

fn to_make() -> AccessMode {
    AccessMode { create: true, ..AccessMode::new(Access::ReadWrite) }
}

/// Etypes of a tile that each rank sees, and the start of the tiles.
struct Shares {
    displacement: i64,
    etype: Kind,
    slots: i64,
    of: Vec<Vec<i64>>,
}

impl Shares {
    fn new(random: &mut Random, ranks: usize) -> Self {
        let slots = random.within(1, 12);
        let mut of = vec![Vec::new(); ranks];
        for slot in 0..slots {
            // One more slot than ranks: a slot that no rank sees.
            if let Some(own) = of.get_mut(random.within(0, ranks as i64) as usize) {
                own.push(slot);
            }
        }
        let etype = random.pick(&[Kind::Byte, Kind::Signed(4), Kind::Float(8)]);
        Shares { displacement: random.within(0, 40), etype, slots, of }
    }

    fn filetype(&self, rank: usize) -> (Rc<Datatype>, Rc<Datatype>) {
        let etype = Datatype::basic(self.etype);
        let own = &self.of[rank];
        let picked = Datatype::indexed_block(1, own.clone(), Unit::Elements, &etype).unwrap();
        let filetype = Datatype::resized(0, self.slots * self.etype.bytes(), &picked).unwrap();
        filetype.commit();
        (etype, filetype)
    }

    /// Returns the position in the file of a byte of a rank's data.
    fn place(&self, rank: usize, byte: i64) -> usize {
        let (unit, own) = (self.etype.bytes(), &self.of[rank]);
        let element = byte / unit;
        let (tile, index) = (element / own.len() as i64, element % own.len() as i64);
        let slot = tile * self.slots + own[index as usize];
        (self.displacement + slot * unit + byte % unit) as usize
    }
}

/// Content of a file, and the file pointer of each rank.
struct Model {
    bytes: Vec<u8>,
    pointers: Vec<i64>,
}

impl Model {
    fn write(&mut self, shares: &Shares, rank: usize, etype: i64, data: &[u8]) {
        for (index, &byte) in data.iter().enumerate() {
            let place = shares.place(rank, etype * shares.etype.bytes() + index as i64);
            if self.bytes.len() <= place {
                self.bytes.resize(place + 1, 0);
            }
            self.bytes[place] = byte;
        }
    }

    fn read(&self, shares: &Shares, rank: usize, etype: i64, count: usize) -> Vec<u8> {
        let place = |index: usize| shares.place(rank, etype * shares.etype.bytes() + index as i64);
        (0..count).map_while(|index| self.bytes.get(place(index)).copied()).collect()
    }
}

/// Runs one step on all ranks: each draws the same random numbers and does its own part.
fn step(
    file: &File<ReferenceEndpoint>,
    (shares, model): (&Shares, &mut Model),
    random: &mut Random,
    me: usize,
) {
    let (writes, uses_pointer) = (random.within(0, 1) == 0, random.within(0, 1) == 0);
    let members = random.pick(&[Members::Alone, Members::Together]);
    let unit = shares.etype.bytes();
    for rank in 0..shares.of.len() {
        let count = if shares.of[rank].is_empty() { 0 } else { random.within(0, 60) };
        let explicit = random.within(0, 50);
        let at = if uses_pointer { model.pointers[rank] } else { explicit };
        let data = random.bytes((count * unit) as usize);
        if uses_pointer {
            model.pointers[rank] += count;
        }
        let position = if uses_pointer { Position::Individual } else { Position::At(at) };
        if writes {
            if rank == me {
                let status = file.write(position, members, &data[..]).unwrap();
                assert_eq!(status.bytes, data.len() as u64);
            }
            model.write(shares, rank, at, &data);
        } else if rank == me {
            let mut room = vec![0; data.len()];
            let status = file.read(position, members, &mut room[..]).unwrap();
            let expected = model.read(shares, rank, at, data.len());
            assert_eq!(status.bytes, expected.len() as u64);
            assert_eq!(room[..expected.len()], expected);
        }
    }
}

/// Ranks with views of their own read and write a file, individually and collectively.
fn ranks_share(ranks: usize, seed: u64, path: &Path) {
    on(ranks, |world| {
        let random = &mut Random::new(seed);
        let info = Info::new();
        if let Some(buffering) = random.pick(&[None, Some("true"), Some("false")]) {
            info.set("collective_buffering", buffering);
        }
        info.set("cb_buffer_size", "4096");
        info.set("cb_nodes", random.within(1, 4).to_string());
        let file = File::open(world, path, AccessMode { exclusive: true, ..to_make() }, info)?;
        file.set_atomicity(random.within(0, 3) == 0)?;
        let mut model = Model { bytes: Vec::new(), pointers: vec![0; ranks] };
        for _ in 0..3 {
            let shares = Shares::new(random, ranks);
            let (etype, filetype) = shares.filetype(world.rank());
            file.set_view(Some(shares.displacement), etype, filetype, Representation::Native)?;
            model.pointers.fill(0);
            for byte in 0..5 * shares.etype.bytes() {
                let unit = shares.etype.bytes();
                if !shares.of[world.rank()].is_empty() && byte % unit == 0 {
                    let place = shares.place(world.rank(), byte) as i64;
                    assert_eq!(file.byte_offset(byte / unit), Ok(place));
                }
            }
            for _ in 0..6 {
                step(&file, (&shares, &mut model), random, world.rank());
                world.barrier()?;
                let found = std::fs::read(path)?;
                assert_eq!(found, model.bytes, "seed {seed}");
                world.barrier()?;
            }
        }
        file.close()?;
        Ok(())
    });
}

#[test]
fn every_byte_is_where_the_views_of_the_ranks_place_it() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let path = folder.path().join(seed.to_string());
        eprintln!("seed {seed}");
        ranks_share(1 + seed as usize % 4, seed, &path);
    }
}

#[test]
fn pieces_of_a_page_and_more_are_read_and_written_together_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (ranks, block, blocks) = (3, 1000, 40);
    on(ranks, |world| {
        let file = File::open(world, &path, to_make(), Info::new())?;
        let byte = Datatype::basic(Kind::Byte);
        let own = Datatype::indexed_block(block, vec![0], Unit::Bytes, &byte)?;
        let filetype = Datatype::resized(0, block * ranks as i64, &own)?;
        filetype.commit();
        let start = Some(block * world.rank() as i64);
        file.set_view(start, byte, filetype, Representation::Native)?;
        let data = vec![world.rank() as u8 + 1; (block * blocks) as usize];
        file.write(Position::At(0), Members::Together, &data[..])?;
        let mut room = vec![0; data.len() + 1];
        let status = file.read(Position::At(0), Members::Together, &mut room[..])?;
        assert_eq!((status.bytes, &room[..data.len()]), (data.len() as u64, &data[..]));
        file.close()?;
        Ok(())
    });
    let all = std::fs::read(&path).unwrap();
    let expected = |index: usize| (index / block as usize % ranks) as u8 + 1;
    assert_eq!(all.len(), (block * blocks) as usize * ranks);
    assert!(all.iter().enumerate().all(|(index, &byte)| byte == expected(index)));
}

#[test]
fn the_shared_pointer_advances_for_all_and_in_rank_order_in_collective_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for ranks in 1..=4_usize {
        on(ranks, |world| {
            let me = world.rank() as u8;
            let mode = AccessMode { delete_on_close: true, ..to_make() };
            let file = File::open(world, &path, mode, Info::new())?;
            // Rank r writes r + 1 bytes, in order of the ranks.
            let mine = vec![me + 1; me as usize + 1];
            file.write(Position::Shared, Members::Together, &mine[..])?;
            file.write(Position::Shared, Members::Together, &[9_u8][..])?;
            let total = (ranks * (ranks + 1) / 2 + ranks) as i64;
            assert_eq!(file.shared_position(), Ok(total));
            let all = std::fs::read(&path)?;
            assert_eq!(all[..mine.len().min(1)], [1]);
            let before = world.rank() * (world.rank() + 1) / 2;
            assert_eq!(all[before..before + mine.len()], mine);
            file.seek_shared(-total, Whence::Current)?;
            let mut one = [0_u8; 2];
            let status = file.read(Position::Shared, Members::Alone, &mut one[..1])?;
            assert_eq!(status.bytes, 1);
            world.barrier()?;
            assert_eq!(file.shared_position(), Ok(ranks as i64));
            file.seek_shared(0, Whence::End)?;
            let status = file.read(Position::Shared, Members::Alone, &mut one[..])?;
            assert_eq!(status.bytes, 0, "nothing lies beyond the end");
            file.close()?;
            assert!(!path.exists());
            Ok(())
        });
    }
}

#[test]
fn external32_has_numbers_of_its_own_lengths_the_highest_byte_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    on(2, |world| {
        let file = File::open(world, &path, to_make(), Info::new())?;
        let long = Datatype::basic(Kind::Long);
        let other = Datatype::vector(1, 1, 2, Unit::Elements, &long)?;
        let filetype = Datatype::resized(0, 16, &other)?;
        filetype.commit();
        // The type is resized to 16 bytes, of which a number takes 4.
        let start = Some(8 * world.rank() as i64);
        file.set_view(start, long.clone(), filetype, Representation::External32)?;
        assert_eq!(file.type_extent(&long), Ok(4));
        let data = [-2_i64, 0x0102_0304];
        let data: Vec<u8> = data.iter().flat_map(|one| one.to_le_bytes()).collect();
        file.write(Position::At(0), Members::Together, Outgoing::new(&data, 2, &long)?)?;
        let all = std::fs::read(&path)?;
        assert_eq!(all[..4], [255, 255, 255, 254]);
        assert_eq!(all[16..20], [1, 2, 3, 4]);
        let mut room = vec![0_u8; 24];
        let into = Incoming::new(&mut room, 3, &long)?;
        let status = file.read(Position::At(0), Members::Together, into)?;
        assert_eq!((status.bytes, status.count(&long)), (16, Some(2)));
        assert_eq!(room[..16], data);
        let refused = 1_i64 << 40;
        let refused = refused.to_le_bytes();
        let too_long = Outgoing::new(&refused, 1, &long)?;
        let error = file.write(Position::At(0), Members::Together, too_long).unwrap_err();
        assert_eq!(error.class, ErrorClass::Conversion);
        file.close()?;
        Ok(())
    });
}

#[test]
fn accesses_that_a_mode_forbids_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    on(2, |world| {
        let open = |mode| File::open(world, &path, mode, Info::new());
        let class = |opened: mpi::Result<File<ReferenceEndpoint>>| opened.err().unwrap().class;
        let read = AccessMode::new(Access::ReadOnly);
        assert_eq!(class(open(read)), ErrorClass::NoSuchFile);
        assert_eq!(class(open(AccessMode { create: true, ..read })), ErrorClass::Amode);
        let differs =
            if world.rank() == 0 { to_make() } else { AccessMode::new(Access::ReadWrite) };
        assert_eq!(class(open(differs)), ErrorClass::NotSame);
        let writing = open(AccessMode { access: Access::WriteOnly, ..to_make() })?;
        let mut room = [0_u8; 4];
        for members in [Members::Alone, Members::Together] {
            let refused = writing.read(Position::At(0), members, &mut room[..]).unwrap_err();
            assert_eq!(refused.class, ErrorClass::Access);
        }
        writing.write(Position::At(2 * world.rank() as i64), Members::Alone, &[7_u8, 8][..])?;
        writing.close()?;
        assert_eq!(
            class(open(AccessMode { exclusive: true, ..to_make() })),
            ErrorClass::FileExists
        );
        let append = open(AccessMode { append: true, ..AccessMode::new(Access::ReadWrite) })?;
        assert_eq!((append.position(), append.shared_position()), (Ok(4), Ok(4)));
        append.close()?;
        let sequential = open(AccessMode { sequential: true, ..read })?;
        for refused in [
            sequential.seek(0, Whence::Start),
            sequential.position().map(drop),
            sequential.read(Position::At(0), Members::Alone, &mut room[..]).map(drop),
            sequential.read(Position::Individual, Members::Together, &mut room[..]).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().class, ErrorClass::Unsupported);
        }
        let status = sequential.read(Position::Shared, Members::Together, &mut room[..2])?;
        assert_eq!((status.bytes, room[0]), (2, 7));
        let refused = sequential.write(Position::Shared, Members::Alone, &room[..]).unwrap_err();
        assert_eq!(refused.class, ErrorClass::ReadOnly);
        sequential.close()?;
        world.barrier()?;
        if world.rank() == 0 {
            delete_file(&path)?;
        }
        Ok(())
    });
}

#[test]
fn wrong_arguments_change_nothing_and_pointers_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    on(2, |world| {
        let file = File::open(world, &path, to_make(), Info::new())?;
        let (byte, number) = (Datatype::basic(Kind::Byte), Datatype::basic(Kind::Signed(4)));
        let set = |displacement, etype: &Rc<Datatype>, filetype: &Rc<Datatype>| {
            let native = Representation::Native;
            file.set_view(displacement, etype.clone(), filetype.clone(), native)
        };
        let class = |outcome: mpi::Result| outcome.unwrap_err().class;
        assert_eq!(class(set(Some(-1), &byte, &byte)), ErrorClass::Argument);
        assert_eq!(class(set(None, &byte, &byte)), ErrorClass::Unsupported);
        assert_eq!(class(set(Some(0), &number, &byte)), ErrorClass::Argument);
        let open = Datatype::contiguous(2, &number)?;
        assert_eq!(class(set(Some(0), &number, &open)), ErrorClass::Type, "not committed");
        let backwards = Datatype::indexed_block(1, vec![1, 0], Unit::Elements, &number)?;
        backwards.commit();
        assert_eq!(class(set(Some(0), &number, &backwards)), ErrorClass::Type);
        let twice = Datatype::indexed(vec![2, 2], vec![0, 4], Unit::Bytes, &number)?;
        twice.commit();
        assert_eq!(class(set(Some(0), &number, &twice)), ErrorClass::Type);
        let differs = if world.rank() == 0 { &byte } else { &number };
        assert_eq!(class(set(Some(0), differs, differs)), ErrorClass::NotSame);
        set(Some(4), &number, &number)?;
        let odd = file.write(Position::Individual, Members::Together, &[1_u8, 2][..]);
        assert_eq!(odd.unwrap_err().class, ErrorClass::Argument);
        assert_eq!(file.position(), Ok(0));
        assert_eq!(class(file.seek(-1, Whence::Current)), ErrorClass::Argument);
        assert_eq!(class(file.seek_shared(-1, Whence::Start)), ErrorClass::Argument);
        let far = file.write(Position::At(i64::MAX / 4), Members::Alone, &[1_i32][..]);
        assert_eq!(far.unwrap_err().class, ErrorClass::Argument);
        assert_eq!(class(file.set_size(-1)), ErrorClass::Argument);
        assert_eq!(class(file.set_size(world.rank() as i64)), ErrorClass::NotSame);
        assert_eq!(class(file.preallocate(i64::MAX)), ErrorClass::NoSpace);
        assert_eq!(file.size(), Ok(0));
        file.set_size(4 + 4 + 3)?;
        file.seek(0, Whence::End)?;
        // One whole number and a part of one.
        assert_eq!(file.position(), Ok(2));
        assert!(file.end(mpi::Direction::Read).is_err());
        file.close()?;
        Ok(())
    });
}
