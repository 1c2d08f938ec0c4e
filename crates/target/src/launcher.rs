//! Starts a program in a terminal that another process owns, such as an editor's. The debugger can't start it there. So the owner of the
//! terminal runs a small launcher, which becomes the program once it is traced. If the program is not to be debugged, the launcher runs it
//! as a child.
//!
//! Debugger and launcher connect through a Unix socket in a directory that only this user can enter. The launcher receives the program's
//! arguments, reports that it is ready, and waits for the message that it is traced. So the terminal and all streams belong to the program,
//! and none of its instructions runs untraced. Errors in the launcher come back through the socket, which a successful exec closes.

use crate::launch::LaunchOptions;
use crate::linux::untraced::{self, Handle};
use crate::linux::{check, launcher};
use crate::private_folder::PrivateFolder;
use crate::{Error, ThreadId};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Message to the launcher: it is traced and shall become the program.
pub const TRACED: u8 = 1;
/// Message to the launcher: start the program as a child instead.
pub const BESIDE: u8 = 2;
/// Message to the launcher: let the program live on when the debugger ends.
pub const LET_GO: u8 = 3;
/// The launcher's answer to [`BESIDE`]: the program's id follows, and its wait status when it has ended.
const STARTED: u8 = 1;
/// The launcher's other answer to [`BESIDE`]: a sentence follows that says why the program did not start.
const NOT_STARTED: u8 = 0;

/// How often the debugger checks whether the launcher has connected.
const TICK: Duration = Duration::from_millis(10);
/// How long the launcher may take to answer once it has connected.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of arguments and environment that the launcher accepts: more than the kernel does (execve(2)).
const MOST_BYTES: usize = 16 << 20;

/// The socket's name in its folder.
const SOCKET: &str = "launch.socket";

/// A socket at which the debugger waits for a launcher. Dropping it removes its directory.
#[derive(Debug)]
pub struct Rendezvous {
    folder: PrivateFolder,
    listener: UnixListener,
    program: PathBuf,
    fields: Vec<Vec<u8>>,
    options: LaunchOptions,
}

/// A launcher that is ready to become the program, or to run it as a child.
#[derive(Debug)]
pub struct Launcher {
    /// The launcher's process id, which will be the program's if the launcher becomes it.
    pub process: i32,
    /// The connection to it.
    pub socket: UnixStream,
    /// The program that it becomes or runs.
    pub program: PathBuf,
}

impl Rendezvous {
    /// Opens a socket for the launch of a program.
    ///
    /// # Errors
    /// The program can't be launched, or the socket can't be created.
    pub fn open(options: LaunchOptions) -> Result<Rendezvous, Error> {
        let program = check::debuggee(&options)?;
        let failed = |e: io::Error| Error::Launch {
            program: options.program.clone(),
            reason: format!("no place to meet its launcher: {e}"),
        };
        let folder = PrivateFolder::new().map_err(failed)?;
        let listener = UnixListener::bind(folder.path().join(SOCKET)).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(failed)?;
        Ok(Rendezvous {
            folder,
            listener,
            fields: fields(&program, &options),
            program,
            options,
        })
    }

    /// The socket's path, which is the launcher's argument.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// A command that runs `launcher` with the socket's path. Terminals display the command that they are given, so it is short, however long
    /// the words of `launcher` are: `sh` with a script. `sh` reads the script, because its file system may forbid execution.
    ///
    /// # Errors
    /// The script can't be written.
    pub fn short_command(&self, launcher: &[String]) -> Result<Vec<OsString>, Error> {
        // The terminal displays the script's name, so the script is named like the program.
        let name = self.options.program.file_name().and_then(OsStr::to_str);
        let name = name.filter(|name| *name != SOCKET);
        let script = self.folder.path().join(name.unwrap_or("run"));
        let socket = self.path();
        let words = launcher.iter().map(OsStr::new);
        let mut text = b"exec".to_vec();
        for word in words.chain([socket.as_os_str()]) {
            text.push(b' ');
            push_quoted(&mut text, word);
        }
        text.push(b'\n');
        std::fs::write(&script, text).map_err(|error| Error::Launch {
            program: self.options.program.clone(),
            reason: format!("no script for its launcher: {error}"),
        })?;
        Ok(vec!["sh".into(), script.into()])
    }

