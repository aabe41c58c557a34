//! A function of a stage: its name, and its numbers in the chain's file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ALL, StageFunction};

/// One of the functions of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    name: Cow<'static, str>,
    numbers: BTreeMap<String, usize>,
}

impl Function {
    #[cfg(test)]
    pub(crate) const FFT: Function = Function::plain("fft");
    #[cfg(test)]
    pub(crate) const WEIGHT: Function = Function::plain("weight");
    pub(crate) const CORNER_TURN: Function = Function::plain("corner-turn");

    const fn plain(name: &'static str) -> Function {
        Function { name: Cow::Borrowed(name), numbers: BTreeMap::new() }
    }

    /// Returns the function called `name`, with `numbers` by the names of its parameters.
    ///
    /// # Errors
    /// The error, and a correction.
    pub(crate) fn new(name: &str, numbers: BTreeMap<String, usize>) -> Result<Function, String> {
        let Some(kind) = find(name) else {
            let names: Vec<_> = ALL.iter().map(|one| format!("`{}`", one.about().name)).collect();
            return Err(format!("there is no function `{name}`; there are {}", names.join(", ")));
        };
        let parameters = kind.about().parameters;
        if let Some(unknown) =
            numbers.keys().find(|key| parameters.iter().all(|one| one.name != key.as_str()))
        {
            let names: Vec<_> = parameters.iter().map(|one| format!("`{}`", one.name)).collect();
            let expected = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(format!("`{name}` has no parameter `{unknown}`; it has {expected}"));
        }
        for parameter in parameters {
            match numbers.get(parameter.name) {
                None if parameter.default.is_none() => {
                    return Err(format!(
                        "`{name}` needs `{}` ({}), as in {{ name = \"{name}\", {} = 16 }}",
                        parameter.name, parameter.meaning, parameter.name
                    ));
                }
                Some(number) if *number < parameter.least => {
                    return Err(format!(
                        "`{}` of `{name}` is {number}; it must be {} or more",
                        parameter.name, parameter.least
                    ));
                }
                _ => {}
            }
        }
        Ok(Function { name: Cow::Owned(name.into()), numbers })
    }

    /// Returns its name in files.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its description.
    pub(crate) fn kind(&self) -> &'static dyn StageFunction {
        find(&self.name).expect("a function is made only of a name that there is")
    }

    /// Returns the number in the file, or the default.
    pub(super) fn number(&self, parameter: &str) -> usize {
        let default = || {
            let found = self.kind().about().parameters.iter().find(|found| found.name == parameter);
            found.and_then(|found| found.default).unwrap_or_default()
        };
        self.numbers.get(parameter).copied().unwrap_or_else(default)
    }

    /// Returns whether it makes columns rows.
    pub(crate) fn turns(&self) -> bool {
        self.kind().turns()
    }

    /// Returns the length of its result for a row of `columns` elements.
    ///
    /// # Errors
    /// The reason why there is no result.
    pub(crate) fn columns(&self, columns: usize) -> Result<usize, String> {
        self.kind().columns(self, columns)
    }
}

fn find(name: &str) -> Option<&'static dyn StageFunction> {
    ALL.iter().copied().find(|one| one.about().name == name)
}
