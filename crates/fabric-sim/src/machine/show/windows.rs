//! Describes accesses to memory of other ranks in words.

use contract::TimeSpan;

use super::{piecewise, us};
use crate::machine::{AccessPath, Windows};

/// Returns the costs of accesses. The packets and adapters of rings are described with the rings.
pub(super) fn lines(windows: &Windows, on_rings: bool) -> Vec<String> {
    let by_network = windows.path == AccessPath::Network;
    let does = if by_network { "Starting" } else { "All of" };
    let mut lines = vec![
        match by_network {
            true => {
                "Adapters carry puts, gets and updates out; the target's processor takes no part."
            }
            false => "Ranks put, get and update by loads and stores; the target takes no part.",
        }
        .to_string(),
        format!("{does} a put takes the processor {}.", piecewise(&windows.put)),
        format!("{does} a get takes it {}.", piecewise(&windows.get)),
        format!("{does} an atomic update takes it {}.", piecewise(&windows.update)),
    ];
    if by_network && !on_rings {
        lines.push(format!(
            "The target's adapter takes {} for a put or get.",
            piecewise(&windows.target)
        ));
        lines.push(format!("It takes {} for an update.", piecewise(&windows.target_update)));
        lines.push(format!(
            "A request has {} B on the links besides its data, an answer {} B.",
            windows.request_bytes, windows.answer_bytes
        ));
    }
    if windows.done != TimeSpan::ZERO {
        lines.push(format!("The origin learns of the end in {}.", us(windows.done)));
    }
    if windows.see != TimeSpan::ZERO {
        lines.push(format!("Who waits for a notice sees it after {}.", us(windows.see)));
    }
    lines
}
