//! Scripted events, above all awkward ones.

mod forks;
mod orders;
mod random;
mod single;

use super::*;

pub(super) const A: ThreadId = ThreadId(100);
pub(super) const B: ThreadId = ThreadId(101);
pub(super) const C: ThreadId = ThreadId(102);
pub(super) const STOP: What = What::Interrupted {
    trap_pending: false,
};

/// A running process with these threads besides its first.
pub(super) fn running(others: &[ThreadId]) -> Stops {
    let mut stops = Stops::new(A);
    let mut actions = Actions::new();
    stops.set_running();
    stops.go(A, How::Continue, 0, &mut actions);
    for &other in others {
        feed(&mut stops, A, What::NewThread(other));
        feed(&mut stops, other, STOP);
    }
    stops
}

pub(super) fn feed(stops: &mut Stops, thread: ThreadId, what: What) -> Vec<Action> {
    let mut actions = Actions::new();
    stops.handle(WaitEvent { thread, what }, &mut actions);
    actions.into()
}

pub(super) fn stop_all(stops: &mut Stops) -> Vec<Action> {
    let mut actions = Actions::new();
    stops.stop_all(&mut actions);
    actions.into()
}

pub(super) fn go(stops: &mut Stops, thread: ThreadId, how: How) -> Vec<Action> {
    let mut actions = Actions::new();
    stops.go(thread, how, 0, &mut actions);
    actions.into()
}

pub(super) fn run(thread: ThreadId) -> Action {
    Action::Run(thread, How::Continue, 0)
}

#[test]
fn a_thread_that_is_announced_before_it_shows_up_is_started_once() {
    let mut stops = running(&[]);
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [run(A), Action::Started(B)]
    );
    assert_eq!(feed(&mut stops, B, STOP), [run(B)]);
    assert_eq!(stops.live().collect::<Vec<_>>(), [A, B]);
}

#[test]
fn a_thread_that_shows_up_before_it_is_announced_waits_for_that() {
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [run(A), Action::Started(B), run(B)]
    );
}

#[test]
fn a_thread_killed_before_it_is_announced_does_not_wait_for_that() {
    let killed = ExitStatus::Signal(9);
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(feed(&mut stops, B, What::Exiting), [run(B)]);
    assert_eq!(feed(&mut stops, B, What::Exited(killed)), []);
    feed(&mut stops, A, What::Exiting);
    assert_eq!(
        feed(&mut stops, A, What::Exited(killed)),
        [Action::ProcessEnded(killed)]
    );
}

#[test]
fn a_child_that_died_before_it_is_announced_is_not_waited_for() {
    let killed = ExitStatus::Signal(9);
    let told = |maker: What| {
        let mut stops = running(&[]);
        feed(&mut stops, B, What::Exiting);
        feed(&mut stops, B, What::Exited(killed));
        let actions = feed(&mut stops, A, maker);
        assert_eq!(stops.live().collect::<Vec<_>>(), [A]);
        assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
        assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
        actions
    };
    assert_eq!(
        told(What::NewThread(B)),
        [run(A), Action::Started(B), run(B), Action::Ended(B)]
    );
    let lent = What::NewProcess {
        child: B,
        shares_memory: true,
    };
    assert_eq!(told(lent), [run(B), run(A)]);
}

#[test]
fn a_thread_born_while_all_are_being_stopped_is_waited_for() {
    let mut stops = running(&[]);
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [Action::Started(B)]
    );
    assert_eq!(stops.mode(), Mode::Stopping);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
}

#[test]
fn a_thread_that_showed_up_early_while_all_are_being_stopped_counts_as_stopped() {
    let mut stops = running(&[]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [Action::Started(B), Action::AllStopped]
    );
}

#[test]
fn two_threads_that_trap_at_once_are_both_examined_before_all_is_stopped() {
    let mut stops = running(&[B]);
    assert_eq!(
        feed(&mut stops, A, What::Signal(5)),
        [Action::Examine(A, 5)]
    );
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(B)]);
    assert_eq!(
        feed(&mut stops, B, What::Signal(5)),
        [Action::Examine(B, 5), Action::AllStopped]
    );
}

#[test]
fn an_interrupts_stop_that_comes_after_another_stop_is_run_on_from() {
    let mut stops = running(&[]);
    stop_all(&mut stops);
    // The signal came first; the interrupt, sent after the thread had stopped, is still to come.
    feed(&mut stops, A, What::Signal(10));
    assert_eq!(stops.mode(), Mode::Stopped);
    stops.set_running();
    assert_eq!(go(&mut stops, A, How::Step), [Action::Run(A, How::Step, 0)]);
    assert_eq!(feed(&mut stops, A, STOP), [Action::Run(A, How::Step, 0)]);
    // And the next stop of all threads interrupts it again.
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
}

#[test]
fn a_trap_behind_an_interrupts_stop_is_fetched_before_the_thread_counts_as_stopped() {
    let mut stops = running(&[]);
    stop_all(&mut stops);
    assert_eq!(
        feed(&mut stops, A, What::Interrupted { trap_pending: true }),
        [run(A)]
    );
    assert_eq!(stops.mode(), Mode::Stopping);
    assert_eq!(
        feed(&mut stops, A, What::Signal(5)),
        [Action::Examine(A, 5), Action::AllStopped]
    );
}

#[test]
fn a_thread_that_leaves_while_it_is_interrupted_is_not_waited_for() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, STOP), []);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B), Action::AllStopped]
    );
    assert_eq!(feed(&mut stops, B, What::Exited(ExitStatus::Code(0))), []);
}

