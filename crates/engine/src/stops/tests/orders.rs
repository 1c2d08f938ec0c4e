//! More scripted events: births and deaths at bad moments, group stops, execs, vfork children.
//!
//! Each test asserts the exact actions. The comments say how the kernel comes to such an order.

use super::{A, B, C, STOP, feed, go, run, running, stop_all};
use crate::stops::*;

const D: ThreadId = ThreadId(103);
const KILLED: ExitStatus = ExitStatus::Signal(9);
const DONE: ExitStatus = ExitStatus::Code(0);
const CALLED_BY_EXEC: What = What::Executed { former: A };

const fn fork(child: ThreadId) -> What {
    What::NewProcess {
        child,
        shares_memory: false,
    }
}

const fn vfork(child: ThreadId) -> What {
    What::NewProcess {
        child,
        shares_memory: true,
    }
}

fn live(stops: &Stops) -> Vec<ThreadId> {
    stops.live().collect()
}

/// Resumes all stopped threads.
fn resume(stops: &mut Stops) -> Vec<Action> {
    stops.set_running();
    let stopped = stops.all_stopped().into_iter();
    stopped
        .flat_map(|thread| go(stops, thread, How::Continue))
        .collect()
}

// Births.

#[test]
fn threads_that_begin_threads_are_each_started_once_whatever_the_order() {
    let mut stops = running(&[]);
    // B runs as soon as its start is reported, and starts C, whose first stop comes before B's event.
    assert_eq!(feed(&mut stops, C, STOP), []);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [run(A), Action::Started(B), run(B)]
    );
    assert_eq!(
        feed(&mut stops, B, What::NewThread(C)),
        [run(B), Action::Started(C), run(C)]
    );
    assert_eq!(live(&stops), [A, B, C]);
}

#[test]
fn a_thread_that_was_told_of_and_dies_before_it_shows_up_is_not_waited_for() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::NewThread(B));
    assert_eq!(
        stop_all(&mut stops),
        [Action::Interrupt(A), Action::Interrupt(B)]
    );
    assert_eq!(feed(&mut stops, A, STOP), []);
    // SIGKILL ends B before its first stop.
    assert_eq!(
        feed(&mut stops, B, What::Exited(KILLED)),
        [Action::Ended(B), Action::AllStopped]
    );
}

#[test]
fn a_maker_that_dies_behind_its_threads_birth_leaves_the_thread() {
    let mut stops = running(&[B]);
    feed(&mut stops, B, What::NewThread(C));
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(feed(&mut stops, B, What::Exited(DONE)), []);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
    assert_eq!(live(&stops), [A, C]);
}

#[test]
fn an_early_threads_signal_is_examined_once_its_maker_has_told_of_it() {
    let mut stops = running(&[]);
    feed(&mut stops, B, What::Signal(10));
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [run(A), Action::Started(B), Action::Examine(B, 10)]
    );
    assert_eq!(go(&mut stops, B, How::Continue), [run(B)]);
}

#[test]
fn a_birth_in_the_middle_of_a_step_lets_the_step_go_on() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    // The stepped instruction was clone(2)'s; the clone event comes before the step's trap.
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [Action::Run(A, How::Step, 0), Action::Started(B)]
    );
    assert_eq!(feed(&mut stops, B, STOP), [run(B)]);
    assert_eq!(
        feed(&mut stops, A, What::Signal(5)),
        [Action::Examine(A, 5)]
    );
    assert_eq!(stops.last_run(A), How::Step);
}

#[test]
fn a_birth_that_is_told_while_all_are_stopping_holds_both() {
    let mut stops = running(&[B]);
    assert_eq!(
        stop_all(&mut stops),
        [Action::Interrupt(A), Action::Interrupt(B)]
    );
    // The event's stop made the kernel forget the interrupt: nothing may wait for the interrupt's stop.
    assert_eq!(
        feed(&mut stops, A, What::NewThread(C)),
        [Action::Started(C)]
    );
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(feed(&mut stops, C, STOP), [Action::AllStopped]);
    assert_eq!(resume(&mut stops), [run(A), run(B), run(C)]);
}

// Deaths.

