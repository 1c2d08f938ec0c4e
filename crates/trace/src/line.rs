//! A message as a line, in pieces whose roles decide their colours.

use crate::rules::Finding;
use crate::session::{Content, Message};
use crate::summary;
use crate::words::{duration, is_direction, plain};
use dapple_dap::lifecycle::{Severity, Side};

/// The role of a piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The time.
    Time,
    /// The arrow of what the client sends.
    Client,
    /// The arrow of what the adapter sends.
    Adapter,
    /// A command or an event's name.
    Name,
    /// That a request succeeded.
    Ok,
    /// That a request failed.
    Failed,
    /// A number or a duration.
    Aside,
    /// The details.
    Details,
    /// What is wrong with a message.
    Violation,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its role.
    pub role: Role,
    /// Its text, without line ends and control characters.
    pub text: String,
}

/// The line of a message: the time, the direction, the request's number, the name and the details. A space goes between the pieces.
pub fn pieces(message: &Message) -> Vec<Piece> {
    let piece = |role, text: String| Piece { role, text };
    let time = format!("{:9.3}", message.time.as_secs_f64());
    let arrow = match message.from {
        Side::Client => piece(Role::Client, "→".to_owned()),
        Side::Adapter => piece(Role::Adapter, "←".to_owned()),
    };
    let number = match &message.content {
        Content::Request { seq, .. } => seq.to_string(),
        Content::Response { request_seq, .. } => request_seq.to_string(),
        _ => String::new(),
    };
    let mut line = vec![
        piece(Role::Time, time),
        arrow,
        piece(Role::Aside, format!("{number:>3}")),
    ];
    match message.name() {
        Some(name) => line.push(piece(Role::Name, plain(name, 60))),
        None => line.push(piece(Role::Failed, "no message:".to_owned())),
    }
    if let Content::Response {
        success, request, ..
    } = &message.content
    {
        line.push(match success {
            true => piece(Role::Ok, "ok".to_owned()),
            false => piece(Role::Failed, "failed".to_owned()),
        });
        // Plain logs have no times.
        if let Some(request) = request.as_ref().filter(|one| !one.elapsed.is_zero()) {
            line.push(piece(Role::Aside, duration(request.elapsed)));
        }
    }
    let details = summary::details(message);
    if !details.is_empty() {
        // Set apart from the duration.
        let gap = match message.content {
            Content::Response { .. } => " ",
            _ => "",
        };
        line.push(piece(Role::Details, format!("{gap}{details}")));
    }
    line
}

/// The lines about what is wrong with a message, to stand under its own.
pub fn findings(message: &Message) -> Vec<Piece> {
    let findings = message.findings.iter();
    findings
        .filter(|_| !matches!(&message.content, Content::Unreadable { reason } if message.findings.iter().all(|finding| finding.text == *reason)))
        .map(finding_line)
        .collect()
}

/// A line about something that is wrong, to stand under a message's line.
pub fn finding_line(finding: &Finding) -> Piece {
    let (role, mark) = match finding.severity {
        Severity::Violation => (Role::Violation, "!"),
        Severity::Advice => (Role::Details, "~ advice,"),
    };
    let text = plain(&finding.text, 400);
    Piece {
        role,
        text: format!("{:15}{mark} {}: {text}", "", finding.rule),
    }
}

/// A message's line without colours.
pub fn text(message: &Message) -> String {
    let pieces = pieces(message);
    let texts: Vec<_> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    texts.join(" ")
}

/// JSON with a line for each field and element, in the order of the text. Control characters can only be escaped ones, as in all JSON.
pub fn pretty(json: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    let mut chars = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth.min(100)).for_each(|_| out.push_str("  "));
    };
    while let Some(c) = chars.next() {
        if in_string {
            match c {
                // Valid in JSON, and obeyed by terminals and browsers.
                _ if c.is_control() || is_direction(c) => out.extend(c.escape_default()),
                _ => out.push(c),
            }
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => {
                in_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
                if let Some(end) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ if c.is_whitespace() || c.is_control() => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_in_its_own_order() {
        let shown = pretty(r#"{"b":[1,{"x":"a\"{\u001b"}],"a":{},"c":[ ]}"#);
        assert_eq!(
            shown,
            "{\n  \"b\": [\n    1,\n    {\n      \"x\": \"a\\\"{\\u001b\"\n    }\n  ],\n  \"a\": {},\n  \"c\": []\n}"
        );
    }
}
