//! Each wall, seen from inside in each language; and, with the wall left out, seen to be open, so
//! that each of these tests can fail.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::inside::Inside;
use crate::support::Change::{Add, Drop, DropBare};
use crate::support::{Change, Language, Real};

/// A wall, how it is left out, and whether a report from inside says that it stands.
struct Wall {
    name: &'static str,
    without: &'static [Change],
    stands: fn(&Inside) -> bool,
}

const WALLS: [Wall; 15] = [
    Wall {
        name: "not root",
        without: &[Drop("--user", ""), Add(&["--user", "0:0"])],
        stands: |inside| {
            inside.status("Uid") == "65534\t65534\t65534\t65534"
                && inside.status("Gid") == "65534\t65534\t65534\t65534"
        },
    },
    Wall {
        name: "no other groups",
        without: &[Add(&["--group-add", "0"])],
        stands: |inside| ["", "65534"].contains(&inside.status("Groups").as_str()),
    },
    Wall {
        name: "no network",
        without: &[Drop("--network", "none")],
        stands: |inside| inside.interfaces() == ["lo"],
    },
    Wall {
        name: "a read-only root",
        without: &[DropBare("--read-only")],
        stands: |inside| inside.mount("/").0.contains(&"ro"),
    },
    Wall {
        name: "nothing written outside /tmp",
        without: &[DropBare("--read-only"), Drop("--user", ""), Add(&["--user", "0:0"])],
        stands: |inside| !inside.succeeded("write"),
    },
    Wall {
        name: "/tmp of its size, without devices and set-uid programs",
        without: &[Drop("--tmpfs", "/tmp"), Add(&["--tmpfs", "/tmp:dev,suid,mode=1777"])],
        stands: |inside| {
            let (mount, tmpfs) = inside.mount("/tmp");
            ["rw", "noexec", "nosuid", "nodev"].iter().all(|option| mount.contains(option))
                && tmpfs.contains(&"size=32768k")
        },
    },
    Wall {
        name: "nothing executed from /tmp",
        without: &[Drop("--tmpfs", "/tmp"), Add(&["--tmpfs", "/tmp:exec,mode=1777"])],
        stands: |inside| !inside.succeeded("execute"),
    },
    Wall {
        name: "no capabilities",
        without: &[Drop("--cap-drop", "ALL")],
        stands: |inside| {
            ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]
                .iter()
                .all(|set| inside.status(set).chars().all(|digit| digit == '0'))
        },
    },
    Wall {
        name: "no new privileges",
        without: &[Drop("--security-opt", "no-new-privileges")],
        stands: |inside| inside.status("NoNewPrivs") == "1",
    },
    Wall {
        name: "a filter of system calls",
        without: &[Add(&["--security-opt", "seccomp=unconfined"])],
        stands: |inside| inside.status("Seccomp") == "2",
    },
    Wall {
        name: "a limit of memory",
        without: &[Drop("--memory", ""), Drop("--memory-swap", "")],
        stands: |inside| inside.memory() == "268435456",
    },
    Wall {
        name: "no swap",
        without: &[Drop("--memory-swap", "")],
        stands: |inside| inside.swap() == 0,
    },
    Wall {
        name: "a limit of processes",
        without: &[Drop("--pids-limit", "")],
        stands: |inside| inside.pids() == "64",
    },
    Wall {
        name: "a quota of the processors",
        without: &[Drop("--cpus", "")],
        stands: |inside| inside.cpus() == Some(0.5),
    },
    Wall {
        name: "limits of files and core dumps",
        without: &[Drop("--ulimit", "")],
        stands: |inside| {
            let both = |value: &str| (value.to_owned(), value.to_owned());
            inside.limit("Max open files") == both("256")
                && inside.limit("Max core file size") == both("0")
        },
    },
];

#[track_caller]
fn every_wall_stands(language: Language) {
    let real = Real::new();
    let inside = Inside::of(&real.run(language, Inside::program(language)));
    for wall in &WALLS {
        assert!((wall.stands)(&inside), "{}: {inside:#?}", wall.name);
    }
}

#[test]
#[ignore = "needs Docker: every wall, seen by a Python program"]
fn every_wall_stands_around_python() {
    every_wall_stands(Language::Python);
}

#[test]
#[ignore = "needs Docker: every wall, seen by a Node.js program"]
fn every_wall_stands_around_node() {
    every_wall_stands(Language::Node);
}

#[test]
#[ignore = "needs Docker: every wall, seen by a shell script"]
fn every_wall_stands_around_a_shell() {
    every_wall_stands(Language::Shell);
}

