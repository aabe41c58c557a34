//! The endpoint of a rank over libfabric.

use contract::FabricDescription;
use engine::TransportEndpoint;

use crate::objects::Objects;
use crate::transport::{EAGER_MAX, Libfabric};

/// One rank's end of a run over libfabric.
pub type OfiEndpoint = TransportEndpoint<Libfabric>;

/// Describes the fabric of an endpoint.
pub(crate) fn description(objects: &Objects) -> FabricDescription {
    let provider = &objects.provider;
    let sleeps = match objects.can_sleep() {
        true => "on a descriptor",
        false => "for increasing times, because the provider has no descriptor",
    };
    let windows = match provider.remote {
        Some(remote) if remote.has_atomics => "writes, reads and atomic operations of the provider",
        Some(_) => "writes and reads of the provider, updates by messages",
        None => "by messages, because the provider has no one-sided operations",
    };
    let details = [
        ("provider", provider.name.clone()),
        ("domain", provider.domain.clone()),
        ("libfabric", provider.library().version()),
        ("sleeps", sleeps.into()),
        ("windows", windows.into()),
        ("eager_max_bytes", EAGER_MAX.to_string()),
        ("receives_max", provider.receives_max.to_string()),
    ];
    FabricDescription {
        name: "ofi".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        details: details.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        ..FabricDescription::default()
    }
}
