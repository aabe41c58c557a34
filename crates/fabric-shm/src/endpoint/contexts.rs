//! The shared memory of contexts: each member contributes a board, and the team of all members carries out the
//! context's collectives.

use std::ptr::NonNull;

use contract::{ContextOffer, ContextPlace, NewContext};

use super::ShmEndpoint;
use crate::board::{BOARD_BYTES, Board};
use crate::team::{Oversubscription, Team};

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

impl ShmEndpoint {
    /// Returns the team of a context, if it has one.
    #[inline]
    pub(super) fn team_at(&mut self, place: ContextPlace) -> Option<&mut Team> {
        self.teams.get_mut(place.0 as usize)?.as_deref_mut()
    }

    /// Returns whether a context has a team.
    pub(super) fn has_team(&self, place: ContextPlace) -> bool {
        self.teams.get(place.0 as usize).is_some_and(Option::is_some)
    }

    /// Allocates a board for this rank's part in a new team. Returns [`ContextOffer::NOTHING`] without shared memory.
    pub(super) fn offer_board(&mut self) -> ContextOffer {
        let free = self.retired.iter().position(RetiredBoard::is_free);
        let memory = match free {
            Some(index) => Some(self.retired.swap_remove(index).board),
            None => self.seat().allocate(BOARD_BYTES).map(NonNull::cast::<Board>),
        };
        let Some(memory) = memory else { return ContextOffer::NOTHING };
        // SAFETY: nothing else uses it, and it is all atomics, for which zeros are values.
        unsafe { memory.write_bytes(0, 1) };
        let offset = self.seat().place_of(memory.as_ptr().cast(), BOARD_BYTES);
        offset.map_or(ContextOffer::NOTHING, ContextOffer)
    }

    /// Keeps a board for reuse once `members` members have left it.
    pub(super) fn retire_board(&mut self, offer: ContextOffer, members: usize) {
        if offer == ContextOffer::NOTHING {
            return;
        }
        let place = self.seat().memory_at(offer.0, BOARD_BYTES);
        let board = place.map(NonNull::cast);
        self.retired.extend(board.map(|board| RetiredBoard { board, members }));
    }

    /// Creates the team of these boards. Returns `None` if this rank cannot access one of them.
    fn make_team(&self, context: &NewContext<'_>) -> Option<Team> {
        let NewContext { number, members, me, offers } = *context;
        let place = |offer: &ContextOffer| match *offer {
            ContextOffer::NOTHING => None,
            ContextOffer(offset) => self.seat().memory_at(offset, BOARD_BYTES),
        };
        let boards: Option<Vec<_>> =
            offers.iter().map(|one| place(one).map(|p| p.as_ptr().cast_const().cast())).collect();
        let oversubscription = Oversubscription::of(&self.engine, members);
        // SAFETY: the places were just checked, and hold zeros: `offer_board` wrote them. They are used for another
        // team only after all members have left this one.
        let team = unsafe { Team::new(members.to_vec(), me, boards?, oversubscription) };
        Some(team.in_context(number))
    }

    pub(super) fn open_team(&mut self, context: &NewContext<'_>) -> ContextPlace {
        let team = match context.members.len() {
            1 => None,
            _ => self.make_team(context),
        };
        if team.is_none() {
            self.retire_board(context.offers[context.me], 0);
        }
        let place = self.free_places.pop().unwrap_or_else(|| {
            self.teams.push(None);
            ContextPlace(self.teams.len() as u32 - 1)
        });
        self.teams[place.0 as usize] = team.map(Box::new);
        place
    }

    pub(super) fn close_team(&mut self, place: ContextPlace) {
        let Some(team) = self.teams.get_mut(place.0 as usize) else { return };
        if let Some(team) = team.take() {
            let members = team.size();
            let board = NonNull::new(team.leave().cast_mut());
            self.retired.extend(board.map(|board| RetiredBoard { board, members }));
        }
        self.free_places.push(place);
    }
}
