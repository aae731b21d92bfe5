//! Which files below Python's standard library are wanted in an image.

use std::ffi::OsStr;
use std::path::Path;

/// What a sandboxed program has no use for, at the top: tests, windows, an installer, what links
/// programs against the interpreter, packages that were installed.
const TOP: [&str; 9] = [
    "dist-packages",
    "ensurepip",
    "idlelib",
    "site-packages",
    "tkinter",
    "turtle.py",
    "turtledemo",
    // The machine's owner may have put these there to change every start.
    "sitecustomize.py",
    "usercustomize.py",
];

/// What has no use at any depth: caches and tests.
const ANYWHERE: [&str; 4] = ["__pycache__", "idle_test", "test", "tests"];

/// Endings of what is no source: caches, static libraries, installers for Windows.
const ENDINGS: [&str; 4] = ["a", "exe", "pyc", "pyo"];

/// Extension modules without use: windows, and one for a directory service that Python has
/// dropped since, which drags in all of Kerberos.
const MODULES: [&str; 2] = ["_tkinter", "nis"];

/// Beginnings of the names of extension modules that only test the interpreter.
const TEST_MODULES: [&str; 4] = ["_ctypes_test", "_test", "_xxtest", "xxlimited"];

/// Whether this file or directory is wanted; its path is relative to the library.
pub(super) fn has_use(relative: &Path) -> bool {
    let top = text(relative.iter().next());
    let name = text(relative.file_name());
    let ending = text(relative.extension());
    let stem = name.split('.').next().unwrap_or_default();
    let test_module = ending == "so" && TEST_MODULES.iter().any(|test| stem.starts_with(test));
    !(TOP.contains(&&*top)
        || top.starts_with("config-")
        || ANYWHERE.contains(&&*name)
        || ENDINGS.contains(&&*ending)
        || MODULES.contains(&stem)
        || test_module)
}

fn text(name: Option<&OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_itself_is_wanted() {
        for path in [
            "os.py",
            "asyncio/base_events.py",
            "lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so",
            "unittest/case.py",
            "doctest.py",
            "_sysconfigdata__linux_x86_64-linux-gnu.py",
            "encodings",
            "email/architecture.rst",
        ] {
            assert!(has_use(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn packages_caches_tests_windows_and_configuration_are_not() {
        for path in [
            "site-packages",
            "dist-packages/x.py",
            "__pycache__/os.cpython-311.pyc",
            "old.pyo",
            "json/__pycache__",
            "test",
            "unittest/test",
            "sqlite3/tests",
            "idlelib",
            "tkinter/ttk.py",
            "ensurepip/_bundled/pip-23.2.1-py3-none-any.whl",
            "config-3.11-x86_64-linux-gnu/Makefile",
            "sitecustomize.py",
            "lib-dynload/_testcapi.cpython-311-x86_64-linux-gnu.so",
            "lib-dynload/_tkinter.cpython-311-x86_64-linux-gnu.so",
            "lib-dynload/nis.cpython-311-x86_64-linux-gnu.so",
        ] {
            assert!(!has_use(Path::new(path)), "{path}");
        }
    }
}
