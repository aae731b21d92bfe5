//! A Docker daemon of a test's own, which can be stopped, frozen and killed.
//!
//! It shares nothing with the machine's daemon: it has its own socket, its own directories, its
//! own containerd and its own network namespace. Without the last one, a daemon that is told to
//! have no bridge would remove the machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use wait_timeout::ChildExt as _;

use super::cli::{Cli, Place};
use super::language::Language;
use super::wait::eventually;

/// How long it may take to end by itself.
const END_BOUND: Duration = Duration::from_secs(20);

/// The daemon. Dropping it ends it and all that it runs. It needs root.
#[derive(Debug)]
pub(crate) struct SecondDaemon {
    dir: TempDir,
    process: Option<Child>,
}

impl SecondDaemon {
    /// A running daemon that has the shell's image.
    #[track_caller]
    pub(crate) fn start() -> Self {
        // An empty one: the machine's own configuration is not this daemon's.
        Self::configured(&json!({}))
    }

    /// The same with this configuration file.
    #[track_caller]
    pub(crate) fn configured(config: &Value) -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let images = Language::ALL.map(|it| (it.name().to_owned(), json!(it.image())));
        let policy =
            json!({"images": Value::Object(images.into_iter().collect()), "pull": "never"});
        fs::write(dir.path().join("policy.json"), policy.to_string()).expect("a fresh directory");
        fs::write(dir.path().join("daemon.json"), config.to_string()).expect("a fresh directory");
        let mut daemon = Self { dir, process: None };
        daemon.restart();
        daemon.load(&Language::Shell.image());
        daemon
    }

    /// Starts it again, when it has ended, and waits until it answers.
    #[track_caller]
    pub(crate) fn restart(&mut self) {
        self.reap();
        self.end_containerd();
        self.process = Some(self.spawn());
        eventually(
            "an answer of the second daemon",
            || self.story(),
            || (self.docker().arg("version").output().code() == Some(0)).then_some(()),
        );
    }

    /// Ends it as a service manager does; its containers end too.
    #[track_caller]
    pub(crate) fn stop(&mut self) {
        self.terminate();
        self.reap();
    }

    /// Begins to end it as a service manager does.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// It neither answers nor ends until it is thawed.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// It ends at once; its containers go on.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) fn das(&self) -> Cli<'_> {
        Cli::new(self).env("DAS_POLICY", self.path("policy.json"))
    }

    pub(crate) fn docker(&self) -> Cli<'_> {
        Cli::program(self, Path::new("docker"))
    }

    /// The names of the containers in any state.
    #[track_caller]
    pub(crate) fn containers(&self) -> Vec<String> {
        let listed = self.docker().args(["ps", "--all", "--format", "{{.Names}}"]).output();
        assert_eq!(listed.code(), Some(0), "docker ps: {}", listed.stderr_text());
        listed.stdout_text().lines().map(str::to_owned).collect()
    }

    #[track_caller]
    pub(crate) fn wait_until_empty(&self) {
        eventually(
            "the end of the last container",
            || self.story(),
            || self.containers().is_empty().then_some(()),
        );
    }

    #[expect(clippy::disallowed_methods, reason = "it outlives the calls of its own test")]
    fn spawn(&self) -> Child {
        let log = fs::File::options().append(true).create(true).open(self.dir.path().join("log"));
        let log = log.expect("a writable directory");
        Command::new("unshare")
            .args(["--net", "dockerd", "--bridge", "none", "--iptables=false"])
            .args(["--ip6tables=false", "--storage-driver", "vfs"])
            .args(["--host", &self.host(), "--config-file", &self.path("daemon.json")])
            .args(["--data-root", &self.path("data"), "--exec-root", &self.path("exec")])
            .args(["--pidfile", &self.path("pid"), "--containerd-namespace", "das-test"])
            .args(["--containerd-plugins-namespace", "das-test-plugins"])
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a descriptor"))
            .stderr(log)
            .spawn()
            .expect("`unshare` and `dockerd`")
    }

    /// Copies an image from the machine's own daemon.
    #[track_caller]
    pub(crate) fn load(&self, image: &str) {
        let pipe = r#"DOCKER_HOST= docker save "$0" | docker load"#;
        let shell = Cli::program(self, Path::new("/bin/sh"));
        let loaded = shell.args(["-c", pipe, image]).output();
        assert_eq!(loaded.code(), Some(0), "{}\n{}", loaded.stderr_text(), self.story());
    }

    fn host(&self) -> String {
        format!("unix://{}", self.path("socket"))
    }

    fn path(&self, name: &str) -> String {
        self.dir.path().join(name).into_os_string().into_string().expect("a plain path")
    }

    /// `unshare` becomes `dockerd`: it is this child.
    fn signal(&self, signal: Signal) {
        let child = self.process.as_ref().expect("a daemon that runs");
        kill_process(Pid::from_child(child), signal).expect("a child that is not reaped yet");
    }

    #[track_caller]
    fn reap(&mut self) {
        let Some(mut child) = self.process.take() else { return };
        let ended = child.wait_timeout(END_BOUND).expect("a child of this process");
        if ended.is_none() {
            child.kill().expect("a child that is not reaped yet");
            child.wait().expect("a child of this process");
        }
    }

    /// The kernel ends the daemon's own containerd some time after a daemon that is killed. The
    /// next one would wait for it in vain.
    #[track_caller]
    fn end_containerd(&self) {
        let config = self.path("exec/containerd/containerd.toml");
        eventually(
            "the end of the second daemon's containerd",
            || self.story(),
            || processes_naming(&config).is_empty().then_some(()),
        );
        // A process that nobody has reaped yet would count as alive.
        fs::remove_file(self.path("exec/containerd/containerd.pid")).ok();
    }

    /// What the kernel has mounted below the directory, the deepest first.
    fn mounts(&self) -> Vec<PathBuf> {
        let mounts = fs::read_to_string("/proc/self/mounts").expect("a list of mounts");
        let targets = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from);
        let mut own: Vec<_> = targets.filter(|path| path.starts_with(self.dir.path())).collect();
        own.reverse();
        own
    }
}

impl Place for SecondDaemon {
    fn home(&self) -> &Path {
        self.dir.path()
    }

    fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        vec![("PATH".to_owned(), path), ("DOCKER_HOST".to_owned(), self.host())]
    }

    fn story(&self) -> String {
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let end = &lines[lines.len().saturating_sub(10)..];
        format!("the end of the second daemon's log:\n{}", end.join("\n"))
    }
}

/// The processes that have this text in their command lines.
fn processes_naming(text: &str) -> Vec<Pid> {
    let names = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.windows(text.len()).any(|window| window == text.as_bytes())
    };
    let entries = fs::read_dir("/proc").expect("a list of processes");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(names).filter_map(Pid::from_raw).collect()
}

/// A daemon that was killed leaves processes and mounts; so may one that is stopped.
impl Drop for SecondDaemon {
    fn drop(&mut self) {
        if self.process.is_some() {
            self.thaw();
            self.stop();
        }
        // Those of its containerd and of its containers.
        for process in processes_naming(&self.path("")) {
            // It may have ended meanwhile.
            kill_process(process, Signal::KILL).ok();
        }
        for mount in self.mounts() {
            // What is busy now is unmounted when it is not.
            let mount = mount.to_str().expect("a plain path");
            Cli::program(self, Path::new("umount")).args(["--lazy", mount]).output();
        }
    }
}
