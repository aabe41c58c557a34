//! Every kernel compared with its definition, by the public interface.

mod block_fft;
mod common;
mod corner_turn;
mod foldfft;
mod hpec;
mod stones;
