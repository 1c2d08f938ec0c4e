//! Programs for real stubs: compiled here, with the addresses of their symbols, and the stubs' processes.

use dapple_gdb_remote::Connection;
use dapple_gdb_remote::client::Client;
use dapple_gdb_remote::connection::after;
use dapple_gdb_remote::stop_reply::{Stop, StopReply};
use object::{Object, ObjectSymbol};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Much longer than anything takes.
pub const LONG: Duration = Duration::from_secs(60);

/// The entry of the auxiliary vector with the program's first instruction (`AT_ENTRY`).
const AT_ENTRY: u64 = 9;

/// A program that counts in steps that a debugger can watch.
pub const COUNTS: &str = "volatile int counter; volatile int other;\n\
    __attribute__((noinline)) void count(void) { counter = counter + 1; }\n\
    int main(int argc, char **argv) { other = argc; count(); count(); return 3; }\n";

/// A program of four threads, which all come to `meet`.
pub const THREADS: &str = "#include <pthread.h>\n\
    static pthread_barrier_t barrier;\n\
    __attribute__((noinline)) void meet(void) { __asm__ volatile(\"\"); }\n\
    static void *run(void *it) { pthread_barrier_wait(&barrier); pthread_barrier_wait(&barrier); return it; }\n\
    int main(void) { pthread_t threads[3]; pthread_barrier_init(&barrier, 0, 4);\n\
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, run, 0);\n\
    pthread_barrier_wait(&barrier); meet(); pthread_barrier_wait(&barrier);\n\
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0); return 0; }\n";

/// A program that runs until it is interrupted.
pub const ENDLESS: &str = "volatile long counter; int main(void) { for (;;) counter++; }\n";

/// A compiled program.
pub struct Program {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
    bytes: Vec<u8>,
}

impl Program {
    pub fn compile(source: &str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program.c");
        let path = folder.path().join("program");
        std::fs::write(&file, source).unwrap();
        let compiler = Command::new("gcc")
            .args(["-g", "-O1", "-pthread", "-o"])
            .args([&path, &file])
            .output()
            .unwrap();
        assert!(
            compiler.status.success(),
            "{}",
            String::from_utf8_lossy(&compiler.stderr)
        );
        let bytes = std::fs::read(&path).unwrap();
        Program {
            _folder: folder,
            path,
            bytes,
        }
    }

    fn file(&self) -> object::File<'_> {
        object::File::parse(&*self.bytes).unwrap()
    }

    /// A symbol's address in the process: that of the file, moved as the first instruction is.
    pub fn address(&self, symbol: &str, client: &mut Client) -> u64 {
        let file = self.file();
        let found = file.symbols().find(|it| it.name() == Ok(symbol)).unwrap();
        let auxv = client.auxv().unwrap().unwrap();
        let bias = entry_of(&auxv).wrapping_sub(file.entry());
        found.address().wrapping_add(bias)
    }
}

fn entry_of(auxv: &[u8]) -> u64 {
    let word = |at: usize| u64::from_le_bytes(auxv[at..at + 8].try_into().unwrap());
    let pairs = (0..auxv.len() / 16).map(|i| (word(16 * i), word(16 * i + 8)));
    pairs.into_iter().find(|it| it.0 == AT_ENTRY).unwrap().1
}

/// The program of a stub: what the variable names, or the first of some on the system. `None`, with a line that says so, if there is none and the variable
/// isn't set.
pub fn stub_program(variable: &str, names: &[&str], argument: &str) -> Option<OsString> {
    let runs = |program: &std::ffi::OsStr| {
        Command::new(program)
            .arg(argument)
            .stdin(Stdio::null())
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if let Some(program) = std::env::var_os(variable) {
        assert!(runs(&program), "{variable} names {program:?}, which fails");
        return Some(program);
    }
    let found = names.iter().map(OsString::from).find(|it| runs(it));
    if found.is_none() {
        println!("skipped: there is no {}; {variable} may name it", names[0]);
    }
    found
}

/// A stub's process, which is killed when this is dropped. Drop the client first, by declaring it later.
pub struct StubProcess(pub Child);

impl Drop for StubProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a stub, and reads its standard error up to a line with `mark`, which is given back. What follows is read and dropped.
pub fn start_until(command: &mut Command, mark: &str) -> (StubProcess, String) {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut process = StubProcess(child);
    let mut lines = BufReader::new(process.0.stderr.take().unwrap()).lines();
    let line = lines
        .by_ref()
        .map_while(Result::ok)
        .find(|line| line.contains(mark))
        .unwrap_or_else(|| panic!("the stub did not write {mark}"));
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
    (process, line)
}

/// Begins a session over a connection, with a long time for answers: other tests keep the machine busy.
pub fn client(connection: Connection) -> Client {
    Client::start_with(connection, LONG).unwrap()
}

/// Waits for a stop; passes over output.
pub fn stop(client: &mut Client) -> Stop {
    match end(client) {
        StopReply::Stopped(stop) => stop,
        other => panic!("no stop: {other:?}"),
    }
}

/// Waits for a stop or an end; passes over output.
pub fn end(client: &mut Client) -> StopReply {
    loop {
        match client.wait(after(LONG)).unwrap() {
            StopReply::Output(_) => {}
            reply => return reply,
        }
    }
}

/// The value of a register of the thread that is chosen, as a number.
pub fn register(client: &mut Client, name: &str) -> u64 {
    let description = client.description().unwrap().unwrap();
    let register = description.register(name).unwrap();
    let all = client.read_registers().unwrap();
    let bytes = register.value_in(&all).unwrap();
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Four bytes of memory as a number.
pub fn word(client: &mut Client, address: u64) -> u32 {
    let mut bytes = [0; 4];
    assert_eq!(client.read_memory(address, &mut bytes).unwrap(), 4);
    u32::from_le_bytes(bytes)
}

/// The last part of a path.
pub fn last_part(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path).into_owned();
    let name = Path::new(&text).file_name().unwrap();
    name.to_string_lossy().into_owned()
}
