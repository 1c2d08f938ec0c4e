//! Systems where nothing is read or written without blocking: all types are empty, and no stream has any of these ways.

use std::convert::Infallible;
use std::io;
#[cfg(feature = "client")]
use std::process::ChildStdin;

use super::Ends;

/// An output that can be written without blocking: there is none.
#[derive(Debug)]
pub(in crate::transport) struct Direct(Infallible);

impl Direct {
    pub(in crate::transport) fn write(&mut self, _: &[u8]) -> usize {
        match self.0 {}
    }
}

/// An input that can be read without blocking: there is none.
#[derive(Debug)]
pub(in crate::transport) struct Source(Infallible);

impl Source {
    pub(in crate::transport) fn read(&self, _: &mut [u8]) -> io::Result<Option<usize>> {
        match self.0 {}
    }

    pub(in crate::transport) fn has_closed(&self) -> bool {
        match self.0 {}
    }

    pub(in crate::transport) fn wait(&self) -> bool {
        match self.0 {}
    }

    pub(in crate::transport) fn nudge(&self) {
        match self.0 {}
    }
}

/// An output that can be watched: there is none.
pub(in crate::transport) struct Watched(Infallible);

impl Watched {
    pub(in crate::transport) fn wait(&self, _: &Nudge) -> bool {
        match self.0 {}
    }
}

/// Wakes a thread that waits for a descriptor: no thread does.
pub(in crate::transport) struct Nudge(Infallible);

impl Nudge {
    pub(in crate::transport) fn new() -> Option<Self> {
        None
    }

    pub(in crate::transport) fn wake(&self) {
        match self.0 {}
    }
}

impl Ends {
    pub(in crate::transport) fn of_stdio() -> Self {
        Self::default()
    }

    pub(in crate::transport) fn of_socket<S>(_: &S) -> Self {
        Self::default()
    }

    #[cfg(feature = "client")]
    pub(in crate::transport) fn of_child(_: &ChildStdin) -> Self {
        Self::default()
    }
}
