//! The three languages of the tests on a real daemon: their images, and programs that do the same
//! in each.

use std::env;

use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Node,
    Shell,
}

impl Language {
    pub(crate) const ALL: [Self; 3] = [Self::Python, Self::Node, Self::Shell];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Node => "node",
            Self::Shell => "shell",
        }
    }

    /// The image of the default policy.
    pub(crate) fn default_image(self) -> &'static str {
        match self {
            Self::Python => "python:3.12-slim",
            Self::Node => "node:22-slim",
            Self::Shell => "alpine:3.20",
        }
    }

    /// The image of the environment's choice, for machines that reach no registry.
    pub(crate) fn image(self) -> String {
        let variable = match self {
            Self::Python => "DAS_INTEGRATION_IMAGE",
            Self::Node => "DAS_INTEGRATION_IMAGE_NODE",
            Self::Shell => "DAS_INTEGRATION_IMAGE_SHELL",
        };
        env::var(variable).unwrap_or_else(|_| self.default_image().to_owned())
    }

    /// A policy that names these images, with time enough on a busy machine.
    pub(crate) fn policy() -> Value {
        let images = Self::ALL.iter().map(|it| (it.name().to_owned(), json!(it.image())));
        let engine = env::var("DAS_INTEGRATION_ENGINE").unwrap_or_else(|_| "auto".to_owned());
        let images = Value::Object(images.collect());
        json!({"images": images, "timeout_seconds": 120, "pull": "missing", "engine": engine})
    }

    pub(crate) fn exits(self, code: u8) -> String {
        match self {
            Self::Python => format!("import sys; sys.exit({code})"),
            Self::Node => format!("process.exit({code})"),
            Self::Shell => format!("exit {code}"),
        }
    }

    pub(crate) fn prints(self, text: &str) -> String {
        match self {
            Self::Python => format!("print('{text}')\n"),
            Self::Node => format!("console.log('{text}');\n"),
            Self::Shell => format!("echo '{text}'\n"),
        }
    }

    pub(crate) fn never_ends(self) -> &'static str {
        match self {
            Self::Python => "while True: pass\n",
            Self::Node => "for (;;);\n",
            Self::Shell => "while :; do :; done\n",
        }
    }

    pub(crate) fn takes_all_memory(self) -> &'static str {
        match self {
            Self::Python => "hoard = []\nwhile True: hoard.append(bytearray(10 << 20))\n",
            Self::Node => "const hoard = []; for (;;) hoard.push(Buffer.alloc(10 << 20, 1));\n",
            Self::Shell => "x=hoardhoardhoard; while :; do x=$x$x; done\n",
        }
    }

    pub(crate) fn bombs(self) -> &'static str {
        match self {
            Self::Python => {
                "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n"
            }
            Self::Node => {
                "const { spawn } = require('node:child_process');
                const bomb = () => {
                    for (let i = 0; i < 10; i++) {
                        try {
                            spawn(process.execPath, ['-e', 'for(;;);']).on('error', () => {});
                        } catch {}
                    }
                    setImmediate(bomb);
                };
                bomb();\n"
            }
            Self::Shell => "bomb() { bomb | bomb & }; bomb; while :; do :; done\n",
        }
    }

    /// Prints on its last line how many processes it could start before it was refused.
    pub(crate) fn counts_its_processes(self) -> &'static str {
        match self {
            Self::Python => {
                "import os, time
count = 0
try:
    while count < 100:
        if os.fork() == 0: time.sleep(60)
        count += 1
except BlockingIOError: pass
print(count)\n"
            }
            Self::Node => {
                "const { spawnSync, spawn } = require('node:child_process');
                let count = 0, child;
                do {
                    child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
                    child.on('error', () => {});
                    if (child.pid) count++;
                } while (child.pid && count < 100);
                console.log(count);
                process.exit();\n"
            }
            // A shell that is refused ends itself, so that it counts as it goes.
            Self::Shell => "i=0; while :; do sleep 60 & i=$((i + 1)); echo $i; done\n",
        }
    }

    /// Prints without end on both streams.
    pub(crate) fn floods(self) -> &'static str {
        match self {
            Self::Python => {
                "import os\nwhile True: os.write(1, b'o' * 65536); os.write(2, b'e' * 65536)\n"
            }
            Self::Node => {
                "const fs = require('node:fs'); const write = (fd, text) => {
                    try { fs.writeSync(fd, text); } catch {}
                };
                for (;;) { write(1, 'o'.repeat(65536)); write(2, 'e'.repeat(65536)); }\n"
            }
            Self::Shell => "yes eeeeeeeeeeeeeee >&2 & yes ooooooooooooooo\n",
        }
    }

    /// Prints each file under a line with its name, and what became of two attempts.
    pub(crate) fn reports(self, paths: &[&str]) -> String {
        match self {
            Self::Python => PYTHON_REPORT.replace("PATHS", &json!(paths).to_string()),
            Self::Node => NODE_REPORT.replace("PATHS", &json!(paths).to_string()),
            Self::Shell => SHELL_REPORT.replace("PATHS", &paths.join(" ")),
        }
    }
}

const PYTHON_REPORT: &str = r##"
import os, subprocess, sys

def attempt(name, act):
    print("==>", name)
    try:
        print(act() or "done")
    except OSError as error:
        print("failed:", error.strerror)

def read(path):
    with open(path) as file:
        return file.read()

def write():
    open("/etc/written", "w").close()

def execute():
    with open("/tmp/program", "w") as file:
        file.write(f"#!{sys.executable} -I\npass\n")
    os.chmod("/tmp/program", 0o755)
    subprocess.run(["/tmp/program"], check=True)

for path in PATHS:
    attempt(path, lambda: read(path))
attempt("write", write)
attempt("execute", execute)
"##;

const NODE_REPORT: &str = r#"
const fs = require("node:fs");
const { spawnSync } = require("node:child_process");

function attempt(name, act) {
  console.log("==>", name);
  try {
    console.log(act() || "done");
  } catch (error) {
    console.log("failed:", error.code);
  }
}

function execute() {
  fs.writeFileSync("/tmp/program", `#!${process.execPath}\n`, { mode: 0o755 });
  const { error } = spawnSync("/tmp/program", { stdio: "ignore" });
  if (error) throw error;
}

for (const path of PATHS) attempt(path, () => fs.readFileSync(path, "utf8"));
attempt("write", () => fs.writeFileSync("/etc/written", ""));
attempt("execute", execute);
"#;

const SHELL_REPORT: &str = r#"
attempt() {
    echo "==> $1"
    shift
    "$@" 2>/dev/null || echo failed: "$@"
}

write() {
    (: >/etc/written) && echo done
}

execute() {
    echo 'echo done' >/tmp/program
    chmod +x /tmp/program
    (exec /tmp/program)
}

for path in PATHS; do
    attempt "$path" cat "$path"
done
attempt write write
attempt execute execute
"#;
