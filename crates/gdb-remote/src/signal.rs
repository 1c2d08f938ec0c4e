//! Signals as the protocol numbers them: gdb's own numbers, the same for all systems (`include/gdb/signals.def` in gdb's sources).
//!
//! They differ from Linux's from 7 on: SIGBUS is 7 there and 10 here. lldb-server sends its system's numbers if it says `native-signals+`
//! ([`Feature::NativeSignals`](crate::features::Feature::NativeSignals)); [`Signal::number`] gives back what it has sent.

use std::fmt;

/// The signals with a name: number, variant, name.
macro_rules! signals {
    ($($number:literal $variant:ident $name:literal,)*) => {
        /// A signal in the protocol's numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the variants are named after the signals")]
        pub enum Signal {
            $($variant,)*
            /// A real-time signal, by the number in its name: 32 to 127.
            Realtime(u8),
            /// A number without a meaning.
            Other(u8),
        }

        impl Signal {
            /// The signal of a number. [`Signal::None`] is 0.
            #[must_use]
            pub fn new(number: u8) -> Signal {
                match number {
                    $($number => Signal::$variant,)*
                    45..=75 => Signal::Realtime(number - 12),
                    77 => Signal::Realtime(32),
                    78..=141 => Signal::Realtime(number - 14),
                    _ => Signal::Other(number),
                }
            }

            /// The number that the protocol has for it.
            #[must_use]
            pub fn number(self) -> u8 {
                match self {
                    $(Signal::$variant => $number,)*
                    Signal::Realtime(32) => 77,
                    Signal::Realtime(number @ 33..=63) => number + 12,
                    Signal::Realtime(number @ 64..=127) => number + 14,
                    // GDB_SIGNAL_UNKNOWN
                    Signal::Realtime(_) => 143,
                    Signal::Other(number) => number,
                }
            }
        }

        impl fmt::Display for Signal {
            /// gdb's name, such as `SIGSEGV`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Signal::$variant => f.write_str($name),)*
                    Signal::Realtime(number) => write!(f, "SIG{number}"),
                    Signal::Other(number) => write!(f, "signal {number}"),
                }
            }
        }
    };
}

signals! {
    0 None "0",
    1 Hup "SIGHUP",
    2 Int "SIGINT",
    3 Quit "SIGQUIT",
    4 Ill "SIGILL",
    5 Trap "SIGTRAP",
    6 Abrt "SIGABRT",
    7 Emt "SIGEMT",
    8 Fpe "SIGFPE",
    9 Kill "SIGKILL",
    10 Bus "SIGBUS",
    11 Segv "SIGSEGV",
    12 Sys "SIGSYS",
    13 Pipe "SIGPIPE",
    14 Alrm "SIGALRM",
    15 Term "SIGTERM",
    16 Urg "SIGURG",
    17 Stop "SIGSTOP",
    18 Tstp "SIGTSTP",
    19 Cont "SIGCONT",
    20 Chld "SIGCHLD",
    21 Ttin "SIGTTIN",
    22 Ttou "SIGTTOU",
    23 Io "SIGIO",
    24 Xcpu "SIGXCPU",
    25 Xfsz "SIGXFSZ",
    26 Vtalrm "SIGVTALRM",
    27 Prof "SIGPROF",
    28 Winch "SIGWINCH",
    29 Lost "SIGLOST",
    30 Usr1 "SIGUSR1",
    31 Usr2 "SIGUSR2",
    32 Pwr "SIGPWR",
    33 Poll "SIGPOLL",
    34 Wind "SIGWIND",
    35 Phone "SIGPHONE",
    36 Waiting "SIGWAITING",
    37 Lwp "SIGLWP",
    38 Danger "SIGDANGER",
    39 Grant "SIGGRANT",
    40 Retract "SIGRETRACT",
    41 Msg "SIGMSG",
    42 Sound "SIGSOUND",
    43 Sak "SIGSAK",
    44 Prio "SIGPRIO",
    76 Cancel "SIGCANCEL",
    142 Info "SIGINFO",
    143 Unknown "?",
    145 ExcBadAccess "EXC_BAD_ACCESS",
    146 ExcBadInstruction "EXC_BAD_INSTRUCTION",
    147 ExcArithmetic "EXC_ARITHMETIC",
    148 ExcEmulation "EXC_EMULATION",
    149 ExcSoftware "EXC_SOFTWARE",
    150 ExcBreakpoint "EXC_BREAKPOINT",
    151 Librt "SIGLIBRT",
}

/// The signals of Linux in the order of its numbers, from 1 on: those of all processors but alpha, hppa, mips and sparc (signal(7)). Number 16
/// (SIGSTKFLT) has none here.
const LINUX: [Signal; 31] = [
    Signal::Hup,
    Signal::Int,
    Signal::Quit,
    Signal::Ill,
    Signal::Trap,
    Signal::Abrt,
    Signal::Bus,
    Signal::Fpe,
    Signal::Kill,
    Signal::Usr1,
    Signal::Segv,
    Signal::Usr2,
    Signal::Pipe,
    Signal::Alrm,
    Signal::Term,
    Signal::Other(143),
    Signal::Chld,
    Signal::Cont,
    Signal::Stop,
    Signal::Tstp,
    Signal::Ttin,
    Signal::Ttou,
    Signal::Urg,
    Signal::Xcpu,
    Signal::Xfsz,
    Signal::Vtalrm,
    Signal::Prof,
    Signal::Winch,
    Signal::Io,
    Signal::Pwr,
    Signal::Sys,
];

impl Signal {
    /// The signal with this number in Linux. [`Signal::None`] for 0 and numbers that Linux doesn't have.
    #[must_use]
    pub fn from_linux(number: i32) -> Signal {
        match u8::try_from(number) {
            Ok(number @ 1..=31) => LINUX[usize::from(number) - 1],
            Ok(number @ 32..=64) => Signal::Realtime(number),
            _ => Signal::None,
        }
    }

    /// The signal's number in Linux. `None` if it has none.
    #[must_use]
    pub fn linux(self) -> Option<i32> {
        match self {
            Signal::Realtime(number @ 32..=64) => Some(i32::from(number)),
            Signal::Other(_) => None,
            _ => {
                let index = LINUX.iter().position(|signal| *signal == self)?;
                i32::try_from(index + 1).ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_signal_and_each_signal_its_number() {
        for number in 0..=u8::MAX {
            assert_eq!(Signal::new(number).number(), number);
        }
    }

    #[test]
    fn names_are_those_of_gdb() {
        assert_eq!(Signal::new(11).to_string(), "SIGSEGV");
        assert_eq!(Signal::new(30).to_string(), "SIGUSR1");
        assert_eq!(Signal::new(46).to_string(), "SIG34");
        assert_eq!(Signal::new(77).to_string(), "SIG32");
        assert_eq!(Signal::new(141).to_string(), "SIG127");
        assert_eq!(Signal::new(200).to_string(), "signal 200");
    }
}
