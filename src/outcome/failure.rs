//! The ways in which something else than the program fails, each with its fix.
//!
//! Texts are read here, but only texts that the engine wrote: the caller has made sure that the
//! program never ran, or that its output is not among them.

/// What a client says that loses its engine after it has asked for a container.
const LATER: [&str; 3] = ["error waiting for container", "unexpected EOF", "/start\""];

/// What failed, where it was not the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// There is no docker-compatible program.
    NoEngine(String),
    /// The engine does not answer.
    Unreachable(String),
    /// The client's configuration names an endpoint that cannot be.
    BadEndpoint(String),
    /// The engine is there, but this user may not talk to it.
    Forbidden(String),
    /// The engine does not have the image.
    NoImage(String),
    /// The image could not be had, in the words of the step that tried.
    ImageUnavailable(String),
    /// The engine does not know the runtime that the policy demands.
    NoRuntime(String),
    /// Another container has the name.
    NameTaken,
    /// The program ran, and the engine does not say how it ended.
    EndUnknown,
    /// The program ended, and the client that passed on its output did not last until then.
    OutputLost,
    /// The deadline passed, and the engine does not confirm that the program is dead.
    StopUnconfirmed,
    /// The container did not start in time.
    StartTooSlow,
    /// This machine, or this user's limits, have no processes, descriptors or memory left for das.
    Exhausted(String),
    /// Anything else, in the engine's words.
    Engine(String),
}

impl Failure {
    /// Reads the engine's own words about a program that never ran.
    pub fn of_engine(stderr: &str) -> Self {
        let text = stderr.to_ascii_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let words = brief(stderr);
        if says(&[
            "permission denied while trying to connect",
            "dial unix",
            "docker.sock: connect: permission denied",
        ]) && says(&["permission denied"])
        {
            Self::Forbidden(words)
        } else if says(&[
            "cannot connect to the docker daemon",
            "error during connect",
            "connection refused",
            "cannot connect to podman",
            "cannot access containerd socket",
            "failed to connect to the docker api",
        ]) {
            Self::Unreachable(words)
        } else if says(&[
            "failed to initialize",
            "unable to resolve docker endpoint",
            "context not found",
            "unable to parse docker host",
            "invalid bind address",
        ]) {
            Self::BadEndpoint(words)
        } else if says(&[
            "is already in use by",
            "conflict. the container name",
            "name is already in use",
        ]) {
            Self::NameTaken
        } else if says(&["no such image", "image not known", "unable to find image"]) {
            Self::NoImage(words)
        } else if says(&[
            "unknown runtime specified",
            "unknown or invalid runtime",
            "invalid runtime name",
            "runtime \"",
            "no runtime for",
            "default oci runtime",
        ]) && !says(&["oci runtime create", "oci runtime error", "oci runtime attempted"])
        {
            Self::NoRuntime(words)
        } else {
            Self::Engine(words)
        }
    }

    /// Reads the client's words where the engine could not be asked about the run: only the
    /// failures that keep it from being asked are believed.
    pub fn of_unreachable_engine(stderr: &str) -> Self {
        // It was reached, and went away with the container made.
        if LATER.iter().any(|phrase| stderr.contains(phrase)) {
            return Self::EndUnknown;
        }
        match Self::of_engine(stderr) {
            known @ (Self::Unreachable(_) | Self::BadEndpoint(_) | Self::Forbidden(_)) => known,
            Self::NoEngine(_)
            | Self::NoImage(_)
            | Self::ImageUnavailable(_)
            | Self::NoRuntime(_)
            | Self::NameTaken
            | Self::EndUnknown
            | Self::OutputLost
            | Self::StopUnconfirmed
            | Self::StartTooSlow
            | Self::Exhausted(_)
            | Self::Engine(_) => Self::EndUnknown,
        }
    }

