//! Scripted events while single threads run and the others stay stopped.

use super::*;

/// A process of `A`, `B` and `C` that was stopped, in which only `B` runs now.
fn only_b_runs() -> Stops {
    let mut stops = running(&[B, C]);
    stop_all(&mut stops);
    for thread in [A, B, C] {
        feed(&mut stops, thread, STOP);
    }
    assert_eq!(stops.mode(), Mode::Stopped);
    stops.run_only(Some(B));
    stops.set_running();
    assert_eq!(go_all(&mut stops), [run(B)]);
    stops
}

fn go_all(stops: &mut Stops) -> Vec<Action> {
    let stopped = stops.all_stopped();
    let gone = |thread| go(stops, thread, How::Continue);
    stopped.into_iter().flat_map(gone).collect()
}

#[test]
fn only_the_one_that_may_run_is_let_go_and_interrupted() {
    let mut stops = only_b_runs();
    assert!(stops.stays_stopped(A) && stops.stays_stopped(C) && !stops.stays_stopped(B));
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(B)]);
    assert_eq!(feed(&mut stops, B, STOP), [Action::AllStopped]);
}

#[test]
fn a_thread_begun_while_others_are_held_is_held_after_its_first_stop() {
    let mut stops = only_b_runs();
    let new = ThreadId(103);
    let born = feed(&mut stops, B, What::NewThread(new));
    assert_eq!(born, [run(B), Action::Started(new)]);
    assert!(!stops.stays_stopped(new), "it is not stopped yet");
    assert_eq!(feed(&mut stops, new, STOP), []);
    assert!(stops.stays_stopped(new));
    // The other order: the new thread's first stop comes before its parent's event.
    let early = ThreadId(104);
    assert_eq!(feed(&mut stops, early, STOP), []);
    let born = feed(&mut stops, B, What::NewThread(early));
    assert_eq!(born, [run(B), Action::Started(early)]);
    assert!(stops.stays_stopped(early));
    stops.run_only(None);
    assert_eq!(go_all(&mut stops), [A, C, new, early].map(run));
}

#[test]
fn a_stop_of_all_waits_for_a_thread_that_is_being_begun_by_the_one_that_runs() {
    let mut stops = only_b_runs();
    let new = ThreadId(103);
    feed(&mut stops, B, What::NewThread(new));
    let asked = stop_all(&mut stops);
    assert_eq!(asked, [Action::Interrupt(B), Action::Interrupt(new)]);
    assert_eq!(feed(&mut stops, B, STOP), []);
    assert_eq!(feed(&mut stops, new, STOP), [Action::AllStopped]);
}

#[test]
fn the_end_of_the_last_that_may_run_stops_all() {
    let mut stops = only_b_runs();
    let ended = [run(B), Action::Ended(B), Action::AllStopped];
    assert_eq!(feed(&mut stops, B, What::Exiting), ended);
    assert!(stops.none_may_run());
    assert_eq!(stops.mode(), Mode::Stopped);
    assert_eq!(feed(&mut stops, B, What::Exited(ExitStatus::Code(0))), []);
    // Then all threads go on.
    stops.run_only(None);
    stops.set_running();
    assert_eq!(go_all(&mut stops), [run(A), run(C)]);
}

#[test]
fn an_end_without_an_exit_stop_stops_all_too() {
    let mut stops = only_b_runs();
    let killed = What::Exited(ExitStatus::Signal(9));
    assert_eq!(
        feed(&mut stops, B, killed),
        [Action::Ended(B), Action::AllStopped]
    );
}

#[test]
fn the_end_of_the_last_that_may_run_waits_for_a_thread_it_has_just_begun() {
    let mut stops = only_b_runs();
    let new = ThreadId(103);
    feed(&mut stops, B, What::NewThread(new));
    let ended = feed(&mut stops, B, What::Exiting);
    assert_eq!(ended, [run(B), Action::Ended(B)]);
    assert_eq!(stops.mode(), Mode::Stopping);
    assert_eq!(feed(&mut stops, new, STOP), [Action::AllStopped]);
}

#[test]
fn an_exit_of_the_process_by_the_one_that_runs_takes_the_held_with_it() {
    let mut stops = only_b_runs();
    // The thread that called exit comes first here; the others have been killed in their stops.
    feed(&mut stops, B, What::Exiting);
    assert_eq!(
        feed(&mut stops, A, What::Exiting),
        [run(A), Action::Ended(A)]
    );
    assert_eq!(
        feed(&mut stops, C, What::Exited(ExitStatus::Code(5))),
        [Action::Ended(C)]
    );
    feed(&mut stops, B, What::Exited(ExitStatus::Code(5)));
    let all = feed(&mut stops, A, What::Exited(ExitStatus::Code(5)));
    assert_eq!(all, [Action::ProcessEnded(ExitStatus::Code(5))]);
}

#[test]
fn a_held_thread_that_is_killed_does_not_stop_the_one_that_runs() {
    let mut stops = only_b_runs();
    assert_eq!(
        feed(&mut stops, C, What::Exiting),
        [run(C), Action::Ended(C)]
    );
    assert_eq!(stops.mode(), Mode::Running);
    assert_eq!(feed(&mut stops, C, What::Exited(ExitStatus::Signal(9))), []);
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(B)]);
}

