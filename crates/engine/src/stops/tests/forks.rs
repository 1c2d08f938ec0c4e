//! Scripted events around children that are followed.

use super::{A, B, C, STOP, feed, go, run, running, stop_all};
use crate::stops::*;

const D: ThreadId = ThreadId(103);
const KILLED: ExitStatus = ExitStatus::Signal(9);
const DONE: ExitStatus = ExitStatus::Code(0);

fn fork(child: ThreadId) -> What {
    What::NewProcess {
        child,
        shares_memory: false,
    }
}

fn vfork(child: ThreadId) -> What {
    What::NewProcess {
        child,
        shares_memory: true,
    }
}

fn exec(thread: ThreadId) -> What {
    What::Executed { former: thread }
}

fn following(follow: FollowForks, others: &[ThreadId]) -> Stops {
    let mut stops = running(others);
    stops.follow(follow);
    stops
}

fn succeed(child: ThreadId, maker: ThreadId, memory: Memory) -> Action {
    Action::Succeed {
        child,
        maker,
        memory,
    }
}

#[test]
fn a_child_is_held_whether_it_or_its_maker_shows_up_first() {
    let mut stops = following(FollowForks::Both, &[]);
    assert_eq!(feed(&mut stops, A, fork(B)), [run(A)]);
    assert!(stops.expects_children());
    assert_eq!(
        feed(&mut stops, B, STOP),
        [Action::KeepChild(B, Memory::Copy)],
        "told of first"
    );
    assert_eq!(feed(&mut stops, C, STOP), []);
    assert_eq!(
        feed(&mut stops, A, fork(C)),
        [run(A), Action::KeepChild(C, Memory::Copy)],
        "shown up first"
    );
    assert!(!stops.expects_children());
    assert!(stops.keeps_child(B) && stops.keeps_child(C));
    assert_eq!(stops.live().collect::<Vec<_>>(), [A]);
}

#[test]
fn a_held_child_is_not_stopped_or_run_with_the_others_and_its_death_is_told() {
    let mut stops = following(FollowForks::Both, &[]);
    feed(&mut stops, A, fork(B));
    feed(&mut stops, B, STOP);
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
    assert_eq!(stops.all_stopped(), [A]);
    stops.set_running();
    assert_eq!(go(&mut stops, B, How::Continue), []);
    // SIGKILL takes the child out of its stop, into its exit stop.
    assert_eq!(feed(&mut stops, B, What::Exiting), [run(B)]);
    assert_eq!(
        feed(&mut stops, B, What::Exited(KILLED)),
        [Action::KeptChildEnded(B)]
    );
    assert!(!stops.keeps_child(B));
}

#[test]
fn a_child_that_shows_up_after_its_parents_end_is_held_all_the_same() {
    let mut stops = following(FollowForks::Both, &[]);
    feed(&mut stops, A, fork(B));
    feed(&mut stops, A, What::Exiting);
    assert_eq!(
        feed(&mut stops, A, What::Exited(DONE)),
        [Action::ProcessEnded(DONE)]
    );
    assert!(stops.expects_children());
    assert_eq!(
        feed(&mut stops, B, STOP),
        [Action::KeepChild(B, Memory::Copy)]
    );
}

#[test]
fn a_child_whose_maker_was_killed_before_it_could_tell_of_it_is_let_go() {
    for follow in [FollowForks::Parent, FollowForks::Child, FollowForks::Both] {
        let mut stops = following(follow, &[]);
        feed(&mut stops, B, STOP);
        // A thread that died with the process.
        feed(&mut stops, C, STOP);
        feed(&mut stops, C, What::Exiting);
        feed(&mut stops, A, What::Exiting);
        assert_eq!(
            feed(&mut stops, A, What::Exited(KILLED)),
            [Action::ReleaseCopy(B), Action::ProcessEnded(KILLED)]
        );
    }
}

#[test]
fn a_child_that_dies_before_it_is_held_is_forgotten() {
    let mut stops = following(FollowForks::Both, &[]);
    feed(&mut stops, A, fork(B));
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
    assert!(!stops.expects_children());
}

#[test]
fn a_child_in_our_memory_is_held_at_its_exec_and_its_maker_runs_on() {
    let mut stops = following(FollowForks::Both, &[]);
    assert_eq!(feed(&mut stops, A, vfork(C)), []);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
    assert_eq!(
        feed(&mut stops, C, exec(C)),
        [Action::KeepChild(C, Memory::Own), run(A)]
    );
    assert!(stops.keeps_child(C) && !stops.is_vfork_child(C));
}

#[test]
fn a_child_in_our_memory_that_ends_there_is_never_held() {
    for follow in [FollowForks::Child, FollowForks::Both] {
        let mut stops = following(follow, &[]);
        feed(&mut stops, A, vfork(C));
        feed(&mut stops, C, STOP);
        assert_eq!(feed(&mut stops, C, What::Exiting), [run(C)]);
        assert_eq!(feed(&mut stops, C, What::Exited(DONE)), [run(A)]);
        assert_eq!(stops.kept_children(), []);
    }
}

