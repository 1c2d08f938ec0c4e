//! The standard streams of a program to be launched: pipes to the debugger, files, or a new pseudoterminal.

use crate::Error;
use crate::launch::{LaunchOption, LaunchOptions, Sink, Stdin};
use crate::linux::input::InputEnd;
use crate::stream::Stream;
use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The program's ends of its streams, and the debugger's.
#[derive(Debug)]
pub struct Streams {
    /// Its standard input; `None` means the debugger's.
    pub stdin: Option<OwnedFd>,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
    /// Its terminal, if it gets one.
    pub terminal: Option<OwnedFd>,
    read: Vec<(Stream, OwnedFd)>,
    written: Option<InputEnd>,
}

fn null() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/null")
}

/// An empty input: `/dev/null`, or, in a root file system without devices, a pipe without a writer.
fn nothing() -> io::Result<OwnedFd> {
    match null() {
        Ok(null) => Ok(null.into()),
        Err(_) => Ok(io::pipe()?.0.into()),
    }
}

/// The program's ends, as in [`Streams`].
#[derive(Debug)]
pub struct Ends {
    /// Its standard input; `None` means the debugger's.
    pub stdin: Option<OwnedFd>,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
    /// Its terminal, if it gets one.
    pub terminal: Option<OwnedFd>,
}

/// The error of a stream that the debugger can't make: `what` failed.
fn failed(options: &LaunchOptions, what: &'static str) -> impl Fn(io::Error) -> Error {
    move |e| Error::Launch {
        program: options.program.clone(),
        reason: format!("{what}: {e}"),
    }
}

/// The error of a file that an option names.
fn unusable(option: LaunchOption, path: &Path) -> impl Fn(io::Error) -> Error {
    move |e| Error::LaunchOption {
        option,
        path: path.to_owned(),
        reason: e.to_string(),
    }
}

/// Opens the program's standard input; `Ok(None)` means the debugger's. If the input is a new pipe from the debugger, sets `written` to the
/// end that the debugger writes to.
fn open_input(
    options: &LaunchOptions,
    terminal: Option<&OwnedFd>,
    written: &mut Option<InputEnd>,
) -> Result<Option<OwnedFd>, Error> {
    Ok(Some(match (&options.stdin, terminal) {
        (Stdin::Inherit, _) => return Ok(None),
        (Stdin::File(path), _) => {
            let path = from_its_directory(options, path);
            let file = match path.is_dir() {
                true => Err(io::ErrorKind::IsADirectory.into()),
                false => open_waiting_for_nobody(OpenOptions::new().read(true), 0, &path),
            };
            file.map_err(unusable(LaunchOption::Stdin, &path))?.into()
        }
        (_, Some(terminal)) => terminal
            .try_clone()
            .map_err(failed(options, "its terminal"))?,
        (Stdin::Null, None) => nothing().map_err(failed(options, "/dev/null"))?,
        (Stdin::Sent, None) => {
            let (reader, writer) = io::pipe().map_err(failed(options, "no pipe for its input"))?;
            *written = Some(InputEnd::Pipe(writer.into()));
            reader.into()
        }
    }))
}

impl Streams {
    /// Opens the streams that the options name. Relative paths are resolved from the program's working directory.
    pub fn open(options: &LaunchOptions) -> Result<Streams, Error> {
        let mut read = Vec::new();
        let mut written = None;
        let terminal = match options.terminal {
            true => {
                let (ours, its) =
                    open_terminal().map_err(failed(options, "it can't get a terminal"))?;
                let copy = ours.try_clone().map_err(failed(options, "its terminal"))?;
                read.push((Stream::Stdout, ours));
                written = Some(InputEnd::Terminal(copy));
                Some(its)
            }
            false => None,
        };
        let stdin = open_input(options, terminal.as_ref(), &mut written)?;
        // If both outputs go to the same file, each stream appends to what the other has written.
        let shared = match (&options.stdout, &options.stderr) {
            (Sink::File { path: out, .. }, Sink::File { path: err, .. }) => out == err,
            _ => false,
        };
        let mut sink = |option, stream, sink: &Sink| -> Result<OwnedFd, Error> {
            Ok(match (sink, &terminal) {
                (Sink::Null, _) => null().map_err(failed(options, "/dev/null"))?.into(),
                (Sink::Inherit, _) => {
                    let own = match stream {
                        Stream::Stdout => io::stdout().as_fd().try_clone_to_owned(),
                        Stream::Stderr => io::stderr().as_fd().try_clone_to_owned(),
                    };
                    own.map_err(failed(options, "the debugger's own output"))?
                }
                (Sink::File { path, append }, _) => {
                    let path = from_its_directory(options, path);
                    let append = *append || shared && stream == Stream::Stderr;
                    let file = open_output(&path, append, shared);
                    file.map_err(unusable(option, &path))?.into()
                }
                (Sink::Events, Some(terminal)) => terminal
                    .try_clone()
                    .map_err(failed(options, "its terminal"))?,
                (Sink::Events, None) => {
                    let (reader, writer) =
                        io::pipe().map_err(failed(options, "no pipe for its output"))?;
                    read.push((stream, reader.into()));
                    writer.into()
                }
            })
        };
        Ok(Streams {
            stdin,
            stdout: sink(LaunchOption::Stdout, Stream::Stdout, &options.stdout)?,
            stderr: sink(LaunchOption::Stderr, Stream::Stderr, &options.stderr)?,
            terminal,
            read,
            written,
        })
    }

