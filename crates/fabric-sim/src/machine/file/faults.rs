//! Reads the faults of a machine from a file.

use contract::Time;
use definition_files::FileError;

use super::place::Place;
use super::schema::FileFault;
use crate::machine::{Broken, Fault, InnerNetwork, Network};

pub(super) fn faults(
    place: &Place<'_>,
    files: &[FileFault],
    inner: &[InnerNetwork],
    outermost: &Network,
) -> Result<Vec<Fault>, FileError> {
    let names: Vec<&str> = inner
        .iter()
        .map(|one| &one.network)
        .chain([outermost])
        .map(|one| one.name.as_str())
        .collect();
    let read = |(number, file)| fault(&Place { number, ..*place }, file, &names);
    files.iter().enumerate().map(read).collect()
}

fn fault(place: &Place<'_>, file: &FileFault, names: &[&str]) -> Result<Fault, FileError> {
    let at = Time::ZERO + place.span("fault.at_us", Some(file.at_us))?;
    let until = match file.until_us {
        Some(us) => Some(Time::ZERO + place.span("fault.until_us", Some(us))?),
        None => None,
    };
    if until.is_some_and(|until| until <= at) {
        return Err(place.refuse("fault.until_us", "is not after `at_us`"));
    }
    let given =
        [file.link.is_some(), file.port.is_some(), file.switch == Some(true), file.node.is_some()];
    if given.iter().filter(|&&given| given).count() != 1 {
        let why = "needs one of `link = [A, B]`, `port = NODE`, `switch = true` and `node = NODE`";
        return Err(place.refuse("fault", why));
    }
    let broken = match (file.link, file.port, file.node) {
        (_, _, Some(_)) if file.network.is_some() => {
            let why = "does not belong to a node, which is in all networks; a `port` is in one";
            return Err(place.refuse("fault.network", why));
        }
        (_, _, Some(node)) => Broken::Node(node),
        (Some(between), ..) => Broken::Link { network: network(place, file, names)?, between },
        (_, Some(node), _) => Broken::Port { network: network(place, file, names)?, node },
        _ => Broken::Switch { network: network(place, file, names)? },
    };
    Ok(Fault { at, until, broken })
}

/// Returns the number of the network in which a fault occurs.
fn network(place: &Place<'_>, file: &FileFault, names: &[&str]) -> Result<usize, FileError> {
    let Some(wanted) = &file.network else {
        return match names.len() {
            1 => Ok(0),
            _ => Err(place.refuse("fault.network", &format!("must be one of {}", listed(names)))),
        };
    };
    names.iter().position(|name| name == wanted).ok_or_else(|| {
        place.refuse("fault.network", &format!("is `{wanted}`; there are {}", listed(names)))
    })
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
