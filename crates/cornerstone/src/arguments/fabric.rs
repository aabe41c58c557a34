//! The choice of a fabric on the command line.

use std::str::FromStr;

use fabric_cluster::OuterFabric;
use fabric_mpi::Flavour;

use crate::fabric_name::{CLUSTER, LOCAL, MPI, OFI, SIMULATED, TCP};

/// A fabric: `NAME` or `NAME:ARGUMENT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FabricChoice {
    /// Ranks as processes over shared memory.
    Local,
    /// Ranks as processes over TCP.
    Tcp,
    /// Ranks as processes on several hosts: over shared memory inside each, over this fabric between them.
    Cluster(OuterFabric),
    /// Ranks as processes over libfabric: over this provider, or over the first one.
    Ofi(Option<String>),
    /// A simulated machine, by its name or the path of its file.
    Simulated(String),
    /// An MPI whose launcher has started this process.
    Mpi,
    /// An MPI whose launcher this process starts.
    MpiLaunched(Flavour),
}

impl FabricChoice {
    /// Returns whether it is a simulated machine.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self, FabricChoice::Simulated(_))
    }

    /// Returns its name in results files. A machine file gives the name of its machine.
    pub(crate) fn name_in_results(&self) -> String {
        match self {
            FabricChoice::Simulated(machine) => {
                let found = fabric_sim::machine::find(machine);
                found.map_or_else(
                    |_| self.to_string(),
                    |found| format!("{SIMULATED}:{}", found.name),
                )
            }
            _ => self.to_string(),
        }
    }

    /// Returns whether this process can start its ranks on several hosts.
    pub(crate) fn takes_hosts(&self) -> bool {
        matches!(self, FabricChoice::Tcp) || self.asks_for_hosts()
    }

    /// Returns whether it uses the hosts of a batch system if the user names none.
    pub(crate) fn asks_for_hosts(&self) -> bool {
        matches!(self, FabricChoice::Cluster(_) | FabricChoice::Ofi(_))
    }
}

impl FromStr for FabricChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, argument) =
            text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        match (name, argument) {
            (LOCAL, None) => Ok(FabricChoice::Local),
            (TCP, None) => Ok(FabricChoice::Tcp),
            (CLUSTER, None) => Ok(FabricChoice::Cluster(OuterFabric::Tcp)),
            (CLUSTER, Some(argument)) => outer_fabric(argument).map(FabricChoice::Cluster),
            (LOCAL | TCP, Some(argument)) => {
                Err(format!("the fabric '{name}' takes no argument, but '{argument}' was given"))
            }
            (OFI, Some("")) => {
                Err("'ofi:' names no provider; such are ofi:tcp, ofi:verbs and ofi:efa, \
                 and 'ofi' alone takes the first that libfabric has"
                    .into())
            }
            (OFI, provider) => Ok(FabricChoice::Ofi(provider.map(str::to_owned))),
            (SIMULATED, Some(machine)) => match fabric_sim::machine::find(machine) {
                Ok(_) => Ok(FabricChoice::Simulated(machine.into())),
                Err(error) => Err(error.to_string()),
            },
            (SIMULATED, None) => {
                Err("the fabric 'sim' needs a machine, such as sim:paragon-osf1; \
                 `cornerstone machines` lists them"
                    .into())
            }
            (MPI, None) => Ok(FabricChoice::Mpi),
            (MPI, Some(name)) => match Flavour::named(name) {
                Some(flavour) => Ok(FabricChoice::MpiLaunched(flavour)),
                None => Err(format!(
                    "there is no MPI called '{name}' here; there are: {}",
                    Flavour::ALL.map(Flavour::name).join(", ")
                )),
            },
            _ => Err(format!(
                "there is no fabric '{name}' in this build; there are: local, tcp, cluster, cluster:ofi, \
                 cluster:ofi:PROVIDER, ofi, ofi:PROVIDER, sim:MACHINE, mpi, mpi:NAME"
            )),
        }
    }
}

/// Reads what follows `cluster:`.
fn outer_fabric(argument: &str) -> Result<OuterFabric, String> {
    let is_ofi = argument.split(':').next() == Some(OFI);
    match argument.parse::<FabricChoice>() {
        Ok(FabricChoice::Ofi(provider)) => Ok(OuterFabric::Ofi { provider }),
        Err(why) if is_ofi => Err(why),
        _ => Err(format!(
            "'{CLUSTER}:{argument}' names no fabric between hosts: '{CLUSTER}' alone uses TCP there, '{CLUSTER}:{OFI}' and \
             '{CLUSTER}:{OFI}:PROVIDER' use libfabric"
        )),
    }
}

impl std::fmt::Display for FabricChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FabricChoice::Local => f.write_str(LOCAL),
            FabricChoice::Tcp => f.write_str(TCP),
            FabricChoice::Cluster(OuterFabric::Tcp) => f.write_str(CLUSTER),
            FabricChoice::Cluster(OuterFabric::Ofi { provider }) => {
                write!(f, "{CLUSTER}:{}", FabricChoice::Ofi(provider.clone()))
            }
            FabricChoice::Ofi(None) => f.write_str(OFI),
            FabricChoice::Ofi(Some(provider)) => write!(f, "{OFI}:{provider}"),
            FabricChoice::Simulated(machine) => write!(f, "{SIMULATED}:{machine}"),
            FabricChoice::Mpi => f.write_str(MPI),
            FabricChoice::MpiLaunched(flavour) => write!(f, "{MPI}:{}", flavour.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<FabricChoice>().unwrap_err()
    }

    #[test]
    fn fabrics_are_named_with_their_argument() {
        assert_eq!("local".parse(), Ok(FabricChoice::Local));
        assert_eq!("mpi".parse(), Ok(FabricChoice::Mpi));
        assert_eq!("tcp".parse(), Ok(FabricChoice::Tcp));
        assert_eq!("cluster".parse(), Ok(FabricChoice::Cluster(OuterFabric::Tcp)));
        for provider in [None, Some("verbs".into()), Some("tcp;ofi_rxm".into())] {
            let cluster = FabricChoice::Cluster(OuterFabric::Ofi { provider });
            assert_eq!(cluster.to_string().parse(), Ok(cluster));
        }
        let layered = FabricChoice::Ofi(Some("tcp;ofi_rxm".into()));
        assert_eq!(
            ("ofi".parse(), layered.to_string().parse()),
            (Ok(FabricChoice::Ofi(None)), Ok(layered))
        );
        assert!(refusal("ofi:").contains("names no provider"));
        assert!(refusal("cluster:ofi:").contains("names no provider"));
        for other in ["cluster:", "cluster:tcp", "cluster:mpi", "cluster:ofix"] {
            let said = refusal(other);
            assert!(
                said.starts_with(&format!("'{other}' names no fabric between hosts")),
                "{said}"
            );
            assert!(said.contains("uses TCP") && said.contains("'cluster:ofi:PROVIDER'"), "{said}");
        }
        assert!(refusal("tcp:7000").contains("'tcp' takes no argument"));
        let launched = FabricChoice::MpiLaunched(Flavour::Mpich);
        assert_eq!("mpi:mpich".parse(), Ok(launched.clone()));
        assert_eq!(launched.to_string(), "mpi:mpich");
        assert!(refusal("mpi:mpic").contains("mpich, intel, openmpi"));
        assert!(refusal("local:x").contains("takes no argument"));
        assert!(refusal("carrier-pigeon:3").contains("'carrier-pigeon'"));
    }
}
