//! The options for the places of ranks: what they are bound to, and in which order they take their places.

use std::ffi::OsString;

use crate::failure::Failure;

/// What the options ask for.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The value of `launch --bind`.
    bind: Option<&'static str>,
    /// The value of `launch --map-by`, and the option that asked for it.
    map_by: Option<(&'static str, String)>,
    processors_each: Option<usize>,
    /// The ranks on each host.
    pub(super) ranks_per_host: Option<usize>,
    /// True if the ranks go to the hosts in turn.
    pub(super) by_node: bool,
}

/// Refuses a value of an option.
fn refused(option: &str, value: &str, hint: &str) -> Failure {
    Failure::usage(format!("mpiexec: {option} {value} is not supported")).hint(hint)
}

impl Places {
    /// Takes the value of `-bind-to`.
    pub(super) fn bind(&mut self, option: &str, value: &str) -> Result<(), Failure> {
        let lower = value.to_lowercase();
        let (unit, rest) = lower.split_once(':').unwrap_or((&lower, ""));
        self.bind = Some(match unit {
            "none" | "board" | "machine" | "node" | "no" => "none",
            "core" | "hwthread" | "l1cache" | "l2cache" | "cpu" | "rr" => "core",
            "l3cache" | "cache" => "cache",
            "numa" => "numa",
            "socket" | "package" => "socket",
            _ => {
                let hint = "write core, hwthread, l3cache, numa, socket or none; \
                            `taskset -c LIST mpiexec ...` sets the processors of all ranks";
                return Err(refused(option, value, hint));
            }
        });
        for word in rest.split(':').filter(|word| !word.is_empty()) {
            match (word, word.parse::<usize>()) {
                ("overload-allowed" | "no-overload" | "if-supported" | "report", _) => {}
                (_, Ok(each)) if each > 0 => self.processors_each = Some(each),
                _ => return Err(refused(option, value, "leave out what follows the ':'")),
            }
        }
        Ok(())
    }

    /// Takes the value of `-map-by`.
    pub(super) fn map(&mut self, option: &str, value: &str) -> Result<(), Failure> {
        let lower = value.to_lowercase();
        let mut words = lower.split(':');
        let unit = words.next().unwrap_or_default();
        let mut unit = unit.to_owned();
        if unit == "ppr" {
            let number = words.next().and_then(|number| number.parse().ok()).filter(|&one| one > 0);
            let of = words.next().unwrap_or_default();
            let (Some(number), "node") = (number, of) else {
                let hint =
                    "write ppr:NUMBER:node, or the number of ranks by -n and --map-by socket";
                return Err(refused(option, value, hint));
            };
            self.ranks_per_host = Some(number);
            unit = "slot".into();
        }
        let map_by = match &*unit {
            "" | "slot" | "core" | "hwthread" | "l1cache" | "l2cache" | "cpu" | "board" => None,
            "node" => {
                self.by_node = true;
                None
            }
            "l3cache" | "cache" => Some("cache"),
            "numa" => Some("numa"),
            "socket" | "package" => Some("socket"),
            _ => {
                let hint = "write slot, core, l3cache, numa, socket, node or ppr:NUMBER:node";
                return Err(refused(option, value, hint));
            }
        };
        self.map_by = map_by.map(|map_by| (map_by, format!("{option} {value}")));
        words.flat_map(|word| word.split(',')).try_for_each(|word| self.modify(option, value, word))
    }

    /// Takes a modifier of a mapping.
    fn modify(&mut self, option: &str, value: &str, word: &str) -> Result<(), Failure> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|&number| number > 0);
        match word {
            "" | "oversubscribe" | "nooversubscribe" | "span" | "hwtcpus" | "corecpus"
            | "inherit" | "noinherit" | "display" => Ok(()),
            "nolocal" => {
                Err(refused(option, value, "name the hosts that are to be used by -hosts"))
            }
            _ => match number(word.strip_prefix("pe=").unwrap_or(word)) {
                Some(each) => {
                    self.processors_each = Some(each);
                    // Open MPI binds ranks whose number of processors is given.
                    self.bind.get_or_insert("core");
                    Ok(())
                }
                None => Err(refused(option, value, &format!("leave out '{word}'"))),
            },
        }
    }

    /// Takes the value of `--rank-by`.
    pub(super) fn rank(&mut self, option: &str, value: &str) -> Result<(), Failure> {
        match &*value.to_lowercase() {
            "slot" | "core" | "hwthread" | "fill" | "span" => Ok(()),
            "node" => {
                self.by_node = true;
                Ok(())
            }
            _ => {
                Err(refused(option, value, "ranks are numbered as --map-by places them: use that"))
            }
        }
    }

    /// Returns the options of `launch`. Adds a note on what has no effect.
    pub(super) fn words(&self, note: &mut dyn FnMut(&str, &str)) -> Vec<OsString> {
        let bind = self.bind.unwrap_or("none");
        let mut words: Vec<OsString> = Vec::new();
        if self.bind.is_some() {
            words.extend(["--bind", bind].map(OsString::from));
        }
        match &self.map_by {
            Some((_, option)) if bind == "none" => {
                note(option, "ranks are bound to no processors: add --bind-to core");
            }
            Some((map_by, _)) => words.extend(["--map-by", map_by].map(OsString::from)),
            None => {}
        }
        if let Some(each) = self.processors_each.filter(|&each| each > 1 && bind == "core") {
            words.extend(["--processors-each".into(), each.to_string().into()]);
        }
        words
    }
}
