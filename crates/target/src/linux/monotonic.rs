//! The monotonic clock, read by a system call.
//!
//! Where instructions trap that read the processor's time (`super::time_trap`), `Instant::now` would trap: it is the vDSO's code that
//! executes one.

use std::time::Duration;

/// A moment of `CLOCK_MONOTONIC` (clock_gettime(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(Duration);

impl Monotonic {
    /// The present moment.
    pub fn now() -> Monotonic {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes a time, for which there is room; it knows this clock.
        unsafe {
            libc::syscall(
                libc::SYS_clock_gettime,
                libc::CLOCK_MONOTONIC,
                &raw mut time,
            )
        };
        let seconds = Duration::from_secs(time.tv_sec.cast_unsigned());
        Monotonic(seconds + Duration::from_nanos(time.tv_nsec.cast_unsigned()))
    }

    /// How long ago that was.
    pub fn elapsed(self) -> Duration {
        Monotonic::now().since(self)
    }

    /// How long after an earlier moment this is; zero if it is before that.
    pub fn since(self, earlier: Monotonic) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn it_is_the_clock_of_the_standard_library() {
        let (before, instant) = (Monotonic::now(), Instant::now());
        let (inner, outer) = (instant.elapsed(), before.elapsed());
        assert!(inner <= outer, "{inner:?} is within {outer:?}");
        assert!(Monotonic::now() >= before);
    }
}
