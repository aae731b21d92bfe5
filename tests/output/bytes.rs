//! Bytes that are no text, or more than text.

use serde_json::Value;

use super::{SUCCESS, run};
use crate::support::{Scenario, StandIn};

/// Invalid UTF-8, NUL, a cleared screen, a clipboard written, text turned around.
const WILD: &[u8] = b"a\xff\xfe\0\x1b[2J\x1b]52;c;aGk=\x07\xe2\x80\xae\xe2\x80\xa8z\n";

#[test]
fn a_pipe_gets_the_bytes_untouched() {
    let stand_in = StandIn::playing(Scenario::program().prints(WILD).prints_to_stderr(WILD));
    let finished = run(&stand_in).arg("-q").output();
    assert_eq!((finished.stdout.as_slice(), finished.stderr.as_slice()), (WILD, WILD));
    assert_eq!(finished.code(), Some(0));
}

#[test]
fn an_object_is_valid_whatever_the_program_prints() {
    let stand_in = StandIn::playing(Scenario::program().prints(WILD).prints_to_stderr(WILD));
    let finished = run(&stand_in).arg("--json").output();
    let outcome: Value = serde_json::from_slice(&finished.stdout).expect("a JSON object");
    let text = "a\u{fffd}\u{fffd}\0\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{202e}\u{2028}z\n";
    assert_eq!((&outcome["stdout"], &outcome["stderr"]), (&text.into(), &text.into()));
    assert_eq!(outcome["stdout_bytes"], WILD.len());
    let controls = |byte: &u8| byte.is_ascii_control() && *byte != b'\n';
    assert!(!finished.stdout.iter().any(controls), "a control character in the JSON itself");
}

#[test]
fn a_character_that_comes_byte_by_byte_is_one() {
    let one = crate::support::Amount::Only(1);
    let drip = Scenario::program().trickles(crate::support::Stream::Stdout, "é😀\n", 1, one);
    let stand_in = StandIn::playing(drip);
    run(&stand_in).stdout("é😀\n").stderr(SUCCESS).status(0);
}
