//! `dapple dap --on PLACE`: what a client says is passed on to a debug adapter at that place, and what that says to the client.
//!
//! The messages aren't changed. A client whose adapter can't be reached is told why, as the failure of each of its requests; one that loses it
//! is told by an `output` event and `terminated`. The far adapter ends when its input does, as any adapter: so nothing is left behind there if
//! this process or the connection is killed.

use std::convert::Infallible;
use std::io::{self, IsTerminal, Read, Write};
use std::process::{ChildStdin, ExitCode};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, after, bounded, never, select};
use dapple_dap::codec::{self, Decoder};
use serde_json::{Value, json};

use super::SignalEnd;
use super::binary::Parcel;
use super::place::Place;
use super::reach::{End, Reached, Stops, Wanted, reach};

/// How long the other side may take to end once its input has. It may have to write a recording, or to detach.
const ENDING: Duration = Duration::from_secs(20);
/// How long the rest of its output may take once it has ended.
const REST: Duration = Duration::from_secs(1);
/// How long a client may ask on after it was told that there is no adapter.
const REFUSING: Duration = Duration::from_secs(2);
/// How many pieces of the client's input are read ahead.
const AHEAD: usize = 16;

/// The input of this process, in pieces. Its `Stops` tell when it ends.
pub struct Input {
    /// The pieces.
    pub pieces: Receiver<Vec<u8>>,
    /// What ends a wait.
    pub stops: Stops,
    _signal: SignalEnd,
}

impl Input {
    /// Reads this process's standard input on a thread of its own.
    ///
    /// # Errors
    /// There are no threads or signals to be had.
    pub fn read() -> anyhow::Result<Input> {
        let (sender, pieces) = bounded(AHEAD);
        let (ended, client) = bounded::<Infallible>(0);
        let read = move || {
            let (mut input, mut buffer) = (io::stdin().lock(), vec![0; 1 << 16]);
            loop {
                match input.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) if sender.send(buffer[..count].to_vec()).is_err() => break,
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            drop(ended);
        };
        let thread = thread::Builder::new().name("input".to_owned()).spawn(read);
        thread.context("can't start a thread")?;
        let signal = SignalEnd::new()?;
        let stops = Stops {
            client,
            signal: signal.received.clone(),
        };
        Ok(Input {
            pieces,
            stops,
            _signal: signal,
        })
    }
}

/// Serves the client on stdio until either side ends.
///
/// # Errors
/// The adapter can't be reached or was lost, and no client was told so.
pub fn run(place: &Place, parcel: anyhow::Result<Parcel>) -> anyhow::Result<ExitCode> {
    let input = Input::read()?;
    let words = ["dap", "--far"].map(str::to_owned);
    let asks = super::asks_elsewhere();
    let reached =
        parcel.and_then(|parcel| reach(place, Wanted::Run(&words), parcel, asks, &input.stops));
    let reached = match reached {
        Ok(reached) => reached,
        Err(error) => return refuse(&input, error),
    };
    reached.way.pass_on_messages();
    let messages = Messages::default();
    let followed = messages.clone();
    let end = pass(reached, &input, move |bytes| followed.follow(bytes));
    let Some(why) = end.failure else {
        return Ok(ExitCode::SUCCESS);
    };
    let why = format!("the debug adapter on {place} is gone: {why}");
    match messages.tell_loss(&why) {
        true => Ok(ExitCode::FAILURE),
        false => bail!(why),
    }
}

/// Passes bytes in both directions until either side ends, and ends the other one. `seen` gets what comes from there.
pub fn pass(reached: Reached, input: &Input, seen: impl FnMut(&[u8]) + Send + 'static) -> End {
    let Reached {
        way,
        input: there,
        output,
        ..
    } = reached;
    let (pieces, signal) = (input.pieces.clone(), input.stops.signal.clone());
    thread::spawn(move || pass_input(&pieces, &signal, there));
    let (ended, end) = bounded::<Infallible>(0);
    thread::spawn(move || {
        pass_output(output, seen);
        drop(ended);
    });
    let is_asked_for = select! {
        recv(end) -> _ => false,
        recv(input.stops.client) -> _ => true,
        recv(input.stops.signal) -> _ => true,
    };
    if is_asked_for {
        select! {
            recv(end) -> _ => {}
            recv(after(ENDING)) -> _ => {}
        }
    }
    let mut how = way.end();
    // Something that the command has started may keep its output open.
    select! {
        recv(end) -> _ => {}
        recv(after(REST)) -> _ => {}
    }
    how.failure = how.failure.filter(|_| !is_asked_for);
    how
}

/// Writes the pieces of our input there, and closes the input there at the end of ours, or at a signal.
fn pass_input(pieces: &Receiver<Vec<u8>>, signal: &Receiver<Infallible>, mut there: ChildStdin) {
    loop {
        let piece = select! {
            recv(pieces) -> piece => piece,
            recv(signal) -> _ => return,
        };
        let Ok(piece) = piece else { return };
        let written = there.write_all(&piece).and_then(|()| there.flush());
        if written.is_err() {
            return;
        }
    }
}

