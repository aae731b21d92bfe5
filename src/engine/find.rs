//! Finds the engine's program and its socket, also in the bare environment that MCP hosts give.
//!
//! An order holds: what the policy names, what the environment names, what the client's
//! configuration names, then the well-known places.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::{Resource, getrlimit};
use serde_json::Value;

use super::command::EnvChanges;
use super::{ClientProxies, Engine, EngineKind, Facts};
use crate::policy::EngineChoice;

/// Where desktop installations put their programs; a graphical program's `PATH` lacks them.
const EXTRA_DIRS: [&str; 8] = [
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/usr/bin",
    "/snap/bin",
    "/Applications/Docker.app/Contents/Resources/bin",
    "~/.docker/bin",
    "~/.orbstack/bin",
    "~/.rd/bin",
];

/// Where engines listen that do not listen at Docker's default place.
const EXTRA_SOCKETS: [&str; 6] = [
    "~/.docker/run/docker.sock",
    "~/.docker/desktop/docker.sock",
    "~/.colima/default/docker.sock",
    "~/.orbstack/run/docker.sock",
    "~/.rd/docker.sock",
    "/run/podman/podman.sock",
];

/// The socket that the Docker CLI uses unasked.
const DEFAULT_SOCKET: &str = "/var/run/docker.sock";

/// The environment of a process, as a value.
#[derive(Debug, Clone, Default)]
pub struct HostEnv {
    variables: BTreeMap<OsString, OsString>,
    uid: u32,
}

impl HostEnv {
    /// This process's own.
    pub fn current() -> Self {
        Self { variables: std::env::vars_os().collect(), uid: rustix::process::getuid().as_raw() }
    }

    /// A variable that is set and not empty: configuration files of MCP hosts leave empty ones.
    fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|text| !text.is_empty())
    }

    fn is_set_but_empty(&self, name: &str) -> bool {
        self.variables.get(OsStr::new(name)).is_some_and(|text| text.is_empty())
    }

    /// Whether a variable is set and not empty.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Where `PATH` has a program of this name; a path is not looked up.
    pub fn in_path(&self, name: &str) -> Option<PathBuf> {
        let programs = self.path_dirs().into_iter().map(|dir| dir.join(name));
        (!name.contains('/')).then_some(programs)?.find(|path| is_executable(path))
    }

    fn home(&self) -> Option<PathBuf> {
        self.get("HOME").map(PathBuf::from)
    }

    fn path_dirs(&self) -> Vec<PathBuf> {
        self.get("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// A path of the tables above, its `~` replaced.
    fn expand(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(rest) => self.home().map(|home| home.join(rest)),
            None => Some(PathBuf::from(path)),
        }
    }
}

/// Why there is no engine to run anything.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// None of the programs is there.
    #[error("no {names} in PATH or in the usual places")]
    NoProgram {
        /// What was looked for.
        names: String,
    },
    /// The program that the policy names is not there.
    #[error("the engine `{}` is not an executable file", path.display())]
    NotExecutable {
        /// What the policy names.
        path: PathBuf,
    },
}

/// Finds the engine that a policy chose.
pub fn find(choice: &EngineChoice, env: &HostEnv) -> Result<Engine, FindError> {
    let (kind, program) = match choice {
        EngineChoice::Auto => {
            first_of(&[EngineKind::Docker, EngineKind::Podman, EngineKind::Nerdctl], env)?
        }
        EngineChoice::Docker => first_of(&[EngineKind::Docker], env)?,
        EngineChoice::Podman => first_of(&[EngineKind::Podman], env)?,
        EngineChoice::Nerdctl => first_of(&[EngineKind::Nerdctl], env)?,
        EngineChoice::Path(path) if is_executable(path) => (EngineKind::of(path), path.clone()),
        EngineChoice::Path(path) => return Err(FindError::NotExecutable { path: path.clone() }),
    };
    let config = client_config(env);
    Ok(Engine::new(Facts {
        kind,
        env: changes(kind, &program, config.as_ref(), env),
        client_proxies: client_proxies(kind, config.as_ref()),
        most_processes: most_processes(kind),
        // A path that is not UTF-8 was passed over by the search.
        program: program.to_string_lossy().into_owned(),
    }))
}

