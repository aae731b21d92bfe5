//! Replaces what differs from run to run, so that whole outputs can be compared.

/// `in 0.41s` becomes `in [TIME]`, `das-<hex>` becomes `das-[ID]`, and a label's expiry becomes
/// `[EXPIRY]`.
pub(crate) fn redact(text: &str) -> String {
    let text = replace(text, "das-", |rest| {
        let id = rest.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(rest.len());
        (id >= 8).then_some((id, "[ID]"))
    });
    let text = replace(&text, "docker-agent-sandbox.expires=", |rest| {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        (digits > 0).then_some((digits, "[EXPIRY]"))
    });
    replace(&text, "in ", |rest| {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let unit = ["ms", "s"].into_iter().find(|unit| rest[number..].starts_with(unit))?;
        (number > 0).then_some((number + unit.len(), "[TIME]"))
    })
}

/// After each `mark`, `what` says how many bytes go and what comes in their place.
fn replace(text: &str, mark: &str, what: impl Fn(&str) -> Option<(usize, &'static str)>) -> String {
    let mut redacted = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(mark) {
        let (length, word) = what(after).unwrap_or((0, ""));
        redacted.extend([before, mark, word]);
        rest = &after[length..];
    }
    redacted + rest
}
