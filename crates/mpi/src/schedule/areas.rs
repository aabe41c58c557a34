//! The memory of a collective as its schedule sees it: areas of consecutive units.

use std::rc::Rc;

use collectives::{Area, LocalStep, Part};
use contract::{Readable, Writable};

use crate::datatype::Datatype;
use crate::memory::{Image, Memory, Piece, Storage};
use crate::operation::Reduction;

/// The areas of one collective at this member.
#[derive(Default)]
pub(crate) struct Areas {
    input: Units,
    output: Units,
    scratch: Units,
    reduction: Option<Reduction>,
}

/// The memory of an area.
#[derive(Default)]
enum Units {
    /// No memory.
    #[default]
    Nothing,
    /// Units are bytes: consecutive pieces, each with its first byte.
    Pieces(Vec<(usize, Piece)>),
    /// Units are bytes in memory of the library.
    Bytes(Storage),
    /// Units are elements of a reduction.
    Elements(Elements),
}

/// Elements in their transferred form: in the program's memory if they are contiguous, otherwise an image of them,
/// including gaps.
struct Elements {
    memory: Memory,
    image: Option<Image>,
    /// Final destination of the image.
    target: Option<Memory>,
}

/// Returns whether elements of a reduction on `of` are sent from the program's memory: they have the same datatype, and
/// are contiguous.
fn travel_as_they_lie(memory: &Memory, of: &Rc<Datatype>) -> bool {
    of.is_dense() && Rc::ptr_eq(memory.of(), of)
}

impl Elements {
    /// Creates elements that are read, as those of a reduction.
    fn filled(memory: &Memory, of: &Rc<Datatype>) -> Self {
        match travel_as_they_lie(memory, of) {
            true => Elements { memory: memory.clone(), image: None, target: None },
            false => Elements::of(Image::copy(memory, of)),
        }
    }

    /// Creates elements that are written. If `filled`, they initially hold data.
    fn room(memory: &Memory, of: &Rc<Datatype>, filled: bool) -> Self {
        if travel_as_they_lie(memory, of) {
            return Elements { memory: memory.clone(), image: None, target: None };
        }
        let image = match filled {
            true => Image::copy(memory, of),
            false => Image::of(memory.count(), of.clone()),
        };
        Elements { target: Some(memory.clone()), ..Elements::of(image) }
    }

    /// Lets the program's memory as it is until the data are delivered.
    fn keep_separate(&mut self) {
        if self.image.is_none() {
            let image = Image::copy(&self.memory, self.memory.of());
            let separate = Elements { target: Some(self.memory.clone()), ..Elements::of(image) };
            *self = separate;
        }
    }

    fn of(image: Image) -> Self {
        Elements { memory: image.memory().clone(), image: Some(image), target: None }
    }

    fn part(&self, part: Part) -> Memory {
        self.memory.part(part.start as i64, part.length as i64)
    }

    fn readable(&self, part: Part) -> Readable {
        match &self.image {
            Some(image) => image.part(part.start as i64, part.length as i64).readable(),
            None => self.part(part).readable().expect("dense elements lie in one piece"),
        }
    }

    fn writable(&self, part: Part) -> Writable {
        match &self.image {
            Some(image) => image.part(part.start as i64, part.length as i64).writable(),
            None => self.part(part).writable().expect("dense elements lie in one piece"),
        }
    }
}

impl Units {
    fn pieces(pieces: impl Iterator<Item = Piece>) -> Self {
        let mut end = 0;
        Units::Pieces(
            pieces
                .map(|piece| {
                    end += piece.bytes();
                    (end - piece.bytes(), piece)
                })
                .collect(),
        )
    }

    /// Returns the piece that contains a part, and the part's offset in it.
    fn piece(pieces: &[(usize, Piece)], part: Part) -> (&Piece, usize) {
        let index = pieces.partition_point(|(first, _)| *first <= part.start) - 1;
        let (first, piece) = &pieces[index];
        (piece, part.start - first)
    }

    fn readable(&self, part: Part) -> Readable {
        if part.length == 0 {
            return Readable::empty();
        }
        match self {
            Units::Nothing => unreachable!("a part of no memory"),
            Units::Pieces(pieces) => {
                let (piece, start) = Units::piece(pieces, part);
                piece.readable_part(start..start + part.length)
            }
            Units::Bytes(storage) => storage.readable(part.units()),
            Units::Elements(elements) => elements.readable(part),
        }
    }

    fn writable(&self, part: Part) -> Writable {
        if part.length == 0 {
            return Writable::empty();
        }
        match self {
            Units::Nothing => unreachable!("a part of no memory"),
            Units::Pieces(pieces) => {
                let (piece, start) = Units::piece(pieces, part);
                piece.writable_part(start..start + part.length)
            }
            Units::Bytes(storage) => storage.writable(part.units()),
            Units::Elements(elements) => elements.writable(part),
        }
    }

