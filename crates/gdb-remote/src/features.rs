//! What client and stub can do: `qSupported` (gdb manual, "qSupported" in "General Query Packets").
//!
//! A stub's answer is a list of `NAME+`, `NAME-`, `NAME?` and `NAME=VALUE`. What it doesn't name, it is taken not to support.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// What this client offers. `xmlRegisters=` asks for descriptions of these processors; without it some stubs give none.
pub const OFFERED: &str = "multiprocess+;swbreak+;hwbreak+;vContSupported+;QThreadEvents+;fork-events+;vfork-events+;\
    exec-events+;no-resumed+;xmlRegisters=i386,arm,riscv";

/// The longest packet that is sent to a stub that doesn't say what it takes, in bytes: gdb's number.
const DEFAULT_PACKET: usize = 400;
/// What a stub says is moved into these limits. A shorter packet would hold no command. lldb-server 22 takes 128 KiB, and says so in decimal digits, which
/// read as more than a megabyte.
const PACKET_SIZES: std::ops::RangeInclusive<usize> = 64..=128 << 10;

/// The most features that are read.
const MAX_FEATURES: usize = 1024;

/// The features of stubs that have a meaning here: variant and name.
macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// A feature that a stub can have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Feature {
            $($(#[$doc])* $variant,)*
        }

        impl Feature {
            /// The name in `qSupported`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Feature::$variant => $name,)*
                }
            }

            fn named(name: &str) -> Option<Feature> {
                match name {
                    $($name => Some(Feature::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

features! {
    /// Thread ids have processes: `pPID.TID`.
    Multiprocess "multiprocess",
    /// Stops say `swbreak`.
    SoftwareBreakpointStops "swbreak",
    /// Stops say `hwbreak`.
    HardwareBreakpointStops "hwbreak",
    /// `vCont?` is answered.
    VCont "vContSupported",
    /// Acknowledgements can be turned off.
    NoAckMode "QStartNoAckMode",
    /// Threads can run while others are stopped.
    NonStop "QNonStop",
    /// Stops at the beginning and the end of threads.
    ThreadEvents "QThreadEvents",
    /// Stops at fork(2).
    ForkEvents "fork-events",
    /// Stops at vfork(2).
    VforkEvents "vfork-events",
    /// Stops at execve(2).
    ExecEvents "exec-events",
    /// The stop reply `N`.
    NoResumed "no-resumed",
    /// `bs`: a step backwards.
    ReverseStep "ReverseStep",
    /// `bc`: backwards to the last stop.
    ReverseContinue "ReverseContinue",
    /// Breakpoints have conditions as bytecode.
    ConditionalBreakpoints "ConditionalBreakpoints",
    /// Breakpoints have commands as bytecode.
    BreakpointCommands "BreakpointCommands",
    /// `x`: memory as bytes.
    BinaryUpload "binary-upload",
    /// `QPassSignals`
    PassSignals "QPassSignals",
    /// `QProgramSignals`
    ProgramSignals "QProgramSignals",
    /// `QCatchSyscalls`
    CatchSyscalls "QCatchSyscalls",
    /// `QDisableRandomization`
    DisableRandomization "QDisableRandomization",
    /// `qXfer:features:read`
    ReadFeatures "qXfer:features:read",
    /// `qXfer:auxv:read`
    ReadAuxv "qXfer:auxv:read",
    /// `qXfer:threads:read`
    ReadThreads "qXfer:threads:read",
    /// `qXfer:libraries:read`
    ReadLibraries "qXfer:libraries:read",
    /// `qXfer:libraries-svr4:read`
    ReadLibrariesSvr4 "qXfer:libraries-svr4:read",
    /// `qXfer:libraries-svr4:read` may begin in the middle of the list.
    AugmentedLibraries "augmented-libraries-svr4-read",
    /// `qXfer:memory-map:read`
    ReadMemoryMap "qXfer:memory-map:read",
    /// `qXfer:exec-file:read`
    ReadExecFile "qXfer:exec-file:read",
    /// `qXfer:siginfo:read`
    ReadSiginfo "qXfer:siginfo:read",
    /// `qXfer:siginfo:write`
    WriteSiginfo "qXfer:siginfo:write",
    /// `qXfer:osdata:read`
    ReadOsdata "qXfer:osdata:read",
    /// lldb-server: signals have the system's numbers, not gdb's.
    NativeSignals "native-signals",
    /// lldb-server: `;thread:TID;` can follow commands about registers.
    ThreadSuffix "QThreadSuffixSupported",
    /// lldb-server: `qEcho` is answered with itself.
    Echo "qEcho",
}

/// What a stub can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    packet_size: usize,
    supported: BTreeSet<Feature>,
    values: BTreeMap<String, String>,
    other: BTreeMap<String, Declared>,
}

/// How a stub has declared a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// `+`
    Yes,
    /// `-`
    No,
    /// `?`: the client has to try.
    Maybe,
}

impl Default for Features {
    /// Those of a stub that knows no `qSupported`.
    fn default() -> Features {
        Features {
            packet_size: DEFAULT_PACKET,
            supported: BTreeSet::new(),
            values: BTreeMap::new(),
            other: BTreeMap::new(),
        }
    }
}

impl Features {
    /// Reads the answer to `qSupported`. What has no form of a feature is left out, and so are more than 1024 of them.
    #[must_use]
    pub fn parse(answer: &[u8]) -> Features {
        let mut features = Features::default();
        for item in answer.split(|byte| *byte == b';').take(MAX_FEATURES) {
            let item = String::from_utf8_lossy(item);
            if let Some((name, value)) = item.split_once('=') {
                features.set(name, value);
                continue;
            }
            let Some((end, sign)) = item.char_indices().last() else {
                continue;
            };
            let support = match sign {
                '+' => Declared::Yes,
                '-' => Declared::No,
                '?' => Declared::Maybe,
                _ => continue,
            };
            let name = &item[..end];
            match (Feature::named(name), support) {
                (Some(feature), Declared::Yes) => {
                    features.supported.insert(feature);
                }
                _ => {
                    features.other.insert(name.to_owned(), support);
                }
            }
        }
        features
    }

    fn set(&mut self, name: &str, value: &str) {
        if name == "PacketSize"
            && let Some(size) = crate::hex::number(value.as_bytes())
        {
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            self.packet_size = size.clamp(*PACKET_SIZES.start(), *PACKET_SIZES.end());
        }
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// The longest body of a packet that is sent, in bytes with escapes: 64 to 128 KiB, 400 if the stub doesn't say it.
    #[must_use]
    pub fn packet_size(&self) -> usize {
        self.packet_size
    }

    /// Whether the stub has said that it supports a feature.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        self.supported.contains(&feature)
    }

    /// The features that are supported.
    pub fn supported(&self) -> impl Iterator<Item = Feature> + '_ {
        self.supported.iter().copied()
    }

    /// What the stub has said of a feature that has no meaning here, or that it does not or may support.
    #[must_use]
    pub fn other(&self, name: &str) -> Option<Declared> {
        self.other.get(name).copied()
    }

    /// The value of a feature that has one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_gdbserver_is_read() {
        let features = Features::parse(
            b"PacketSize=47ff;QPassSignals+;qXfer:auxv:read+;multiprocess+;QNonStop-;tracenz+;swbreak?;Qbtrace:bts+",
        );
        assert_eq!(features.packet_size(), 0x47ff);
        assert!(features.has(Feature::PassSignals));
        assert!(features.has(Feature::ReadAuxv));
        assert!(features.has(Feature::Multiprocess));
        assert!(!features.has(Feature::NonStop));
        assert_eq!(features.other("QNonStop"), Some(Declared::No));
        assert_eq!(features.other("swbreak"), Some(Declared::Maybe));
        assert_eq!(features.other("tracenz"), Some(Declared::Yes));
        assert_eq!(features.value("PacketSize"), Some("47ff"));
    }

    #[test]
    fn nonsense_is_left_out_and_sizes_are_limited() {
        let features = Features::parse(b";;+;=;a;\xff\xff;PacketSize=1");
        assert_eq!(features.packet_size(), 64);
        assert_eq!(features.supported().count(), 0);
        assert_eq!(
            Features::parse(b"PacketSize=ffffffffffffffff").packet_size(),
            128 << 10
        );
        assert_eq!(Features::parse(b"PacketSize=z").packet_size(), 400);
        assert_eq!(Features::parse(b""), {
            let mut none = Features::default();
            none.values.clear();
            none
        });
    }

    #[test]
    fn each_feature_is_found_by_its_name() {
        assert_eq!(
            Feature::named(Feature::BinaryUpload.name()),
            Some(Feature::BinaryUpload)
        );
    }
}
