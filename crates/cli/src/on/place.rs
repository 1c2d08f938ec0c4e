//! Where a debuggee is, if not on this machine: an SSH host, a container, or wherever a command leads.
//!
//! A [`Place`] is parsed from what the user gives with `--on`, and says which command reaches a shell there. It starts nothing. Names that begin
//! with `-` are refused, because the programs that get them would take them for options.

use std::fmt;

use crate::debug::{quoted, words_of};

/// A place that a command reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// `ssh://user@host:port`: a host, and perhaps its port.
    Ssh(String, Option<u16>),
    /// `docker://NAME` or `podman://NAME`: the program, and the container.
    Container(&'static str, String),
    /// `kubectl://NAMESPACE/POD/CONTAINER`.
    Pod {
        /// The namespace, if it isn't the context's.
        namespace: Option<String>,
        /// The pod.
        pod: String,
        /// The container, if it isn't the pod's default one.
        container: Option<String>,
    },
    /// `exec:WORDS`, or a list of words: a command that runs the command behind it there, as `nsenter -t 1234 -a`.
    Prefix(Vec<String>),
}

/// What a place may be, for messages.
const FORMS: &str = "a place is ssh://USER@HOST:PORT, docker://NAME, podman://NAME, kubectl://NAMESPACE/POD/CONTAINER, or a command that runs others \
                     there, as in exec:'nsenter -t 1234 -a' or [\"nsenter\", \"-t\", \"1234\", \"-a\"]";

impl Place {
    /// Parses what the user has given.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Place, String> {
        if text.starts_with('[') {
            let words: Vec<String> = serde_json::from_str(text)
                .map_err(|error| format!("this is no list of words: {error}"))?;
            return Place::prefix(words);
        }
        if let Some(line) = text.strip_prefix("exec:") {
            return Place::prefix(words_of(line).map_err(|error| format!("{error:#}"))?);
        }
        let (scheme, rest) = text.split_once("://").ok_or(FORMS)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        match scheme {
            "ssh" => Place::ssh(rest),
            "docker" => Ok(Place::Container("docker", name("container", rest)?)),
            "podman" => Ok(Place::Container("podman", name("container", rest)?)),
            "kubectl" => Place::pod(rest),
            _ => Err(format!("`{scheme}` is not known; {FORMS}")),
        }
    }

    fn prefix(words: Vec<String>) -> Result<Place, String> {
        match words.first() {
            Some(program) if !program.is_empty() => Ok(Place::Prefix(words)),
            _ => Err("the command has no words".to_owned()),
        }
    }

    fn ssh(text: &str) -> Result<Place, String> {
        // An address of IPv6 is in brackets, as it has colons of its own.
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = port.map(|port| match port.parse() {
            Ok(port @ 1..) => Ok(port),
            _ => Err(format!("`{port}` is no port")),
        });
        let host = name("host", &host.replace(['[', ']'], ""))?;
        Ok(Place::Ssh(host, port.transpose()?))
    }

    fn pod(text: &str) -> Result<Place, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let (namespace, pod, container) = match parts[..] {
            [pod] => (None, pod, None),
            [namespace, pod] => (Some(namespace), pod, None),
            [namespace, pod, container] => (Some(namespace), pod, Some(container)),
            _ => return Err(FORMS.to_owned()),
        };
        let given = |what, text: Option<&str>| text.map(|text| name(what, text)).transpose();
        Ok(Place::Pod {
            namespace: given("namespace", namespace)?,
            pod: name("pod", pod)?,
            container: given("container", container)?,
        })
    }

    /// The words of a command that runs a shell there, which reads its commands from its input. `asks`: whether it may ask the user for a
    /// password.
    pub fn shell(&self, asks: bool) -> Vec<String> {
        let mut words: Vec<&str> = Vec::new();
        let number;
        match self {
            Place::Ssh(host, port) => {
                words.extend(["ssh", "-T", "-o", "ConnectTimeout=20"]);
                if !asks {
                    words.extend(["-o", "BatchMode=yes"]);
                }
                if let Some(port) = port {
                    number = port.to_string();
                    words.extend(["-p", &number]);
                }
                words.push(host);
            }
            Place::Container(program, name) => words.extend([program, "exec", "-i", name]),
            Place::Pod {
                namespace,
                pod,
                container,
            } => {
                words.extend(["kubectl", "exec", "-i"]);
                if let Some(namespace) = namespace {
                    words.extend(["-n", namespace]);
                }
                words.push(pod);
                if let Some(container) = container {
                    words.extend(["-c", container]);
                }
                words.push("--");
            }
            Place::Prefix(prefix) => words.extend(prefix.iter().map(String::as_str)),
        }
        words.push("sh");
        words.into_iter().map(str::to_owned).collect()
    }
}

