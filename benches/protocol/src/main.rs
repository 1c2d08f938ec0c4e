//! Measures how fast the protocol's messages are decoded and encoded, next to other crates and to untyped JSON.
//!
//! Run it as `cargo xtask bench protocol`. The messages come from recorded sessions with several adapters (see `record`). A crate that
//! can't decode some of them is measured on the others, and the table shows how many it fails on. All ratios are to `serde_json::Value` on
//! the same messages, measured alternately.

mod contenders;
mod corpus;
mod measure;
mod ours;
mod plain;
mod record;
mod round_trip;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use dapple_dap::codec::Decoder;
use dapple_dap::envelope::{Envelope, Kind};
use dapple_dap::{AnyMessage, Connection};
use serde_json::Value;

use corpus::Corpus;
use measure::{Time, measure, way};

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => compare(),
        ["serve"] => {
            round_trip::serve(Connection::stdio());
            Ok(ExitCode::SUCCESS)
        }
        ["record", file, launch, source, line, stops, _, ..] => {
            record::check(launch)?;
            let session = record::Session {
                launch,
                source,
                line: line.parse()?,
                stops: stops.parse()?,
            };
            record::record(Path::new(file), &session, &arguments[6..])?;
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("usage: bench-protocol [serve | record FILE LAUNCH SOURCE LINE STOPS ADAPTER…]"),
    }
}

/// A target: how many times faster than `Value` something has to be, and how many times faster it is.
struct Target {
    name: &'static str,
    wanted: f64,
    reached: f64,
}

