//! The debug adapter that is driven: which one, how it is found, started and ended, and what it is given to launch or attach.

pub mod arguments;
pub mod chatter;
pub mod launch_json;
pub mod presets;
pub mod process;
mod variables;

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

pub use presets::Preset;

use crate::on::Place;

/// Which adapter to drive.
#[derive(Debug, Clone)]
pub enum Adapter {
    /// Dapple's, on a thread of this process.
    Own,
    /// One of those that are known by name.
    Known(&'static Preset),
    /// Another program that speaks the protocol on its stdio, as a shell command.
    Command(String),
    /// Dapple's, at another place; perhaps with the executable that is sent there.
    On(Place, Option<PathBuf>),
    /// One that listens, which is started by a shell command if there is one.
    At(Address, Option<String>),
}

impl Adapter {
    /// The adapter that the options `--adapter` and `--connect` name.
    pub fn of(command: Option<String>, address: Option<Address>) -> Adapter {
        match (address, command) {
            (Some(address), command) => Adapter::At(address, command),
            (None, Some(command)) => match Preset::named(&command) {
                Some(preset) => Adapter::Known(preset),
                None => Adapter::Command(command),
            },
            (None, None) => Adapter::Own,
        }
    }

    /// The adapter for configurations of this `type` in a `launch.json`.
    pub fn of_type(name: &str) -> Option<Adapter> {
        match name {
            "dapple" => Some(Adapter::Own),
            name => Preset::of_type(name).map(Adapter::Known),
        }
    }

    /// What is known of it, if it is one of those that are known by name.
    pub fn preset(&self) -> Option<&'static Preset> {
        match self {
            Adapter::Known(preset) => Some(preset),
            _ => None,
        }
    }

    /// Whether it is Dapple's, which has arguments and requests of its own: the one of this process, or the one that `dapple dap` in a command is.
    pub fn is_own(&self) -> bool {
        match self {
            Adapter::Own | Adapter::On(..) => true,
            Adapter::Command(command) | Adapter::At(_, Some(command)) => starts_dapple(command),
            Adapter::Known(_) | Adapter::At(_, None) => false,
        }
    }

    /// Whether it is the one of this process.
    pub fn is_here(&self) -> bool {
        matches!(self, Adapter::Own)
    }

    /// Whether it runs on this machine, as far as its address tells.
    pub fn is_local(&self) -> bool {
        match self {
            Adapter::At(address, _) => address.is_local(),
            Adapter::On(..) => false,
            _ => true,
        }
    }

    /// Where else it is, if the user has said so: paths and processes are meant there.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Adapter::On(place, _) => Some(place),
            _ => None,
        }
    }
}

/// Whether a shell command has `dapple dap` in it.
fn starts_dapple(command: &str) -> bool {
    let words = command.split_whitespace();
    let is_dapple = |word: &str| word.rsplit('/').next() == Some("dapple");
    let next = words.clone().skip(1);
    { words.zip(next) }.any(|(word, next)| is_dapple(word) && next == "dap")
}

/// Where an adapter listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host's name or address, and a port.
    Tcp(String),
    /// A Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// Parses `HOST:PORT`, a port of this machine, or `unix:PATH`.
    ///
    /// # Errors
    /// It is none of these.
    pub fn parse(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("a path is missing behind `unix:`".to_owned()),
                path => Ok(Address::Unix(path.into())),
            };
        }
        if text.parse::<u16>().is_ok() {
            return Ok(Address::Tcp(format!("127.0.0.1:{text}")));
        }
        let port = text.rsplit_once(':').map(|(_, port)| port);
        match port.is_some_and(|port| port.parse::<u16>().is_ok()) {
            true => Ok(Address::Tcp(text.to_owned())),
            false => Err("neither HOST:PORT, as 127.0.0.1:4711, nor unix:PATH".to_owned()),
        }
    }

    /// Whether it is an address of this machine alone.
    fn is_local(&self) -> bool {
        let Address::Tcp(text) = self else {
            return true;
        };
        let host = text.rsplit_once(':').map_or(&**text, |(host, _)| host);
        let number = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || number.is_ok_and(|number| number.is_loopback())
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Address::Tcp(address.to_string())
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(address) => f.write_str(address),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// How an adapter is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// A program that speaks the protocol on its stdio, with its arguments.
    Stdio(Vec<OsString>),
    /// A program that serves each connection to it its own session. It says on which port of this machine it listens, in the first lines of its
    /// output.
    Server(Vec<OsString>),
    /// Something listens there, or will soon: perhaps a program that this shell command starts.
    Listening(Address, Option<String>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_adapter_is_known_in_a_command() {
        let is_own = |command: &str| Adapter::of(Some(command.to_owned()), None).is_own();
        assert!(is_own("dapple dap"));
        assert!(is_own("exec target/debug/dapple dap --log /tmp/log"));
        assert!(is_own("ssh board dapple dap"));
        assert!(!is_own("dapple-next dap"));
        assert!(!is_own("dapple replay dap"));
        assert!(!is_own("lldb"));
    }

    #[test]
    fn an_address_is_a_port_a_host_with_a_port_or_a_path() {
        let tcp = |text: &str| Ok(Address::Tcp(text.to_owned()));
        assert_eq!(Address::parse("4711"), tcp("127.0.0.1:4711"));
        assert_eq!(Address::parse("[::1]:4711"), tcp("[::1]:4711"));
        assert_eq!(Address::parse("here:80"), tcp("here:80"));
        assert_eq!(
            Address::parse("unix:/a b"),
            Ok(Address::Unix("/a b".into()))
        );
        let is_local = |text: &str| Address::parse(text).unwrap().is_local();
        assert!(["4711", "localhost:80", "[::1]:80", "unix:/a"].map(is_local) == [true; 4]);
        assert!(!is_local("10.0.0.1:80") && !is_local("here:80"));
        for wrong in ["here", "here:", ":", "unix:", "here:65536"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_known_name_is_no_command() {
        let name = |command: &str| match Adapter::of(Some(command.to_owned()), None) {
            Adapter::Known(preset) => Some(preset.name),
            _ => None,
        };
        assert_eq!(name("lldb"), Some("lldb"));
        assert_eq!(name("lldb-dap"), Some("lldb"));
        assert_eq!(name("python"), Some("debugpy"));
        assert_eq!(name("lldb-dap-22"), None);
        assert_eq!(name("gdb -i=dap"), None);
    }
}
