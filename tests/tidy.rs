//! Rules of this repository that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the library, lowest first. A module knows those of lower layers alone.
const LAYERS: [&[&str]; 10] = [
    &["names", "language", "capture", "sanitize", "tag", "digest", "junit", "wrap", "threads"],
    &["policy"],
    &["engine", "work_dir", "seccomp"],
    &["outcome", "watchdog", "sweep"],
    &["audit", "runner", "walls"],
    &["images", "plan"],
    &["pool", "lesson"],
    &["sandbox"],
    &["doctor", "mcp", "verify"],
    &["cli", "fuzzing"],
];

/// What decides without looking at the world.
const PURE: [&str; 10] = [
    "names.rs",
    "language.rs",
    "capture.rs",
    "sanitize.rs",
    "digest.rs",
    "junit.rs",
    "policy/",
    "outcome/",
    "walls/",
    "plan/argv.rs",
];

const MOST_LINES: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory of the repository, or with this name, that have this ending.
fn files(part: &str, ending: &str) -> Vec<PathBuf> {
    fn collect(path: &Path, ending: &str, all: &mut Vec<PathBuf>) {
        if path.is_dir() {
            let entries = fs::read_dir(path).expect("a readable directory");
            for entry in entries {
                collect(&entry.expect("a readable entry").path(), ending, all);
            }
        } else if path.to_str().is_some_and(|path| path.ends_with(ending)) {
            all.push(path.to_path_buf());
        }
    }
    let mut all = Vec::new();
    collect(&root().join(part), ending, &mut all);
    all.sort();
    all
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Its path below the sources.
fn name(path: &Path) -> &str {
    let path = path.strip_prefix(root().join("src")).expect("a source");
    path.to_str().expect("a plain name")
}

/// The sources, each with what of it is compiled into the product, without comments.
fn product() -> Vec<(PathBuf, String)> {
    let is_test = |path: &PathBuf| {
        name(path).split(['/', '.']).any(|part| part == "tests" || part.starts_with("test_"))
    };
    let sources = files("src", ".rs").into_iter().filter(|path| !is_test(path));
    sources.map(|path| (path.clone(), without_tests(&read(&path)))).collect()
}

fn without_tests(text: &str) -> String {
    let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = product.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules of the crate that a text names.
fn named_modules(text: &str) -> Vec<&str> {
    let ends = |c: char| !c.is_ascii_lowercase() && c != '_';
    text.split("crate::")
        .skip(1)
        .flat_map(|rest| match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or_default().split(", ").collect(),
            None => vec![rest],
        })
        .filter_map(|path| path.split(ends).next().filter(|name| !name.is_empty()))
        .collect()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn a_module_knows_lower_layers_alone() {
    for (path, text) in product() {
        let module = name(&path).split(['/', '.']).next().expect("a module");
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let own =
            layer(module).unwrap_or_else(|| panic!("`{module}` has no layer in tests/tidy.rs"));
        for other in named_modules(&text).into_iter().filter(|other| *other != module) {
            let below = layer(other).is_some_and(|other| other < own);
            assert!(below, "{}: `{module}` must not know `{other}`", path.display());
        }
    }
}

#[test]
fn what_decides_does_not_look_at_the_world() {
    let world = ["std::fs", "std::process", "std::net", "std::thread", "std::env", "Instant::now"];
    let (pure, _): (Vec<_>, Vec<_>) = product()
        .into_iter()
        .partition(|(path, _)| PURE.iter().any(|pure| name(path).starts_with(pure)));
    assert!(pure.len() > PURE.len());
    for (path, text) in pure {
        let found = world.iter().find(|word| text.contains(*word));
        assert_eq!(found, None, "{}", path.display());
    }
}

#[test]
fn every_module_says_first_what_it_does() {
    for path in ["src", "tests", "fake-docker", "fuzz/fuzz_targets"]
        .iter()
        .flat_map(|dir| files(dir, ".rs"))
    {
        let text = read(&path);
        assert!(text.starts_with("//! "), "{}", path.display());
    }
}

#[test]
fn no_source_is_longer_than_a_reader_can_hold() {
    for path in files("src", ".rs") {
        let lines = read(&path).lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_file_of_tests_is_compiled() {
    let mut all = files("tests", ".rs");
    // A crate of its own, for a client in another process.
    all.retain(|path| !path.starts_with(root().join("tests/clients")));
    let modules: String = all.iter().map(|path| read(path)).collect();
    for path in all.iter().filter(|path| !path.ends_with("tests/main.rs")) {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
        let module = if stem == "mod" {
            path.parent().and_then(Path::file_name).and_then(|dir| dir.to_str()).expect("a name")
        } else {
            stem
        };
        let named = modules.contains(&format!("mod {module};\n"));
        assert!(named, "{} is in no module", path.display());
    }
}

#[test]
fn an_ignored_test_says_what_it_needs() {
    for path in files("tests", ".rs").into_iter().chain(files("src", ".rs")) {
        let text = read(&path);
        let ignored = concat!("#[", "ignore");
        for reason in text.split(ignored).skip(1) {
            let said = reason.starts_with(" = \"needs ");
            assert!(said, "{}: {}", path.display(), reason.lines().next().unwrap_or_default());
        }
    }
}

#[test]
fn tests_wait_for_what_happens_and_not_for_time() {
    // The one waits often; the other strikes at a random moment, whatever has happened by then.
    let waits = ["support/wait.rs", "hostile/random.rs"];
    for path in files("tests", ".rs") {
        if waits.iter().any(|wait| path.ends_with(wait)) || path.ends_with("tidy.rs") {
            continue;
        }
        let text = read(&path);
        assert!(!text.contains("thread::sleep"), "{}", path.display());
        assert!(!text.contains("set_var("), "{}", path.display());
    }
}

#[test]
fn no_thread_is_started_in_a_way_that_panics_where_there_is_none_left() {
    for path in files("src", ".rs") {
        let text = read(&path);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let tests = path.components().any(|part| part.as_os_str() == "tests");
        let panics = code.contains("thread::spawn(") || code.contains("scope.spawn(");
        assert!(tests || !panics, "{}: `threads::spawn` says so", path.display());
    }
}

#[test]
fn nothing_is_left_to_do_and_nothing_tells_of_the_workplace() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
        concat!("/work/", "main"),
        concat!("/work/", "wt-"),
        concat!("/work/", "shared"),
        concat!("/tmp/", "target"),
        concat!("BRIEF", ".md"),
        concat!("docker-", "facts"),
        concat!("mcp-", "facts"),
    ];
    let places = [
        "src",
        "tests",
        "fake-docker",
        "examples",
        "fuzz/fuzz_targets",
        "fuzz/run.sh",
        "README.md",
        "CHANGELOG.md",
        "docs",
    ];
    let endings = [".rs", ".md", ".py", ".js", ".sh", ".json", ".toml"];
    let mut seen = 0;
    for place in places {
        for path in endings.iter().flat_map(|ending| files(place, ending)) {
            let text = read(&path);
            let found = words.iter().find(|word| text.contains(*word));
            assert_eq!(found, None, "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} files were looked at");
}