    /// Waits until the launcher has connected, and then, for ten seconds at most, until it is ready. Returns the launcher, and the options that were given to [`Rendezvous::open`].
    /// Until the launcher has connected, `pause` is called between two checks: it lets the given time pass, or returns why the wait is cancelled.
    ///
    /// # Errors
    /// The reason from `pause`, or what went wrong.
    pub fn wait(
        self,
        mut pause: impl FnMut(Duration) -> Result<(), String>,
    ) -> Result<(LaunchOptions, Launcher), String> {
        let failed = |e: io::Error| format!("the program's launcher failed: {e}");
        let (mut socket, process) = loop {
            match self.listener.accept() {
                Ok((socket, _)) => match launcher::peer(&socket) {
                    Ok(peer) if peer.user == launcher::own_user() => break (socket, peer.process),
                    _ => {}
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => pause(TICK)?,
                Err(error) => return Err(failed(error)),
            }
        };
        socket.set_nonblocking(false).map_err(failed)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        write_fields(&mut socket, &self.fields).map_err(failed)?;
        let mut ready = [0];
        socket.read_exact(&mut ready).map_err(failed)?;
        let launcher = Launcher {
            process,
            socket,
            program: self.program.clone(),
        };
        Ok((self.options.clone(), launcher))
    }
}

impl Launcher {
    /// Makes the launcher start the program as a child, and returns the program's process id. The program's wait status arrives through the
    /// socket when it has ended.
    ///
    /// # Errors
    /// Why it can't be started.
    pub fn start_beside(&self) -> Result<ThreadId, String> {
        let failed = |e: io::Error| format!("its launcher failed: {e}");
        let mut socket = &self.socket;
        socket.write_all(&[BESIDE]).map_err(failed)?;
        let mut answer = [0];
        socket.read_exact(&mut answer).map_err(failed)?;
        if answer == [STARTED] {
            let mut process = [0; 4];
            socket.read_exact(&mut process).map_err(failed)?;
            // From here on the launcher is silent for as long as the program runs.
            socket.set_read_timeout(None).map_err(failed)?;
            return Ok(ThreadId(i32::from_le_bytes(process)));
        }
        let mut why = String::new();
        socket.read_to_string(&mut why).map_err(failed)?;
        Err(why)
    }
}

/// Appends a word, quoted so that `sh` takes it literally.
fn push_quoted(text: &mut Vec<u8>, word: &OsStr) {
    text.push(b'\'');
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend(br"'\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
}

/// The launcher's work: connects to the debugger at `socket`, then becomes the program, or runs it as a child and returns its exit code.
///
/// # Errors
/// Why the program can't be run.
pub fn run(socket: &Path) -> Result<u8, String> {
    let failed = |e: io::Error| format!("the debugger can't be reached: {e}");
    let mut socket = UnixStream::connect(socket).map_err(failed)?;
    let peer = launcher::peer(&socket).map_err(failed)?;
    if peer.user != launcher::own_user() {
        return Err("another user's debugger waits there".into());
    }
    launcher::allow_tracing_by(peer.process);
    let fields = read_fields(&mut socket).map_err(failed)?;
    socket.write_all(&[1]).map_err(failed)?;
    let mut how = [0];
    if socket.read_exact(&mut how).is_err() {
        return Err("the debugger has gone away".into());
    }
    let mut command = command(fields).ok_or("the debugger sent too little")?;
    if how == [BESIDE] {
        return stay_beside(command, socket);
    }
    let error = refused(&command.exec());
    let _ = socket.write_all(error.as_bytes());
    Err(error)
}

fn refused(error: &io::Error) -> String {
    format!("the system refuses to run it: {error}")
}

/// Runs the program as a child, reports its wait status to the debugger, and returns the exit code for the launcher: the program's, or 128
/// and the number of the signal that killed it. Kills the program if the debugger ends first without having sent [`LET_GO`].
fn stay_beside(mut command: Command, mut socket: UnixStream) -> Result<u8, String> {
    let failed = |e: io::Error| format!("the program can't be waited for: {e}");
    untraced::end_with_parent(&mut command);
    untraced::leave_keys_to_program();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let error = refused(&error);
            let _ = socket.write_all(&[&[NOT_STARTED], error.as_bytes()].concat());
            return Err(error);
        }
    };
    let handle = Handle::of(ThreadId(child.id().cast_signed())).map_err(failed)?;
    let mut debugger = socket.try_clone().map_err(failed)?;
    let watch = move || {
        let mut word = [0];
        if debugger.read_exact(&mut word).is_err() || word != [LET_GO] {
            // The debugger has ended. If the program has ended, too, the handle refuses the signal.
            let _ = handle.signal(libc::SIGKILL);
        }
    };
    // If the write fails because the debugger has ended, the thread below notices.
    let _ = socket.write_all(&[&[STARTED][..], &child.id().to_le_bytes()].concat());
    let watching = std::thread::Builder::new().name("debugger".into());
    watching.spawn(watch).map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    let _ = socket.write_all(&status.into_raw().to_le_bytes());
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The command to run, from what [`fields`] has made; `None` if there are too few fields. Turns off address-space randomisation for it if
/// the fields say so.
fn command(fields: Vec<Vec<u8>>) -> Option<Command> {
    let mut fields = fields.into_iter().map(OsString::from_vec);
    let (program, name, cwd) = (fields.next()?, fields.next()?, fields.next()?);
    let (fixed, count) = (fields.next()?, fields.next()?);
    let count = count.to_str().and_then(|count| count.parse().ok());
    let mut command = Command::new(&program);
    command.arg0(name);
    command.args(fields.by_ref().take(count.unwrap_or(0)));
    for variable in fields {
        let bytes = variable.as_bytes();
        match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => command.env(
                OsString::from_vec(bytes[..at].to_vec()),
                OsString::from_vec(bytes[at + 1..].to_vec()),
            ),
            None => command.env_remove(&variable),
        };
    }
    if !cwd.is_empty() {
        command.current_dir(cwd);
    }
    if fixed == "1" {
        launcher::fix_addresses();
    }
    Some(command)
}