    /// Whether this is all that a client says which could not reach its engine, and so has asked
    /// for no container. One that loses its engine later says something else, or more.
    pub fn kept_from_asking(stderr: &str) -> bool {
        let mut lines = spoken(stderr);
        let (Some(line), None) = (lines.next(), lines.next()) else { return false };
        !matches!(Self::of_unreachable_engine(line), Self::EndUnknown)
    }

    /// Whether this is all that a client says whose engine refused to make its container. One that
    /// loses its engine later says something else, or more.
    pub fn is_refusal(stderr: &str) -> bool {
        let later = ["error waiting for container", "unexpected EOF", "error during connect"];
        let refusals = ["docker: Error response from daemon: ", "Error: ", "level=fatal"];
        !later.iter().any(|phrase| stderr.contains(phrase))
            && spoken(stderr).any(|line| refusals.iter().any(|phrase| line.contains(phrase)))
    }

    /// What failed and what to do about it. All of it is for the person at the machine: no change
    /// of the program helps.
    pub fn hint(&self, image: &str, language: &str) -> String {
        let (what, fix) = self.what_and_fix(image, language);
        format!("{what}; {fix}")
    }

    /// The two halves of the hint: what failed, and what to do about it.
    pub fn what_and_fix(&self, image: &str, language: &str) -> (String, String) {
        match self {
            Self::NoEngine(what) => (
                what.clone(),
                "install Docker or Podman, or name the program with --engine PATH".to_owned(),
            ),
            Self::Unreachable(said) => (
                format!("the container engine cannot be reached: {said}"),
                "start Docker (`sudo systemctl start docker`, or Docker Desktop), and check DOCKER_HOST".to_owned(),
            ),
            Self::BadEndpoint(said) => (
                format!("the engine's endpoint is not usable: {said}"),
                "check DOCKER_HOST, DOCKER_CONTEXT and `docker context ls`".to_owned(),
            ),
            Self::Forbidden(said) => (
                format!("this user may not talk to the engine: {said}"),
                "add the user to the docker group (`sudo usermod -aG docker $USER`, then log in again), or use rootless Docker".to_owned(),
            ),
            Self::NoImage(_) => (
                format!("the engine has no image `{image}`"),
                format!("`das image pull {language}` fetches it, `das image build {language}` makes one from this machine's own interpreter"),
            ),
            Self::ImageUnavailable(said) => (
                format!("the image `{image}` cannot be had: {said}"),
                format!("`das image build {language}` makes one from this machine's own interpreter; --image names another"),
            ),
            Self::NoRuntime(said) => (
                format!("the engine does not have the runtime that the policy demands: {said}"),
                "register it under `runtimes` in /etc/docker/daemon.json and reload the daemon (podman: under `[engine.runtimes]` in containers.conf); das never falls back to a weaker one".to_owned(),
            ),
            Self::NameTaken => (
                "other containers have the names that das chose".to_owned(),
                "run it again".to_owned(),
            ),
            Self::EndUnknown => (
                "the program's end is unknown: the engine does not say how it ended".to_owned(),
                "check that the engine runs (`das doctor`), then run it again".to_owned(),
            ),
            Self::OutputLost => (
                "the program has ended, but the engine's client was cut off before it had passed on all output".to_owned(),
                "check that the engine runs (`das doctor`), then run it again".to_owned(),
            ),
            Self::StopUnconfirmed => (
                "the deadline passed, and the engine does not confirm that the program is dead".to_owned(),
                "check the engine, then `docker ps --filter label=docker-agent-sandbox`".to_owned(),
            ),
            Self::StartTooSlow => (
                "the engine did not start the container in time".to_owned(),
                "the machine is overloaded or the engine hangs: try again later".to_owned(),
            ),
            Self::Exhausted(what) => (
                what.clone(),
                "this machine has nothing left to give: end other programs, or raise the limits of processes and open files (`ulimit -u`, `ulimit -n`), then run it again".to_owned(),
            ),
            Self::Engine(said) => (
                format!("the engine refused to run the container: {said}"),
                "this is no fault of the program: change the policy or the image, as the message says".to_owned(),
            ),
        }
    }
}

