//! `dapple dap --on PLACE`: what a client says is passed on to a debug adapter at that place, and what that says to the client.
//!
//! The messages aren't changed. A client whose adapter can't be reached is told why, as the failure of each of its requests; one that loses it
//! is told by an `output` event and `terminated`. The far adapter ends when its input does, as any adapter: so nothing is left behind there if
//! this process or the connection is killed.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, after, bounded, select};
use dapple_dap::codec::{self, Decoder};
use serde_json::{Value, json};

use super::SignalEnd;
use super::binary::Parcel;
use super::place::Place;
use super::reach::{End, Reached, Stops, Wanted, reach};

/// How long the other side may take to end once its input has. It may have to write a recording, or to detach.
const ENDING: Duration = Duration::from_secs(20);
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
    let mut messages = Messages::default();
    let end = pass(reached, &input, |bytes| messages.follow(bytes));
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
pub fn pass(reached: Reached, input: &Input, mut seen: impl FnMut(&[u8]) + Send) -> End {
    let Reached {
        way,
        input: mut there,
        mut output,
        ..
    } = reached;
    let (pieces, stops) = (input.pieces.clone(), input.stops.clone());
    thread::spawn(move || {
        loop {
            let piece = select! {
                recv(pieces) -> piece => piece,
                recv(stops.signal) -> _ => break,
            };
            let Ok(piece) = piece else { break };
            if there
                .write_all(&piece)
                .and_then(|()| there.flush())
                .is_err()
            {
                break;
            }
        }
    });
    thread::scope(|scope| {
        let (ended, end) = bounded::<Infallible>(0);
        scope.spawn(move || {
            let (mut buffer, mut client) = (vec![0; 1 << 16], io::stdout().lock());
            loop {
                match output.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => {
                        seen(&buffer[..count]);
                        // Without a client, the other side is read on, so that it can end.
                        let _ = client
                            .write_all(&buffer[..count])
                            .and_then(|()| client.flush());
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
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
        // Kills the command if it doesn't end, which ends its output.
        let mut end = way.end();
        end.failure = end.failure.filter(|_| !is_asked_for);
        end
    })
}

/// Answers each request of the client with the reason why there is no adapter, until it leaves.
fn refuse(input: &Input, error: anyhow::Error) -> anyhow::Result<ExitCode> {
    let sentence = format!("{error:#}");
    let (mut decoder, mut number) = (Decoder::new(), 0);
    loop {
        let piece = select! {
            recv(input.pieces) -> piece => piece.ok(),
            recv(input.stops.signal) -> _ => None,
        };
        let Some(piece) = piece else { break };
        decoder.push(&piece);
        while let Ok(Some(text)) = decoder.next() {
            let Some(answer) = refusal(&text, number + 1, &sentence) else {
                continue;
            };
            number += 1;
            if codec::write(&mut io::stdout(), &answer).is_err() {
                return Err(error);
            }
            if number == 1 {
                // Nothing else can come of this session. Some clients wait for more requests to fail, others for the end.
                return drain(input, &mut decoder, number, &sentence);
            }
        }
    }
    Err(error)
}

/// Answers what the client still asks, until it closes its end or a moment has passed.
fn drain(
    input: &Input,
    decoder: &mut Decoder,
    mut number: i64,
    sentence: &str,
) -> anyhow::Result<ExitCode> {
    let over = after(Duration::from_secs(2));
    loop {
        while let Ok(Some(text)) = decoder.next() {
            if let Some(answer) = refusal(&text, number + 1, sentence) {
                number += 1;
                codec::write(&mut io::stdout(), &answer)?;
            }
        }
        let piece = select! {
            recv(input.pieces) -> piece => piece.ok(),
            recv(input.stops.signal) -> _ => None,
            recv(over) -> _ => None,
        };
        match piece {
            Some(piece) => decoder.push(&piece),
            None => return Ok(ExitCode::FAILURE),
        }
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
struct Messages {
    decoder: Decoder,
    count: i64,
    is_readable: bool,
}

impl Default for Messages {
    fn default() -> Self {
        Messages {
            decoder: Decoder::new(),
            count: 0,
            is_readable: true,
        }
    }
}

impl Messages {
    fn follow(&mut self, bytes: &[u8]) {
        if !self.is_readable {
            return;
        }
        self.decoder.push(bytes);
        loop {
            match self.decoder.next() {
                Ok(Some(_)) => self.count += 1,
                Ok(None) => return,
                Err(_) => {
                    self.is_readable = false;
                    return;
                }
            }
        }
    }

    /// Tells the client that the adapter is gone, if the last message is complete. Returns whether it was told.
    fn tell_loss(&self, why: &str) -> bool {
        if !self.is_readable || !self.decoder.is_between_messages() || self.count == 0 {
            return false;
        }
        let output = json!({"category": "important", "output": format!("{why}\n")});
        let events = [("output", Some(output)), ("terminated", None)];
        let mut client = io::stdout();
        events.into_iter().zip(1..).all(|((event, body), number)| {
            let mut message = json!({"seq": self.count + number, "type": "event", "event": event});
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
        let mut messages = Messages::default();
        let bytes = codec::encode(&json!({"seq": 1})).expect("bytes");
        for byte in &bytes {
            messages.follow(&[*byte]);
        }
        messages.follow(&bytes[..bytes.len() - 1]);
        assert_eq!(messages.count, 1);
        assert!(!messages.decoder.is_between_messages());
        assert!(!messages.tell_loss("nothing may stand within a message"));
    }
}
