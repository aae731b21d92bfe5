//! Request ids and progress tokens: a string or an integer, echoed exactly as the client wrote it.

use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A string or an integer of any size, with the client's own spelling.
#[derive(Debug, Clone)]
pub(crate) struct RequestId {
    raw: Box<RawValue>,
    key: Key,
}

/// What makes two ids the same: `"1"` and `1` differ, `"a"` and `"\u0061"` do not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Number(String),
}

/// The longest spelling of an id, in bytes; answers carry it back.
const LONGEST: usize = 1024;

impl RequestId {
    /// `None` where `raw` is neither a string nor an integer, or is endless.
    pub(crate) fn parse(raw: &RawValue) -> Option<Self> {
        let text = Some(raw.get()).filter(|text| text.len() <= LONGEST)?;
        let key = if text.starts_with('"') {
            Key::Text(serde_json::from_str(text).ok()?)
        } else {
            Key::Number(is_integer(text).then(|| text.to_owned())?)
        };
        Some(Self { raw: raw.to_owned(), key })
    }
}

/// Whether JSON `text` is a whole number, too large ones such as `1e29` included.
fn is_integer(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|number| number.is_infinite() || number.fract() == 0.0)
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<RequestId> {
        RequestId::parse(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn strings_and_integers_of_any_size_are_echoed_as_written() {
        for text in [
            "0",
            "-7",
            "9223372036854775807",
            "18446744073709551615",
            "123456789012345678901234567890",
            "1e29",
            "1e+400",
            "\"a\"",
            "\"\"",
            "\"\\u0061\\n\u{e9}\"",
        ] {
            assert_eq!(serde_json::to_string(&id(text).unwrap()).unwrap(), text);
        }
    }

    #[test]
    fn anything_else_is_no_id() {
        for text in ["1.5", "1e-2", "true", "null", "[]", "{}", "\"\\ud800\""] {
            assert!(id(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_id_that_would_make_every_answer_huge_is_no_id() {
        assert!(id(&format!("\"{}\"", "x".repeat(LONGEST - 2))).is_some());
        assert!(id(&format!("\"{}\"", "x".repeat(LONGEST - 1))).is_none());
    }

    #[test]
    fn a_number_and_its_text_are_two_ids_and_an_escape_is_the_same_id() {
        assert_ne!(id("1"), id("\"1\""));
        assert_ne!(id("123456789012345678901234567890"), id("123456789012345678901234567891"));
        assert_eq!(id("\"a\""), id("\"\\u0061\""));
    }
}