#[test]
fn a_kill_at_each_point_of_stopping_all_completes_it() {
    // While both run to their interrupts.
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(
        feed(&mut stops, A, What::Exiting),
        [run(A), Action::Ended(A), Action::AllStopped]
    );
    // While one is stopped already: the kill takes it out of its stop.
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    feed(&mut stops, A, STOP);
    assert_eq!(
        feed(&mut stops, A, What::Exiting),
        [run(A), Action::Ended(A)]
    );
    assert_eq!(
        feed(&mut stops, B, What::Exited(KILLED)),
        [Action::Ended(B), Action::AllStopped]
    );
    assert_eq!(
        feed(&mut stops, A, What::Exited(KILLED)),
        [Action::ProcessEnded(KILLED)]
    );
}

#[test]
fn a_kill_between_a_trap_and_its_answer_makes_the_answer_harmless() {
    let mut stops = running(&[B]);
    assert_eq!(
        feed(&mut stops, B, What::Signal(5)),
        [Action::Examine(B, 5)]
    );
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(go(&mut stops, B, How::Continue), [], "it is on its way out");
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
    assert_eq!(go(&mut stops, B, How::Continue), [], "it is gone");
}

#[test]
fn a_thread_that_leaves_twice_is_told_of_once() {
    // SIGKILL after exit(2): PTRACE_EVENT_EXIT can come twice.
    let mut stops = running(&[B]);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(feed(&mut stops, B, What::Exiting), [run(B)]);
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
    assert_eq!(live(&stops), [A]);
}

#[test]
fn the_first_thread_leaves_while_all_are_being_stopped() {
    let mut stops = running(&[B, C]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(
        feed(&mut stops, A, What::Exiting),
        [run(A), Action::Ended(A)]
    );
    assert_eq!(feed(&mut stops, C, STOP), [Action::AllStopped]);
    assert_eq!(live(&stops), [B, C]);
    assert_eq!(
        resume(&mut stops),
        [run(B), run(C)],
        "not the one that leaves"
    );
}

#[test]
fn the_last_thread_that_is_waited_for_may_be_the_first_to_have_left() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, B, What::Exited(DONE)), [Action::Ended(B)]);
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
}

#[test]
fn a_process_that_ends_while_all_are_being_stopped_ends() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    feed(&mut stops, B, What::Exited(DONE));
    assert_eq!(
        feed(&mut stops, A, What::Exited(ExitStatus::Code(4))),
        [Action::ProcessEnded(ExitStatus::Code(4))]
    );
    assert_eq!(live(&stops), []);
    assert_eq!(
        feed(&mut stops, B, STOP),
        [],
        "nothing that comes late wakes it up"
    );
}

// Interrupts.

#[test]
fn an_interrupt_that_crosses_a_trap_stops_the_thread_again_and_is_run_on_from() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    // The trap came first; the interrupt is still pending in the kernel.
    assert_eq!(
        feed(&mut stops, B, What::Signal(5)),
        [Action::Examine(B, 5)]
    );
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
    assert_eq!(resume(&mut stops), [run(A), run(B)]);
    assert_eq!(feed(&mut stops, B, STOP), [run(B)]);
    assert_eq!(stops.mode(), Mode::Running);
}

#[test]
fn stopping_all_twice_interrupts_once() {
    let mut stops = running(&[B]);
    assert_eq!(
        stop_all(&mut stops),
        [Action::Interrupt(A), Action::Interrupt(B)]
    );
    assert_eq!(stop_all(&mut stops), []);
    feed(&mut stops, A, STOP);
    assert_eq!(stop_all(&mut stops), []);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
    assert_eq!(stop_all(&mut stops), [], "and says so once");
}

#[test]
fn a_pause_while_all_stand_for_the_engines_own_reasons_is_complete_at_once() {
    let mut stops = running(&[B]);
    feed(&mut stops, A, What::Signal(5));
    feed(&mut stops, B, What::Signal(5));
    assert_eq!(stops.mode(), Mode::Running);
    assert_eq!(stop_all(&mut stops), [Action::AllStopped]);
}

