//! A timer that interrupts the owner thread's wait for the debuggee (timer_create(2)).

use std::time::Duration;

/// A periodic timer that sends SIGURG, like [`Waker`](super::wait::Waker), to the thread that first starts it. It is periodic because the
/// check that it wakes the thread for may have to be repeated.
#[derive(Default)]
pub struct Alarm {
    timer: Option<libc::timer_t>,
}

// SAFETY: a timer's id has a pointer's type but is a number, valid in any thread of the process.
unsafe impl Send for Alarm {}

impl std::fmt::Debug for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Alarm").finish_non_exhaustive()
    }
}

impl Alarm {
    /// Starts the timer, or sets its period if it runs. Returns `false` if the system refuses.
    pub fn ring_every(&mut self, time: Duration) -> bool {
        let Some(timer) = self.timer.or_else(make) else {
            return false;
        };
        self.timer = Some(timer);
        set(timer, time)
    }

    /// Stops the timer.
    pub fn end(&mut self) {
        if let Some(timer) = self.timer {
            set(timer, Duration::ZERO);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            // SAFETY: a timer of this process, which is not used any more.
            unsafe { libc::timer_delete(timer) };
        }
    }
}

fn set(timer: libc::timer_t, every: Duration) -> bool {
    let time = libc::timespec {
        tv_sec: every.as_secs().cast_signed(),
        tv_nsec: i64::from(every.subsec_nanos()),
    };
    let setting = libc::itimerspec {
        it_interval: time,
        it_value: time,
    };
    // SAFETY: a timer of this process that isn't deleted; the setting is only read.
    unsafe { libc::timer_settime(timer, 0, &setting, std::ptr::null_mut()) == 0 }
}

fn make() -> Option<libc::timer_t> {
    // SAFETY: the event is fully initialised, the kernel writes the id; gettid(2) takes no arguments and can't fail.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGURG;
        event.sigev_notify_thread_id = libc::gettid();
        let mut timer: libc::timer_t = std::ptr::null_mut();
        (libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) == 0).then_some(timer)
    }
}
