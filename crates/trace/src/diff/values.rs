//! Compares two payloads.

use std::collections::BTreeSet;

use dapple_dap::testing::Names;
use serde_json::Value;

use crate::session::Message;
use crate::words::plain;

/// What isn't compared.
#[derive(Debug, Clone)]
pub struct Ignored {
    fields: BTreeSet<String>,
    /// Numbers of processes and threads, which differ from run to run: texts that differ only in them are the same.
    ids: BTreeSet<String>,
}

/// Fields that differ from run to run: ids of processes, ports and times, and the id that VS Code gives a session in the arguments of `launch`.
const DIFFER: [&str; 10] = [
    "systemProcessId",
    "processId",
    "shellProcessId",
    "pid",
    "port",
    "timestamp",
    "dateTimeStamp",
    "elapsed",
    "$__lldb_statistics",
    "__sessionId",
];

impl Default for Ignored {
    fn default() -> Self {
        Self {
            fields: DIFFER.map(str::to_owned).into(),
            ids: BTreeSet::new(),
        }
    }
}

impl Ignored {
    /// Ids of processes, ports, times and the fields of these names, at any depth. Addresses in texts are never compared.
    pub fn and(fields: &[String]) -> Self {
        let mut ignored = Self::default();
        ignored.fields.extend(fields.iter().cloned());
        ignored
    }

    /// As this one, with the process and thread ids of both sessions.
    pub(super) fn with_ids_of(&self, first: &[Message], second: &[Message]) -> Self {
        let mut ignored = self.clone();
        for message in first.iter().chain(second) {
            collect_ids(message.payload(), &mut ignored.ids);
        }
        ignored
    }

    /// A text without what differs from run to run.
    pub(super) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, number) = rest.split_at(at);
            out.push_str(before);
            let is_address = number.starts_with("0x");
            let end = match is_address {
                true => number[2..]
                    .find(|c: char| !c.is_ascii_hexdigit())
                    .map(|end| end + 2),
                false => number.find(|c: char| !c.is_ascii_digit()),
            };
            let (number, after) = number.split_at(end.unwrap_or(number.len()));
            let differs = match is_address {
                true => number.len() >= 6,
                false => self.ids.contains(number) || is_port(&out),
            };
            out.push_str(if differs { "…" } else { number });
            rest = after;
        }
        out + rest
    }
}

/// Whether a number after this text is the port of a URL.
fn is_port(before: &str) -> bool {
    let host = before.strip_suffix(':');
    let host = host.and_then(|host| host.rsplit_once("://"));
    host.is_some_and(|(_, host)| !host.contains(['/', ' ']))
}

/// Collects the numbers of processes and threads that are large enough not to be taken for something else.
fn collect_ids(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_id = matches!(
                    name.as_str(),
                    "systemProcessId" | "processId" | "pid" | "threadId"
                );
                match value.as_u64() {
                    Some(id) if is_id && id > 99 => drop(ids.insert(id.to_string())),
                    _ => collect_ids(value, ids),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_ids(item, ids)),
        _ => {}
    }
}

/// Adds to `how` what differs in two payloads, and learns references from them.
pub(super) fn compare(
    first: &Value,
    second: &Value,
    ignored: &Ignored,
    names: &mut Names,
    how: &mut Vec<String>,
) {
    let mut compare = Compare {
        ignored,
        names,
        how,
    };
    // An absent payload and an empty one say the same.
    let empty = Value::Object(serde_json::Map::new());
    let [first, second] = [first, second].map(|value| if value.is_null() { &empty } else { value });
    compare.values("", "", first, second);
}

struct Compare<'a> {
    ignored: &'a Ignored,
    names: &'a mut Names,
    how: &'a mut Vec<String>,
}

impl Compare<'_> {
    fn values(&mut self, path: &str, within: &str, first: &Value, second: &Value) {
        match (first, second) {
            (Value::Object(a), Value::Object(b)) => {
                let names = a
                    .keys()
                    .chain(b.keys().filter(|name| !a.contains_key(*name)));
                for name in names.filter(|name| !self.ignored.fields.contains(*name)) {
                    let absent = &Value::Null;
                    let [a, b] = [a, b].map(|fields| fields.get(name).unwrap_or(absent));
                    let place = match path.is_empty() {
                        true => name.clone(),
                        false => format!("{path}.{name}"),
                    };
                    match Names::kind(within, name) {
                        Some(kind) if Names::may_correspond(a, b) => {
                            self.reference(&place, kind, a, b)
                        }
                        _ => self.values(&place, name, a, b),
                    }
                }
            }
            (Value::Array(a), Value::Array(b)) => self.arrays(path, within, a, b),
            (Value::String(a), Value::String(b)) => {
                if a != b && self.ignored.text(a) != self.ignored.text(b) {
                    self.differ(path, first, second);
                }
            }
            _ if first == second => {}
            _ => self.differ(path, first, second),
        }
    }

    /// Threads and breakpoints keep their ids; what else has one may get another at each stop.
    fn reference(&mut self, path: &str, kind: &'static str, first: &Value, second: &Value) {
        let keeps = matches!(kind, "thread" | "breakpoint");
        match self.names.get(kind, first) {
            Some(known) if keeps && known != second => self.how.push(format!(
                "`{path}`: another {kind}: {first} corresponds to {known}, and it is {second}"
            )),
            _ => self.names.note(kind, first, second.clone()),
        }
    }

    fn arrays(&mut self, path: &str, within: &str, first: &[Value], second: &[Value]) {
        if let (Some(a), Some(b)) = (named(first), named(second))
            && first.len() != second.len()
        {
            // One more or less is no reason to compare all others with their neighbours.
            for (index, name) in a.iter().enumerate() {
                match b.iter().position(|other| other == name) {
                    Some(other) => {
                        let place = format!("{path}[{index}]");
                        self.values(&place, within, &first[index], &second[other]);
                    }
                    None => self.how.push(format!("`{path}`: only A has {name}")),
                }
            }
            for name in b.iter().filter(|name| !a.contains(name)) {
                self.how.push(format!("`{path}`: only B has {name}"));
            }
            return;
        }
        if first.len() != second.len() {
            let (a, b) = (first.len(), second.len());
            self.how
                .push(format!("`{path}` has {a} elements in A and {b} in B"));
        }
        for (index, (a, b)) in first.iter().zip(second).enumerate() {
            self.values(&format!("{path}[{index}]"), within, a, b);
        }
    }

    fn differ(&mut self, path: &str, first: &Value, second: &Value) {
        let shown = |value: &Value| match value {
            Value::Null => "absent".to_owned(),
            value => plain(&value.to_string(), 120),
        };
        self.how.push(format!(
            "`{path}` is {} in A and {} in B",
            shown(first),
            shown(second)
        ));
    }
}

/// The names of an array's elements, if each has one of its own.
fn named(items: &[Value]) -> Option<Vec<String>> {
    let names: Option<Vec<String>> = items
        .iter()
        .map(|item| crate::words::text(item, "name"))
        .collect();
    let names = names?;
    let different: BTreeSet<&String> = names.iter().collect();
    (different.len() == names.len()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_ids_in_texts_are_not_compared() {
        let mut ignored = Ignored::default();
        ignored.ids.insert("4711".to_owned());
        assert_eq!(
            ignored.text("process 4711 at 0x7ffdc0de, 47110 at 0x12"),
            "process … at …, 47110 at 0x12"
        );
        assert_eq!(
            ignored.text("vscode-remote://127.0.0.1:4001/home/me/orders:4001"),
            "vscode-remote://127.0.0.1:…/home/me/orders:4001"
        );
    }
}
