//! Which process to debug after a fork.

/// Which process a session is about when its program has forked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FollowForks {
    /// The one it was about; children run on as if there were no debugger.
    #[default]
    Parent,
    /// The child; the parent is let go. A child that shares its parent's memory (vfork(2), posix_spawn(3)) is followed when it runs
    /// a program of its own.
    Child,
    /// The one it was about; children are held, and told of.
    Both,
}