#[test]
fn an_interrupts_stop_in_the_middle_of_a_step_is_not_the_steps_end() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
    // The thread goes on as `go` says, whatever it did before.
    stops.set_running();
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
    assert_eq!(stops.last_run(A), How::Continue);
}

#[test]
fn a_resume_before_all_are_stopped_runs_nobody() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    feed(&mut stops, A, STOP);
    assert_eq!(go(&mut stops, A, How::Continue), []);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
}

#[test]
fn a_stop_of_no_interest_while_all_are_being_stopped_counts() {
    let mut stops = running(&[B]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, What::Other), []);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
}

// Group stops.

#[test]
fn a_group_stop_of_all_threads_ends_with_the_signal_to_continue() {
    let mut stops = running(&[B]);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::Listen(A)]);
    assert_eq!(feed(&mut stops, B, What::Group(19)), [Action::Listen(B)]);
    // SIGCONT wakes the threads one by one, and is itself a signal to one of them.
    assert_eq!(feed(&mut stops, B, STOP), [run(B)]);
    assert_eq!(feed(&mut stops, A, STOP), [run(A)]);
    assert_eq!(
        feed(&mut stops, A, What::Signal(18)),
        [Action::Examine(A, 18)]
    );
}

#[test]
fn the_signal_to_continue_while_the_debugger_holds_all_lets_them_run_later() {
    let mut stops = running(&[B]);
    feed(&mut stops, A, What::Group(20));
    feed(&mut stops, B, What::Group(20));
    // PTRACE_INTERRUPT wakes a listening thread, which reports the group stop again.
    assert_eq!(
        stop_all(&mut stops),
        [Action::Interrupt(A), Action::Interrupt(B)]
    );
    assert_eq!(feed(&mut stops, A, What::Group(20)), []);
    // SIGCONT came before B's stop.
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
    // A, which hasn't seen SIGCONT, listens, which ends at once.
    assert_eq!(resume(&mut stops), [Action::Listen(A), run(B)]);
    assert_eq!(feed(&mut stops, A, STOP), [run(A)]);
}

#[test]
fn a_kill_ends_a_thread_that_listens() {
    let mut stops = running(&[B]);
    feed(&mut stops, B, What::Group(19));
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
}

#[test]
fn a_thread_born_into_a_group_stop_listens_as_the_others_do() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::NewThread(B));
    assert_eq!(feed(&mut stops, B, What::Group(19)), [Action::Listen(B)]);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::Listen(A)]);
}

#[test]
fn a_group_stop_does_not_end_a_step() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::Listen(A)]);
    assert_eq!(feed(&mut stops, A, STOP), [Action::Run(A, How::Step, 0)]);
}

// Exec.

#[test]
fn an_exec_by_another_thread_while_threads_leave_and_begin_forgets_them_all() {
    let mut stops = running(&[B, C]);
    feed(&mut stops, C, What::NewThread(D));
    assert_eq!(
        feed(&mut stops, C, What::Exiting),
        [run(C), Action::Ended(C)]
    );
    assert_eq!(
        feed(&mut stops, A, What::Executed { former: B }),
        [Action::Ended(B), Action::Ended(D), Action::Executed(A)]
    );
    // Late events of threads that are gone.
    assert_eq!(feed(&mut stops, D, STOP), []);
    assert_eq!(feed(&mut stops, D, What::Exited(KILLED)), []);
    assert_eq!(feed(&mut stops, C, What::Exited(KILLED)), []);
    assert_eq!(live(&stops), [A]);
}

#[test]
fn an_exec_in_the_middle_of_a_step_ends_it() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    assert_eq!(feed(&mut stops, A, CALLED_BY_EXEC), [Action::Executed(A)]);
    assert_eq!(stops.last_run(A), How::Continue);
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
}

#[test]
fn an_exec_while_all_are_being_stopped_waits_for_nobody_who_is_gone() {
    let mut stops = running(&[B, C]);
    stop_all(&mut stops);
    feed(&mut stops, A, STOP);
    assert_eq!(
        feed(&mut stops, A, What::Executed { former: C }),
        [
            Action::Ended(B),
            Action::Ended(C),
            Action::Executed(A),
            Action::AllStopped
        ]
    );
}

