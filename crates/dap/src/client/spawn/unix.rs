//! Unix without Linux's ways: a child is waited for on a thread, and only its process group can be killed.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Waits for the end of a child without reaping it. False if the child did not end within `grace`, or waiting failed. The thread that
/// waits ends with the child.
pub(crate) fn ends_within(process: Pid, grace: Duration) -> bool {
    let (sender, ended) = mpsc::channel();
    let waiting = thread::Builder::new().name("dap-child".to_owned());
    let started = waiting.spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(process), options) {
                Err(Errno::INTR) => {}
                outcome => {
                    sender.send(outcome.is_ok()).ok();
                    return;
                }
            }
        }
    });
    started.is_ok() && ended.recv_timeout(grace).unwrap_or(false)
}

/// Kills the process group of a child that was not reaped yet. Descendants in other groups stay: the system doesn't tell them.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kill_family(root: Pid) {
    super::kill_group(root);
    // In case it has left its group.
    rustix::process::kill_process(root, rustix::process::Signal::KILL).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_childs_end_is_noticed_and_the_child_not_reaped() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let process = Pid::from_child(&child);
        assert!(!ends_within(process, Duration::from_millis(1)));
        drop(child.stdin.take());
        assert!(ends_within(process, Duration::from_secs(60)));
        assert!(ends_within(process, Duration::from_secs(60)), "not reaped");
        assert!(child.wait().unwrap().success());
        assert!(!ends_within(process, Duration::from_secs(60)), "no child");
    }
}
