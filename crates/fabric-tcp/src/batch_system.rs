//! The hosts that a batch system has allocated to this job: SLURM, PBS or LSF.

use crate::Host;

/// The environment of a process, which tests replace.
pub trait Surroundings {
    /// Returns the value of a variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Returns the text of a file, or the reason why it cannot be read.
    fn file(&self, path: &str) -> Result<String, String>;
}

/// The environment of this process.
pub struct OfThisProcess;

impl Surroundings for OfThisProcess {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> Result<String, String> {
        definition_files::read_text(path.as_ref()).map_err(|error| error.to_string())
    }
}

/// A function that reads the hosts from a variable's value.
type Reading = fn(&dyn Surroundings, String) -> Result<Vec<Host>, String>;

/// Returns the hosts of this process's job according to its batch system, and the variable that lists them. Returns
/// `None` if no batch system has started it.
///
/// # Errors
/// The invalid part of the value, with the variable's name.
pub fn hosts_of_job(
    surroundings: &dyn Surroundings,
) -> Option<Result<(Vec<Host>, &'static str), String>> {
    let ways: [(&'static str, Reading); 4] = [
        ("SLURM_JOB_NODELIST", of_slurm),
        ("PBS_NODEFILE", of_file),
        ("LSB_DJOB_HOSTFILE", of_file),
        ("LSB_MCPU_HOSTS", of_lsf),
    ];
    ways.into_iter().find_map(|(name, read)| {
        let value = surroundings.variable(name)?;
        let hosts = read(surroundings, value.clone()).and_then(|hosts| match hosts.is_empty() {
            true => Err("it names no host".into()),
            false => Ok((hosts, name)),
        });
        Some(hosts.map_err(|why| format!("{name}='{value}': {why}")))
    })
}

/// Reads a list such as `node[01-03,7],login`. `SLURM_TASKS_PER_NODE` holds the number of ranks on each: `4(x2),1`.
fn of_slurm(surroundings: &dyn Surroundings, list: String) -> Result<Vec<Host>, String> {
    let names = expand(&list)?;
    let Some(tasks) = surroundings.variable("SLURM_TASKS_PER_NODE") else {
        return names.into_iter().map(|name| Host::named(&name, 1)).collect();
    };
    let bad =
        |word: &str| format!("SLURM_TASKS_PER_NODE='{tasks}' has '{word}', which is no number");
    let mut slots = Vec::new();
    for word in tasks.split(',') {
        let (count, times) = match word.split_once("(x") {
            Some((count, times)) => (count, times.trim_end_matches(')')),
            None => (word, "1"),
        };
        let number = |text: &str| text.parse::<usize>().map_err(|_| bad(word));
        slots.extend(std::iter::repeat_n(number(count)?, number(times)?.min(names.len())));
    }
    if slots.len() != names.len() {
        return Err(format!("SLURM_TASKS_PER_NODE='{tasks}' is for {} hosts", slots.len()));
    }
    names.iter().zip(slots).map(|(name, slots)| Host::named(name, slots)).collect()
}

/// Expands a list of names with ranges in brackets. A range keeps the width of its first number.
fn expand(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let (mut word, mut depth) = (String::new(), 0);
    for character in list.chars().chain([',']) {
        match character {
            ',' if depth == 0 => names.extend(expand_word(&std::mem::take(&mut word))?),
            _ => {
                depth += i32::from(character == '[') - i32::from(character == ']');
                word.push(character);
            }
        }
    }
    if word.is_empty() {
        Ok(names)
    } else {
        Err(format!("'{word}' has brackets that do not close"))
    }
}

fn expand_word(word: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = word.split_once('[') else { return Ok(vec![word.into()]) };
    let bad = || format!("'{word}' is no range of hosts");
    let (ranges, after) = rest.split_once(']').ok_or_else(bad)?;
    let mut names = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let (from, to, width) = (number(first)?, number(last)?, first.len());
        if to < from || to - from >= crate::RANKS_MAX as u32 {
            return Err(bad());
        }
        for number in from..=to {
            names.extend(expand_word(&format!("{before}{number:0width$}{after}"))?);
        }
    }
    Ok(names)
}