#[test]
#[ignore = "needs Docker: the reports tell a missing wall"]
fn each_wall_that_is_left_out_is_missed() {
    for wall in &WALLS {
        let real = Real::new();
        let docker = real.docker_with(wall.without);
        let run = real.run(Language::Shell, Inside::program(Language::Shell));
        let inside = Inside::of(&run.args(["--engine", docker.to_str().expect("a plain path")]));
        assert!(!(wall.stands)(&inside), "{}: {inside:#?}", wall.name);
    }
}

/// The variables of an image.
fn image_environment(real: &Real, image: &str) -> BTreeMap<String, String> {
    let inspect = ["image", "inspect", "--format", "{{json .Config.Env}}", image];
    let env: Vec<String> = serde_json::from_slice(&real.docker().args(inspect).output().stdout)
        .expect("a list of variables");
    let pairs = env.iter().filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Compares the whole environment of a program with its image's, das's and the policy's.
#[track_caller]
fn the_environment_is_exact(real: &Real, language: Language, more: &[(&str, &str)]) {
    let inside = Inside::of(
        &real.run(language, Inside::program(language)).env("LEAK", "host").env("HTTP_PROXY", "p"),
    );
    let mut found = inside.environment();
    assert!(found.remove("HOSTNAME").is_some_and(|name| name.len() == 12), "{inside:?}");
    if Real::is_podman() {
        // It tells programs so.
        assert_eq!(found.remove("container"), Some("podman"));
        assert_eq!(found.remove("TERM"), Some("xterm"));
    }
    let mut expected = image_environment(real, &language.image());
    let own: &[(&str, &str)] = match language {
        Language::Python => &[("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONUNBUFFERED", "1")],
        Language::Node => &[],
        // Its own `cat` gets what the shell itself sets.
        Language::Shell => &[("PWD", "/tmp")],
    };
    let all = own.iter().chain(more).chain(&[("HOME", "/tmp")]);
    expected.extend(all.map(|&(name, value)| (name.to_owned(), value.to_owned())));
    let expected: BTreeMap<_, _> =
        expected.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
#[ignore = "needs Docker: the whole environment of a program"]
fn a_program_has_the_variables_of_its_image_and_of_das_and_no_others() {
    for language in Language::ALL {
        the_environment_is_exact(&Real::new(), language, &[]);
    }
}

fn proxies() -> Value {
    let proxy = "http://user:secret@proxy.example:3128";
    json!({"proxies": {"default": {
        "httpProxy": proxy,
        "httpsProxy": proxy,
        "ftpProxy": proxy,
        "allProxy": proxy,
        "noProxy": "internal.example",
    }}})
}

#[test]
#[ignore = "needs Docker: the proxies of the client's configuration stay out"]
fn the_proxies_of_the_clients_configuration_stay_out() {
    let real = Real::new();
    let config = real.docker_config(&proxies());
    let command = real.run(Language::Shell, "env").env("DOCKER_CONFIG", &config);
    let finished = command.output();
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr_text());
    let text = finished.stdout_text().to_lowercase();
    assert!(text.contains("home=/tmp") && !text.contains("proxy"), "{text}");

    // Without das's flags the client does put them in.
    let image = Real::shell_image();
    let run = ["run", "--rm", "--pull", "never", "--network", "none", &image, "env"];
    let leaked = real.docker().env("DOCKER_CONFIG", &config).args(run).output().stdout_text();
    assert!(leaked.contains("HTTP_PROXY=http://user:secret@proxy.example:3128"), "{leaked}");
}

#[test]
#[ignore = "needs Docker: the log driver of a running container"]
fn nothing_of_the_output_is_written_to_the_hosts_disk() {
    let driver = |real: &Real, command: crate::support::Cli<'_>| {
        let running = command.spawn();
        let name = real.wait_for_container_of(running.pid());
        let inspect = ["inspect", "--format", "{{.HostConfig.LogConfig.Type}}", &name];
        let driver = real.docker().args(inspect).output().stdout_text();
        running.send_signal(rustix::process::Signal::TERM);
        running.wait();
        real.wait_until_gone(&name);
        driver
    };
    let endless = ["run", "-l", "shell", "-c", "sleep 60"];
    let real = Real::new();
    assert_eq!(driver(&real, real.das().args(endless)), "none\n");
    let docker = real.docker_with(&[Drop("--log-driver", "none")]);
    let opened = real.das().args(endless).args(["--engine", docker.to_str().unwrap()]);
    assert_ne!(driver(&real, opened), "none\n");
}