/// Writes to our output what comes from there.
fn pass_output(mut output: impl Read, mut seen: impl FnMut(&[u8])) {
    let (mut buffer, mut client) = (vec![0; 1 << 16], io::stdout());
    loop {
        match output.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                seen(&buffer[..count]);
                let written = client.write_all(&buffer[..count]);
                // Without a client, the other side is read on, so that it can end.
                let _ = written.and_then(|()| client.flush());
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Answers each request of the client with the reason why there is no adapter, until it leaves, or for a moment after the first one: some clients
/// wait for more of their requests to fail, others for the end.
fn refuse(input: &Input, error: anyhow::Error) -> anyhow::Result<ExitCode> {
    if io::stdin().is_terminal() {
        return Err(error);
    }
    let sentence = format!("{error:#}");
    let (mut decoder, mut number, mut over) = (Decoder::new(), 0, never());
    loop {
        let piece = select! {
            recv(input.pieces) -> piece => piece.ok(),
            recv(input.stops.signal) -> _ => None,
            recv(over) -> _ => None,
        };
        let Some(piece) = piece else { break };
        decoder.push(&piece);
        while let Ok(Some(text)) = decoder.next() {
            let Some(answer) = refusal(&text, number + 1, &sentence) else {
                continue;
            };
            if codec::write(&mut io::stdout(), &answer).is_err() {
                return Err(error);
            }
            number += 1;
            if number == 1 {
                over = after(REFUSING);
            }
        }
    }
    match number {
        0 => Err(error),
        _ => Ok(ExitCode::FAILURE),
    }
}

/// The failed response to a request. `None`: the message is none.
fn refusal(text: &str, number: i64, sentence: &str) -> Option<Value> {
    let request: Value = serde_json::from_str(text).ok()?;
    if request["type"] != "request" {
        return None;
    }
    let command = request["command"].as_str()?;
    let mut answer = json!({
        "seq": number, "type": "response", "request_seq": request["seq"], "command": command, "success": command == "disconnect"
    });
    if command != "disconnect" {
        answer["message"] = sentence.into();
        answer["body"] = json!({"error": {"id": 1, "format": sentence, "showUser": true}});
    }
    Some(answer)
}

/// How far the adapter's messages have come.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Come>>);

#[derive(Default)]
struct Come {
    decoder: Decoder,
    count: i64,
    is_unreadable: bool,
}

impl Messages {
    fn follow(&self, bytes: &[u8]) {
        let mut come = self.come();
        if come.is_unreadable {
            return;
        }
        come.decoder.push(bytes);
        loop {
            match come.decoder.next() {
                Ok(Some(_)) => come.count += 1,
                Ok(None) => return,
                Err(_) => {
                    come.is_unreadable = true;
                    return;
                }
            }
        }
    }

    fn come(&self) -> MutexGuard<'_, Come> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the client that the adapter is gone, if the last message is complete. Returns whether it was told.
    fn tell_loss(&self, why: &str) -> bool {
        let come = self.come();
        if come.is_unreadable || !come.decoder.is_between_messages() || come.count == 0 {
            return false;
        }
        let output = json!({"category": "important", "output": format!("{why}\n")});
        let events = [("output", Some(output)), ("terminated", None)];
        let mut client = io::stdout();
        events.into_iter().zip(1..).all(|((event, body), number)| {
            let mut message = json!({"seq": come.count + number, "type": "event", "event": event});
            if let Some(body) = body {
                message["body"] = body;
            }
            codec::write(&mut client, &message).is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_fails_with_the_reason_and_disconnect_does_not() {
        let asked = |command: &str| {
            let text = format!("{{\"seq\": 7, \"type\": \"request\", \"command\": \"{command}\"}}");
            refusal(&text, 1, "no way").expect("a request")
        };
        let launch = asked("launch");
        assert_eq!(
            (&launch["success"], &launch["request_seq"]),
            (&json!(false), &json!(7))
        );
        assert_eq!(launch["message"], "no way");
        assert_eq!(launch["body"]["error"]["format"], "no way");
        assert_eq!(asked("disconnect")["success"], true);
        assert_eq!(refusal("{\"type\": \"event\"}", 1, ""), None);
        assert_eq!(refusal("[", 1, ""), None);
    }

    #[test]
    fn messages_are_counted_in_whatever_pieces_they_come() {
        let messages = Messages::default();
        let bytes = codec::encode(&json!({"seq": 1})).expect("bytes");
        for byte in &bytes {
            messages.follow(&[*byte]);
        }
        messages.follow(&bytes[..bytes.len() - 1]);
        assert_eq!(messages.come().count, 1);
        assert!(!messages.come().decoder.is_between_messages());
        assert!(!messages.tell_loss("nothing may stand within a message"));
    }
}
