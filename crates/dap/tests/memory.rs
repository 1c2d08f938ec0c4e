//! The memory that bad input costs: the peak of an adapter's process, which this program starts as its own child.
//!
//! It has no test harness, since the child uses its standard output for the protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use dapple_dap::types::*;
use dapple_dap::{Connection, Server};

/// The argument that makes this program the adapter.
const ADAPTER: &str = "serve-on-stdio";

const MIB: usize = 1 << 20;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == ADAPTER) {
        adapter().start(&Connection::stdio()).run(&mut ());
        eprint!("{}", peak());
        return ExitCode::SUCCESS;
    }
    let base = Adapter::start().peak();
    println!("an adapter that was initialized: {} KiB", base >> 10);
    let mut failed = false;
    for (name, bound, case) in CASES {
        let mut adapter = Adapter::start();
        case(&mut adapter);
        let more = adapter.peak().saturating_sub(base);
        let outcome = if more <= bound { "ok" } else { "TOO MUCH" };
        println!(
            "{name}: {} KiB more, at most {} ... {outcome}",
            more >> 10,
            bound >> 10
        );
        failed |= more > bound;
    }
    ExitCode::from(u8::from(failed))
}

fn adapter() -> Server<()> {
    Server::builder()
        .on::<ThreadsRequest>(|_, _, _| {
            Ok(ThreadsResponse::new(vec![Thread::new(1, "x".repeat(1000))]))
        })
        .build()
}

/// Sends a case's input to an adapter.
type Case = fn(&mut Adapter);

/// The name, how many bytes more than an idle adapter it may use, and the input.
const CASES: [(&str, usize, Case); 8] = [
    ("a claim of 10 GB, and 200 MB of it", 4 * MIB, |adapter| {
        adapter.write(b"Content-Length: 10000000000\r\n\r\n");
        let piece = vec![b'x'; MIB];
        // The adapter closes the connection at the header, so writing may fail.
        for _ in 0..200 {
            if adapter.input.write_all(&piece).is_err() {
                break;
            }
        }
    }),
    ("200 MB of headers that do not end", 4 * MIB, |adapter| {
        let piece = vec![b'x'; MIB];
        for _ in 0..200 {
            if adapter.input.write_all(&piece).is_err() {
                break;
            }
        }
    }),
    (
        "100,000 short lines that are no headers",
        8 * MIB,
        |adapter| {
            let lines = "nothing\n".repeat(1000);
            for seq in 2..102 {
                adapter.write(lines.as_bytes());
                adapter.threads(seq);
            }
        },
    ),
    ("nesting 100,000 deep", 8 * MIB, |adapter| {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        adapter.request(2, "threads", &deep);
        adapter.read();
    }),
    (
        "a message of the longest length allowed",
        256 * MIB,
        |adapter| {
            let text = " ".repeat((64 << 20) - 200);
            adapter.request(2, "threads", &format!("{{{text}}}"));
            adapter.read();
        },
    ),
    (
        "20,000 cancellations of what never comes",
        8 * MIB,
        |adapter| {
            for seq in 2..20_002 {
                adapter.request(
                    seq,
                    "cancel",
                    &format!(r#"{{"requestId":{}}}"#, seq + 1_000_000),
                );
                adapter.read();
            }
        },
    ),
    ("a client that stops reading", 100 * MIB, |adapter| {
        adapter.flood(|seq| request(seq, "threads", "{}"));
    }),
    ("one that sends long requests then", 220 * MIB, |adapter| {
        // Each response repeats the long command, so the queue is soon full.
        let long = "x".repeat(MIB);
        adapter.flood(move |seq| request(seq, &long, "{}"));
    }),
];

/// An adapter in a process of its own.
struct Adapter {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Adapter {
    /// Starts an adapter and initializes it.
    fn start() -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let mut process = Command::new(program)
            .arg(ADAPTER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this program starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut adapter = Self {
            process,
            input,
            output,
        };
        adapter.request(1, "initialize", r#"{"adapterID":"x"}"#);
        adapter.read();
        adapter
    }

    fn write(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).expect("it reads");
    }

    fn request(&mut self, seq: usize, command: &str, arguments: &str) {
        let bytes = request(seq, command, arguments);
        self.write(&bytes);
    }

    /// Reads one message.
    fn read(&mut self) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        let length = line
            .trim()
            .rsplit(' ')
            .next()
            .and_then(|text| text.parse().ok());
        let length: usize = length.unwrap_or_else(|| panic!("no header: {line:?}"));
        self.output
            .read_exact(&mut vec![0; length + 2])
            .expect("it writes a whole message");
    }

    /// Sends `threads` and reads the response.
    fn threads(&mut self, seq: usize) {
        self.request(seq, "threads", "{}");
        self.read();
    }

    /// Sends requests without reading responses, until the adapter reads no more.
    fn flood(&mut self, request: impl Fn(usize) -> Vec<u8> + Send + 'static) {
        let mut input = std::os::fd::AsFd::as_fd(&self.input)
            .try_clone_to_owned()
            .map(std::fs::File::from)
            .expect("a pipe");
        let (progress, sent) = mpsc::channel();
        std::thread::spawn(move || {
            for seq in 2..1_000_000 {
                if input.write_all(&request(seq)).is_err() || progress.send(()).is_err() {
                    return;
                }
            }
        });
        let mut count = 0;
        while sent.recv_timeout(Duration::from_millis(1000)).is_ok() {
            count += 1;
        }
        assert!(count < 900_000, "all was taken, though nobody read");
    }

    /// Ends the adapter and returns its peak resident memory in bytes.
    fn peak(self) -> usize {
        let Self {
            mut process,
            input,
            output,
        } = self;
        // The output first: the adapter may be waiting for it to be read.
        drop((output, input));
        let mut text = String::new();
        let errors = process.stderr.as_mut().expect("a pipe");
        errors.read_to_string(&mut text).expect("it ends");
        process.wait().expect("it is our child");
        text.parse()
            .unwrap_or_else(|_| panic!("it wrote no number: {text:?}"))
    }
}

/// The peak resident memory of this process in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok());
    kib.unwrap_or_else(|| panic!("no peak in {status}")) << 10
}

fn request(seq: usize, command: &str, arguments: &str) -> Vec<u8> {
    let json = format!(
        r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{arguments}}}"#
    );
    format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes()
}
