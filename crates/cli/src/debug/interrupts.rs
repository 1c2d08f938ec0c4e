//! Ctrl-C while the program runs, or while an adapter has yet to answer.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};

use super::results::{End, Failure, Record};
use super::screen::Screen;
use super::session::{Event, TimeOver};

/// How long after Ctrl-C an answer may still come.
pub const GRACE: Duration = Duration::from_millis(500);

/// After this time without an answer, the user is told what is waited for.
const SLOW: Duration = Duration::from_secs(3);

/// Tells of Ctrl-C those who wait.
#[derive(Debug, Clone)]
pub struct Interrupts {
    /// Whether somebody looks at a terminal.
    has_user: bool,
    pressed: Receiver<()>,
    sender: Sender<()>,
    is_time_over: Arc<AtomicBool>,
}

/// The wait for something has ended by Ctrl-C.
#[derive(Debug)]
pub struct Interrupted(String);

impl Interrupted {
    /// The wait for the answer to a request has ended.
    pub fn of(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "interrupted: the adapter has not answered yet ({})",
            self.0
        )
    }
}

impl std::error::Error for Interrupted {}

impl Interrupts {
    /// Does something that may take for ever, on another thread, and waits for it: until Ctrl-C is pressed, and a little longer. The thread
    /// goes on then. What Ctrl-C is to end has to begin in `act`: what was pressed before is ignored.
    ///
    /// # Errors
    /// [`Interrupted`], with `what` was waited for.
    pub fn wait<T: Send + 'static>(
        &self,
        what: &str,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> anyhow::Result<T> {
        while self.pressed.try_recv().is_ok() {}
        let (sender, answer) = bounded(1);
        std::thread::spawn(move || sender.send(act()));
        let mut over = never();
        let mut slow = self.slow();
        loop {
            select! {
                recv(answer) -> answer => return answer.context("the wait for the adapter has failed"),
                recv(slow) -> _ => {
                    slow = never();
                    tell_wait();
                }
                recv(self.pressed) -> _ => over = after(GRACE),
                recv(over) -> _ => bail!(Interrupted::of(what)),
            }
        }
    }

    /// Receives something when a wait that begins now has become so long that the user is to be told, by [`tell_wait`].
    pub fn slow(&self) -> Receiver<Instant> {
        match self.has_user {
            true => after(SLOW),
            false => never(),
        }
    }

    /// Ends the session after a time ([`Event::TimeOver`]), and each wait that it is in then. `is_json`: who reads the session is told by a record,
    /// also if it hangs.
    pub fn end_after(&self, time: Duration, events: Sender<Event>, is_json: bool) {
        /// How long the end may take. A session that hangs is left then.
        const ENDING: Duration = Duration::from_secs(10);
        let (sender, is_over) = (self.sender.clone(), Arc::clone(&self.is_time_over));
        std::thread::spawn(move || {
            let _ = after(time).recv();
            is_over.store(true, Ordering::Relaxed);
            let _ = events.send(Event::TimeOver);
            for _ in 0..ENDING.as_secs() {
                // One that is not waited for yet would be ignored.
                let _ = sender.try_send(());
                let _ = after(Duration::from_secs(1)).recv();
            }
            let code = super::exit_codes::TIME_OVER;
            if is_json {
                let error = Some(Failure::of_session(&TimeOver.into()));
                Screen::json(false).record(&Record::End(End { code, error }));
            }
            std::process::exit(code.into());
        });
    }

    /// Whether that time is over: what has failed may have failed by it.
    pub fn is_time_over(&self) -> bool {
        self.is_time_over.load(Ordering::Relaxed)
    }
}

/// Says that the debugger waits, and how that ends.
pub fn tell_wait() {
    // Whoever has closed the terminal needs no sign.
    let _ = writeln!(
        io::stderr(),
        "waiting for the debug adapter; Ctrl-C ends the wait"
    );
}

/// Turns SIGINT into an event. (At the prompt, Ctrl-C is a key, not a signal.) `has_user`: somebody looks at a terminal.
///
/// # Errors
/// The signal handler can't be installed.
pub fn forward(events: Sender<Event>, has_user: bool) -> anyhow::Result<Interrupts> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGINT])
        .context("can't listen for Ctrl-C")?;
    let (sender, pressed) = bounded(1);
    let is_time_over = Arc::default();
    let interrupts = Interrupts {
        has_user,
        pressed,
        sender,
        is_time_over,
    };
    let sender = interrupts.sender.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            // If the last one was not taken yet, that is enough.
            let _ = sender.try_send(());
            if events.send(Event::Interrupt).is_err() {
                return;
            }
        }
    });
    Ok(interrupts)
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
