//! Ctrl-C while the program runs.

use anyhow::Context;
use crossbeam_channel::Sender;

use super::session::Event;

/// From now on Ctrl-C is an event. At the prompt it is a key like any other.
///
/// # Errors
/// The system refuses.
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

/// Has Ctrl-C be taken as before, whatever `make` does about SIGINT. The line editor takes it for itself for good, and needs it
/// nowhere: it sees Ctrl-C as a key.
pub fn kept<T>(make: impl FnOnce() -> T) -> T {
    let mut ours = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: there is room for what the C library writes.
    let known = unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), ours.as_mut_ptr()) } == 0;
    let made = make();
    if known {
        // SAFETY: the C library wrote this action above. What it names was in place then and is code of ours that stays.
        unsafe { libc::sigaction(libc::SIGINT, ours.as_ptr(), std::ptr::null_mut()) };
    }
    made
}
