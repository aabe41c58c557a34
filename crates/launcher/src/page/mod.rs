//! What the launcher and the ranks of a run share: a page of the run, and a page of each rank. Everything in them is
//! atomic: several processes access it at once.

mod abort;
mod bell;
mod processors;
mod rank_page;
mod run_page;
mod wait_note;

pub(crate) use bell::Bell;
pub use processors::RankProcessors;
pub(crate) use rank_page::RankPage;
pub use rank_page::State;
pub use run_page::Choices;
pub(crate) use run_page::{RunPage, other_layout};
pub use wait_note::PollState;
pub(crate) use wait_note::WaitNote;
pub(crate) use wait_note::{Answer, AnsweredWait, CALLERS_MAX, LongWait, place_mark, split_place};
