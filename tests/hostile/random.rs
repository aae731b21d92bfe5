//! Random programs under random limits, through `das run` and `das mcp`, while das, its client or
//! the container is killed at a random moment: nothing is left, no verdict is wrong, nothing hangs.
//!
//! ```sh
//! DAS_RANDOM_RUNS=1000 cargo test --test it random_runs -- --ignored --nocapture
//! ```
//!
//! `DAS_RANDOM_SEED` plays a series again.

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::FOLDERS;
use super::chance::Chance;
use super::program::{End, Program, outcome};
use crate::support::{Cli, Finished, Pipe, Real, Running};

const AT_ONCE: u64 = 8;

/// How many are run where nobody says.
const FEW: u64 = 40;

/// The latest moment of a blow.
const LATEST: Duration = Duration::from_millis(1500);

/// What happens to a run while it is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Blow {
    Nothing,
    /// SIGINT, SIGTERM or SIGHUP to das.
    Signal(i32),
    /// SIGKILL to das.
    KillDas,
    /// SIGKILL to das and all that it started, but for what has left its group.
    KillGroup,
    /// SIGKILL to the engine's client.
    KillClient,
    /// `docker kill`.
    KillContainer,
    /// `docker rm --force`.
    RemoveContainer,
    /// Nobody reads what das prints, or writes to it, any more.
    HangUp,
    /// The call is cancelled; `das run` knows no such thing and gets SIGINT.
    Cancel,
}

/// As often as not nothing happens.
const BLOWS: [Blow; 18] = [
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Nothing,
    Blow::Signal(2),
    Blow::Signal(15),
    Blow::Signal(1),
    Blow::KillDas,
    Blow::KillGroup,
    Blow::KillClient,
    Blow::KillContainer,
    Blow::RemoveContainer,
    Blow::HangUp,
    Blow::Cancel,
];

/// Which of das's front doors is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Run,
    /// With so many parked containers.
    Mcp(u8),
}

#[derive(Debug)]
struct Attack<'a> {
    program: &'a Program,
    door: Door,
    blow: Blow,
    after: Duration,
    flags: Vec<String>,
}

#[derive(Debug, Default)]
struct Tally {
    ends: BTreeMap<String, u64>,
    blows: BTreeMap<Blow, u64>,
    objections: Vec<String>,
}

