//! Oracle: a datatype as MPI defines it (MPI 5, section 5.1), a list of basic elements with their displacements, built
//! element by element.

use mpi::{Kind, Order};

/// A type map, with markers for explicitly set bounds.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) map: Vec<(i64, Kind)>,
    /// Lowest and highest explicitly set bound.
    marked: Option<(i64, i64)>,
    /// Bytes of padding at the end.
    padding: i64,
}

impl Model {
    pub(crate) fn basic(kind: Kind) -> Self {
        Model { map: vec![(0, kind)], marked: None, padding: 0 }
    }

    pub(crate) fn lower(&self) -> i64 {
        let first = self.map.iter().map(|(place, _)| *place).min();
        self.marked.map_or(first.unwrap_or(0), |(lower, _)| lower)
    }

    pub(crate) fn upper(&self) -> i64 {
        let last = self.map.iter().map(|(place, kind)| place + kind.bytes()).max();
        self.marked.map_or(last.unwrap_or(0) + self.padding, |(_, upper)| upper)
    }

    pub(crate) fn extent(&self) -> i64 {
        self.upper() - self.lower()
    }

    /// Returns copies at the given displacements, in order.
    pub(crate) fn at(parts: &[(i64, &Model)]) -> Self {
        let mut whole = Model { map: vec![], marked: None, padding: 0 };
        for (place, part) in parts {
            whole.map.extend(part.map.iter().map(|(within, kind)| (place + within, *kind)));
            if let Some((lower, upper)) = part.marked {
                let (first, last) = whole.marked.unwrap_or((place + lower, place + upper));
                whole.marked = Some((first.min(place + lower), last.max(place + upper)));
            }
        }
        // A padded part reaches farther than its last element.
        if whole.marked.is_none() && !whole.map.is_empty() {
            let filled = parts.iter().filter(|(_, part)| !part.map.is_empty());
            let upper = filled.map(|(place, part)| place + part.upper()).max();
            whole.padding = upper.unwrap_or(0) - whole.upper();
        }
        whole
    }

    /// Returns `count` copies from `place` on, one extent apart.
    pub(crate) fn row(&self, place: i64, count: i64) -> Vec<(i64, &Model)> {
        (0..count).map(|index| (place + index * self.extent(), self)).collect()
    }

    pub(crate) fn resized(&self, lower: i64, extent: i64) -> Self {
        Model { marked: Some((lower, lower + extent)), ..self.clone() }
    }

    /// Pads the type like a structure of C, whose size is that of an array element.
    pub(crate) fn padded(mut self) -> Self {
        let alignment = self.map.iter().map(|(_, kind)| kind.alignment()).max().unwrap_or(1);
        while self.marked.is_none() && self.extent() % alignment != 0 {
            self.padding += 1;
        }
        self
    }

    /// Returns the elements of an array of `sizes` whose index in each dimension is selected, in the order of the
    /// array.
    pub(crate) fn picked(
        &self,
        sizes: &[i64],
        order: Order,
        wanted: impl Fn(usize, i64) -> bool,
    ) -> Self {
        let whole: i64 = sizes.iter().product();
        let mut parts = Vec::new();
        for number in 0..whole {
            let mut left = number;
            let mut dimensions: Vec<usize> = (0..sizes.len()).collect();
            if order == Order::RowMajor {
                dimensions.reverse();
            }
            let is_wanted = dimensions.iter().fold(true, |all, &dimension| {
                let index = left % sizes[dimension];
                left /= sizes[dimension];
                wanted(dimension, index) && all
            });
            if is_wanted {
                parts.push((number * self.extent(), self));
            }
        }
        Model::at(&parts).resized(0, whole * self.extent())
    }

    pub(crate) fn size(&self) -> i64 {
        self.map.iter().map(|(_, kind)| kind.bytes()).sum()
    }

    /// Returns the data of `count` elements, whose address is byte `base` of `memory`.
    pub(crate) fn packed(&self, memory: &[u8], base: i64, count: i64) -> Vec<u8> {
        let mut data = Vec::new();
        self.each(base, count, |place, bytes| data.extend(&memory[place..place + bytes]));
        data
    }

    /// Calls `with` with the place and length of each basic element, in order.
    pub(crate) fn each(&self, base: i64, count: i64, mut with: impl FnMut(usize, usize)) {
        for index in 0..count {
            for (place, kind) in &self.map {
                let place = base + index * self.extent() + place;
                with(usize::try_from(place).unwrap(), kind.bytes() as usize);
            }
        }
    }
}
