//! The shared memory of contexts: each member contributes a board, and the team of all members carries out the
//! context's collectives.

use std::ptr::NonNull;

use contract::{Arenas, ContextOffer, ContextPlace, NewContext};

use super::HostCollectives;
use crate::board::{BOARD_BYTES, Board};
use crate::team::{Oversubscription, Team};
use crate::transport::Rings;

/// A board of a team that this rank has left.
pub(super) struct RetiredBoard {
    board: NonNull<Board>,
    members: usize,
}

impl RetiredBoard {
    fn is_free(&self) -> bool {
        // SAFETY: boards are never unmapped.
        unsafe { self.board.as_ref() }.left.is_everybody(self.members)
    }
}

impl HostCollectives {
    /// Returns the team of a context, if it has one.
    #[inline]
    pub(super) fn team_at(&mut self, place: ContextPlace) -> Option<&mut Team> {
        self.teams.get_mut(place.0 as usize)?.as_deref_mut()
    }

    /// Returns whether a context has a team.
    pub fn has_team(&self, place: ContextPlace) -> bool {
        self.teams.get(place.0 as usize).is_some_and(Option::is_some)
    }

    /// Allocates a board for this rank's part in a new team. Returns [`ContextOffer::NOTHING`] without shared memory.
    pub fn offer(&mut self, rings: &Rings) -> ContextOffer {
        let free = self.retired.iter().position(RetiredBoard::is_free);
        let memory = match free {
            Some(index) => Some(self.retired.swap_remove(index).board),
            None => rings.seat().allocate(BOARD_BYTES).map(NonNull::cast::<Board>),
        };
        let Some(memory) = memory else { return ContextOffer::NOTHING };
        // SAFETY: nothing else uses it, and it is all atomics, for which zeros are values.
        unsafe { memory.write_bytes(0, 1) };
        let offset = rings.seat().place_of(memory.as_ptr().cast(), BOARD_BYTES);
        offset.map_or(ContextOffer::NOTHING, ContextOffer)
    }

    /// Keeps a board that was offered for another context.
    fn retire(&mut self, rings: &Rings, offer: ContextOffer) {
        if offer == ContextOffer::NOTHING {
            return;
        }
        let place = rings.seat().memory_at(offer.0, BOARD_BYTES);
        let board = place.map(NonNull::cast);
        self.retired.extend(board.map(|board| RetiredBoard { board, members: 0 }));
    }

    /// Withdraws an offer for which no context is made.
    pub fn withdraw(&mut self, rings: &Rings, offer: ContextOffer) {
        self.retire(rings, offer);
    }

    /// Creates the team of these boards. Returns `None` if this rank cannot access one of them.
    fn make_team(rings: &Rings, context: &NewContext<'_>) -> Option<Team> {
        let NewContext { number, members, me, offers } = *context;
        let place = |offer: &ContextOffer| match *offer {
            ContextOffer::NOTHING => None,
            ContextOffer(offset) => rings.seat().memory_at(offset, BOARD_BYTES),
        };
        let boards: Option<Vec<_>> =
            offers.iter().map(|one| place(one).map(|p| p.as_ptr().cast_const().cast())).collect();
        let oversubscription = Oversubscription::of(rings, members);
        // SAFETY: the places were just checked, and hold zeros: `offer_board` wrote them. They are used for another
        // team only after all members have left this one.
        let team = unsafe { Team::new(members.to_vec(), me, boards?, oversubscription) };
        Some(team.in_context(number))
    }

    /// Opens a context, whose members are places in the rings.
    pub fn open(&mut self, rings: &Rings, context: &NewContext<'_>) -> ContextPlace {
        let team = match context.members.len() {
            1 => None,
            _ => HostCollectives::make_team(rings, context),
        };
        if team.is_none() {
            self.retire(rings, context.offers[context.me]);
        }
        let place = self.free_places.pop().unwrap_or_else(|| {
            self.teams.push(None);
            ContextPlace(self.teams.len() as u32 - 1)
        });
        self.teams[place.0 as usize] = team.map(Box::new);
        place
    }

    /// Closes a context.
    pub fn close(&mut self, place: ContextPlace) {
        let Some(team) = self.teams.get_mut(place.0 as usize) else { return };
        if let Some(team) = team.take() {
            let members = team.size();
            let board = NonNull::new(team.leave().cast_mut());
            self.retired.extend(board.map(|board| RetiredBoard { board, members }));
        }
        self.free_places.push(place);
    }
}
