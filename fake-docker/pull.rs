//! `pull`.

use crate::args::{Args, Flags, Order};
use crate::call::Call;
use crate::failure::Failure;
use crate::images;
use crate::scenario::{Answer, Image, Presence, Pull, PullFailure};
use crate::store::digest;

const PULL: Flags =
    Flags { switches: &["--quiet"], valued: &["--platform"], aliases: &[("-q", "--quiet")] };

pub(crate) fn pull(call: &Call, words: &[String]) -> Result<Answer, Failure> {
    let args = PULL.parse(Order::Mixed, words)?;
    let [name] = args.operands.as_slice() else {
        return Err(Failure::unplayed("`pull` takes one reference"));
    };
    let request = format!("Post /v1.50/images/create?fromImage={}", name.replace('/', "%2F"));
    if let Some(answer) = call.reach_daemon(&request)? {
        return Ok(answer);
    }
    match call.behaviour(&call.scenario.pull) {
        Pull::Works => download(call, &args, name),
        Pull::After(trigger) => {
            call.state.wait_for(&trigger)?;
            download(call, &args, name)
        }
        Pull::Hangs => call.state.hang(),
        Pull::Answers(answer) => Ok(answer),
        Pull::Fails(why) => {
            let text = why.text(name);
            Ok(Answer::error(format!("Error response from daemon: {text}")))
        }
    }
}

impl PullFailure {
    fn text(self, name: &str) -> String {
        let repository = name.split(['@', ':']).next().unwrap_or(name);
        match self {
            Self::NoSuchHost => "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup \
                                 registry-1.docker.io on 127.0.0.53:53: no such host"
                .to_owned(),
            Self::ConnectionRefused => "Get \"http://127.0.0.1:5000/v2/\": dial tcp \
                                        127.0.0.1:5000: connect: connection refused"
                .to_owned(),
            Self::Denied => format!(
                "pull access denied for {repository}, repository does not exist or may require \
                 'docker login': denied: requested access to the resource is denied"
            ),
            Self::NotFound => {
                format!("manifest for {name} not found: manifest unknown: manifest unknown")
            }
        }
    }
}

fn download(call: &Call, args: &Args, name: &str) -> Result<Answer, Failure> {
    let image = Image { presence: Presence::Present, ..images::scripted(call, name) };
    images::put(call, name, &image)?;
    call.store.note_image(name, "pull")?;
    let whole = canonical(name);
    if args.has("--quiet") {
        return Ok(Answer::ok(format!("{whole}\n")));
    }
    let (repository, tag) = whole.rsplit_once(':').unwrap_or((&whole, "latest"));
    Ok(Answer::ok(format!(
        "{tag}: Pulling from {}\nDigest: sha256:{}\nStatus: Downloaded newer image for {name}\n\
         {whole}\n",
        repository.trim_start_matches("docker.io/"),
        digest(name.as_bytes()),
    )))
}

/// With registry and repository in full, as the CLI prints it.
fn canonical(name: &str) -> String {
    match name.split_once('/') {
        None => format!("docker.io/library/{name}"),
        Some((host, _)) if host.contains(['.', ':']) || host == "localhost" => name.to_owned(),
        Some(_) => format!("docker.io/{name}"),
    }
}