/// The first program that is there: by its bare name where `PATH` has it, by its path elsewhere.
fn first_of(kinds: &[EngineKind], env: &HostEnv) -> Result<(EngineKind, PathBuf), FindError> {
    let in_path = |kind: &EngineKind| {
        let found = env.path_dirs().iter().any(|dir| is_executable(&dir.join(kind.name())));
        found.then(|| (*kind, PathBuf::from(kind.name())))
    };
    let elsewhere = |kind: &EngineKind| {
        let dirs = EXTRA_DIRS.iter().filter_map(|dir| env.expand(dir));
        let mut programs = dirs.map(|dir| dir.join(kind.name()));
        programs
            .find(|path| path.to_str().is_some() && is_executable(path))
            .map(|path| (*kind, path))
    };
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    kinds
        .iter()
        .find_map(|kind| in_path(kind).or_else(|| elsewhere(kind)))
        .ok_or_else(|| FindError::NoProgram { names: names.join(", ") })
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// What the client's environment needs beside what das itself has.
fn changes(
    kind: EngineKind,
    program: &Path,
    config: Option<&Result<Value, String>>,
    env: &HostEnv,
) -> EnvChanges {
    let mut changes = EnvChanges::default();
    if program.is_absolute() && !env.path_dirs().iter().any(|dir| program.parent() == Some(dir)) {
        // The client looks for its credential helpers in PATH, and they lie beside it.
        changes.set.push(("PATH".into(), extended_path(program, env)));
    }
    for name in ["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"] {
        if env.is_set_but_empty(name) {
            changes.unset.push(name.into());
        }
    }
    let searched =
        kind == EngineKind::Docker && !names_an_endpoint(config, env) && !is_socket(DEFAULT_SOCKET);
    if let Some(socket) = searched.then(|| other_socket(env)).flatten() {
        let mut host = OsString::from("unix://");
        host.push(socket);
        changes.unset.retain(|name| name != "DOCKER_HOST");
        changes.set.push(("DOCKER_HOST".into(), host));
    }
    changes
}

fn extended_path(program: &Path, env: &HostEnv) -> OsString {
    let mut dirs = env.path_dirs();
    let beside = program.parent().map(Path::to_owned);
    let extra = EXTRA_DIRS.iter().filter_map(|dir| env.expand(dir)).filter(|dir| dir.is_dir());
    for dir in beside.into_iter().chain(extra) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    // A directory with a colon in its name cannot be in PATH; then PATH stays as it is.
    std::env::join_paths(dirs).unwrap_or_else(|_| env.get("PATH").unwrap_or_default().to_owned())
}

/// Whether somebody has already said where the engine listens.
fn names_an_endpoint(config: Option<&Result<Value, String>>, env: &HostEnv) -> bool {
    let context = config
        .and_then(|config| config.as_ref().ok())
        .and_then(|config| config.get("currentContext")?.as_str())
        .is_some_and(|context| !context.is_empty() && context != "default");
    context || env.get("DOCKER_HOST").is_some() || env.get("DOCKER_CONTEXT").is_some()
}

fn other_socket(env: &HostEnv) -> Option<PathBuf> {
    let runtime_dir = env
        .get("XDG_RUNTIME_DIR")
        .map_or_else(|| PathBuf::from(format!("/run/user/{}", env.uid)), PathBuf::from);
    std::iter::once(runtime_dir.join("docker.sock"))
        .chain(EXTRA_SOCKETS.iter().filter_map(|path| env.expand(path)))
        .find(|path| is_socket(path))
}

fn is_socket(path: impl AsRef<Path>) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket())
}