#[test]
fn an_exec_of_the_first_thread_keeps_it() {
    let mut stops = running(&[B]);
    assert_eq!(
        feed(&mut stops, A, CALLED_BY_EXEC),
        [Action::Ended(B), Action::Executed(A)]
    );
    assert_eq!(live(&stops), [A]);
}

#[test]
fn an_exec_out_of_a_group_stop_runs_on() {
    let mut stops = running(&[B]);
    feed(&mut stops, A, What::Group(19));
    // SIGCONT went to B, which called exec before A's stop was read.
    assert_eq!(
        feed(&mut stops, A, What::Executed { former: B }),
        [Action::Ended(B), Action::Executed(A)]
    );
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
}

// Children.

#[test]
fn a_forked_child_that_dies_before_its_stop_is_forgotten() {
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, A, fork(B)), [run(A)]);
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
    // The kernel may reuse its id for a thread.
    assert_eq!(
        feed(&mut stops, A, What::NewThread(B)),
        [run(A), Action::Started(B)]
    );
    assert_eq!(feed(&mut stops, B, STOP), [run(B)]);
}

#[test]
fn a_fork_while_all_are_being_stopped_lets_the_child_go_and_holds_its_maker() {
    let mut stops = running(&[]);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, A, fork(B)), [Action::AllStopped]);
    assert_eq!(feed(&mut stops, B, STOP), [Action::ReleaseCopy(B)]);
    assert_eq!(stops.mode(), Mode::Stopped);
    assert_eq!(resume(&mut stops), [run(A)]);
}

#[test]
fn a_fork_in_the_middle_of_a_step_lets_the_step_go_on() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    feed(&mut stops, B, STOP);
    assert_eq!(
        feed(&mut stops, A, fork(B)),
        [Action::Run(A, How::Step, 0), Action::ReleaseCopy(B)]
    );
}

#[test]
fn two_threads_fork_at_once_and_both_children_are_let_go() {
    let mut stops = running(&[B]);
    assert_eq!(feed(&mut stops, D, STOP), []);
    assert_eq!(feed(&mut stops, A, fork(C)), [run(A)]);
    assert_eq!(
        feed(&mut stops, B, fork(D)),
        [run(B), Action::ReleaseCopy(D)]
    );
    assert_eq!(feed(&mut stops, C, STOP), [Action::ReleaseCopy(C)]);
    assert_eq!(live(&stops), [A, B]);
}

#[test]
fn a_child_in_our_memory_that_shows_up_first_waits_for_its_maker() {
    let mut stops = running(&[]);
    assert_eq!(feed(&mut stops, C, STOP), []);
    assert_eq!(feed(&mut stops, A, vfork(C)), [run(C)]);
    assert!(stops.is_vfork_child(C) && !stops.is_live(C));
    assert_eq!(
        feed(&mut stops, C, CALLED_BY_EXEC),
        [Action::ReleaseVforkChild(C), run(A)]
    );
}

#[test]
fn a_child_in_our_memory_runs_on_while_all_are_stopped_and_its_maker_waits_for_both() {
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(stop_all(&mut stops), [Action::AllStopped]);
    // The child is gone before the user resumes: its parent doesn't run yet.
    assert_eq!(feed(&mut stops, C, What::Exited(DONE)), []);
    assert_eq!(resume(&mut stops), [run(A)]);
}

#[test]
fn all_are_stopped_when_a_thread_has_its_memory_back_that_is_to_go_on_no_more() {
    for stopped in [false, true] {
        let mut stops = running(&[B]);
        feed(&mut stops, A, vfork(C));
        feed(&mut stops, C, STOP);
        stop_all(&mut stops);
        assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
        stops.wait_after_vfork(A, true);
        if stopped {
            assert_eq!(feed(&mut stops, C, What::Exited(DONE)), []);
            assert_eq!(resume(&mut stops), [Action::AllStopped]);
        } else {
            assert_eq!(resume(&mut stops), [run(B)]);
            assert_eq!(
                feed(&mut stops, C, What::Exited(DONE)),
                [Action::Interrupt(B)]
            );
            assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
        }
        stops.wait_after_vfork(A, false);
        assert_eq!(resume(&mut stops), [run(A), run(B)]);
    }
}