/// Reads a file with a line for each rank, as PBS and LSF write it.
fn of_file(surroundings: &dyn Surroundings, path: String) -> Result<Vec<Host>, String> {
    let text = surroundings.file(&path)?;
    counted(text.split_whitespace().map(|name| (name, 1)))
}

/// Reads `HOST NUMBER HOST NUMBER ...`.
fn of_lsf(_: &dyn Surroundings, list: String) -> Result<Vec<Host>, String> {
    let words: Vec<&str> = list.split_whitespace().collect();
    let (pairs, rest) = words.as_chunks::<2>();
    let slots = pairs.iter().map(|[_, slots]| slots.parse::<usize>());
    match (slots.collect::<Result<Vec<_>, _>>(), rest) {
        (Ok(slots), []) => counted(pairs.iter().map(|[name, _]| *name).zip(slots)),
        _ => Err("it is not a number after each host".into()),
    }
}

/// Returns the hosts in the order of their first entries, each with all its ranks.
fn counted<'a>(entries: impl Iterator<Item = (&'a str, usize)>) -> Result<Vec<Host>, String> {
    let mut hosts: Vec<Host> = Vec::new();
    for (name, slots) in entries {
        match hosts.iter_mut().find(|host| host.name == name) {
            Some(host) => host.slots += slots,
            None => hosts.push(Host::named(name, slots)?),
        }
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pretended<'a>(&'a [(&'a str, &'a str)]);

    impl Surroundings for Pretended<'_> {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_string())
        }

        fn file(&self, path: &str) -> Result<String, String> {
            self.variable(path).ok_or_else(|| "no such file".into())
        }
    }

    fn found(variables: &[(&str, &str)]) -> Result<Vec<(String, usize)>, String> {
        let hosts = hosts_of_job(&Pretended(variables)).expect("a batch system");
        hosts.map(|(hosts, _)| hosts.into_iter().map(|one| (one.name, one.slots)).collect())
    }

    fn named(pairs: &[(&str, usize)]) -> Result<Vec<(String, usize)>, String> {
        Ok(pairs.iter().map(|&(name, slots)| (name.to_string(), slots)).collect())
    }

    #[test]
    fn each_batch_system_lists_its_hosts() {
        assert!(hosts_of_job(&Pretended(&[("HOME", "/root")])).is_none());
        let list = ("SLURM_JOB_NODELIST", "n[08-10,2]-ib,login");
        let five =
            named(&[("n08-ib", 4), ("n09-ib", 4), ("n10-ib", 4), ("n2-ib", 1), ("login", 2)]);
        assert_eq!(found(&[list, ("SLURM_TASKS_PER_NODE", "4(x3),1,2")]), five);
        assert_eq!(found(&[("SLURM_JOB_NODELIST", "a,b1")]), named(&[("a", 1), ("b1", 1)]));
        let lines = ("/nodes", "a\nb\na\na\n");
        for name in ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"] {
            assert_eq!(found(&[(name, "/nodes"), lines]), named(&[("a", 3), ("b", 1)]));
        }
        assert_eq!(found(&[("LSB_MCPU_HOSTS", "a 4 b 2")]), named(&[("a", 4), ("b", 2)]));
    }

    #[test]
    fn an_invalid_value_is_named_with_its_variable() {
        for (variables, words) in [
            (&[("SLURM_JOB_NODELIST", "n[1-3")][..], "do not close"),
            (&[("SLURM_JOB_NODELIST", "n[3-1]")], "no range of hosts"),
            (&[("SLURM_JOB_NODELIST", "n[1-999999]")], "no range of hosts"),
            (&[("SLURM_JOB_NODELIST", "-oProxyCommand=x")], "is no host"),
            (&[("SLURM_JOB_NODELIST", "a"), ("SLURM_TASKS_PER_NODE", "many")], "'many'"),
            (&[("SLURM_JOB_NODELIST", "a,b"), ("SLURM_TASKS_PER_NODE", "2")], "for 1 hosts"),
            (&[("PBS_NODEFILE", "/nowhere")], "PBS_NODEFILE='/nowhere': no such file"),
            (&[("PBS_NODEFILE", "/nodes"), ("/nodes", "\n")], "names no host"),
            (&[("LSB_MCPU_HOSTS", "a 4 b")], "number after each host"),
        ] {
            let why = found(variables).unwrap_err();
            assert!(why.contains(words), "{variables:?}: {why}");
        }
    }
}
