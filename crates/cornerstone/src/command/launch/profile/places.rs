//! The places of a program, with names that are the same at all ranks.

use std::collections::HashMap;
use std::path::PathBuf;

use launcher::CallSite;
use profile::{RankRecord, Site};

use crate::call_sites::CallSites;
use crate::mistakes::Side;
use crate::source_place::SourcePlace;

/// A function of MPI and the place of its call.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) function: &'static str,
    pub(super) at: SourcePlace,
}

/// Places of all ranks.
pub(super) struct Places {
    /// Places of each record, by the index of the site.
    of_record: Vec<HashMap<u16, Place>>,
}

/// Common name of places for which a record had no room.
const OTHERS: &str = "other places";

impl Places {
    /// Finds the names. Each place of a file is looked up once, independent of the address of the file in each process.
    pub(super) fn of(records: &[RankRecord]) -> Self {
        let mut sites = CallSites::default();
        let mut places: HashMap<(String, u64), SourcePlace> = HashMap::new();
        let mut name = |site: &Site| {
            if let Some(text) = &site.text {
                return SourcePlace::noted(text);
            }
            let (Some(address), Some(object)) = (site.address, &site.object) else {
                return SourcePlace::noted(if site.address.is_none() { OTHERS } else { "?" });
            };
            // The address is that of the return. A call may be the last instruction of its function.
            let address = address - 1;
            let key = (object.path.clone(), address.wrapping_sub(object.base));
            let found = places.entry(key).or_insert_with(|| {
                let object_path = PathBuf::from(&object.path);
                let site = CallSite { object: object_path, address, base: object.base };
                sites.name(&[site]).unwrap_or_default()
            });
            found.clone()
        };
        let mut of_sites = |record: &RankRecord| {
            let place = |site: &Site| {
                let function = profile::function(site.function).0;
                (site.index, Place { function, at: name(site) })
            };
            record.sites.iter().map(place).collect()
        };
        Places { of_record: records.iter().map(&mut of_sites).collect() }
    }

    /// Returns the place of a site of a record.
    pub(super) fn get(&self, record: usize, site: u16) -> Place {
        let place = self.of_record.get(record).and_then(|sites| sites.get(&site));
        place
            .cloned()
            .unwrap_or(Place { function: profile::function(0).0, at: SourcePlace::noted(OTHERS) })
    }
}

impl Place {
    /// Returns the call that `rank` has made at this place.
    pub(super) fn side(self, rank: usize) -> Side {
        Side { rank: Some(rank), call: Some(self.function.to_owned()), place: self.at }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.function, self.at)
    }
}
