//! Asks an image which versions of its packages it has, by a program that runs in it.

use super::offline::Interpreter;
use super::package::Package;

/// Prints `NAME==VERSION` of everything that is installed but the installers themselves.
const PYTHON: &str = r#"
import importlib.metadata as metadata
found = {d.metadata["Name"]: d.version for d in metadata.distributions()}
for name in sorted(found, key=str.lower):
    if name not in ("pip", "setuptools", "wheel"):
        print(f"{name}=={found[name]}")
"#;

/// Prints `NAME@VERSION` of everything that is installed, scoped packages included.
const NODE: &str = r"
const fs = require('fs');
const list = (dir) => fs.existsSync(dir) ? fs.readdirSync(dir).sort() : [];
for (const name of list('/node_modules')) {
  const names = name.startsWith('@') ? list('/node_modules/' + name).map((n) => name + '/' + n) : [name];
  for (const full of names) {
    const file = '/node_modules/' + full + '/package.json';
    if (fs.existsSync(file)) console.log(full + '@' + JSON.parse(fs.readFileSync(file)).version);
  }
}
";

/// The program to run in an image in which these packages were installed.
pub fn program(interpreter: Interpreter, packages: &[Package]) -> String {
    match interpreter {
        Interpreter::Python => PYTHON.to_owned(),
        Interpreter::Node => NODE.to_owned(),
        Interpreter::Shell => packages.iter().map(shell_line).collect(),
    }
}

/// apk prints `NAME-VERSION` after its name alone is asked for, dpkg prints what it is told to.
fn shell_line(package: &Package) -> String {
    let name = package.as_str().split('=').next().unwrap_or_default();
    format!(
        "if command -v apk >/dev/null; then apk info -v 2>/dev/null | grep '^{}-[0-9]'; \
         else dpkg-query -W -f '${{Package}}=${{Version}}\\n' '{name}'; fi\n",
        name.replace('.', "[.]").replace('+', "[+]")
    )
}

/// Reads what the program printed: a package with its version on each line.
pub fn parse(printed: &str) -> Vec<String> {
    let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| line.chars().filter(|c| !c.is_control()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shells_program_asks_for_each_package_without_its_version() {
        let package = |name| Package::parse(Interpreter::Shell, name).unwrap();
        let program = program(Interpreter::Shell, &[package("jq=1.7"), package("g++")]);
        assert!(program.contains("'^jq-[0-9]'") && program.contains("'jq'; fi\n"), "{program}");
        assert!(program.contains("'^g[+][+]-[0-9]'") && program.contains("'g++'"), "{program}");
    }

    #[test]
    fn what_was_printed_becomes_a_list_without_control_characters() {
        assert_eq!(parse("a==1\n\n b==2 \x1b[2J\n"), ["a==1", "b==2 [2J"]);
        assert_eq!(parse(""), Vec::<String>::new());
    }
}