/// The Docker client's configuration: none, what it says, or why it cannot be read.
fn client_config(env: &HostEnv) -> Option<Result<Value, String>> {
    let dir = env
        .get("DOCKER_CONFIG")
        .map(PathBuf::from)
        .or_else(|| env.home().map(|home| home.join(".docker")))?;
    match fs::read(dir.join("config.json")) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Podman hands on its own environment's proxies whatever its configuration says.
fn client_proxies(kind: EngineKind, config: Option<&Result<Value, String>>) -> ClientProxies {
    let configured = match config {
        None => false,
        Some(Err(_)) => true,
        Some(Ok(config)) => match config.get("proxies") {
            None | Some(Value::Null) => false,
            Some(proxies) => proxies.as_object().is_none_or(|proxies| !proxies.is_empty()),
        },
    };
    if configured || kind == EngineKind::Podman {
        ClientProxies::Configured
    } else {
        ClientProxies::None
    }
}

/// Podman asks for more processes than a das that is itself confined may grant, unless it is told
/// otherwise. It lowers its own limit first, to this.
fn most_processes(kind: EngineKind) -> Option<u64> {
    const OF_PODMAN: u64 = 32_768;
    match kind {
        EngineKind::Podman => {
            Some(getrlimit(Resource::Nproc).maximum.unwrap_or(OF_PODMAN).min(OF_PODMAN))
        }
        EngineKind::Docker | EngineKind::Nerdctl => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    struct Host {
        dir: tempfile::TempDir,
        env: HostEnv,
    }

    impl Host {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let mut host = Self { dir, env: HostEnv::default() };
            host.env.uid = u32::MAX;
            let home = host.dir.path().to_owned();
            host.set("HOME", home.to_str().unwrap());
            host.set("PATH", home.join("bin").to_str().unwrap());
            host
        }

        fn set(&mut self, name: &str, value: &str) {
            self.env.variables.insert(name.into(), value.into());
        }

        fn path(&self, path: &str) -> PathBuf {
            self.dir.path().join(path)
        }

        fn program(&self, path: &str) -> PathBuf {
            let path = self.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        fn config(&self, text: &str) {
            fs::create_dir_all(self.path(".docker")).unwrap();
            fs::write(self.path(".docker/config.json"), text).unwrap();
        }

        fn find(&self, choice: &str) -> Result<Facts, FindError> {
            find(&choice.parse().unwrap(), &self.env).map(|engine| engine.facts().clone())
        }
    }

    #[test]
    fn auto_takes_the_first_that_is_there() {
        let host = Host::new();
        host.program("bin/podman");
        host.program("bin/nerdctl");
        // This machine's own places come after PATH, and may have a docker.
        let facts = host.find("auto").unwrap();
        assert!(facts.kind == EngineKind::Podman || facts.program.starts_with("/usr"), "{facts:?}");
        host.program("bin/docker");
        assert_eq!(host.find("auto").unwrap().program, "docker");
        assert_eq!(host.find("podman").unwrap().program, "podman");
    }

    #[test]
    fn a_program_outside_path_is_found_and_path_extended_for_its_helpers() {
        let host = Host::new();
        let program = host.program(".rd/bin/nerdctl");
        let facts = host.find("nerdctl").unwrap();
        assert_eq!(facts.program, program.to_str().unwrap());
        let (name, value) = &facts.env.set[0];
        assert_eq!(name, "PATH");
        assert!(std::env::split_paths(value).any(|dir| dir == host.path(".rd/bin")));
    }

    #[test]
    fn a_path_is_taken_as_it_is_or_refused() {
        let host = Host::new();
        let program = host.program("opt/my-podman");
        let facts = host.find(program.to_str().unwrap()).unwrap();
        assert_eq!(
            (facts.kind, facts.program.as_str()),
            (EngineKind::Podman, program.to_str().unwrap())
        );
        let missing = host.find(host.path("opt/none").to_str().unwrap()).unwrap_err();
        assert!(missing.to_string().ends_with("is not an executable file"), "{missing}");
    }

    #[test]
    fn nothing_found_names_what_was_looked_for() {
        let error = FindError::NoProgram { names: "docker, podman".to_owned() };
        assert_eq!(error.to_string(), "no docker, podman in PATH or in the usual places");
    }

    #[test]
    fn an_empty_docker_host_counts_as_unset() {
        let mut host = Host::new();
        host.program("bin/docker");
        host.set("DOCKER_HOST", "");
        let facts = host.find("docker").unwrap();
        let host_is_set = facts.env.set.iter().any(|(name, _)| name == "DOCKER_HOST");
        assert!(host_is_set || facts.env.unset == ["DOCKER_HOST"], "{facts:?}");
    }

    #[test]
    fn a_socket_in_the_home_is_used_unless_somebody_named_an_endpoint() {
        let mut host = Host::new();
        let socket = host.path(".docker/run/docker.sock");
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(other_socket(&host.env), Some(socket));
        assert!(!names_an_endpoint(None, &host.env));
        let context = Ok(serde_json::json!({"currentContext": "colima"}));
        assert!(names_an_endpoint(Some(&context), &host.env));
        host.set("DOCKER_HOST", "ssh://build");
        assert!(names_an_endpoint(None, &host.env));
    }

    #[test]
    fn proxies_of_the_client_are_noticed_and_an_unreadable_configuration_counts_as_such() {
        let host = Host::new();
        host.program("bin/docker");
        for (config, proxies) in [
            ("{}", ClientProxies::None),
            (r#"{"proxies": {}}"#, ClientProxies::None),
            (
                r#"{"proxies": {"default": {"httpProxy": "http://u:p@h"}}}"#,
                ClientProxies::Configured,
            ),
            ("not json", ClientProxies::Configured),
        ] {
            host.config(config);
            assert_eq!(host.find("docker").unwrap().client_proxies, proxies, "{config}");
        }
    }
}
