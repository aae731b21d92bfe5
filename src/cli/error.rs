//! Errors at the edge: each is printed once, with its causes, its hint and its exit code.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};

use crate::audit::AuditError;
use crate::engine::ListError;
use crate::engine::find::FindError;
use crate::images::error::ImageError;
use crate::images::make::MakeError;
use crate::images::package::PackageError;
use crate::names::ImageRef;
use crate::plan::Refusal;
use crate::policy::PolicyError;
use crate::sandbox::{CodeError, ExplainError, RunError};
use crate::verify::VerifyError;

/// What a usage error, a refused policy and an unreadable file exit with.
const USAGE: u8 = 2;

/// What a failure of das's own exits with.
const FAILURE: u8 = 125;

/// Why a command did not do its job.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The engine's containers cannot be listed.
    #[error("nothing was swept")]
    Sweep(#[source] ListError),
    /// A log cannot be read to its end.
    #[error("cannot read the audit log")]
    ReadLog(#[source] io::Error),
    /// Standard input cannot be read.
    #[error("cannot read standard input")]
    ReadStdin(#[source] io::Error),
    /// The policy file is refused.
    #[error("the policy file `{}` is refused", path.display())]
    PolicyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: PolicyError,
    },
    /// The policy is refused.
    #[error("the policy is refused")]
    Policy(#[source] PolicyError),
    /// The policy does not hold on this machine.
    #[error("the policy is refused")]
    Refused(#[source] Refusal),
    /// The language of a program is not known.
    #[error("cannot tell the language of `{}`", path.display())]
    Language {
        /// The file.
        path: PathBuf,
    },
    /// das has no such command.
    #[error("das has no command `{words}`")]
    NoCommand {
        /// What was asked for.
        words: String,
    },
    /// Neither a file nor code was given.
    #[error("no program to run")]
    NoProgram,
    /// The run was refused.
    #[error("nothing was run")]
    Run(#[source] RunError),
    /// The run is not in the audit log.
    #[error("the program ran, and its run is not recorded")]
    Unrecorded(#[source] AuditError),
    /// There is nothing to explain.
    #[error("cannot make the command line")]
    Explain(#[source] ExplainError),
    /// There is no engine.
    #[error(transparent)]
    NoEngine(FindError),
    /// The policy does not offer what was named.
    #[error(transparent)]
    Offered(PolicyError),
    /// A package's name is none.
    #[error(transparent)]
    Package(PackageError),
    /// das knows no way to make an image for the language.
    #[error("das cannot make an image for `{language}`, only for python, node and shell")]
    NotMade {
        /// The language.
        language: String,
    },
    /// There is no image.
    #[error(transparent)]
    Image(ImageError),
    /// No image was made.
    #[error("no image was made")]
    Make(#[source] MakeError),
    /// An image was made in which nothing runs.
    #[error("`{image}` was made, but nothing runs in it: {why}")]
    Useless {
        /// The image.
        image: ImageRef,
        /// What came of trying.
        why: String,
    },
    /// Nothing was verified.
    #[error("nothing was verified")]
    Verify(#[source] VerifyError),
    /// Many programs were named, and standard input among them.
    #[error("`-` cannot be one of several programs")]
    StdinAmongFiles,
    /// A directory has nothing to run.
    #[error("no program is in `{}`", dir.display())]
    NoPrograms {
        /// The directory.
        dir: PathBuf,
    },
    /// A file cannot be written.
    #[error("cannot write `{}`", path.display())]
    WriteFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write the output")]
    Write(#[source] io::Error),
    /// das does not know where it is.
    #[error("cannot tell the path of das itself")]
    OwnPath(#[source] io::Error),
    /// A path that no configuration file can hold.
    #[error("the path `{}` is not valid UTF-8", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The server cannot go on.
    #[error("cannot serve the client")]
    Serve(#[source] io::Error),
    /// Signals cannot be handled, so that an interrupted run could leave its container.
    #[error("cannot handle signals")]
    Signals(#[source] io::Error),
    /// A thread that das cannot do without.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

impl CliError {
    /// Prints the error and gives its exit code.
    pub(super) fn report(&self) -> ExitCode {
        if matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        let mut stderr = anstream::stderr().lock();
        // Where stderr is closed there is nobody to tell.
        self.write(&mut stderr).ok();
        ExitCode::from(self.exit_code())
    }

    /// The error and its causes in one line.
    pub(super) fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    }

    fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let green = Style::new().bold().fg_color(Some(AnsiColor::Green.into()));
        writeln!(out, "{red}error:{red:#} {self}")?;
        let mut source = self.source();
        while let Some(cause) = source {
            writeln!(out, "  caused by: {cause}")?;
            source = cause.source();
        }
        if let Some(hint) = self.hint() {
            writeln!(out, "\n{green}hint:{green:#} {hint}")?;
        }
        Ok(())
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Run(RunError::Audit(_) | RunError::Unrecorded(_))
            | Self::Unrecorded(_)
            | Self::Explain(ExplainError::NoEngine(_))
            | Self::NoEngine(_)
            | Self::Sweep(_)
            | Self::Image(_)
            | Self::Make(_)
            | Self::Useless { .. }
            | Self::Verify(VerifyError::NoEngine(_))
            | Self::WriteFile { .. }
            | Self::Write(_)
            | Self::OwnPath(_)
            | Self::Serve(_)
            | Self::Signals(_)
            | Self::Thread(_) => FAILURE,
            Self::Read { .. }
            | Self::ReadLog(_)
            | Self::ReadStdin(_)
            | Self::PolicyFile { .. }
            | Self::Policy(_)
            | Self::Refused(_)
            | Self::Language { .. }
            | Self::NoProgram
            | Self::StdinAmongFiles
            | Self::NoPrograms { .. }
            | Self::NoCommand { .. }
            | Self::NotText { .. }
            | Self::Offered(_)
            | Self::Package(_)
            | Self::NotMade { .. }
            | Self::Run(RunError::Refused(_) | RunError::Policy(_) | RunError::Code(_))
            | Self::Explain(ExplainError::Policy(_))
            | Self::Verify(
                VerifyError::Refused(_) | VerifyError::Policy(_) | VerifyError::NoProbes { .. },
            ) => USAGE,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Language { .. } => Some("name it with `-l`, such as `-l python`"),
            Self::NoCommand { .. } => Some("`das --help` lists them"),
            Self::NoProgram => {
                Some("name a file, or `-` for standard input, or give code with `-c`")
            }
            Self::PolicyFile { .. } | Self::Policy(_) => {
                Some("`das policy schema` lists every key with its range")
            }
            Self::Run(RunError::Audit(_)) => Some(
                "a run that cannot be recorded is not started; mend the log, or run without --audit-log",
            ),
            Self::Unrecorded(_) | Self::Run(RunError::Unrecorded(_)) => {
                Some("mend the log before the next run")
            }
            Self::Run(RunError::Code(CodeError::TooLong { .. })) => {
                Some("the policy file may allow more, up to 67108864")
            }
            Self::NoEngine(_) => {
                Some("install Docker or Podman, or name the program with --engine PATH")
            }
            Self::Image(error) => Some(error.fix()),
            Self::Make(error) => error.fix(),
            Self::Offered(_)
            | Self::Verify(VerifyError::Policy(_))
            | Self::Run(RunError::Policy(PolicyError::Language { .. })) => {
                Some("the policy's `images` and `languages` say what is offered")
            }
            Self::Verify(VerifyError::NoProbes { .. }) => {
                Some("`-l shell --image IMAGE` verifies any image that has `sh`")
            }
            Self::Signals(_) | Self::Thread(_) => Some(
                "nothing was run; end other programs, or raise the limits of processes and open files (`ulimit -u`, `ulimit -n`)",
            ),
            Self::NoPrograms { .. } => Some(
                "programs are told by their endings, such as .py, .js and .sh; what lies deeper is not looked at",
            ),
            Self::Read { .. }
            | Self::ReadLog(_)
            | Self::ReadStdin(_)
            | Self::Sweep(_)
            | Self::StdinAmongFiles
            | Self::WriteFile { .. }
            | Self::Refused(_)
            | Self::Package(_)
            | Self::NotMade { .. }
            | Self::Useless { .. }
            | Self::Run(
                RunError::Refused(_) | RunError::Policy(_) | RunError::Code(CodeError::Nul { .. }),
            )
            | Self::Explain(_)
            | Self::Verify(VerifyError::Refused(_) | VerifyError::NoEngine(_))
            | Self::Write(_)
            | Self::OwnPath(_)
            | Self::NotText { .. }
            | Self::Serve(_) => None,
        }
    }
}
