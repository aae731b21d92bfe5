//! Signals and closed outputs end the run, and then das, as they would have without das.

use std::io;
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::outcome::classify::StopCause;
use crate::runner::Stopper;
use crate::threads;

/// The last signal that came, written down before anybody acts on it; 0 if none did.
static RECEIVED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The signal that came, if one did. It may have come too late for the thread that acts on it.
pub(super) fn received() -> Option<i32> {
    let number = RECEIVED.load(Ordering::SeqCst);
    i32::try_from(number).ok().filter(|&signal| signal != 0)
}

/// Ends the run at the first signal and das at the second, for somebody who cannot wait. When the
/// run is over, the first one ends das.
pub(super) fn stop_on_signals(stopper: &Stopper) -> io::Result<()> {
    let stopper = stopper.clone();
    on_first_signal(move |signal| {
        if stopper.is_over() {
            die_of(signal);
        }
        stopper.stop(StopCause::Signal(signal));
    })
}

/// Calls `act` at the first signal and ends das at the second.
pub(super) fn on_first_signal(act: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    let handled: Vec<i32> =
        [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal)).collect();
    for &signal in &handled {
        let number = usize::try_from(signal).unwrap_or_default();
        flag::register_usize(signal, Arc::clone(&RECEIVED), number)?;
    }
    let mut signals = Signals::new(handled)?;
    let mut act = Some(act);
    threads::spawn("das-signals", move || {
        for signal in signals.forever() {
            match act.take() {
                Some(act) => act(signal),
                None => drop(die_of(signal)),
            }
        }
    })?;
    Ok(())
}

/// Ends the run when nobody reads its output any more, also while it prints nothing.
pub(super) fn stop_on_closed_output(stopper: &Stopper) -> io::Result<()> {
    let stopper = stopper.clone();
    on_closed_output(move || stopper.stop(StopCause::OutputClosed))
}

/// Calls `act` when nobody reads das's output any more.
pub(super) fn on_closed_output(act: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let stdout = io::stdout();
    let pipe = fstat(&stdout).map(|stat| FileType::from_raw_mode(stat.st_mode));
    if !matches!(pipe, Ok(FileType::Fifo | FileType::Socket)) {
        return Ok(());
    }
    threads::spawn("das-stdout", move || {
        let stdout = io::stdout();
        loop {
            // Asked for nothing, it reports errors and hang-ups alone.
            let mut watched = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::empty())];
            match poll(&mut watched, None) {
                Ok(_) if !watched[0].revents().is_empty() => {
                    return act();
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // Then the next write tells.
                Err(_) => return,
            }
        }
    })?;
    Ok(())
}

/// Ends das by a signal, so that whoever waits for it sees that signal.
pub(super) fn die_of(signal: i32) -> ExitCode {
    // It returns only for signals that kill nobody; then the exit code says the same.
    emulate_default_handler(signal).ok();
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
}

/// Whether das was started with this signal ignored, as `nohup` does; it then stays ignored.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
