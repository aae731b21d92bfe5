//! What a profile says of a system call, for a program that has no capability.
//!
//! It reads profiles as engines do, as far as that takes; arguments of calls are not weighed.

use serde_json::Value;

/// A profile, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    /// What becomes of calls that no rule names.
    pub(super) default: Action,
    rules: Vec<Rule>,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Allow,
    Refuse,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    names: Vec<String>,
    action: Action,
    holds: Holds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Always,
    ForSomeArguments,
}

impl Rules {
    /// Or what is wrong with the profile.
    pub(super) fn read(profile: &Value) -> Result<Self, &'static str> {
        let default = profile["defaultAction"].as_str().ok_or("it has no defaultAction")?;
        let rules = profile["syscalls"].as_array().ok_or("it has no syscalls")?;
        let rules = rules.iter().filter(|rule| !needs_capabilities(rule)).filter_map(Rule::read);
        Ok(Self { default: Action::read(default), rules: rules.collect() })
    }

    /// Whether it allows this call, if only with some arguments.
    pub(super) fn allow(&self, call: &str) -> bool {
        let mut named = self.rules.iter().filter(|rule| rule.names.iter().any(|name| name == call));
        match self.default {
            Action::Allow => {
                !named.any(|rule| rule.action == Action::Refuse && rule.holds == Holds::Always)
            }
            Action::Refuse => named.any(|rule| rule.action == Action::Allow),
        }
    }
}

impl Action {
    fn read(name: &str) -> Self {
        match name {
            "SCMP_ACT_ALLOW" | "SCMP_ACT_LOG" => Self::Allow,
            _ => Self::Refuse,
        }
    }
}

impl Rule {
    fn read(rule: &Value) -> Option<Self> {
        let names = rule["names"].as_array().into_iter().flatten().chain([&rule["name"]]);
        let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
        Some(Self {
            names: names.filter_map(Value::as_str).map(str::to_owned).collect(),
            action: Action::read(rule["action"].as_str()?),
            holds: if is_empty(&rule["args"]) { Holds::Always } else { Holds::ForSomeArguments },
        })
    }
}

/// das grants no capability, so that such a rule is never in force.
fn needs_capabilities(rule: &Value) -> bool {
    rule["includes"]["caps"].as_array().is_some_and(|caps| !caps.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules(default: &str, rules: &Value) -> Rules {
        Rules::read(&json!({"defaultAction": default, "syscalls": rules})).unwrap()
    }

    #[test]
    fn a_list_of_what_is_allowed_allows_that_alone() {
        let rules = rules(
            "SCMP_ACT_ERRNO",
            &json!([
                {"names": ["read", "unshare"], "action": "SCMP_ACT_ALLOW"},
                {"name": "keyctl", "action": "SCMP_ACT_LOG"},
                {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0}]},
                {"names": ["bpf"], "action": "SCMP_ACT_ERRNO"},
                {"names": ["mount"], "action": "SCMP_ACT_ALLOW",
                 "includes": {"caps": ["CAP_SYS_ADMIN"]}},
            ]),
        );
        for call in ["read", "unshare", "keyctl", "clone"] {
            assert!(rules.allow(call), "{call}");
        }
        for call in ["bpf", "mount", "userfaultfd"] {
            assert!(!rules.allow(call), "{call}");
        }
    }

    #[test]
    fn a_list_of_what_is_refused_allows_all_else() {
        let rules = rules(
            "SCMP_ACT_ALLOW",
            &json!([
                {"names": ["mount", "bpf"], "action": "SCMP_ACT_ERRNO"},
                {"names": ["unshare"], "action": "SCMP_ACT_KILL", "args": [{"index": 0}]},
            ]),
        );
        assert!(rules.allow("keyctl") && rules.allow("unshare"));
        assert!(!rules.allow("mount") && !rules.allow("bpf"));
    }
}
