//! Checks what the system permits, mostly by trying it on processes created for the check.

use std::fs;

use dapple_adapter::probe;

use super::Finding;

/// Tries /proc, tracing, attaching, watchpoints and fixed addresses, and reports where core files go.
pub fn check(report: &mut dyn FnMut(Finding)) {
    report(match probe::sight() {
        Ok(()) => Finding::ok("/proc", "is mounted, and shows this process"),
        Err(reason) => Finding::problem("/proc", reason),
    });
    report(match probe::launching() {
        Ok(()) => Finding::ok(
            "tracing",
            "a program that the debugger starts can be traced",
        ),
        Err(reason) => Finding::problem("tracing", format!("no program can be debugged: {reason}")),
    });
    report(match probe::attaching() {
        Ok(()) => Finding::ok("attaching", "your other processes can be attached to"),
        Err(reason) => Finding::warning(
            "attaching",
            format!("processes that the debugger has not started can't be attached to: {reason}"),
        ),
    });
    report(match probe::watching() {
        Ok(()) => Finding::ok(
            "data breakpoints",
            "the processor tells when a variable is written to",
        ),
        Err(reason) => Finding::warning("data breakpoints", format!("they can't be had: {reason}")),
    });
    report(match probe::fixed_addresses() {
        Ok(()) => Finding::ok("addresses", "programs can have the same ones in each run"),
        Err(reason) => Finding::warning("addresses", reason),
    });
    core_files(report);
}

/// Reports where the kernel puts core files (core(5)).
fn core_files(report: &mut dyn FnMut(Finding)) {
    let Ok(pattern) = fs::read_to_string("/proc/sys/kernel/core_pattern") else {
        return;
    };
    let limit = rustix::process::getrlimit(rustix::process::Resource::Core).current;
    let pattern = pattern.trim();
    let place = match pattern.strip_prefix('|') {
        Some(command) => {
            let program = command.split_whitespace().next().unwrap_or_default();
            match program.ends_with("systemd-coredump") {
                true => "`coredumpctl` has them: `coredumpctl dump -o core PROGRAM`".to_owned(),
                false => format!("the system gives them to {program}"),
            }
        }
        None if pattern.starts_with('/') => format!("the system writes them as {pattern}"),
        None => format!("the system writes them as {pattern} into the program's working directory"),
    };
    let says = match (limit, pattern.starts_with('|')) {
        (Some(0), false) => {
            format!("{place}, once `ulimit -c unlimited` lets it; here it writes none")
        }
        _ => place,
    };
    report(Finding::ok("core files", says));
}
