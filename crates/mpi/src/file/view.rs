//! A process's view of a file: its displacement, its pieces, and its data representation.

use std::rc::Rc;

use super::tile::{Tiles, divide_up};
use crate::datatype::{Datatype, Kind};
use crate::error::{ErrorClass, Result, ensure};

/// The data representation of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Representation {
    /// As in memory.
    Native,
    /// The library's own choice, which is as in memory.
    Internal,
    /// The portable form: big-endian, with the same lengths everywhere.
    External32,
    /// As in memory, under a name that the program has defined.
    Named(String),
}

impl Representation {
    /// Returns its name in MPI.
    pub fn name(&self) -> &str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
            Representation::Named(name) => name,
        }
    }

    /// Returns the representation of a name. `named` returns whether the program has defined a name.
    ///
    /// # Errors
    /// [`ErrorClass::UnsupportedRepresentation`].
    pub fn from_name(name: &str, named: impl FnOnce(&str) -> bool) -> Result<Self> {
        let predefined =
            [Representation::Native, Representation::Internal, Representation::External32];
        if let Some(found) = predefined.into_iter().find(|one| one.name() == name) {
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

/// A process's view of a file.
pub struct View {
    displacement: i64,
    etype: Rc<Datatype>,
    filetype: Rc<Datatype>,
    representation: Representation,
    etype_bytes: i64,
    tiles: Tiles,
}

impl View {
    /// Creates the view of all bytes of a file.
    pub(super) fn whole() -> Self {
        let byte = Datatype::basic(Kind::Byte);
        let made = View::new(0, byte.clone(), byte, Representation::Native);
        made.expect("bytes can be seen")
    }

    /// Creates the view of consecutive copies of `filetype` from byte `displacement` on, in units of `etype`.
    ///
    /// # Errors
    /// [`ErrorClass::Argument`] for a displacement below 0 or a filetype that is not a multiple of the etype;
    /// [`ErrorClass::Type`] for types that were not committed or whose displacements decrease; and errors of the types.
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

    /// Returns its displacement in bytes.
    pub fn displacement(&self) -> i64 {
        self.displacement
    }

    /// Returns its etype.
    pub fn etype(&self) -> &Rc<Datatype> {
        &self.etype
    }

    /// Returns its filetype.
    pub fn filetype(&self) -> &Rc<Datatype> {
        &self.filetype
    }

    /// Returns its representation.
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

    /// Returns the number of etypes before an offset of the file; a partial one counts.
    pub(super) fn etypes_before(&self, offset: i64) -> i64 {
        match self.etype_bytes {
            0 => 0,
            bytes => divide_up(self.tiles.data_before(offset), bytes),
        }
    }
}
