//! A session as one page for browsers: a sequence diagram with every message.
//!
//! The page needs nothing but itself, and may load nothing: its policy allows only its own style and script, by their hashes. All that
//! comes from a recording is escaped. Rows out of sight are not laid out (`content-visibility`), so that long sessions stay quick.

use std::collections::HashMap;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dapple_dap::lifecycle::{Severity, Side};
use sha2::{Digest, Sha256};

use crate::input::Recorded;
use crate::line::pretty;
use crate::rules::UNANSWERED;
use crate::session::{Content, Message, Session};
use crate::summary;
use crate::words::{counted, duration};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The longest body that is shown whole, in characters.
const LONGEST_BODY: usize = 64 << 10;

/// How many requests are drawn as bars next to each other.
const LANES: usize = 6;

/// Writes the page. `title` is the recording's name.
///
/// # Errors
/// Writing failed.
pub fn write(sessions: &[Recorded], title: &str, out: &mut impl Write) -> io::Result<()> {
    let title = escaped(title);
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    let count: usize = sessions.iter().map(|session| session.items.len()).sum();
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{style}'; \
         script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>{title} <small>{}, {}</small></h1>\n\
         <form>\n<input type=\"search\" name=\"words\" placeholder=\"Filter: names, values, anything in a message\" aria-label=\"Filter\">\n\
         <label><input type=\"checkbox\" name=\"requests\" checked>requests and responses</label>\n\
         <label><input type=\"checkbox\" name=\"events\" checked>events</label>\n\
         <label><input type=\"checkbox\" name=\"output\" checked>output</label>\n\
         <label><input type=\"checkbox\" name=\"wrong\">only violations</label>\n\
         <output></output>\n</form>\n\
         <div class=\"ends\"><span></span><span>client</span><span></span><span>adapter</span></div>\n</header>\n<main>\n",
        counted(sessions.len(), "session"),
        counted(count, "message"),
    )?;
    for (number, recorded) in (1..).zip(sessions) {
        if sessions.len() > 1 {
            let name = escaped(recorded.session.as_deref().unwrap_or_default());
            writeln!(out, "<h2>Session {number} <small>{name}</small></h2>")?;
        }
        one_session(number, recorded, out)?;
    }
    write!(
        out,
        "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// A request and its response, as a bar between their rows.
struct Bar {
    lane: usize,
    from: Side,
    first: usize,
    last: usize,
}

fn one_session(number: usize, recorded: &Recorded, out: &mut impl Write) -> io::Result<()> {
    let mut session = Session::new();
    let messages: Vec<Message> = recorded
        .items
        .iter()
        .map(|item| session.item(item))
        .collect();
    let mut partner = HashMap::new();
    for message in &messages {
        if let Content::Response {
            request: Some(request),
            ..
        } = &message.content
        {
            partner.insert(message.number, request.number);
            partner.insert(request.number, message.number);
        }
    }
    writeln!(out, "<ol>")?;
    let unanswered = session.unanswered();
    let mut open: Vec<Bar> = Vec::new();
    for message in &messages {
        let other = partner.get(&message.number).copied();
        if let (Content::Request { .. }, Some(last)) = (&message.content, other) {
            let free = (0..LANES).find(|lane| open.iter().all(|bar| bar.lane != *lane));
            if let Some(lane) = free {
                open.push(Bar {
                    lane,
                    from: message.from,
                    first: message.number,
                    last,
                });
            }
        }
        let unanswered = unanswered.contains(&message.number);
        row(number, message, (other, unanswered), &open, out)?;
        open.retain(|bar| bar.last != message.number);
    }
    writeln!(out, "</ol>")?;
    for finding in session.end().iter().filter(|one| one.rule != UNANSWERED) {
        writeln!(out, "<p class=\"wrong\">⚠ {}</p>", escaped(&finding.text))?;
    }
    Ok(())
}

fn row(
    session: usize,
    message: &Message,
    (partner, unanswered): (Option<usize>, bool),
    open: &[Bar],
    out: &mut impl Write,
) -> io::Result<()> {
    let (class, kind) = match &message.content {
        Content::Request { .. } => ("request", "requests"),
        Content::Response { success: true, .. } => ("response", "requests"),
        Content::Response { .. } => ("response failed", "requests"),
        Content::Event { event, .. } if event == "output" => ("event", "output"),
        Content::Event { .. } => ("event", "events"),
        Content::Unreadable { .. } => ("unreadable", "events"),
    };
    let direction = match message.from {
        Side::Client => "to-adapter",
        Side::Adapter => "to-client",
    };
    let violation = match message.findings.is_empty() && !unanswered {
        true => "",
        false => " violation",
    };
    let id = format!("s{session}m{}", message.number);
    write!(
        out,
        "<li class=\"row {class} {direction}{violation}\" id=\"{id}\" data-kind=\"{kind}\""
    )?;
    if let Some(partner) = partner {
        write!(out, " data-pair=\"s{session}m{partner}\"")?;
    }
    let time = message.time.as_secs_f64();
    write!(
        out,
        "><span class=\"time\"><a href=\"#{id}\">{time:.3}</a></span>"
    )?;
    bars(message.number, Side::Adapter, open, out)?;
    write!(out, "<div class=\"what\">")?;
    label(message, out)?;
    for finding in &message.findings {
        let (rule, text) = (escaped(&finding.rule), escaped(&finding.text));
        let mark = match finding.severity {
            Severity::Violation => "⚠",
            Severity::Advice => "advice,",
        };
        write!(out, "<div class=\"wrong\">{mark} {rule}: {text}</div>")?;
    }
    if unanswered {
        write!(
            out,
            "<div class=\"wrong\">⚠ {UNANSWERED}: this request got no response</div>"
        )?;
    }
    write!(out, "</div>")?;
    bars(message.number, Side::Client, open, out)?;
    writeln!(out, "</li>")
}

/// The lifeline that answers the requests of `from`, with a bar for each request that waits.
fn bars(number: usize, from: Side, open: &[Bar], out: &mut impl Write) -> io::Result<()> {
    write!(out, "<span class=\"life\">")?;
    for bar in open.iter().filter(|bar| bar.from == from) {
        let part = match number {
            _ if number == bar.first => " s",
            _ if number == bar.last => " e",
            _ => "",
        };
        let side = match from {
            Side::Client => "",
            Side::Adapter => " r",
        };
        write!(out, "<i class=\"bar l{}{part}{side}\"></i>", bar.lane)?;
    }
    write!(out, "</span>")
}

fn label(message: &Message, out: &mut impl Write) -> io::Result<()> {
    write!(out, "<details><summary>")?;
    let number = match &message.content {
        Content::Request { seq, .. } => Some(*seq),
        Content::Response { request_seq, .. } => Some(*request_seq),
        _ => None,
    };
    if let Some(number) = number {
        write!(out, "<span class=\"n\">{number}</span>")?;
    }
    let name = escaped(message.name().unwrap_or("no message"));
    write!(out, "<span class=\"name\">{name}</span>")?;
    if let Content::Response {
        success, request, ..
    } = &message.content
    {
        let outcome = if *success { "ok" } else { "failed" };
        write!(out, "<span>{outcome}</span>")?;
        if let Some(request) = request {
            write!(
                out,
                "<span class=\"t\">{}</span>",
                duration(request.elapsed)
            )?;
        }
    }
    let details = escaped(&summary::details(message));
    write!(out, "<span class=\"d\">{details}</span></summary>")?;
    if !message.text.is_empty() {
        let body = pretty(&message.text);
        let end = match body.char_indices().nth(LONGEST_BODY) {
            Some((end, _)) => end,
            None => body.len(),
        };
        write!(out, "<pre>{}", escaped(&body[..end]))?;
        if end < body.len() {
            write!(out, "\n… {}", counted(body.len() - end, "more byte"))?;
        }
        write!(out, "</pre>")?;
    }
    write!(out, "</details>")
}

/// Text as HTML, in an element or an attribute in quotes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in HTML.
            '\0' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
