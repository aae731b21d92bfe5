//! Output and code of many sizes.

use std::process::Command;

use crate::calls::bare;
use crate::process;
use crate::report::Report;
use crate::stats::Series;

/// Prints so many bytes, in lines.
fn flood(bytes: u64) -> String {
    format!(
        "import sys\nline = b'y' * 1023 + b'\\n'\nleft = {bytes}\nout = sys.stdout.buffer\nwhile left:\n    \
         left -= out.write((line * 64)[:left])\n"
    )
}

/// Output that is drained: through das, and through a pipe to nowhere.
pub(crate) fn output(image: &str, most: u64, rounds: usize, report: &mut Report) {
    for bytes in [1 << 10, 1 << 20, 100 << 20, 1 << 30] {
        if bytes > most {
            continue;
        }
        let code = flood(bytes);
        let [mut bare_series, mut das_series] = [Series::default(), Series::default()];
        let mut memory = 0;
        for _ in 0..rounds {
            bare_series.add(process::run_to_nowhere(piped(image), code.as_bytes()).0);
            let das = process::das(&["run", "--quiet", "--timeout", "600", "--image", image, "-"]);
            let (time, used) = process::run_to_nowhere(das, code.as_bytes());
            das_series.add(time);
            memory = memory.max(used);
        }
        let name = size(bytes);
        report.add(&format!("docker run | cat, output of {name}"), &bare_series);
        report.add(&format!("das run, output of {name}"), &das_series);
        let what = format!("flood of {name} that is drained");
        if bytes > 1 << 20 {
            report.ratio(&what, &das_series, &bare_series, 1.05);
        } else {
            report.note(&what, das_series.median() / bare_series.median());
        }
        report.note(&format!("das run, output of {name}: memory, MiB"), mib(memory));
    }
}

/// `docker run ... | cat >/dev/null`.
fn piped(image: &str) -> Command {
    let script = "\"$@\" | cat >/dev/null".to_owned();
    let shell = ["sh", "-c", &script, "sh"].map(str::to_owned);
    process::command(&[shell.as_slice(), &bare(image)].concat())
}

/// Code that is read to its end.
pub(crate) fn code(image: &str, rounds: usize, report: &mut Report) {
    let policy = std::env::temp_dir().join(format!("das-bench-code-{}.json", std::process::id()));
    std::fs::write(&policy, r#"{"max_code_bytes": 67108864, "timeout_seconds": 600}"#)
        .expect("a writable directory");
    let path = policy.to_str().expect("a path that is text");
    for bytes in [1 << 10, 100 << 10, 1 << 20, 10 << 20] {
        let line = "# a line of a long program that does nothing at all\n";
        let code = line.repeat(bytes / line.len()) + "print(1)\n";
        let [mut bare_series, mut das_series] = [Series::default(), Series::default()];
        for _ in 0..rounds {
            let sample = process::run(process::command(&bare(image)), code.as_bytes());
            bare_series.add(sample.whole);
            let das = process::das(&["run", "--quiet", "--policy", path, "--image", image, "-"]);
            das_series.add(process::run(das, code.as_bytes()).whole);
        }
        let name = size(bytes as u64);
        report.add(&format!("docker run, code of {name}"), &bare_series);
        report.add(&format!("das run, code of {name}"), &das_series);
        report.note(
            &format!("das run, code of {name}: ratio"),
            das_series.median() / bare_series.median(),
        );
    }
    std::fs::remove_file(&policy).expect("it was written");
}

/// Of a number of KiB.
pub(crate) fn mib(kib: u64) -> f64 {
    f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0
}

fn size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MB", bytes >> 20),
        _ => format!("{} GB", bytes >> 30),
    }
}
