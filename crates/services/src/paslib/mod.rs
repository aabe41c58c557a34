//! SEND and RECV of the Finite Element Machine: buffers of 1 to 255 words of 16 bits with a checksum.
//!
//! After Knott, *A performance analysis of the PASLIB version 2.1X SEND and RECV routines on the Finite Element
//! Machine* (1983), section 5. `docs/services.md` lists the corresponding calls and the guarantees.
//!
//! * `wire`: the layout of a buffer in a message;
//! * `pair`: the state of a partner;
//! * `calls`: SEND and RECV.

mod calls;
mod pair;
mod wire;

use contract::{Context, Rank, check_rank};

pub use calls::{Calls, Latest};
pub use pair::LATEST_UNDER_WAY;

use crate::{Error, Medium, ReceiveMode, Result};
use pair::{Incoming, Outgoing};

/// A partner from which a rank receives, the medium and the mode.
pub type Expected = (usize, Medium, ReceiveMode);

/// SEND and RECV of one rank. To call them, [enter](Paslib::enter) it.
pub struct Paslib {
    context: Context,
    /// States by partner and medium.
    outgoing: Vec<[Outgoing; Medium::ALL.len()]>,
    incoming: Vec<[Incoming; Medium::ALL.len()]>,
    /// The buffer of a message before it is sent, and of a received one.
    message: Vec<u8>,
    /// True if the next message has a wrong checksum.
    corrupt_next: bool,
}

fn code(mode: Option<ReceiveMode>) -> u8 {
    match mode {
        None => 0,
        Some(ReceiveMode::Synchronous) => 1,
        Some(ReceiveMode::Asynchronous) => 2,
    }
}

fn mode(code: u8) -> Option<ReceiveMode> {
    [ReceiveMode::Synchronous, ReceiveMode::Asynchronous]
        .into_iter()
        .find(|&mode| self::code(Some(mode)) == code)
}

impl Paslib {
    /// Opens the service among all ranks of `rank`, as a collective. Each rank names the partners from which it
    /// receives, and the modes. The sender does not choose a mode.
    ///
    /// # Errors
    /// A rank that does not exist, and [`MixedModes`](Error::MixedModes): both modes for one partner and medium. The
    /// rank with the mistake gets that error, and the others [`PartnersRefused`](Error::PartnersRefused).
    pub fn open(rank: &mut dyn Rank, expected: &[Expected]) -> Result<Self> {
        let size = rank.size();
        let own = modes_by_partner(size, expected);
        // Each byte is one mode; 3 reports to all ranks that this rank's list was refused.
        let refused = vec![[3; Medium::ALL.len()]; size];
        let modes = own.as_ref().unwrap_or(&refused);
        let mut theirs = vec![0; Medium::ALL.len() * size];
        rank.all_to_all(modes.as_flattened(), &mut theirs)?;
        let modes = own?;
        let (theirs, _) = theirs.as_chunks::<{ Medium::ALL.len() }>();
        if let Some(by) = theirs.iter().position(|codes| codes[0] == 3) {
            return Err(Error::PartnersRefused { by });
        }
        let outgoing = |code: u8| Outgoing { mode: mode(code), ..Outgoing::default() };
        let incoming = |code: u8| Incoming { mode: mode(code), ..Incoming::default() };
        let context = rank.split(Some(0), 0)?.expect("this rank has given a colour");
        Ok(Paslib {
            context,
            outgoing: theirs.iter().map(|codes| codes.map(outgoing)).collect(),
            incoming: modes.iter().map(|codes| codes.map(incoming)).collect(),
            message: vec![0; wire::BYTES_MAX],
            corrupt_next: false,
        })
    }

    /// Returns the calls. `rank` is the one with which the service was opened.
    pub fn enter<'a>(&'a mut self, rank: &'a mut dyn Rank) -> Calls<'a> {
        Calls::new(self, rank)
    }

    /// Closes the service on all ranks, as a collective. Buffers that were not received are lost.
    ///
    /// # Errors
    /// Those of the fabric.
    pub fn close(mut self, rank: &mut dyn Rank) -> Result<()> {
        self.enter(rank).drain()?;
        rank.close(self.context)?;
        Ok(())
    }

    /// Makes the next SEND's checksum wrong, to test the program's reaction.
    pub fn corrupt_next_checksum(&mut self) {
        self.corrupt_next = true;
    }
}

/// Returns the message of this rank to each other rank: its receive mode for that rank's buffers, by medium.
fn modes_by_partner(size: usize, expected: &[Expected]) -> Result<Vec<[u8; Medium::ALL.len()]>> {
    let mut modes = vec![[code(None); Medium::ALL.len()]; size];
    for &(from, medium, mode) in expected {
        check_rank(from, size)?;
        let before = &mut modes[from][medium.index()];
        if *before != code(None) && *before != code(Some(mode)) {
            return Err(Error::MixedModes { from, medium });
        }
        *before = code(Some(mode));
    }
    Ok(modes)
}
