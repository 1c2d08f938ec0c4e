//! Breakpoints on asynchronous functions of a library, whose bodies rustc compiles into the program that polls them.

use crate::support::Session;
use crate::support::project::{self, Project, launch};
use dapple_dap::types::*;
use serde_json::json;

const LIB: &str = "use std::hint::black_box;

pub struct Service {
    pub name: String,
}

impl Service {
    pub async fn handle(&self, request: u32) -> usize { // handle
        let length = self.name.len(); // in handle
        black_box(length) + request as usize
    }
}

pub async fn shown<T: std::fmt::Debug>(value: T, times: usize) -> usize { // shown
    let text = format!(\"{value:?}\"); // in shown
    text.len() * times
}
";

const MAIN: &str = "use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn run<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!(),
    }
}

fn main() {
    let service = units::Service { name: \"abc\".to_string() };
    println!(\"{}\", run(service.handle(5)));
    println!(\"{}\", run(units::shown(\"text\", 2)));
}
";

/// Makes a package with its own name for each test.
fn package(name: &str) -> Project {
    let main = MAIN.replace("units::", &format!("{name}::"));
    Project::package(name, "", &[("src/lib.rs", LIB), ("src/main.rs", &main)])
}

/// Sets breakpoints by name, and runs the program.
fn started(project: &Project, command: &str, names: &[&str]) -> (Session, Vec<Breakpoint>) {
    let session = project::session(false);
    let mut arguments = project.cargo(command);
    arguments["cargo"]["env"]["CARGO_PROFILE_RELEASE_DEBUG"] = json!("2");
    launch(&session, &arguments);
    let wanted = names.iter().map(|name| FunctionBreakpoint::new(*name));
    let wanted = SetFunctionBreakpointsArguments::new(wanted.collect());
    let breakpoints = session.ok::<SetFunctionBreakpointsRequest>(wanted);
    session.configured();
    (session, breakpoints.breakpoints)
}

#[test]
fn a_body_in_the_program_is_found_by_the_name_of_a_function_in_the_library() {
    let project = package("units");
    let names = ["handle", "shown"];
    let (session, breakpoints) = started(&project, "run --quiet", &names);
    let locals = [
        ["self = Service { name: \"abc\" }", "request = 5"],
        ["value = \"text\"", "times = 2"],
    ];
    for ((breakpoint, mark), expected) in breakpoints.iter().zip(names).zip(locals) {
        let line = project.line("src/lib.rs", &format!("// in {mark}"));
        assert!(breakpoint.verified, "{breakpoint:?}");
        assert_eq!(breakpoint.line, Some(line), "{breakpoint:?}");
        let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
        assert_eq!(stopped.top.line, line, "{:?}", stopped.top);
        let scope = session.scope(&stopped.top, "Locals");
        let locals = session.variables(scope.variables_reference);
        let written: Vec<String> = locals
            .iter()
            .map(|local| format!("{} = {}", local.name, local.value))
            .collect();
        assert_eq!(written, expected);
        session.resume(stopped.thread);
    }
    session.wait_for::<ExitedEvent>();
    session.disconnect();
}

#[test]
fn an_optimised_body_is_found_where_the_function_itself_is_gone() {
    let project = package("optimised");
    let names = ["Service::handle", "optimised::shown"];
    let (session, breakpoints) = started(&project, "run --quiet --release", &names);
    for (breakpoint, mark) in breakpoints.iter().zip(["handle", "shown"]) {
        assert!(breakpoint.verified, "{breakpoint:?}");
        let header = project.line("src/lib.rs", &format!("// {mark}"));
        let stopped = session.stopped(StoppedEventReason::FunctionBreakpoint);
        assert_eq!(
            stopped.event.hit_breakpoint_ids,
            Some(vec![breakpoint.id.expect("an id")])
        );
        let lines = header..header + 3;
        assert!(lines.contains(&stopped.top.line), "{:?}", stopped.top);
        session.resume(stopped.thread);
    }
    session.wait_for::<ExitedEvent>();
    session.disconnect();
}