    /// Returns the debugger's ends, and closes the program's.
    pub fn keep(self) -> (Vec<(Stream, OwnedFd)>, Option<InputEnd>) {
        (self.read, self.written)
    }

    /// Returns the program's ends and the debugger's.
    pub fn apart(self) -> (Ends, Vec<(Stream, OwnedFd)>, Option<InputEnd>) {
        let ends = Ends {
            stdin: self.stdin,
            stdout: self.stdout,
            stderr: self.stderr,
            terminal: self.terminal,
        };
        (ends, self.read, self.written)
    }
}

/// Opens a file for output, to append to it or to replace its contents. `shared`: another stream writes to it, too, and neither may
/// overwrite the other.
fn open_output(path: &Path, append: bool, shared: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o666);
    options.append(append || shared);
    // The standard library refuses `truncate` together with `append`.
    let flags = match append {
        true => 0,
        false => libc::O_TRUNC,
    };
    open_waiting_for_nobody(&mut options, flags, path)
}

/// Opens a file without waiting for the other end of a named pipe. Without a writer, reading yields the end of input; without a reader,
/// opening for output fails.
fn open_waiting_for_nobody(options: &mut OpenOptions, flags: i32, path: &Path) -> io::Result<File> {
    // A terminal must not become the debugger's controlling terminal.
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = options.custom_flags(flags).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::other("no process reads this named pipe"),
        _ => error,
    })?;
    // The program's reads and writes must block.
    let opened = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, opened - rustix::fs::OFlags::NONBLOCK)?;
    Ok(file)
}

fn from_its_directory(options: &LaunchOptions, path: &Path) -> PathBuf {
    match &options.cwd {
        Some(cwd) => cwd.join(path),
        None => path.to_owned(),
    }
}

/// Opens a pseudoterminal and returns the debugger's end and the program's. It doesn't echo input and doesn't translate line ends in output,
/// since no user types there.
fn open_terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let check = |result: i32| match result {
        -1 => Err(io::Error::last_os_error()),
        other => Ok(other),
    };
    // SAFETY: system calls on a descriptor that is owned from the start; the name is written into an array of the given length, and the
    // settings into an initialised structure.
    unsafe {
        let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
        let ours = OwnedFd::from_raw_fd(check(libc::posix_openpt(flags))?);
        check(libc::grantpt(ours.as_raw_fd()))?;
        check(libc::unlockpt(ours.as_raw_fd()))?;
        let mut name: [libc::c_char; 128] = [0; 128];
        let error = libc::ptsname_r(ours.as_raw_fd(), name.as_mut_ptr(), name.len());
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let name = CStr::from_ptr(name.as_ptr()).to_bytes();
        let its = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOCTTY)
            .open(Path::new(std::ffi::OsStr::from_bytes(name)))?;
        let mut settings: libc::termios = std::mem::zeroed();
        check(libc::tcgetattr(its.as_raw_fd(), &mut settings))?;
        settings.c_lflag &= !libc::ECHO;
        settings.c_oflag &= !libc::OPOST;
        check(libc::tcsetattr(its.as_raw_fd(), libc::TCSANOW, &settings))?;
        // Programs that lay out text fail on a terminal without a size.
        let size = libc::winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        check(libc::ioctl(its.as_raw_fd(), libc::TIOCSWINSZ, &size))?;
        Ok((ours, its.into()))
    }
}
