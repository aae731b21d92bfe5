//! Images of other people: what they would do by themselves does not happen.

use crate::support::{Cli, Language, Place, Real};

/// An image of a test, which goes with it.
struct Image<'a> {
    real: &'a Real,
    name: String,
}

impl<'a> Image<'a> {
    /// The shell's image with these lines of a Dockerfile.
    #[track_caller]
    fn build(real: &'a Real, name: &str, lines: &str) -> Self {
        let dockerfile = format!("FROM {}\n{lines}", Real::shell_image());
        let name = format!("das-test/{name}:{}", std::process::id());
        let built = real.docker().args(["build", "-t", &name, "-"]).stdin(dockerfile).output();
        assert_eq!(built.code(), Some(0), "{}", built.stderr_text());
        Self { real, name }
    }

    fn run(&self, code: &str) -> Cli<'a> {
        self.real.run(Language::Shell, code).args(["--image", &self.name])
    }
}

impl Drop for Image<'_> {
    fn drop(&mut self) {
        let removed = self.real.docker().args(["rmi", "--force", &self.name]).output();
        if !std::thread::panicking() {
            assert_eq!(removed.code(), Some(0), "{}", removed.stderr_text());
        }
    }
}

const SUCCESS: &str = "[sandbox] success in [TIME]\n";

#[test]
#[ignore = "needs Docker: an image with an entrypoint and a command"]
fn an_images_entrypoint_and_command_do_not_run() {
    let real = Real::new();
    let lines = "ENTRYPOINT [\"echo\", \"entrypoint\"]\nCMD [\"command\"]\n";
    let image = Image::build(&real, "entrypoint", lines);
    image.run("echo mine").stdout("mine\n").stderr(SUCCESS).status(0);
}

#[test]
#[ignore = "needs Docker: an image whose user is root"]
fn an_image_of_roots_runs_as_nobody() {
    let real = Real::new();
    let image = Image::build(&real, "root", "USER 0:0\nWORKDIR /usr\n");
    image.run("id -u; pwd").stdout("65534\n/tmp\n").stderr(SUCCESS).status(0);
}

#[test]
#[ignore = "needs Docker: an image with a health check"]
fn an_images_health_check_does_not_run() {
    let real = Real::new();
    let lines = "HEALTHCHECK --interval=1s --timeout=1s CMD echo checked >/tmp/checked\n";
    let image = Image::build(&real, "healthcheck", lines);
    let code = "sleep 2; ls -A /tmp";
    image.run(code).stderr(SUCCESS).status(0);
}

#[test]
#[ignore = "needs Docker: an image with a volume"]
fn nothing_is_left_in_an_images_volume() {
    let real = Real::new();
    let volumes = || real.docker().args(["volume", "ls", "--quiet"]).output().stdout_text();
    let before = volumes();
    let image = Image::build(&real, "volume", "VOLUME /tmp/data\n");
    for _ in 0..2 {
        let code = "ls -A /tmp/data; (echo x >/tmp/data/left) 2>/dev/null; echo done";
        image.run(code).stdout("done\n").stderr(SUCCESS).status(0);
    }
    let left = volumes();
    let new: Vec<&str> = left.lines().filter(|name| !before.contains(name)).collect();
    // `--rm` removes it with the container, some time after the client's end.
    crate::support::eventually(
        "the end of the volume",
        || real.story(),
        || new.iter().all(|name| !volumes().contains(name)).then_some(()),
    );
}

#[test]
#[ignore = "needs Docker: an image without the interpreter"]
fn an_image_without_the_interpreter_cannot_start() {
    let real = Real::new();
    let image = Real::shell_image();
    let hint = format!("the image `{image}` has no such interpreter");
    let finished = real.run(Language::Node, "").args(["--image", &image]).output();
    assert_eq!(finished.code(), Some(127), "{}", finished.stderr_text());
    assert!(finished.stderr_text().contains(&hint), "{}", finished.stderr_text());
}
