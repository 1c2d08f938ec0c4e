//! Handles Ctrl-C while the program runs.

use anyhow::Context;
use crossbeam_channel::Sender;

use super::session::Event;

/// Turns SIGINT into an event. (At the prompt, Ctrl-C is a key, not a signal.)
///
/// # Errors
/// The signal handler can't be installed.
pub fn forward(events: Sender<Event>) -> anyhow::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])
        .context("can't listen for Ctrl-C")?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if events.send(Event::Interrupt).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Restores the SIGINT handler after `make` has run. The line editor installs one for good when it is created, but doesn't need it: it
/// reads Ctrl-C as a key.
pub fn kept<T>(make: impl FnOnce() -> T) -> T {
    let mut ours = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the C library writes one sigaction, for which there is room.
    let known = unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), ours.as_mut_ptr()) } == 0;
    let made = make();
    if known {
        // SAFETY: the C library wrote this action above. Its handler was installed then and is code of this program.
        unsafe { libc::sigaction(libc::SIGINT, ours.as_ptr(), std::ptr::null_mut()) };
    }
    made
}
