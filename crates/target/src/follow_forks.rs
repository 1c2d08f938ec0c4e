//! Which process to debug after a fork.

/// Which process the session debugs after its program has forked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FollowForks {
    /// The parent; children run without a debugger.
    #[default]
    Parent,
    /// The child; the parent is detached. A child that shares its parent's memory (vfork(2), posix_spawn(3)) is followed only once it
    /// executes a program of its own.
    Child,
    /// The parent; children are stopped and reported, so that sessions of their own can debug them.
    Both,
}
