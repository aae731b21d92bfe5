//! Outlives a killed das and removes the containers that it was running.
//!
//! One small shell process in a process group of its own reads the names of running containers
//! from a pipe whose other end das alone holds. However das dies, the pipe closes, and the shell
//! removes whatever is still on its list. It knows names and an engine, not runs.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::Engine;
use crate::engine::command::CommandLine;
use crate::tag::ContainerName;
use crate::threads;

/// Keeps the list, and at the pipe's end removes what is on it: again and again for some seconds,
/// because a container in the making is not there yet to be removed.
const SCRIPT: &str = r#"
live=' '
while read -r what name; do
  case $what in
    +) live="$live$name " ;;
    -) case $live in *" $name "*) live="${live%% $name *} ${live##* $name }" ;; esac ;;
  esac
done
[ -n "${live# }" ] || exit 0
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do
  "$0" "$@" $live >/dev/null 2>&1 </dev/null
  sleep 0.25
done
"#;

/// Guards the containers of one process on one engine.
#[derive(Debug)]
pub struct Watchdog {
    engine: Engine,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Process>,
    /// What is on the list, for a watchdog that has to be replaced.
    live: BTreeSet<String>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    list: ChildStdin,
}

/// One container on the list. Dropping it takes the container off.
#[derive(Debug)]
#[must_use = "a container is guarded for as long as its guard lives"]
pub struct Guard {
    watchdog: Arc<Watchdog>,
    name: ContainerName,
    kept: bool,
}

impl Watchdog {
    /// A watchdog that starts with the first container it has to guard.
    pub fn new(engine: Engine) -> Self {
        Self { engine, state: Mutex::default() }
    }

    /// Puts a container on the list, which must happen before its client is spawned.
    pub fn guard(self: &Arc<Self>, name: &ContainerName) -> io::Result<Guard> {
        let mut state = self.lock();
        state.live.insert(name.to_string());
        if !state.tells(&format!("+ {name}\n")) {
            // The first container, or somebody has killed the watchdog.
            let mut process = self.start()?;
            for name in &state.live {
                process.list.write_all(format!("+ {name}\n").as_bytes())?;
            }
            state.process = Some(process);
        }
        Ok(Guard { watchdog: Arc::clone(self), name: name.clone(), kept: false })
    }

    fn start(&self) -> io::Result<Process> {
        let facts = self.engine.facts();
        let remove = facts.kind.remove_command().iter().copied();
        let script = ["-c", SCRIPT, facts.program.as_str()].into_iter().chain(remove);
        let line = CommandLine { env: facts.env.clone(), ..CommandLine::new("/bin/sh", script) };
        let mut child = line
            .to_command()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // It must not keep a directory busy.
            .current_dir("/")
            .spawn()?;
        let list = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Process { child, list })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tells the process, and whether there was one to tell.
    fn tells(&mut self, line: &str) -> bool {
        let Some(Process { child, list }) = &mut self.process else { return false };
        // A pipe alone does not tell: a process that is just being forked may hold its other end.
        matches!(child.try_wait(), Ok(None)) && list.write_all(line.as_bytes()).is_ok()
    }
}

impl Guard {
    /// Leaves the container on the list: the engine does not confirm that it is gone, so the
    /// watchdog tries again when das is.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut state = self.watchdog.lock();
        state.live.remove(self.name.as_str());
        // A watchdog that is gone has no list any more.
        state.tells(&format!("- {}\n", self.name));
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(Process { mut child, list }) = self.lock().process.take() {
            drop(list);
            // It ends by itself; whoever drops the watchdog does not wait for it. The thread only
            // spares the system a zombie, and where there is none, das's own end does.
            threads::spawn("das-watchdog", move || child.wait()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::command::EnvChanges;
    use crate::engine::{ClientProxies, EngineKind, Facts};
    use crate::tag::{Owner, RunTag};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::{Duration, Instant};
    use wait_timeout::ChildExt as _;

    /// An engine that appends its arguments to a file.
    fn recorder(dir: &Path) -> Engine {
        let program = dir.join("engine");
        let record = dir.join("calls");
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> {}\n", record.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Engine::new(Facts {
            kind: EngineKind::Docker,
            program: program.to_str().unwrap().to_owned(),
            env: EnvChanges::default(),
            client_proxies: ClientProxies::None,
            most_processes: None,
        })
    }

    fn name() -> ContainerName {
        RunTag::new(&Owner::Nobody, Duration::ZERO).container()
    }

    /// The first thing that the watchdog does when its das is gone, if it does anything.
    fn first_call_after_death(watchdog: &Watchdog, dir: &Path) -> Option<String> {
        let Process { mut child, list } = watchdog.lock().process.take().unwrap();
        drop(list);
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let ended = child.wait_timeout(Duration::from_millis(5)).unwrap().is_some();
            let calls = fs::read_to_string(dir.join("calls")).unwrap_or_default();
            if let Some(call) = calls.lines().next() {
                child.kill().unwrap();
                child.wait().unwrap();
                return Some(call.to_owned());
            }
            if ended {
                return None;
            }
            assert!(Instant::now() < until, "the watchdog neither acts nor ends");
        }
    }

    #[test]
    fn containers_on_the_list_are_removed_when_das_is_gone_and_others_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let watchdog = Arc::new(Watchdog::new(recorder(dir.path())));
        let names = [name(), name(), name()];
        let [first, second, third] = names.each_ref().map(|name| watchdog.guard(name).unwrap());
        drop(second);
        let expected = format!("rm --force {} {}", names[0], names[2]);
        assert_eq!(first_call_after_death(&watchdog, dir.path()), Some(expected));
        drop((first, third));
    }

    #[test]
    fn a_watchdog_without_containers_ends_without_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let watchdog = Arc::new(Watchdog::new(recorder(dir.path())));
        drop(watchdog.guard(&name()).unwrap());
        assert_eq!(first_call_after_death(&watchdog, dir.path()), None);
    }

    #[test]
    fn a_container_whose_end_is_unconfirmed_stays_on_the_list() {
        let dir = tempfile::tempdir().unwrap();
        let watchdog = Arc::new(Watchdog::new(recorder(dir.path())));
        let name = name();
        watchdog.guard(&name).unwrap().keep();
        let call = first_call_after_death(&watchdog, dir.path());
        assert_eq!(call, Some(format!("rm --force {name}")));
    }

    #[test]
    fn a_watchdog_that_was_killed_is_replaced_and_told_what_its_predecessor_knew() {
        let dir = tempfile::tempdir().unwrap();
        let watchdog = Arc::new(Watchdog::new(recorder(dir.path())));
        let names = [name(), name()];
        let first = watchdog.guard(&names[0]).unwrap();
        {
            let mut state = watchdog.lock();
            let child = &mut state.process.as_mut().unwrap().child;
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let second = watchdog.guard(&names[1]).unwrap();
        let call = first_call_after_death(&watchdog, dir.path()).unwrap();
        assert!(names.iter().all(|name| call.contains(name.as_str())), "{call}");
        drop((first, second));
    }
}