#[test]
fn a_signal_to_a_child_in_our_memory_is_examined_and_its_maker_still_waits() {
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(
        feed(&mut stops, C, What::Signal(17)),
        [Action::Examine(C, 17)]
    );
    assert_eq!(go(&mut stops, C, How::Continue), [run(C)]);
    assert_eq!(go(&mut stops, A, How::Continue), []);
}

#[test]
fn a_child_of_a_child_in_our_memory_is_followed_until_it_leaves() {
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(feed(&mut stops, C, vfork(D)), []);
    assert_eq!(feed(&mut stops, D, STOP), [run(D)]);
    assert_eq!(
        feed(&mut stops, D, CALLED_BY_EXEC),
        [Action::ReleaseVforkChild(D), run(C)]
    );
    assert_eq!(
        feed(&mut stops, C, What::Exited(DONE)),
        [run(A)],
        "the child's child has given it back"
    );
}

#[test]
fn a_thread_of_a_child_in_our_memory_is_no_thread_of_ours() {
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(feed(&mut stops, C, What::NewThread(D)), [run(C)]);
    assert_eq!(feed(&mut stops, D, STOP), [run(D)]);
    assert_eq!(live(&stops), [A]);
    assert_eq!(feed(&mut stops, D, What::Exited(DONE)), []);
    assert_eq!(feed(&mut stops, C, What::Exited(DONE)), [run(A)]);
}

#[test]
fn a_maker_that_is_killed_while_its_child_has_its_memory_leaves_the_child() {
    let mut stops = running(&[B]);
    feed(&mut stops, B, vfork(C));
    feed(&mut stops, C, STOP);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(feed(&mut stops, B, What::Exited(KILLED)), []);
    assert_eq!(
        feed(&mut stops, C, CALLED_BY_EXEC),
        [Action::ReleaseVforkChild(C)],
        "and nobody to give the memory back to"
    );
}

#[test]
fn a_step_over_vfork_goes_on_when_the_memory_is_back() {
    let mut stops = running(&[]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Step);
    assert_eq!(feed(&mut stops, A, vfork(C)), []);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
    assert_eq!(
        feed(&mut stops, C, What::Exited(DONE)),
        [Action::Run(A, How::Step, 0)]
    );
}

#[test]
fn an_interrupt_to_a_child_in_our_memory_runs_on() {
    // A vfork child is interrupted separately when the debugger detaches; a late stop from that has no effect.
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    stop_all(&mut stops);
    assert_eq!(stops.running_vfork_children(), [C]);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
    assert_eq!(stops.mode(), Mode::Stopped);
}

// Stops at system calls.

#[test]
fn a_thread_before_a_call_makes_it() {
    let mut stops = running(&[B]);
    feed(&mut stops, A, What::Signal(5));
    go(&mut stops, A, How::Continue);
    assert_eq!(feed(&mut stops, A, What::SystemCall), [run(A)]);
    assert_eq!(feed(&mut stops, A, fork(D)), [run(A)]);
}

#[test]
fn a_thread_before_a_call_is_stopped_in_it() {
    // The system call stop made the kernel forget the interrupt: it is sent again, and ends the call.
    let mut stops = running(&[]);
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(A)]);
    assert_eq!(
        feed(&mut stops, A, What::SystemCall),
        [Action::Interrupt(A), run(A)]
    );
    assert_eq!(stops.mode(), Mode::Stopping);
    assert_eq!(feed(&mut stops, A, STOP), [Action::AllStopped]);
}

#[test]
fn a_child_in_our_memory_makes_its_calls() {
    let mut stops = running(&[]);
    feed(&mut stops, A, vfork(C));
    feed(&mut stops, C, STOP);
    stop_all(&mut stops);
    assert_eq!(feed(&mut stops, C, What::SystemCall), [run(C)]);
}

#[test]
fn a_thread_killed_before_its_call_ends() {
    let mut stops = running(&[B]);
    feed(&mut stops, B, What::SystemCall);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
}
