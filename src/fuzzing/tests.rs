//! Every input of the corpus, with the functions that fuzzers call.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::{capture, engine_events, image_reference, policy, rpc_line};

/// A part of the folder of the fuzzers.
fn folder(part: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "fuzz", part].iter().collect()
}

/// The entries of a folder, by name.
fn entries(part: &str) -> BTreeSet<PathBuf> {
    let dir = folder(part);
    let entries = fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The names of a folder's entries, without their endings.
fn names(part: &str) -> BTreeSet<String> {
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    entries(part).into_iter().map(stem).collect()
}

/// Tries every input of a surface's corpus.
fn replay(name: &str, try_on: fn(&[u8])) {
    const FEWEST: usize = 20;
    const LONGEST: usize = 1024;
    let inputs = entries(&format!("corpus/{name}"));
    assert!(inputs.len() >= FEWEST, "the corpus of `{name}` has {} inputs", inputs.len());
    for path in inputs {
        // Shown where what follows fails.
        println!("{}", path.display());
        let input = fs::read(&path).unwrap();
        assert!(input.len() <= LONGEST, "it is long");
        try_on(&input);
    }
}

#[test]
fn every_line_of_the_corpus_is_served_as_it_should_be() {
    replay("rpc_line", rpc_line);
}

#[test]
fn every_policy_of_the_corpus_is_refused_or_holds() {
    replay("policy", policy);
}

#[test]
fn every_answer_of_an_engine_in_the_corpus_is_read_with_care() {
    replay("engine_events", engine_events);
}

#[test]
fn every_name_of_the_corpus_is_refused_or_harmless() {
    replay("image_reference", image_reference);
}

#[test]
fn every_stream_of_the_corpus_is_kept_the_same_however_it_comes() {
    replay("capture", capture);
}

#[test]
fn every_surface_has_a_fuzzer_and_a_corpus_and_a_dictionary_and_there_are_no_others() {
    let surfaces = ["rpc_line", "policy", "engine_events", "image_reference", "capture"];
    let surfaces: BTreeSet<String> = surfaces.map(str::to_owned).into();
    assert_eq!(names("fuzz_targets"), surfaces);
    assert_eq!(names("corpus"), surfaces);
    assert_eq!(names("dictionaries"), surfaces);
    let manifest = fs::read_to_string(folder("Cargo.toml")).unwrap();
    for name in &surfaces {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
}