/// The lines of a client's message without the advice that it appends.
fn spoken(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("Run 'docker") && !line.starts_with("See 'docker")
    })
}

/// The engine's words in one line of bounded length, without the advice that its client appends.
fn brief(stderr: &str) -> String {
    const LONGEST: usize = 500;
    let text = spoken(stderr).collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("docker: ").unwrap_or(&text);
    let text: String = text
        .trim_end_matches('.')
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST)
        .collect();
    if text.is_empty() { "it said nothing".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_own_words_tell_its_failures_apart() {
        type Kind = fn(String) -> Failure;
        let cases: [(&str, Kind); 7] = [
            (
                "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                Failure::Unreachable,
            ),
            (
                "docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: dial unix /var/run/docker.sock: connect: permission denied",
                Failure::Forbidden,
            ),
            (
                "Failed to initialize: unable to resolve docker endpoint: context \"nope\": context not found",
                Failure::BadEndpoint,
            ),
            ("docker: Error response from daemon: No such image: x:1", Failure::NoImage),
            (
                "docker: Error response from daemon: unknown or invalid runtime name: runsc",
                Failure::NoRuntime,
            ),
            (
                "docker: Error response from daemon: Unknown runtime specified runsc",
                Failure::NoRuntime,
            ),
            (
                "docker: Error response from daemon: Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available",
                Failure::Engine,
            ),
        ];
        for (text, kind) in cases {
            let words = text.strip_prefix("docker: ").unwrap_or(text).trim_end_matches('.');
            assert_eq!(
                Failure::of_engine(&format!(
                    "{text}.\n\nRun 'docker run --help' for more information\n"
                )),
                kind(words.to_owned())
            );
        }
    }

    #[test]
    fn a_program_that_imitates_an_engines_failure_is_not_believed_when_the_engine_is_silent() {
        assert_eq!(Failure::of_unreachable_engine("No such image: x"), Failure::EndUnknown);
    }

    #[test]
    fn an_engine_that_went_away_after_it_had_made_the_container_leaves_the_end_unknown() {
        let words = "docker: error during connect: Post \"http://x/v1.41/containers/2/start\": EOF";
        assert_eq!(Failure::of_unreachable_engine(words), Failure::EndUnknown);
    }

    #[test]
    fn a_client_that_could_not_ask_says_nothing_else() {
        let down = "docker: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?";
        assert!(Failure::kept_from_asking(&format!(
            "{down}\n\nRun 'docker run --help' for more information\n"
        )));
        for text in [
            "",
            "error waiting for container: unexpected EOF",
            &format!("{down}error waiting for container: unexpected EOF"),
            &format!("{down}\nerror waiting for container: unexpected EOF"),
            "docker: Error response from daemon: No such image: x",
        ] {
            assert!(!Failure::kept_from_asking(text), "{text}");
        }
    }

    #[test]
    fn a_refusal_is_told_from_an_engine_that_went_away() {
        for text in [
            "docker: Error response from daemon: No such image: x\n\nRun 'docker run --help' for more\n",
            "WARNING: no swap\ndocker: Error response from daemon: x",
            "Error: x: image not known",
        ] {
            assert!(Failure::is_refusal(text), "{text}");
        }
        for text in [
            "",
            "docker: error during connect: Post \"http://x\": EOF",
            "docker: Error response from daemon: xerror waiting for container: unexpected EOF",
        ] {
            assert!(!Failure::is_refusal(text), "{text}");
        }
    }

    #[test]
    fn an_engine_that_says_much_is_quoted_briefly_and_without_control_characters() {
        let Failure::Engine(words) =
            Failure::of_engine(&format!("a\x1b[2Jb {}", "x".repeat(10_000)))
        else {
            panic!()
        };
        assert!(words.len() <= 500 && !words.contains('\x1b'));
    }
}
