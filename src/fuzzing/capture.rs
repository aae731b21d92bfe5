//! Streams: what is kept of them, and what of it a terminal and a model get.

use std::borrow::Cow;
use std::io::Write as _;

use super::schema;
use crate::capture::{Capture, Captured, marker};
use crate::mcp;
use crate::sanitize::{TerminalWriter, escape};

/// How many bytes of an input say how the rest of it comes.
const SETTINGS: usize = 7;

/// No stream is longer. The tail's first whole line is looked for in less.
const LONGEST: usize = 2500;

/// How much of a stream comes byte by byte as well: more would take long.
const SHORT: usize = 600;

/// Of what may be kept, how much the head may have at most.
const HEAD_PERCENT: usize = 40;

/// Keeps a stream in several ways: the input's first two bytes are the cap, the third says how
/// often the rest is repeated, the next four are the lengths of the pieces, in turn.
pub fn capture(input: &[u8]) {
    let Some((settings, part)) = input.split_at_checked(SETTINGS) else { return };
    let cap = usize::from(u16::from_le_bytes([settings[0], settings[1]]) % 4096);
    let mut stream = part.repeat(1 + usize::from(settings[2] % 8));
    stream.truncate(LONGEST);
    let whole = kept(cap, &[&stream]);
    let (start, rest) = stream.split_at(stream.len().min(SHORT));
    let bytes = start.chunks(1).chain([rest]).collect();
    let ways = [pieces(&stream, &settings[3..]), bytes];
    for pieces in &ways {
        let pieced = kept(cap, pieces);
        assert_eq!((pieced.bytes(), pieced.total()), (whole.bytes(), whole.total()));
        assert_eq!(pieced.omitted(), whole.omitted());
    }
    counts(cap, &stream, &whole);
    characters(&stream, &whole);
    terminal(&stream, &ways);
    told(whole.clone(), kept(cap / 2, &[part]));
    for text in [whole.text(), String::from_utf8_lossy(&stream)] {
        escaped(&text);
    }
}

/// A stream in pieces of these lengths, in turn; the end of it may be shorter.
fn pieces<'a>(stream: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    if lengths.iter().all(|length| *length == 0) {
        return vec![stream];
    }
    let mut rest = stream;
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, more) = rest.split_at(rest.len().min(usize::from(*length)));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

/// What is kept of the pieces. All of it is shown, most of it at once.
fn kept(cap: usize, pieces: &[&[u8]]) -> Captured {
    let stream = pieces.concat();
    let is_text = std::str::from_utf8(&stream).is_ok();
    let mut capture = Capture::new(cap);
    let mut shown = Vec::new();
    for piece in pieces {
        let new = capture.push(piece);
        assert!(!is_text || std::str::from_utf8(new).is_ok(), "a character is shown in parts");
        shown.extend_from_slice(new);
    }
    assert!(stream.starts_with(&shown), "what is shown at once is the stream's beginning");
    assert_eq!(capture.total(), stream.len() as u64);
    let captured = capture.finish();
    assert_eq!([&shown, captured.rest()].concat(), captured.bytes(), "what is shown is kept");
    captured
}

/// What is kept and what is told of the rest make up the stream.
fn counts(cap: usize, stream: &[u8], captured: &Captured) {
    assert_eq!(captured.total(), stream.len() as u64);
    let Some(omitted) = captured.omitted() else {
        assert!(stream.len() <= cap, "all is kept, and more than may be");
        assert_eq!(captured.bytes(), stream);
        return;
    };
    assert!(stream.len() > cap, "what fits is not kept");
    let marker = marker(omitted);
    let both = captured.bytes().len() - marker.len();
    assert!(both <= cap, "{both} bytes are kept of {cap}");
    // The stream may hold such a line as well, so that it may stand in several places.
    let parts = (0..=both).any(|head| {
        let (before, after) = captured.bytes().split_at(head);
        let Some(tail) = after.strip_prefix(marker.as_bytes()) else { return false };
        let left_out = stream.get(head..stream.len() - tail.len()).unwrap_or_default();
        let lines = left_out.split(|byte| *byte == b'\n').count() - 1;
        head <= cap * HEAD_PERCENT / 100
            && stream.starts_with(before)
            && stream.ends_with(tail)
            && (omitted.bytes, omitted.lines) == (left_out.len() as u64, lines as u64)
    });
    assert!(parts, "what is kept is not the stream with one part left out: {omitted:?}");
}

