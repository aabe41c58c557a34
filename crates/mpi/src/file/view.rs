//! What a process sees of a file: from where on, in which pieces, and in which form.

use std::rc::Rc;

use super::tile::{Tiles, divide_up};
use crate::datatype::{Datatype, Kind};
use crate::error::{ErrorClass, Result, ensure};

/// In which form numbers lie in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As this library likes, which is as in memory.
    Internal,
    /// The portable form: big-endian, in lengths that are the same everywhere.
    External32,
    /// As in memory, under a name that the program has given to that.
    Named(String),
}

impl Representation {
    /// Returns what MPI calls it.
    pub fn name(&self) -> &str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
            Representation::Named(name) => name,
        }
    }

    /// That of a name, of which `named` says whether the program has given it.
    ///
    /// # Errors
    /// [`ErrorClass::UnsupportedRepresentation`].
    pub fn from_name(name: &str, named: impl FnOnce(&str) -> bool) -> Result<Self> {
        let known = [Representation::Native, Representation::Internal, Representation::External32];
        if let Some(found) = known.into_iter().find(|one| one.name() == name) {
            return Ok(found);
        }
        let class = ErrorClass::UnsupportedRepresentation;
        ensure!(named(name), class, "no data representation is called {name:?}");
        Ok(Representation::Named(name.into()))
    }

    /// Returns a type as it lies in a file.
    pub(super) fn in_file(&self, of: &Rc<Datatype>) -> Result<Rc<Datatype>> {
        match self {
            Representation::External32 => Datatype::in_portable_form(of),
            _ => Ok(of.clone()),
        }
    }
}

/// What a process sees of a file.
pub struct View {
    displacement: i64,
    etype: Rc<Datatype>,
    filetype: Rc<Datatype>,
    representation: Representation,
    etype_bytes: i64,
    tiles: Tiles,
}

impl View {
    /// All bytes of a file.
    pub(super) fn whole() -> Self {
        let byte = Datatype::basic(Kind::Byte);
        let made = View::new(0, byte.clone(), byte, Representation::Native);
        made.expect("bytes can be seen")
    }

    /// From byte `displacement` on one `filetype` after the other, in units of `etype`.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a displacement below 0 or a filetype that is no multiple of the etype;
    /// [`ErrorClass::Type`] for types that were not committed or whose displacements become smaller; and of the types.
    pub fn new(
        displacement: i64,
        etype: Rc<Datatype>,
        filetype: Rc<Datatype>,
        representation: Representation,
    ) -> Result<Self> {
        ensure!(displacement >= 0, ErrorClass::Argument, "a displacement of {displacement}");
        for one in [&etype, &filetype] {
            ensure!(one.is_committed(), ErrorClass::Type, "the datatype was not committed");
        }
        let (unit, whole) = (etype.size(), filetype.size());
        let is_made_of = whole == 0 || (unit > 0 && whole % unit == 0);
        let what = "the filetype is not made of etypes";
        ensure!(is_made_of, ErrorClass::Argument, "{what}: {whole} bytes of {unit} each");
        let etype_bytes = representation.in_file(&etype)?.size();
        let tiles = Tiles::new(displacement, &*representation.in_file(&filetype)?);
        let what = "a filetype whose displacements become smaller or negative";
        ensure!(tiles.are_monotonic(), ErrorClass::Type, "{what}");
        let advances = whole == 0 || filetype.extent() > 0;
        ensure!(advances, ErrorClass::Type, "a filetype of extent {}", filetype.extent());
        Ok(View { displacement, etype, filetype, representation, etype_bytes, tiles })
    }

    /// Returns where it begins, in bytes.
    pub fn displacement(&self) -> i64 {
        self.displacement
    }

    /// Returns what positions count.
    pub fn etype(&self) -> &Rc<Datatype> {
        &self.etype
    }

    /// Returns which pieces it shows.
    pub fn filetype(&self) -> &Rc<Datatype> {
        &self.filetype
    }

    /// In which form.
    pub fn representation(&self) -> &Representation {
        &self.representation
    }

    /// Returns the length of an etype in the file.
    pub(super) fn etype_bytes(&self) -> i64 {
        self.etype_bytes
    }

    pub(super) fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    pub(super) fn is_portable(&self) -> bool {
        self.representation == Representation::External32
    }

    /// Returns how many etypes there are before an offset of the file; one that it cuts counts.
    pub(super) fn etypes_before(&self, offset: i64) -> i64 {
        match self.etype_bytes {
            0 => 0,
            bytes => divide_up(self.tiles.data_before(offset), bytes),
        }
    }
}
