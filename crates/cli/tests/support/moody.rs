//! An adapter for tests of its client: Dapple's, with messages that don't arrive or arrive changed.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

const DAPPLE: &str = env!("CARGO_BIN_EXE_dapple");

/// How an adapter behaves in one session.
#[derive(Debug, Clone, Copy)]
pub enum Mood {
    /// As Dapple's.
    Well,
    /// It gets no request of this name.
    Deaf(&'static str),
    /// It closes the connection when it gets a request of this name.
    Leaves(&'static str),
    /// It doesn't say that it has this capability.
    Without(&'static str),
    /// In what it says, these texts are replaced.
    Says(&'static [(&'static str, &'static str)]),
    /// It debugs nothing, and asks for another session, in which it does.
    Relays,
}

/// Listens for clients, and serves each as the next mood says. Returns the address, and what tells of each request that was not served.
pub fn moody(moods: &[Mood]) -> (String, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let address = listener.local_addr().expect("its address").to_string();
    let (sender, unserved) = mpsc::channel();
    let moods = moods.to_vec();
    thread::spawn(move || {
        for mood in moods {
            let (client, _) = listener.accept().expect("the client connects");
            let sender = sender.clone();
            thread::spawn(move || match mood {
                Mood::Relays => drop(relay(client)),
                mood => serve(client, mood, &sender),
            });
        }
    });
    (address, unserved)
}

fn serve(client: TcpStream, mood: Mood, unserved: &Sender<String>) {
    let mut adapter = Command::new(DAPPLE)
        .arg("dap")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Whoever reads the tests' own output isn't to wait for it.
        .stderr(Stdio::null())
        .spawn()
        .expect("the adapter starts");
    let mut to_adapter = adapter.stdin.take().expect("a pipe");
    let mut from_adapter = BufReader::new(adapter.stdout.take().expect("a pipe"));
    let mut to_client = client.try_clone().expect("a second handle");
    thread::spawn(move || {
        while let Some(mut text) = message(&mut from_adapter) {
            if let Mood::Without(capability) = mood {
                text = text.replace(&format!("\"{capability}\":true"), "\"unknown\":true");
            }
            if let Mood::Says(changes) = mood {
                for (from, to) in changes {
                    text = text.replace(from, to);
                }
            }
            if send(&mut to_client, &text).is_none() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
    });
    let mut from_client = BufReader::new(client);
    while let Some(message) = message(&mut from_client) {
        let is = |name: &str| message.contains(&format!("\"command\":\"{name}\""));
        match mood {
            Mood::Deaf(name) if is(name) => {
                // The test may be over.
                let _ = unserved.send(name.to_owned());
                continue;
            }
            Mood::Leaves(name) if is(name) => {
                let _ = from_client.get_ref().shutdown(Shutdown::Both);
                break;
            }
            _ => {}
        }
        if send(&mut to_adapter, &message).is_none() {
            break;
        }
    }
    drop(to_adapter);
    let _ = adapter.wait();
}

fn send(to: &mut impl Write, message: &str) -> Option<()> {
    let text = format!("Content-Length: {}\r\n\r\n{message}", message.len());
    to.write_all(text.as_bytes()).ok()
}

fn message(from: &mut impl BufRead) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(number) = line.strip_prefix("Content-Length: ") {
            length = number.trim().parse().ok()?;
        } else if line == "\r\n" {
            let mut bytes = vec![0; length];
            from.read_exact(&mut bytes).ok()?;
            return String::from_utf8(bytes).ok();
        }
    }
}

/// The first session of an adapter that debugs only in others, as js-debug: it takes all requests, and asks for the other session when the program is
/// to run.
fn relay(client: TcpStream) -> Option<()> {
    let mut to_client = client.try_clone().ok()?;
    let mut from_client = BufReader::new(client);
    let mut launch = String::new();
    while let Some(request) = message(&mut from_client) {
        let request: serde_json::Value = serde_json::from_str(&request).ok()?;
        let (seq, command) = (&request["seq"], request["command"].as_str()?);
        let body = match command {
            "initialize" => r#"{"supportsConfigurationDoneRequest":true}"#,
            "setBreakpoints" => {
                r#"{"breakpoints":[{"verified":false,"message":"breakpoint.provisionalBreakpoint"}]}"#
            }
            "threads" => r#"{"threads":[]}"#,
            _ => "{}",
        };
        let answer = format!(
            r#"{{"seq":0,"type":"response","request_seq":{seq},"success":true,"command":"{command}","body":{body}}}"#
        );
        send(&mut to_client, &answer)?;
        match command {
            "launch" => {
                launch = request["arguments"].to_string();
                send(
                    &mut to_client,
                    r#"{"seq":0,"type":"event","event":"initialized"}"#,
                )?;
            }
            "configurationDone" => {
                let asks = format!(
                    r#"{{"seq":1,"type":"request","command":"startDebugging","arguments":{{"request":"launch","configuration":{launch}}}}}"#
                );
                send(&mut to_client, &asks)?;
            }
            "disconnect" => break,
            _ => {}
        }
    }
    Some(())
}
