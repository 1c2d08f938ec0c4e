//! What happens to the debuggee's child processes, as [`Stops::follow`] says.

use super::{Action, Actions, Memory, Stops};
use crate::ThreadId;
use dapple_target::follow_forks::FollowForks;

impl Stops {
    /// Sets what happens to children from now on.
    pub(crate) fn follow(&mut self, follow: FollowForks) {
        self.follow = follow;
    }

    /// What happens to children.
    pub(crate) fn followed(&self) -> FollowForks {
        self.follow
    }

    /// The children that stay stopped until they are taken over.
    pub(crate) fn kept_children(&self) -> Vec<ThreadId> {
        self.kept_children.iter().copied().collect()
    }

    /// Whether this child stays stopped until it is taken over.
    pub(crate) fn keeps_child(&self, child: ThreadId) -> bool {
        self.kept_children.contains(&child)
    }

    /// Forgets a kept child that was taken over or released.
    pub(crate) fn forget_child(&mut self, child: ThreadId) {
        self.kept_children.remove(&child);
    }

    /// No child takes the debuggee's place after all; a later one may.
    pub(crate) fn forget_successor(&mut self) {
        self.succeeded = false;
    }

    /// Forgets and returns the children that were reported but have not stopped yet; the caller handles them.
    pub(crate) fn take_expected_children(&mut self) -> Vec<ThreadId> {
        self.expected_children
            .drain()
            .map(|(child, _)| child)
            .collect()
    }

    /// Whether children were reported that have not stopped yet.
    pub(crate) fn expects_children(&self) -> bool {
        !self.expected_children.is_empty()
    }

    /// A child with a copy of the debuggee's memory is stopped at its start.
    pub(super) fn copied(&mut self, child: ThreadId, maker: ThreadId, actions: &mut Actions) {
        match self.follow {
            FollowForks::Both => {
                self.kept_children.insert(child);
                actions.push_back(Action::KeepChild(child, Memory::Copy));
            }
            FollowForks::Child if self.may_succeed(maker) => {
                self.succeed(child, maker, Memory::Copy, actions);
            }
            FollowForks::Child | FollowForks::Parent => {
                actions.push_back(Action::ReleaseCopy(child));
            }
        }
    }

    /// Whether a child of this thread can take the debuggee's place.
    pub(super) fn may_succeed(&self, maker: ThreadId) -> bool {
        !self.succeeded && !self.is_vfork_child(maker) && !self.order.is_empty()
    }

    pub(super) fn succeed(
        &mut self,
        child: ThreadId,
        maker: ThreadId,
        memory: Memory,
        actions: &mut Actions,
    ) {
        self.succeeded = true;
        self.kept_children.insert(child);
        actions.push_back(Action::Succeed {
            child,
            maker,
            memory,
        });
        self.stop_all(actions);
    }

    /// The vfork child runs another program now, in memory of its own.
    pub(super) fn left_with_exec(&mut self, child: ThreadId, actions: &mut Actions) {
        let maker = self.maker_of(child);
        match (self.follow, maker) {
            (FollowForks::Both, _) => {
                self.kept_children.insert(child);
                actions.push_back(Action::KeepChild(child, Memory::Own));
            }
            (FollowForks::Child, Some(maker)) if self.may_succeed(maker) => {
                self.succeed(child, maker, Memory::Own, actions);
            }
            _ => actions.push_back(Action::ReleaseVforkChild(child)),
        }
        self.take_back(child, actions);
    }

    /// The vfork parent of this child.
    pub(super) fn maker_of(&self, child: ThreadId) -> Option<ThreadId> {
        let mut threads = self.threads.iter();
        let maker = threads.find(|(_, t)| t.vfork_child == Some(child));
        maker.map(|(id, _)| *id)
    }
}