fn compare() -> Result<ExitCode> {
    let corpus = Corpus::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"))?;
    let mut targets = Vec::new();
    let mut target = |name, wanted, reached| {
        targets.push(Target {
            name,
            wanted,
            reached,
        });
    };

    println!("decode, {}", describe("adapter messages", &corpus.adapter));
    target(
        "decode adapter messages",
        2.0,
        decode(&corpus.adapter, "typed", |text| {
            AnyMessage::decode(text).ok()
        })?,
    );
    foreign(&corpus.adapter, "in two stages", |_, text| {
        ours::decode_in_two_stages(text).ok()
    });
    foreign(&corpus.adapter, "dap", |_, text| {
        contenders::dap_adapter(text)
    });
    let commands = commands(&corpus.adapter)?;
    foreign(&corpus.adapter, "dapts", |i, text| {
        contenders::dapts_adapter(text, commands[i].as_deref())
    });

    println!("\ndecode, {}", describe("requests", &corpus.requests));
    target(
        "decode requests",
        2.0,
        decode(&corpus.requests, "typed", |text| {
            AnyMessage::decode(text).ok()
        })?,
    );
    foreign(&corpus.requests, "in two stages", |_, text| {
        ours::decode_in_two_stages(text).ok()
    });
    foreign(&corpus.requests, "dap", |_, text| {
        contenders::dap_request(text)
    });
    foreign(&corpus.requests, "dapts", |_, text| {
        contenders::dapts_request(text)
    });

    let all = [&corpus.adapter[..], &corpus.requests].concat();
    println!("\nenvelope only, {}", describe("all messages", &all));
    target(
        "envelope only",
        5.0,
        decode(&all, "envelope", |text| Envelope::parse(text).ok())?,
    );

    println!("\nencode with header, {}", describe("all messages", &all));
    target("encode", 1.3, encode(&all)?);
    foreign_encode(&corpus, &commands)?;

    println!(
        "\nround trip: encode and decode, {}",
        describe("all messages", &all)
    );
    target("own reader, round trip", 1.15, round_trip(&all)?);

    println!("\n`threads` requests a second, one after the other");
    println!("  over stdio  {:9.0}", round_trip::over_stdio()?);
    println!("  in memory   {:9.0}", round_trip::in_memory()?);

    println!(
        "\ntargets, in times the speed of serde_json::Value; of serde_json's reader for the own reader"
    );
    for Target {
        name,
        wanted,
        reached,
    } in &targets
    {
        let verdict = if reached >= wanted { "met" } else { "SHORT" };
        println!("  {name:24} {reached:5.2}  wanted {wanted:.1}  {verdict}");
    }
    let met = targets.iter().all(|target| target.reached >= target.wanted);
    Ok(if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn describe(what: &str, messages: &[String]) -> String {
    format!(
        "{} {what} of {} KB together",
        messages.len(),
        Corpus::bytes(messages) / 1000
    )
}

fn as_value(text: &str) -> Value {
    // The corpus was parsed as envelopes before, so each message is JSON.
    serde_json::from_str(text).unwrap_or_default()
}

fn show(time: &Time, bytes: usize, note: &str) {
    println!(
        "  {:18} {:9.1} µs {:6.0} MB/s {:6.2}×{note}",
        time.name,
        time.pass.as_secs_f64() * 1e6,
        bytes as f64 / time.pass.as_secs_f64() / 1e6,
        time.ratio
    );
}

/// Measures Dapple's decoder on all messages, all of which it must decode. Returns how many times faster than `Value` it is.
fn decode<'a, T>(
    messages: &'a [String],
    name: &'static str,
    read: impl Fn(&'a str) -> Option<T>,
) -> Result<f64> {
    if let Some(message) = messages.iter().find(|message| read(message).is_none()) {
        bail!("cannot decode {message}");
    }
    let times = measure(vec![
        way(name, || {
            for message in messages {
                black_box(read(message));
            }
        }),
        way("serde_json::Value", || {
            for message in messages {
                black_box(as_value(message));
            }
        }),
    ]);
    let bytes = Corpus::bytes(messages);
    times.iter().for_each(|time| show(time, bytes, ""));
    Ok(times[0].ratio)
}

/// Measures another way, or another crate, on the messages that it can decode.
fn foreign<'a, T>(
    messages: &'a [String],
    name: &'static str,
    read: impl Fn(usize, &'a str) -> Option<T>,
) {
    let readable: Vec<(usize, &'a String)> = messages
        .iter()
        .enumerate()
        .filter(|(i, message)| read(*i, message).is_some())
        .collect();
    if readable.is_empty() {
        return println!("  {name:18} cannot decode any");
    }
    let bytes = readable.iter().map(|(_, message)| message.len()).sum();
    let times = measure(vec![
        way(name, || {
            for (i, message) in &readable {
                black_box(read(*i, message));
            }
        }),
        way("serde_json::Value", || {
            for (_, message) in &readable {
                black_box(as_value(message));
            }
        }),
    ]);
    let note = match messages.len() - readable.len() {
        0 => String::new(),
        failed => format!("  fails on {failed}"),
    };
    show(&times[0], bytes, &note);
}

/// The command of each response; `None` for events.
fn commands(messages: &[String]) -> Result<Vec<Option<String>>> {
    let each = messages.iter().map(|message| {
        let envelope = Envelope::parse(message).context("the corpus has only messages")?;
        Ok(match envelope.kind {
            Kind::Response { command, .. } => Some(command.into_owned()),
            _ => None,
        })
    });
    each.collect()
}

fn encode(messages: &[String]) -> Result<f64> {
    let typed = messages
        .iter()
        .map(|message| AnyMessage::decode(message))
        .collect::<Result<Vec<_>, _>>()?;
    let values: Vec<Value> = messages.iter().map(|message| as_value(message)).collect();
    let mut bytes = Vec::new();
    for (message, value) in typed.iter().zip(&values) {
        // Guards against a pass that encodes nothing, which would be fast.
        bytes.clear();
        message.encode_into(&mut bytes)?;
        let size = serde_json::to_string(value)?.len();
        anyhow::ensure!(bytes.len() > size / 2, "a message was not encoded: {value}");
    }
    let times = measure(vec![
        way("typed", || {
            for message in &typed {
                bytes.clear();
                message.encode_into(&mut bytes).ok();
                black_box(&bytes);
            }
        }),
        encoded_values(&values),
    ]);
    let size = Corpus::bytes(messages);
    times.iter().for_each(|time| show(time, size, ""));
    Ok(times[0].ratio)
}

/// Measures messages that are encoded and decoded again, in two stages as in sessions. Returns how many times faster that is with the
/// own reader of JSON than with serde_json's.
fn round_trip(messages: &[String]) -> Result<f64> {
    let typed = messages
        .iter()
        .map(|message| AnyMessage::decode(message))
        .collect::<Result<Vec<_>, _>>()?;
    let read_twice = |text: &str| ours::decode_in_two_stages(text).map(|(_, payload)| payload);
    let (mut ours, mut others) = (Decoder::new(), Decoder::new());
    for message in &typed {
        plain::through(&mut ours, message, read_twice)?;
        plain::through(&mut others, message, plain::decode)?;
    }
    let times = measure(vec![
        way("own reader", || {
            for message in &typed {
                black_box(plain::through(&mut ours, message, read_twice).ok());
            }
        }),
        way("serde_json's", || {
            for message in &typed {
                black_box(plain::through(&mut others, message, plain::decode).ok());
            }
        }),
    ]);
    let bytes = Corpus::bytes(messages);
    times.iter().for_each(|time| show(time, bytes, ""));
    Ok(times[0].ratio)
}

/// Measures untyped messages, written by serde_json after a header into reused memory.
fn encoded_values(values: &[Value]) -> measure::Way<'_> {
    let (mut body, mut bytes) = (Vec::new(), Vec::new());
    way("serde_json::Value", move || {
        for value in values {
            body.clear();
            bytes.clear();
            serde_json::to_writer(&mut body, value).ok();
            write!(bytes, "Content-Length: {}\r\n\r\n", body.len()).ok();
            bytes.extend_from_slice(&body);
            black_box(&bytes);
        }
    })
}

/// Measures how the other crates encode the messages that they could decode. `dap` can't encode requests.
fn foreign_encode(corpus: &Corpus, commands: &[Option<String>]) -> Result<()> {
    let mut dap = Vec::new();
    let mut dapts = Vec::new();
    let (mut dap_values, mut dapts_values) = (Vec::new(), Vec::new());
    for (message, command) in corpus.adapter.iter().zip(commands) {
        if let Some(decoded) = contenders::dap_adapter(message) {
            dap.push(decoded);
            dap_values.push(as_value(message));
        }
        if let Some(decoded) = contenders::dapts_adapter(message, command.as_deref()) {
            dapts.push(decoded);
            dapts_values.push(as_value(message));
        }
    }
    for message in &corpus.requests {
        if let Some(decoded) = contenders::dapts_request(message) {
            dapts.push(decoded);
            dapts_values.push(as_value(message));
        }
    }
    fn one<'a>(name: &'static str, values: &'a [Value], pass: impl FnMut() + 'a) -> Result<()> {
        let size = serde_json::to_string(values)?.len();
        let times = measure(vec![way(name, pass), encoded_values(values)]);
        let note = format!("  {} messages", values.len());
        show(&times[0], size, &note);
        Ok(())
    }
    one("dap", &dap_values, || {
        for message in &dap {
            black_box(serde_json::to_string(message).ok());
        }
    })?;
    one("dapts", &dapts_values, || {
        for message in &dapts {
            black_box(message.encode().ok());
        }
    })
}