#[test]
fn after_an_exec_by_the_one_that_runs_nobody_is_held() {
    let mut stops = only_b_runs();
    feed(&mut stops, A, What::Exiting);
    feed(&mut stops, C, What::Exiting);
    let told = feed(&mut stops, A, What::Executed { former: B });
    assert_eq!(
        told,
        [Action::Ended(B), Action::Started(A), Action::Executed(A)]
    );
    assert!(!stops.runs_only_some());
    assert_eq!(go(&mut stops, A, How::Continue), [run(A)]);
    let new = feed(&mut stops, A, What::NewThread(C));
    assert_eq!(new, [run(A), Action::Started(C)]);
    assert_eq!(feed(&mut stops, C, STOP), [run(C)]);
}

#[test]
fn a_signal_of_the_one_that_runs_is_examined_and_does_not_free_the_held() {
    let mut stops = only_b_runs();
    let examined = feed(&mut stops, B, What::Signal(10));
    assert_eq!(examined, [Action::Examine(B, 10)]);
    let mut actions = Actions::new();
    for thread in [A, B, C] {
        stops.go(thread, How::Continue, 10, &mut actions);
    }
    assert_eq!(actions, [Action::Run(B, How::Continue, 10)]);
}

#[test]
fn a_stop_signal_holds_only_the_one_that_runs_until_the_others_are_let_go() {
    let mut stops = only_b_runs();
    assert_eq!(feed(&mut stops, B, What::Group(19)), [Action::Listen(B)]);
    stops.run_only(None);
    // The other threads get the stop signal as soon as they run.
    assert_eq!(go_all(&mut stops), [run(A), run(C)]);
    assert_eq!(feed(&mut stops, A, What::Group(19)), [Action::Listen(A)]);
    assert_eq!(feed(&mut stops, A, STOP), [run(A)]);
}

#[test]
fn a_held_thread_in_a_group_stop_listens_when_it_is_let_go() {
    let mut stops = running(&[B]);
    feed(&mut stops, A, What::Group(19));
    stop_all(&mut stops);
    feed(&mut stops, A, What::Group(19));
    feed(&mut stops, B, STOP);
    stops.run_only(Some(B));
    stops.set_running();
    assert_eq!(go_all(&mut stops), [run(B)]);
    stops.run_only(None);
    assert_eq!(go_all(&mut stops), [Action::Listen(A)]);
}

#[test]
fn a_second_is_let_run_beside_the_first_and_the_end_of_one_leaves_the_other() {
    let mut stops = only_b_runs();
    stops.run_only(Some(C));
    assert_eq!(go_all(&mut stops), [run(C)]);
    assert_eq!(
        feed(&mut stops, B, What::Exiting),
        [run(B), Action::Ended(B)]
    );
    assert_eq!(stops.mode(), Mode::Running);
    assert!(stops.stays_stopped(A));
}

#[test]
fn where_all_run_nobody_is_held_for_one() {
    let mut stops = running(&[B]);
    stops.run_only(Some(B));
    assert!(!stops.runs_only_some());
    assert_eq!(feed(&mut stops, A, What::Other), [run(A)]);
}

#[test]
fn a_stop_for_the_debuggers_own_reasons_lets_only_the_same_go_on() {
    let mut stops = only_b_runs();
    feed(&mut stops, B, What::Signal(5));
    assert_eq!(stop_all(&mut stops), [Action::AllStopped]);
    // As when a thread executes an instruction with no other thread running.
    stops.set_running();
    assert_eq!(go_all(&mut stops), [run(B)]);
}

#[test]
fn a_vfork_by_the_one_that_runs_gives_it_back() {
    let mut stops = only_b_runs();
    let child = ThreadId(200);
    let vfork = What::NewProcess {
        child,
        shares_memory: true,
    };
    assert_eq!(feed(&mut stops, B, vfork), []);
    assert_eq!(feed(&mut stops, child, STOP), [run(child)]);
    let ended = feed(&mut stops, child, What::Exited(ExitStatus::Code(0)));
    assert_eq!(ended, [run(B)]);
}

#[test]
fn a_vforks_maker_that_is_held_stays_so_when_its_child_is_gone() {
    let child = ThreadId(200);
    let vfork = What::NewProcess {
        child,
        shares_memory: true,
    };
    let mut stops = running(&[B]);
    feed(&mut stops, A, vfork);
    feed(&mut stops, child, STOP);
    stop_all(&mut stops);
    feed(&mut stops, B, STOP);
    stops.run_only(Some(B));
    stops.set_running();
    assert_eq!(go_all(&mut stops), [run(B)]);
    let gone = feed(&mut stops, child, What::Executed { former: child });
    assert_eq!(gone, [Action::ReleaseVforkChild(child)]);
    stops.run_only(None);
    assert_eq!(go_all(&mut stops), [run(A)]);
}

#[test]
fn a_pause_that_meets_the_end_of_the_one_that_runs_is_completed_by_it() {
    let mut stops = only_b_runs();
    assert_eq!(stop_all(&mut stops), [Action::Interrupt(B)]);
    let ended = [run(B), Action::Ended(B), Action::AllStopped];
    assert_eq!(feed(&mut stops, B, What::Exiting), ended);
}
