//! What needs no container, and what das itself takes: answers, memory, the size of its program.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::floods::mib;
use crate::process;
use crate::report::Report;
use crate::session::Session;
use crate::stats::Series;

/// Long enough for das to come to rest.
const REST: Duration = Duration::from_secs(2);

/// The answers of `das mcp` and the start of `das explain`.
pub(crate) fn start(runs: usize, report: &mut Report) {
    let [mut initialize, mut list, mut explain] = [const { Vec::new() }; 3];
    for _ in 0..runs {
        let mut session = Session::start(&["--warm", "0"]);
        initialize.push(session.initialized_after);
        list.push(session.ask("tools/list", &json!({})));
        let begun = Instant::now();
        process::output(process::das(&["explain"]));
        explain.push(begun.elapsed());
    }
    let names = ["das mcp, start to initialize", "das mcp, tools/list", "das explain"];
    for (name, times) in names.iter().zip([initialize, list, explain]) {
        let mut series = Series::default();
        series.extend(times);
        report.add(name, &series);
        if *name == names[0] {
            report.target(
                "start of das mcp to its answer to initialize",
                series.median(),
                5.0,
                "ms",
            );
        }
    }
}

/// Memory at rest, with 16 runs and in a flood.
pub(crate) fn memory(image: &str, flood: u64, report: &mut Report) {
    let session = Session::start(&["--image", image, "--warm", "1"]);
    thread::sleep(REST);
    report.target("das mcp at rest", mib(process::memory(session.pid(), "VmRSS")), 8.0, "MiB");
    drop(session);
    busy(image, report);
    flooded(image, flood, report);
    let size = fs::metadata(process::program()).map_or(0, |file| file.len() >> 10);
    report.target("the program's size", mib(size), 4.0, "MiB");
}

fn busy(image: &str, report: &mut Report) {
    let policy = std::env::temp_dir().join(format!("das-bench-memory-{}.json", std::process::id()));
    fs::write(&policy, r#"{"max_concurrent": 16}"#).expect("a writable directory");
    let path = policy.to_str().expect("a path that is text");
    let mut session = Session::start(&["--image", image, "--policy", path, "--warm", "0"]);
    session.burst("import time; time.sleep(1)", 16);
    report.target("das mcp, 16 runs", mib(process::memory(session.pid(), "VmHWM")), 32.0, "MiB");
    drop(session);
    fs::remove_file(&policy).expect("it was written");
}

/// The most that a policy lets it keep, on both streams, in an answer of MCP.
fn flooded(image: &str, bytes: u64, report: &mut Report) {
    let mut session = Session::start(&["--image", image, "--warm", "0", "--timeout", "600"]);
    let half = bytes / 2;
    session.call(&format!(
        "import sys\nline = b'y' * 1023 + b'\\n'\nfor _ in range({half} // 65536):\n    \
         sys.stdout.buffer.write(line * 64)\n    sys.stderr.buffer.write(line * 64)\n"
    ));
    report.target("das mcp, flood", mib(process::memory(session.pid(), "VmHWM")), 32.0, "MiB");
}