    /// Returns a part as elements.
    fn elements(&self, part: Part) -> Memory {
        match self {
            Units::Elements(elements) => elements.part(part),
            _ => unreachable!("only a reduction combines"),
        }
    }

    /// Copies the received data to the program's memory, unless they are there already.
    fn deliver(&self) {
        match self {
            Units::Pieces(pieces) => {
                pieces.iter().for_each(|(_, piece)| piece.deliver(piece.bytes()))
            }
            Units::Elements(Elements { target: Some(target), memory, .. }) => {
                target.copy_from(memory);
            }
            _ => {}
        }
    }
}

/// Construction of areas.
impl Areas {
    /// Creates the areas of a collective that moves bytes.
    pub(crate) fn of_bytes() -> Self {
        Areas::default()
    }

    /// Creates the areas of a reduction.
    pub(crate) fn of_elements(reduction: &Reduction) -> Self {
        Areas { reduction: Some(reduction.clone()), ..Areas::default() }
    }

    /// Sets the input: blocks that are sent.
    pub(crate) fn input<'a>(mut self, blocks: impl IntoIterator<Item = &'a Memory>) -> Self {
        self.input = Units::pieces(blocks.into_iter().map(Piece::filled));
        self
    }

    /// Sets the output: blocks that are received. If `filled`, they already hold this member's data.
    pub(crate) fn output<'a>(
        mut self,
        blocks: impl IntoIterator<Item = &'a Memory>,
        filled: bool,
    ) -> Self {
        let piece = if filled { Piece::filled } else { Piece::room };
        self.output = Units::pieces(blocks.into_iter().map(piece));
        self
    }

    /// Sets the input, in memory of the library.
    pub(crate) fn own_input(mut self, bytes: &[u8]) -> Self {
        self.input = Units::Bytes(bytes.to_vec().into());
        self
    }

    /// Sets the output, in memory of the library.
    pub(crate) fn own_output(mut self, storage: Storage) -> Self {
        self.output = Units::Bytes(storage);
        self
    }

    /// Sets the input: elements that are combined.
    pub(crate) fn operands(mut self, memory: &Memory) -> Self {
        self.input = Units::Elements(Elements::filled(memory, self.datatype()));
        self
    }

    /// Sets the output: elements. If `filled`, they already hold this member's operands.
    pub(crate) fn result(mut self, memory: &Memory, filled: bool) -> Self {
        self.output = Units::Elements(Elements::room(memory, self.datatype(), filled));
        self
    }

    fn datatype(&self) -> &Rc<Datatype> {
        self.reduction.as_ref().expect("only a reduction has elements").of()
    }
}

/// Use of areas.
impl Areas {
    /// Allocates `units` units for the schedule itself.
    pub(super) fn make_scratch(&mut self, units: usize) {
        self.scratch = match &self.reduction {
            _ if units == 0 => Units::Nothing,
            None => Units::Bytes(Storage::zeroed(units)),
            Some(reduction) => {
                Units::Elements(Elements::of(Image::of(units as i64, reduction.of().clone())))
            }
        };
    }

    fn area(&self, area: Area) -> &Units {
        match area {
            Area::Input => &self.input,
            Area::Output => &self.output,
            Area::Scratch => &self.scratch,
        }
    }

    /// Lends a part to a fabric for reading.
    pub(super) fn readable(&self, part: Part) -> Readable {
        self.area(part.area).readable(part)
    }

    /// Lends a part to a fabric for writing.
    pub(super) fn writable(&self, part: Part) -> Writable {
        self.area(part.area).writable(part)
    }

    /// Makes a local step of a member.
    pub(super) fn step(&self, step: &LocalStep) {
        match *step {
            LocalStep::Copy { from, to } if self.reduction.is_some() => {
                self.area(to.area).elements(to).copy_from(&self.area(from.area).elements(from));
            }
            LocalStep::Copy { from, to } => {
                self.writable(to).write(0, self.readable(from).as_slice());
            }
            LocalStep::Combine { into, with, into_is_left } => {
                let reduction = self.reduction.as_ref().expect("only a reduction combines");
                let (into, with) =
                    (self.area(into.area).elements(into), self.area(with.area).elements(with));
                match into_is_left {
                    true => {
                        reduction.apply(&into, &with);
                        into.copy_from(&with);
                    }
                    false => reduction.apply(&with, &into),
                }
            }
        }
    }

    /// Lets the output in the program's memory as it is until the data are delivered.
    pub(crate) fn keep_output_separate(&mut self) {
        match &mut self.output {
            Units::Pieces(pieces) => pieces.iter_mut().for_each(|(_, piece)| piece.keep_separate()),
            Units::Elements(elements) => elements.keep_separate(),
            _ => {}
        }
    }

    /// Copies the received data to the program's memory.
    pub(super) fn deliver(&self) {
        self.output.deliver();
    }
}