fn fields(program: &Path, options: &LaunchOptions) -> Vec<Vec<u8>> {
    let text = |text: &OsStr| text.as_bytes().to_vec();
    let cwd = options.cwd.as_ref().map(|cwd| text(cwd.as_os_str()));
    let mut fields = vec![
        text(program.as_os_str()),
        text(options.program.as_os_str()),
        cwd.unwrap_or_default(),
        vec![if options.randomize { b'0' } else { b'1' }],
        options.args.len().to_string().into_bytes(),
    ];
    fields.extend(options.args.iter().map(|argument| text(argument)));
    for (name, value) in &options.env {
        let mut variable = text(name);
        if let Some(value) = value {
            variable.push(b'=');
            variable.extend(value.as_bytes());
        }
        fields.push(variable);
    }
    fields
}

fn write_fields(socket: &mut UnixStream, fields: &[Vec<u8>]) -> io::Result<()> {
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = length(fields.len()).to_vec();
    for field in fields {
        bytes.extend(length(field.len()));
        bytes.extend(field);
    }
    socket.write_all(&bytes)
}

fn read_fields(socket: &mut UnixStream) -> io::Result<Vec<Vec<u8>>> {
    let mut left = MOST_BYTES;
    let mut length = |socket: &mut UnixStream| -> io::Result<usize> {
        let mut bytes = [0; 4];
        socket.read_exact(&mut bytes)?;
        let length = u32::from_le_bytes(bytes) as usize;
        left = left
            .checked_sub(length)
            .ok_or_else(|| io::Error::other("the arguments are too long"))?;
        Ok(length)
    };
    let count = length(socket)?;
    let mut fields = Vec::new();
    for _ in 0..count {
        let mut field = vec![0; length(socket)?];
        socket.read_exact(&mut field)?;
        fields.push(field);
    }
    Ok(fields)
}