#[test]
#[ignore = "needs Docker: random programs, limits and kills"]
fn random_runs_leave_nothing_and_tell_the_truth() {
    let runs = number("DAS_RANDOM_RUNS").unwrap_or(FEW);
    let seed = number("DAS_RANDOM_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        u64::try_from(now.as_millis()).unwrap()
    });
    let programs: Vec<Program> = FOLDERS.into_iter().flat_map(Program::all_of).collect();
    let (next, tally) = (AtomicU64::new(0), Mutex::new(Tally::default()));
    let began = Instant::now();
    thread::scope(|threads| {
        for _ in 0..AT_ONCE {
            threads.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        return;
                    }
                    // Each has a seed of its own, whichever thread runs it.
                    let mut chance = Chance::new(seed.wrapping_add(run));
                    let attack = Attack::any(&programs, &mut chance);
                    let (end, objection) = attack.play();
                    tally.lock().unwrap_or_else(PoisonError::into_inner).count(
                        &attack,
                        end,
                        objection.map(|it| format!("seed {}: {attack:?}: {it}", seed + run)),
                    );
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap();
    println!("{runs} runs from seed {seed} in {:.0} s", began.elapsed().as_secs_f64());
    println!("ends: {:?}\nblows: {:?}", tally.ends, tally.blows);
    println!("wrong: {}", tally.objections.len());
    assert!(tally.objections.is_empty(), "{}", tally.objections.join("\n"));
}

fn number(variable: &str) -> Option<u64> {
    Some(env::var(variable).ok()?.parse().unwrap_or_else(|_| panic!("{variable} is no number")))
}

impl Tally {
    fn count(&mut self, attack: &Attack<'_>, end: Option<End>, objection: Option<String>) {
        let end = end.map_or_else(|| "none told".to_owned(), |end| end.verdict);
        *self.ends.entry(end).or_default() += 1;
        *self.blows.entry(attack.blow).or_default() += 1;
        self.objections.extend(objection);
    }
}

impl<'a> Attack<'a> {
    fn any(programs: &'a [Program], chance: &mut Chance) -> Self {
        let program = chance.one_of(programs);
        let mut flags = program.flags.clone();
        let limits: [(&str, &[&str]); 5] = [
            ("--timeout", &["1", "3", "10", "20"]),
            ("--memory", &["128", "256", "512"]),
            ("--cpus", &["0.25", "0.5", "1", "2"]),
            ("--pids", &["16", "64", "200"]),
            ("--max-output", &["1024", "5000", "65536", "1000000"]),
        ];
        for (flag, values) in limits {
            let value = chance.one_of(values);
            if program.flag(flag).is_none() {
                flags.extend([flag.to_owned(), (*value).to_owned()]);
            }
        }
        Self {
            program,
            door: *chance.one_of(&[Door::Run, Door::Run, Door::Mcp(0), Door::Mcp(1)]),
            blow: *chance.one_of(&BLOWS),
            after: chance.time_up_to(LATEST),
            flags,
        }
    }

    /// What das told of the end, if it told, and what is wrong with it. No container of it is left.
    fn play(&self) -> (Option<End>, Option<String>) {
        let real = Real::new();
        let (pid, told, finished) = match self.door {
            Door::Run => self.play_run(&real),
            Door::Mcp(warm) => self.play_mcp(&real, warm),
        };
        real.wait_until_none_of(pid);
        let objection = self.objection(told.as_ref(), &finished);
        (told.as_ref().map(End::of), objection)
    }

    fn play_run(&self, real: &Real) -> (u32, Option<Value>, Finished) {
        let das = real.das().args(["run", "--json", self.program.path()]);
        let stdout = if self.blow == Blow::HangUp { Pipe::Unread } else { Pipe::Read };
        let mut das = das.args(self.flags.clone()).pipes(stdout, Pipe::Read).spawn();
        let pid = das.pid();
        thread::sleep(self.after);
        self.strike(real, &mut das);
        if self.blow == Blow::HangUp {
            das.close_stdout();
        }
        if self.blow == Blow::Cancel {
            signal(&mut das, Signal::INT);
        }
        let finished = das.wait();
        (pid, outcome(&finished.stdout), finished)
    }

    fn play_mcp(&self, real: &Real, warm: u8) -> (u32, Option<Value>, Finished) {
        let das = real.das().args(["mcp", "--warm", &warm.to_string()]).args(self.flags.clone());
        let mut das = das.spawn();
        let pid = das.pid();
        let code = std::fs::read_to_string(self.program.path()).expect("a text");
        let language = match self.program.path().rsplit('.').next() {
            Some("sh") => "shell",
            Some("js") => "node",
            Some(_) | None => "python",
        };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "random", "version": "1"}});
        let call = json!({"name": "run_code", "arguments": {"code": code, "language": language}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        ] {
            das.write(format!("{message}\n"));
        }
        thread::sleep(self.after);
        let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
        self.strike(real, &mut das);
        match self.blow {
            Blow::HangUp | Blow::Signal(_) | Blow::KillDas | Blow::KillGroup => {}
            Blow::Cancel => {
                let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": {"requestId": 1}});
                // What is cancelled is not answered, so that something else must be.
                das.write(format!("{cancel}\n{ping}\n"));
                das.wait_for_line("the answer to a ping", |line| answer(line, 2));
            }
            Blow::Nothing | Blow::KillClient | Blow::KillContainer | Blow::RemoveContainer => {
                das.wait_for_line("the answer to the call", |line| answer(line, 1));
            }
        }
        das.close_stdin();
        let finished = das.wait();
        let told = finished.stdout_text().lines().find_map(|line| answer(line, 1));
        (pid, told.map(|it| it["result"]["structuredContent"].clone()), finished)
    }

    fn strike(&self, real: &Real, das: &mut Running<'_>) {
        match self.blow {
            Blow::Nothing | Blow::HangUp | Blow::Cancel => {}
            Blow::Signal(number) => {
                signal(das, Signal::from_named_raw(number).expect("a signal"));
            }
            Blow::KillDas => signal(das, Signal::KILL),
            Blow::KillGroup => {
                if das.has_not_ended() {
                    das.send_signal_to_group(Signal::KILL);
                }
            }
            Blow::KillClient => {
                if let Some(client) = client_of(das.pid()) {
                    // One that has ended meanwhile is as good as killed.
                    kill_process(client, Signal::KILL).ok();
                }
            }
            Blow::KillContainer => end(real, das.pid(), real.docker().arg("kill")),
            Blow::RemoveContainer => end(real, das.pid(), real.docker().args(["rm", "--force"])),
        }
    }

    fn objection(&self, told: Option<&Value>, das: &Finished) -> Option<String> {
        let Some(told) = told else {
            let may_be_silent = match (self.door, self.blow) {
                (_, Blow::KillDas | Blow::KillGroup | Blow::HangUp)
                | (Door::Mcp(_), Blow::Signal(_) | Blow::Cancel) => true,
                (
                    _,
                    Blow::Nothing | Blow::KillClient | Blow::KillContainer | Blow::RemoveContainer,
                ) => false,
                // It may come before das can hear it, and so before there is anything to tell.
                (Door::Run, Blow::Signal(number)) => das.signal() == Some(number),
                (Door::Run, Blow::Cancel) => das.signal() == Some(Signal::INT.as_raw()),
            };
            return (!may_be_silent).then(|| format!("nothing was told: {das:?}"));
        };
        let end = End::of(told);
        if self.is_of_the_blow(&end) {
            return None;
        }
        if end.verdict == "timeout" && self.is_over_time(told) {
            return None;
        }
        self.program.objection(told)
    }

    /// Whether the blow explains this end, whatever the program would have done.
    fn is_of_the_blow(&self, end: &End) -> bool {
        match (self.blow, end.verdict.as_str()) {
            (Blow::Signal(_) | Blow::Cancel | Blow::HangUp, "cancelled")
            | (Blow::KillClient | Blow::KillContainer | Blow::RemoveContainer, "sandbox_error") => {
                true
            }
            (Blow::KillContainer | Blow::RemoveContainer, "error") => end.exit_code == Some(137),
            _ => false,
        }
    }

    /// On a busy machine any program may need more than its time; never less.
    fn is_over_time(&self, told: &Value) -> bool {
        let at = self.flags.iter().position(|flag| flag == "--timeout");
        let timeout: f64 = at.and_then(|at| self.flags[at + 1].parse().ok()).expect("a timeout");
        told["timed_out"] == true
            && told["duration_seconds"].as_f64().is_some_and(|seconds| seconds >= timeout)
    }
}

fn answer(line: &str, id: u64) -> Option<Value> {
    let message: Value = serde_json::from_str(line).expect("one message on a line");
    (message["id"] == id).then_some(message)
}

fn signal(das: &mut Running<'_>, signal: Signal) {
    if das.has_not_ended() {
        das.send_signal(signal);
    }
}

/// Ends the containers of a das, if it has any. One that is gone meanwhile is as good as ended.
fn end(real: &Real, pid: u32, command: Cli<'_>) {
    let containers = real.containers_of(pid);
    if !containers.is_empty() {
        command.args(containers).output();
    }
}

/// The engine's client among the children of a das.
fn client_of(das: u32) -> Option<Pid> {
    let children = std::fs::read_to_string(format!("/proc/{das}/task/{das}/children")).ok()?;
    let threads = std::fs::read_dir(format!("/proc/{das}/task")).ok()?;
    let of_threads =
        threads.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("children")).ok());
    let all: Vec<String> = of_threads.chain([children]).collect();
    let mut pids = all.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| {
        let pid: i32 = pid.parse().ok()?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        command.starts_with(b"docker\0run\0").then(|| Pid::from_raw(pid)).flatten()
    });
    pids.next()
}
