//! Detaching while a vfork child runs in the program's memory, in a displaced copy of an instruction whose breakpoint is already gone.

use crate::support::running::{changed_text, kill, status};
use crate::support::vfork_child::{Files, reading_at, reading_child, until};
use crate::support::{Debuggee, Fixture, fixture};
use dapple_engine::attach::AttachOptions;
use dapple_engine::launch::LaunchOptions;
use dapple_engine::session::Leave;
use std::process::Command;

fn launch<'a>(fixture: &'a Fixture, files: &Files) -> Debuggee<'a> {
    let mut debuggee = fixture.launch_options(LaunchOptions {
        program: fixture.binary.clone(),
        args: files.args(),
        ..LaunchOptions::default()
    });
    debuggee.break_at(&["tick"]);
    debuggee.run_to_breakpoint();
    debuggee
}

/// From a stop at `tick`: runs a vfork child into the displaced copy of an instruction, removes the instruction's breakpoint, and stops the
/// program. Returns the child, and the instruction pointer that it would have without a debugger.
fn into_displaced_copy(debuggee: &mut Debuggee<'_>, files: &Files) -> (i32, u64) {
    let call = debuggee.symbol("wait_for");
    debuggee.break_at(&[]);
    debuggee
        .session()
        .set_address_breakpoints(vec![call])
        .unwrap();
    debuggee.resume();
    files.send();
    let (child, at) = reading_child(debuggee.session().process().pid);
    let behind = call.offset(2);
    assert_ne!(at, behind.0, "it is in no copy");
    debuggee
        .session()
        .set_address_breakpoints(Vec::new())
        .unwrap();
    debuggee.session().pause(None).unwrap();
    debuggee.expect_stop();
    (child, behind.0)
}

#[test]
fn a_child_in_a_copy_for_a_breakpoint_that_was_taken_out_is_left_as_it_was() {
    let fixture = fixture("lent.c", &[]);
    for (attached, how) in [
        (false, Leave::Detach),
        (false, Leave::Suspend),
        (true, Leave::Detach),
        (true, Leave::Suspend),
    ] {
        println!("attached: {attached}, {how:?}");
        let files = Files::new();
        let mut program = None;
        let mut debuggee = if attached {
            let started = Command::new(&fixture.binary).args(files.args()).spawn();
            let started = program.insert(started.expect("it starts"));
            let process = started.id() as i32;
            until("it is not ready", || reading_at(process));
            fixture.attach(AttachOptions {
                process,
                ..AttachOptions::default()
            })
        } else {
            launch(&fixture, &files)
        };
        let process = debuggee.session().process().pid;
        let (child, behind) = into_displaced_copy(&mut debuggee, &files);
        debuggee.take_session().leave(how);
        assert_eq!(changed_text(process), Vec::<String>::new());
        assert_eq!(status(child, "TracerPid"), "0");
        assert_eq!(
            until("the child waits no more", || reading_at(child)),
            behind
        );
        files.send();
        if how == Leave::Suspend {
            kill("-CONT", process);
        }
        assert_eq!(files.result(), "0x300");
        if let Some(mut program) = program {
            assert_eq!(program.wait().expect("its end").code(), Some(3));
        }
    }
}
