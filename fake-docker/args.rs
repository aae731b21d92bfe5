//! Reads a command's flags. A flag that is not listed is a mistake of the test, not of Docker.

use std::collections::BTreeMap;

use crate::failure::Failure;

/// The flags that a command knows, in all their spellings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    /// Flags that stand alone.
    pub(crate) switches: &'static [&'static str],
    /// Flags that take a value.
    pub(crate) valued: &'static [&'static str],
    /// Spellings that mean another flag.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
}

/// A command line taken apart.
#[derive(Debug, Default)]
pub(crate) struct Args {
    values: BTreeMap<String, Vec<String>>,
    pub(crate) operands: Vec<String>,
}

/// Whether flags may come after the first operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They may: most commands.
    Mixed,
    /// What follows the first operand is the program's: `run`.
    OperandsLast,
}

impl Flags {
    pub(crate) fn parse(self, order: Order, words: &[String]) -> Result<Args, Failure> {
        let mut args = Args::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "-" || !word.starts_with('-') {
                args.operands.push(word.clone());
                if order == Order::OperandsLast {
                    args.operands.extend(rest.by_ref().cloned());
                }
                continue;
            }
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let flag = self.canonical(flag);
            let value = match (self.takes_value(flag)?, inline) {
                (true, None) => rest.next().cloned().ok_or_else(|| missing_value(flag))?,
                (_, Some(value)) => value,
                (false, None) => String::from("true"),
            };
            args.values.entry(flag.to_owned()).or_default().push(value);
        }
        Ok(args)
    }

    fn canonical(self, flag: &str) -> &str {
        self.aliases.iter().find(|(alias, _)| *alias == flag).map_or(flag, |(_, name)| name)
    }

    fn takes_value(self, flag: &str) -> Result<bool, Failure> {
        if self.valued.contains(&flag) {
            Ok(true)
        } else if self.switches.contains(&flag) {
            Ok(false)
        } else {
            Err(Failure::unplayed(format!("unknown flag `{flag}`")))
        }
    }
}

impl Args {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.values.get(flag).and_then(|values| values.last()).is_some_and(|value| value == "true")
    }

    pub(crate) fn value(&self, flag: &str) -> Option<&str> {
        self.values(flag).last().map(String::as_str)
    }

    pub(crate) fn values(&self, flag: &str) -> &[String] {
        self.values.get(flag).map_or(&[], Vec::as_slice)
    }

    /// The values of `--filter`, as key and value.
    pub(crate) fn filters(&self) -> Result<Vec<(&str, &str)>, Failure> {
        let filters = self.values("--filter").iter();
        filters.map(|text| text.split_once('=').ok_or_else(|| bad_filter(text))).collect()
    }
}

fn missing_value(flag: &str) -> Failure {
    Failure::unplayed(format!("flag `{flag}` has no value"))
}

fn bad_filter(filter: &str) -> Failure {
    Failure::unplayed(format!("filter `{filter}` is not `key=value`"))
}