/// Of a text, whole characters are kept.
fn characters(stream: &[u8], captured: &Captured) {
    if std::str::from_utf8(stream).is_ok() {
        assert!(std::str::from_utf8(captured.bytes()).is_ok(), "a character is cut");
        assert!(matches!(captured.text(), Cow::Borrowed(_)));
    }
}

/// A terminal gets the same whatever the pieces, and nothing that drives it.
fn terminal(stream: &[u8], ways: &[Vec<&[u8]>]) {
    let write = |pieces: &[&[u8]]| {
        let mut sent = Vec::new();
        let mut writer = TerminalWriter::new(&mut sent);
        for piece in pieces {
            writer.write_all(piece).expect("memory takes everything");
        }
        drop(writer);
        String::from_utf8(sent).expect("a terminal gets text alone")
    };
    let sent = write(&[stream]);
    for pieces in ways {
        assert_eq!(write(pieces), sent);
    }
    harmless(&sent);
    // A character that has only begun at the end is never sent.
    let text = String::from_utf8_lossy(stream);
    let text = escape(&text);
    assert!(text.strip_prefix(&sent).is_some_and(|rest| ["", "\u{fffd}"].contains(&rest)));
}

/// A model is told of two streams in few words that mean nothing but themselves, as was promised.
fn told(stdout: Captured, stderr: Captured) {
    const MOST: usize = 1024;
    const MARKERS: usize = 2 * 120;
    for (tool, result) in mcp::fuzzing::told(stdout, stderr, MOST as u64) {
        let text = result["content"][0]["text"].as_str().expect("a text");
        readable(text);
        let facts = &result["structuredContent"];
        let Some(schema) = tool.get("outputSchema") else {
            assert!(facts.is_null(), "nobody has promised {facts}");
            continue;
        };
        assert!(schema::fits(schema, facts), "{facts}");
        let streams = ["stdout", "stderr"].map(|name| facts[name].as_str().expect("a text"));
        for stream in streams {
            readable(stream);
            assert!(text.contains(stream), "{stream:?} is not in {text:?}");
        }
        let length = streams.map(str::len).iter().sum::<usize>();
        assert!(length <= MOST + MARKERS, "{length} bytes");
    }
}

fn readable(text: &str) {
    let control = text.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
    assert_eq!(control, None, "{text:?}");
}

/// What is escaped is harmless, is not escaped again, and keeps what was harmless.
fn escaped(text: &str) {
    let escaped = escape(text);
    harmless(&escaped);
    assert_eq!(escape(&escaped), escaped);
    let mut rest = escaped.chars();
    for c in text.chars().filter(|c| !is_harmful(*c)) {
        assert!(rest.any(|kept| kept == c), "{c:?} is lost");
    }
}

fn harmless(text: &str) {
    let harmful = text.chars().find(|c| is_harmful(*c));
    assert_eq!(harmful, None, "{text:?}");
}

/// Whether a terminal obeys it or hides it: Unicode's Cc and those of Cf that turn or join text,
/// without the three that lay out lines.
pub(super) fn is_harmful(c: char) -> bool {
    const INVISIBLE: [(u32, u32); 9] = [
        (0xAD, 0xAD),
        (0x61C, 0x61C),
        (0x180E, 0x180E),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x206F),
        (0xFEFF, 0xFEFF),
        (0xFFF9, 0xFFFB),
        (0xE0000, 0xE007F),
    ];
    let code = u32::from(c);
    let control = code < 0x20 && !"\t\n\r".contains(c) || (0x7F..=0x9F).contains(&code);
    control || INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&code))
}
