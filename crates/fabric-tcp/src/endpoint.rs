//! A rank over TCP.

use contract::{FabricDescription, Process, Result};
use engine::TransportEndpoint;

use crate::transport::{CREDIT_BYTES, Connections, EAGER_MAX, Engine};

/// One rank's endpoint of a run over TCP.
///
/// Every pair of ranks has a connection of its own, which carries the messages of all contexts in sequence. A message
/// to this rank itself is copied, whatever its length, and waits for nobody unless it is synchronous.
pub type TcpEndpoint = TransportEndpoint<Connections>;

/// Creates the rank over `engine`, with the placement and the clock that it determines together with the others.
pub(crate) fn meet(engine: Engine, address: String) -> Result<Process<TcpEndpoint>> {
    let placement = engine.transport().supervision.placement();
    let details = [
        ("address", address),
        ("eager_max_bytes", EAGER_MAX.to_string()),
        ("unexpected_max_bytes", CREDIT_BYTES.to_string()),
    ];
    let description = FabricDescription {
        name: "tcp".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        ..FabricDescription::default()
    };
    TransportEndpoint::meet(engine, placement, description)
}
