//! `import` and `build`: commands that make an image from a tar archive on stdin.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::args::{Flags, Order};
use crate::call::Call;
use crate::failure::Failure;
use crate::images;
use crate::record::Tar;
use crate::scenario::{Answer, Image, Load, Presence};
use crate::store::hex;

const IMPORT: Flags = Flags {
    switches: &[],
    valued: &["--change", "--message", "--platform"],
    aliases: &[("-c", "--change"), ("-m", "--message")],
};
const BUILD: Flags = Flags {
    switches: &["--quiet", "--rm", "--force-rm", "--no-cache", "--pull"],
    valued: &["--tag", "--file", "--network", "--label"],
    aliases: &[("-t", "--tag"), ("-q", "--quiet"), ("-f", "--file")],
};

const BUILDER: &str = "\
DEPRECATED: The legacy builder is deprecated and will be removed in a future release.
            Install the buildx component to build images with BuildKit:
            https://docs.docker.com/go/buildx/

";

pub(crate) fn import(call: &mut Call, words: &[String]) -> Result<Answer, Failure> {
    let args = IMPORT.parse(Order::Mixed, words)?;
    let [source, name] = args.operands.as_slice() else {
        return Err(Failure::unplayed("`import` without `-` and a reference"));
    };
    only_stdin(source)?;
    if let Some(answer) = call.reach_daemon("Post /v1.50/images/create?fromSrc=-")? {
        return Ok(answer);
    }
    let load = call.behaviour(&call.scenario.import);
    let labels =
        labels(args.values("--change").iter().filter_map(|line| line.strip_prefix("LABEL ")));
    load_image(call, &load, |call| {
        let received = receive(call)?;
        if !received.is_tar {
            return Ok(Answer::error(
                "Error response from daemon: Error processing tar file(exit status 1): unexpected EOF",
            ));
        }
        store(call, name, &received.id, &labels)?;
        Ok(Answer::ok(format!("{}\n", received.id)))
    })
}

pub(crate) fn build(call: &mut Call, words: &[String]) -> Result<Answer, Failure> {
    let args = BUILD.parse(Order::Mixed, words)?;
    let ([source], Some(name)) = (args.operands.as_slice(), args.value("--tag")) else {
        return Err(Failure::unplayed("`build` without --tag and `-`"));
    };
    only_stdin(source)?;
    if let Some(answer) = call.reach_daemon("Post /v1.50/build")? {
        return Ok(Answer { stderr: format!("{BUILDER}{}", answer.stderr), ..answer });
    }
    let load = call.behaviour(&call.scenario.build);
    let flags: Vec<String> = args.values("--label").to_vec();
    load_image(call, &load, |call| {
        let received = receive(call)?;
        if !received.is_tar && !received.beginning.starts_with("FROM ") {
            return Ok(Answer::error(
                "Error response from daemon: dockerfile parse error: unexpected EOF",
            ));
        }
        let said = received.beginning.lines().filter_map(|line| line.strip_prefix("LABEL "));
        let labels = labels(said.chain(flags.iter().map(String::as_str)));
        let id = received.id;
        store(call, name, &id, &labels)?;
        let short = &id["sha256:".len()..][..12];
        let stdout = if args.has("--quiet") {
            format!("{id}\n")
        } else {
            format!("Successfully built {short}\nSuccessfully tagged {name}\n")
        };
        Ok(Answer { stdout, stderr: BUILDER.to_owned(), exit: 0 })
    })
}

fn load_image(
    call: &mut Call,
    load: &Load,
    work: impl FnOnce(&mut Call) -> Result<Answer, Failure>,
) -> Result<Answer, Failure> {
    match load {
        Load::Works => work(call),
        Load::Hangs => call.state.hang(),
        Load::Answers(answer) => receive(call).map(|_| answer.clone()),
        Load::AnswersUnread(answer) => Ok(answer.clone()),
    }
}

fn only_stdin(source: &str) -> Result<(), Failure> {
    if source == "-" { Ok(()) } else { Err(Failure::unplayed(format!("source `{source}`"))) }
}

/// What came on stdin.
struct Received {
    id: String,
    /// A tar archive; `build` also takes a Dockerfile.
    is_tar: bool,
    /// The first 64 KiB as text.
    beginning: String,
}

/// Reads stdin to its end into the journal.
fn receive(call: &mut Call) -> Result<Received, Failure> {
    let file = call.journal.stdin_file()?;
    let received = copy(&file)
        .and_then(|(bytes, sha256)| Ok((bytes, sha256, beginning(&file)?, entries(&file)?)));
    let (bytes, sha256, beginning, entries) =
        received.map_err(|error| call.state.failure(call.state.dir(), error))?;
    let id = format!("sha256:{sha256}");
    let is_tar = entries.is_some();
    if let Some(entries) = entries {
        call.journal.got_tar(Tar { bytes, sha256, entries })?;
    }
    Ok(Received { id, is_tar, beginning })
}

fn beginning(mut file: &File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(64 * 1024).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn copy(mut file: &File) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = io::stdin().read(&mut buffer)?;
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        file.write_all(&buffer[..read])?;
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
}

fn entries(mut file: &File) -> io::Result<Option<Vec<String>>> {
    file.rewind()?;
    let mut archive = tar::Archive::new(file);
    let names: io::Result<Vec<String>> = archive
        .entries()?
        .map(|entry| Ok(String::from_utf8_lossy(&entry?.path_bytes()).into_owned()))
        .collect();
    Ok(names.ok())
}

fn labels<'a>(pairs: impl Iterator<Item = &'a str>) -> Map<String, Value> {
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), json!(value.trim_matches('"')))).collect()
}

fn store(call: &Call, name: &str, id: &str, labels: &Map<String, Value>) -> Result<(), Failure> {
    let patch = json!({ "Id": id, "Config": { "Labels": labels } });
    images::put(call, name, &Image { presence: Presence::Present, patch })
}