#[test]
fn a_first_thread_that_leaves_before_the_others_does_not_end_the_process() {
    let mut stops = running(&[B]);
    assert_eq!(
        feed(&mut stops, A, What::Exiting),
        [run(A), Action::Ended(A)]
    );
    assert_eq!(stops.live().collect::<Vec<_>>(), [B]);
    // The leader's zombie does not keep the others from being stopped.
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
    stops.set_running();
    assert_eq!(go(&mut stops, B, How::Continue), [run(B)]);
    feed(&mut stops, B, What::Exiting);
    assert_eq!(feed(&mut stops, B, What::Exited(ExitStatus::Code(0))), []);
    assert_eq!(
        feed(&mut stops, A, What::Exited(ExitStatus::Code(3))),
        [Action::ProcessEnded(ExitStatus::Code(3))]
    );
}

#[test]
fn a_kill_from_outside_ends_a_stopped_process() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    feed(&mut stops, A, STOP);
    feed(&mut stops, B, STOP);
    // Exit stops may be skipped by SIGKILL.
    let killed = ExitStatus::Signal(9);
    assert_eq!(
        feed(&mut stops, B, What::Exited(killed)),
        [Action::Ended(B)]
    );
    assert_eq!(
        feed(&mut stops, A, What::Exited(killed)),
        [Action::ProcessEnded(killed)]
    );
    assert_eq!(stops.live().count(), 0);
}

#[test]
fn the_exit_of_a_stepping_thread_is_told_as_any_other() {
    let mut stops = running(&[B]);
    feed(&mut stops, B, What::Signal(5));
    assert_eq!(go(&mut stops, B, How::Step), [Action::Run(B, How::Step, 0)]);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
}

#[test]
fn an_exec_by_another_thread_leaves_only_the_first_threads_id() {
    let mut stops = running(&[B, C]);
    // The first thread is killed by the exec without an exit status; C's comes late.
    feed(&mut stops, A, What::Exiting);
    assert_eq!(
        feed(&mut stops, A, What::Executed { former: B }),
        [
            Action::Ended(B),
            Action::Ended(C),
            Action::Started(A),
            Action::Executed(A)
        ]
    );
    assert_eq!(feed(&mut stops, C, What::Exited(ExitStatus::Signal(9))), []);
    assert_eq!(stops.live().collect::<Vec<_>>(), [A]);
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
}

#[test]
fn an_exec_while_all_are_being_stopped_completes_that() {
    let mut stops = running(&[]);
    stop_all(&mut stops);
    assert_eq!(
        feed(&mut stops, A, What::Executed { former: A }),
        [Action::Executed(A), Action::AllStopped]
    );
}

#[test]
fn a_stop_signal_leaves_the_thread_to_the_kernel_until_it_is_continued() {
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::Listen(A)]);
    // SIGCONT.
    assert_eq!(feed(&mut stops, A, STOP), [run(A)]);
}

#[test]
fn a_group_stop_outlasts_a_stop_of_the_debugger() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Group(19));
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::AllStopped]);
    stops.set_running();
    assert_eq!(go(&mut stops, A, How::Continue), [Action::Listen(A)]);
    assert_eq!(feed(&mut stops, A, STOP), [run(A)]);
}

#[test]
fn a_signal_in_the_middle_of_a_step_is_examined_and_the_step_goes_on() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    assert_eq!(
        feed(&mut stops, A, What::Signal(10)),
        [Action::Examine(A, 10)]
    );
    let mut actions = Actions::new();
    stops.go(A, How::Step, 10, &mut actions);
    assert_eq!(actions, [Action::Run(A, How::Step, 10)]);
    assert_eq!(stops.last_run(A), How::Step);
}

#[test]
fn a_forked_child_is_let_go_whichever_is_told_first() {
    let fork = What::NewProcess {
        child: B,
        shares_memory: false,
    };
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, A, fork), [run(A)]);
    assert_eq!(feed(&mut stops, B, STOP), [Action::ReleaseCopy(B)]);

    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(feed(&mut stops, A, fork), [run(A), Action::ReleaseCopy(B)]);
    assert_eq!(stops.live().collect::<Vec<_>>(), [A]);
}

#[test]
fn a_vforks_maker_counts_as_stopped_until_its_child_execs() {
    let vfork = What::NewProcess {
        child: C,
        shares_memory: true,
    };
    let mut stops = running(&[B]);
    assert_eq!(feed(&mut stops, A, vfork), []);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
    assert_eq!(stops.live().collect::<Vec<_>>(), [A, B]);
    // Only B has to be interrupted; the child runs on and may trap.
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(B)]);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
    assert_eq!(
        feed(&mut stops, C, What::Signal(5)),
        [Action::Examine(C, 5)]
    );
    assert_eq!(go(&mut stops, C, How::Continue), [run(C)]);
    stops.set_running();
    assert_eq!(go(&mut stops, A, How::Continue), []);
    assert_eq!(
        feed(&mut stops, C, What::Executed { former: C }),
        [Action::ReleaseVforkChild(C), run(A)]
    );
}

#[test]
fn a_vforks_child_that_exits_gives_its_maker_back() {
    let vfork = What::NewProcess {
        child: C,
        shares_memory: true,
    };
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork);
    feed(&mut stops, C, STOP);
    assert_eq!(feed(&mut stops, C, What::Exiting), [run(C)]);
    assert_eq!(
        feed(&mut stops, C, What::Exited(ExitStatus::Code(0))),
        [run(A)]
    );
}

#[test]
fn stopping_what_is_stopped_does_nothing() {
    let mut stops = Stops::new(A);
    assert_eq!(stop_all(&mut stops), []);
    assert_eq!(feed(&mut stops, A, STOP), []);
    assert_eq!(stops.mode(), Mode::Stopped);
}