#[test]
fn a_child_takes_the_debuggees_place_when_all_of_that_is_stopped() {
    let mut stops = following(FollowForks::Child, &[B]);
    assert_eq!(feed(&mut stops, B, fork(C)), [], "a step ends in the child");
    assert_eq!(
        feed(&mut stops, C, STOP),
        [succeed(C, B, Memory::Copy), Action::Interrupt(A)]
    );
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
    assert_eq!(stops.all_stopped(), [A, B], "C is not among them");
}

#[test]
fn of_two_children_that_are_born_at_once_the_first_is_followed() {
    let mut stops = following(FollowForks::Child, &[B]);
    feed(&mut stops, D, STOP);
    assert_eq!(feed(&mut stops, A, fork(C)), []);
    assert_eq!(
        feed(&mut stops, B, fork(D)),
        [succeed(D, B, Memory::Copy)],
        "C is still to come"
    );
    assert_eq!(
        feed(&mut stops, C, STOP),
        [Action::ReleaseCopy(C), Action::AllStopped]
    );
}

#[test]
fn a_stop_for_the_user_waits_for_a_child_that_takes_the_debuggees_place() {
    let mut stops = following(FollowForks::Child, &[]);
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
    assert_eq!(feed(&mut stops, A, fork(C)), []);
    assert_eq!(
        feed(&mut stops, C, STOP),
        [succeed(C, A, Memory::Copy), Action::AllStopped]
    );
    // If the child has died, the wait was for nothing.
    let mut stops = following(FollowForks::Child, &[]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, fork(C)), []);
    assert_eq!(
        feed(&mut stops, C, What::Exited(KILLED)),
        [Action::AllStopped]
    );
}

#[test]
fn a_child_in_our_memory_takes_the_debuggees_place_at_its_exec() {
    let mut stops = following(FollowForks::Child, &[B]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(
        feed(&mut stops, C, exec(C)),
        [succeed(C, A, Memory::Own), Action::Interrupt(B)],
        "its maker stays in its stop"
    );
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
    assert_eq!(stops.all_stopped(), [A, B]);
}

#[test]
fn children_of_a_child_in_our_memory_do_not_take_the_debuggees_place() {
    let mut stops = following(FollowForks::Child, &[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(feed(&mut stops, C, fork(D)), [run(C)]);
    assert_eq!(feed(&mut stops, D, STOP), [Action::ReleaseCopy(D)]);
}

#[test]
fn a_child_that_was_to_take_the_debuggees_place_and_dies_leaves_that_to_the_next() {
    let mut stops = following(FollowForks::Child, &[]);
    assert_eq!(feed(&mut stops, A, fork(B)), []);
    assert_eq!(
        feed(&mut stops, B, STOP),
        [succeed(B, A, Memory::Copy), Action::AllStopped]
    );
    assert_eq!(
        feed(&mut stops, B, What::Exited(KILLED)),
        [Action::KeptChildEnded(B)]
    );
    stops.forget_successor();
    stops.set_running();
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
    // A child that doesn't even stop.
    assert_eq!(feed(&mut stops, A, fork(D)), []);
    assert_eq!(feed(&mut stops, D, What::Exited(KILLED)), [run(A)]);
    // A child that was dead before it was reported.
    assert_eq!(feed(&mut stops, D, STOP), []);
    assert_eq!(feed(&mut stops, D, What::Exiting), [run(D)]);
    assert_eq!(
        feed(&mut stops, A, fork(D)),
        [run(A), Action::ReleaseCopy(D)]
    );
    feed(&mut stops, A, fork(C));
    assert_eq!(
        feed(&mut stops, C, STOP),
        [succeed(C, A, Memory::Copy), Action::AllStopped]
    );
}

#[test]
fn a_child_with_our_memory_outlives_a_process_that_is_killed() {
    for follow in [FollowForks::Parent, FollowForks::Child, FollowForks::Both] {
        let mut stops = following(follow, &[B]);
        feed(&mut stops, A, vfork(C));
        feed(&mut stops, C, STOP);
        feed(&mut stops, B, vfork(D));
        feed(&mut stops, D, STOP);
        feed(&mut stops, D, What::Exiting);
        feed(&mut stops, B, What::Exited(KILLED));
        assert_eq!(
            feed(&mut stops, A, What::Exited(KILLED)),
            [Action::ProcessEnded(KILLED)],
        );
        assert_eq!(stops.running_vfork_children(), [C]);
        assert_eq!(stops.live().count(), 0);
        stops.forget_vfork_children();
        assert_eq!(feed(&mut stops, C, What::Exited(DONE)), []);
    }
}
