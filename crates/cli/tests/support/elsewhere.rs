//! Other places for `--on`: an sshd of the test's own on the loopback, and a "container" of namespaces.
//!
//! `DAPPLE_SSHD` names the program, which then has to be there. What is kept at these places is in a folder of the test's own.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::script;

/// A place, and the folders there that a session may write to.
pub struct Elsewhere {
    /// What `--on` is given.
    pub place: String,
    /// `PATH` with the `ssh` that finds the server.
    path: String,
    folder: tempfile::TempDir,
    _server: Option<Server>,
}

/// A process that is killed when this is dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Elsewhere {
    /// This machine, reached by a command that changes only where files are kept.
    pub fn by_command() -> Elsewhere {
        let folder = folder();
        let (cache, temporary) = (folder.path().join("cache"), folder.path().join("tmp"));
        let words = [
            "env".to_owned(),
            format!("XDG_CACHE_HOME={}", cache.display()),
            format!("TMPDIR={}", temporary.display()),
        ];
        Elsewhere {
            place: serde_json::to_string(&words).expect("words"),
            path: path(),
            folder,
            _server: None,
        }
    }

    /// This machine, reached by ssh. `None`: there is no sshd.
    pub fn by_ssh() -> Option<Elsewhere> {
        let sshd = sshd()?;
        let folder = folder();
        let dir = folder.path();
        for key in ["host", "own"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
            let made = keygen.arg(dir.join(key)).stdin(Stdio::null()).status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen");
        }
        if rustix::process::geteuid().is_root() {
            // Debian's sshd wants it of root.
            let _ = std::fs::create_dir_all("/run/sshd");
        }
        let shown = dir.display();
        let server = format!(
            "ListenAddress 127.0.0.1\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/own.pub\nStrictModes no\nPidFile none\nUsePAM no\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nSetEnv XDG_CACHE_HOME={shown}/cache TMPDIR={shown}/tmp\n"
        );
        let client = format!(
            "IdentityFile {shown}/own\nIdentitiesOnly yes\nUserKnownHostsFile {shown}/known\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n"
        );
        std::fs::write(dir.join("sshd_config"), server).expect("a file");
        std::fs::write(dir.join("ssh_config"), client).expect("a file");
        let bin = dir.join("bin");
        std::fs::create_dir(&bin).expect("a folder");
        let ssh = format!("#!/bin/sh\nexec /usr/bin/ssh -F {shown}/ssh_config \"$@\"\n");
        script(&bin.join("ssh"), &ssh);
        let (server, port) = listening(&sshd, &dir.join("sshd_config"));
        Some(Elsewhere {
            place: format!("ssh://127.0.0.1:{port}"),
            path: format!("{}:{}", bin.display(), path()),
            folder,
            _server: Some(server),
        })
    }

    /// `dapple` that finds the place.
    pub fn dapple(&self) -> Command {
        let mut command = super::dapple();
        command.env("PATH", &self.path);
        command
    }

    /// `dapple debug --batch --on PLACE` with these commands.
    pub fn batch(&self, commands: &[&str]) -> Command {
        let mut command = self.dapple();
        command.args(["debug", "--batch", "--on", &self.place]);
        for line in commands {
            command.args(["--ex", line]);
        }
        command
    }

    /// Where programs are kept there.
    pub fn kept(&self) -> PathBuf {
        self.folder.path().join("cache/dapple/far")
    }

    /// The temporary files that are there.
    pub fn temporary(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("tmp")).expect("the folder");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("tmp")).expect("a folder");
    folder
}

fn path() -> String {
    std::env::var("PATH").expect("PATH")
}

/// The program, by its whole path: sshd runs itself again.
fn sshd() -> Option<PathBuf> {
    const VARIABLE: &str = "DAPPLE_SSHD";
    if let Some(named) = std::env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        assert!(
            named.is_file(),
            "{VARIABLE} names {named:?}, which is not there"
        );
        return Some(named);
    }
    let usual = Path::new("/usr/sbin/sshd");
    let has_client = ["ssh", "ssh-keygen"].map(|name| Path::new("/usr/bin").join(name).is_file());
    if usual.is_file() && has_client == [true; 2] {
        return Some(usual.to_owned());
    }
    println!("skipped: there is no sshd with ssh; {VARIABLE} may name it");
    None
}

/// Starts the server on a port that is free.
fn listening(sshd: &Path, config: &Path) -> (Server, u16) {
    for _ in 0..20 {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("its address").port();
        drop(free);
        let mut command = Command::new(sshd);
        command.args(["-D", "-e", "-p", &port.to_string(), "-f"]);
        command.arg(config).stderr(Stdio::piped());
        let mut child = command.spawn().expect("sshd starts");
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let server = Server(child);
        let mut lines = errors.lines().map_while(Result::ok);
        if lines.any(|line| line.starts_with("Server listening")) {
            // Nothing may keep it from writing.
            std::thread::spawn(move || lines.for_each(drop));
            return (server, port);
        }
    }
    panic!("sshd found no free port");
}

/// A mount and process namespace of its own, in which `folder` is empty at first, and only there has what is put into it.
pub struct Container {
    _unshare: Server,
    /// What `--on` is given.
    pub place: String,
}

impl Container {
    /// `None`: the kernel doesn't let this user have namespaces. `setup`: commands that are run in it first.
    pub fn start(folder: &Path, setup: &str) -> Option<Container> {
        let mut unshare = Command::new("unshare");
        unshare.args([
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "--map-root-user",
        ]);
        unshare.args(["--kill-child", "sh", "-c"]);
        let shown = folder.display();
        unshare.arg(format!(
            "mount -t tmpfs tmpfs {shown} && cd {shown} && {setup} && echo ready && read line"
        ));
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = unshare.spawn().ok()?;
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        let read = BufReader::new(output).read_line(&mut line);
        let (id, server) = (child.id(), Server(child));
        if read.is_err() || line != "ready\n" {
            println!("skipped: the kernel has no namespaces for this user");
            return None;
        }
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.expect("the kernel lists children");
        let inside = children.split_whitespace().next().expect("a child");
        let words = [
            "nsenter",
            "-t",
            inside,
            "-U",
            "-m",
            "-p",
            "--preserve-credentials",
        ];
        let words = words.iter().map(|word| (*word).to_owned());
        let words = words.chain(["env".to_owned(), format!("XDG_CACHE_HOME={shown}/cache")]);
        let words = words.chain([format!("TMPDIR={shown}/tmp")]);
        Some(Container {
            place: serde_json::to_string(&words.collect::<Vec<_>>()).expect("words"),
            _unshare: server,
        })
    }
}