/// A name that the program which gets it doesn't take for an option.
fn name(what: &str, text: &str) -> Result<String, String> {
    match text.as_bytes() {
        [] => Err(format!("the name of the {what} is missing; {FORMS}")),
        [b'-', ..] => Err(format!("no {what} is named {text}")),
        _ => Ok(text.to_owned()),
    }
}

impl fmt::Display for Place {
    /// As [`Place::parse`] takes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Ssh(host, port) => {
                // Only an address of IPv6 has a colon.
                let (user, name) = match host.rsplit_once('@') {
                    Some((user, name)) => (format!("{user}@"), name),
                    None => (String::new(), &**host),
                };
                match name.contains(':') {
                    true => write!(f, "ssh://{user}[{name}]")?,
                    false => write!(f, "ssh://{user}{name}")?,
                }
                match port {
                    Some(port) => write!(f, ":{port}"),
                    None => Ok(()),
                }
            }
            Place::Container(program, name) => write!(f, "{program}://{name}"),
            Place::Pod {
                namespace,
                pod,
                container,
            } => {
                f.write_str("kubectl://")?;
                if let Some(namespace) = namespace {
                    write!(f, "{namespace}/")?;
                }
                f.write_str(pod)?;
                match container {
                    Some(container) => write!(f, "/{container}"),
                    None => Ok(()),
                }
            }
            Place::Prefix(words) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                write!(f, "exec:{}", words.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_a_command_that_reaches_it() {
        for (place, command) in [
            (
                "ssh://board",
                "ssh -T -o ConnectTimeout=20 -o BatchMode=yes board sh",
            ),
            (
                "ssh://me@10.0.0.2:2222/",
                "ssh -T -o ConnectTimeout=20 -o BatchMode=yes -p 2222 me@10.0.0.2 sh",
            ),
            (
                "ssh://me@[::1]:22",
                "ssh -T -o ConnectTimeout=20 -o BatchMode=yes -p 22 me@::1 sh",
            ),
            ("docker://web_1", "docker exec -i web_1 sh"),
            ("podman://web_1", "podman exec -i web_1 sh"),
            ("kubectl://api-0", "kubectl exec -i api-0 -- sh"),
            (
                "kubectl://shop/api-0",
                "kubectl exec -i -n shop api-0 -- sh",
            ),
            (
                "kubectl://shop/api-0/main",
                "kubectl exec -i -n shop api-0 -c main -- sh",
            ),
            ("exec:nsenter -t 12 -a", "nsenter -t 12 -a sh"),
            ("[\"sudo\", \"-n\"]", "sudo -n sh"),
        ] {
            let parsed = Place::parse(place).expect(place);
            assert_eq!(parsed.shell(false).join(" "), command);
            // It is given to other processes of this program as it is shown.
            assert_eq!(Place::parse(&parsed.to_string()), Ok(parsed));
        }
        let may_ask = Place::parse("ssh://board").expect("a place").shell(true);
        assert_eq!(may_ask.join(" "), "ssh -T -o ConnectTimeout=20 board sh");
    }

    #[test]
    fn what_is_no_place_or_an_option_in_disguise_is_refused() {
        for (text, part) in [
            ("board", "a place is ssh://"),
            ("telnet://board", "`telnet` is not known"),
            ("ssh://", "the name of the host is missing"),
            (
                "ssh://-oProxyCommand=x",
                "no host is named -oProxyCommand=x",
            ),
            ("ssh://board:0", "`0` is no port"),
            ("docker://-it", "no container is named -it"),
            ("kubectl://a/b/c/d", "a place is"),
            ("kubectl:///b", "the name of the namespace is missing"),
            ("exec:", "the command has no words"),
            ("[1]", "no list of words"),
            ("[]", "the command has no words"),
        ] {
            let error = Place::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
