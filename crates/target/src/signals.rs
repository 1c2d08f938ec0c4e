//! Names of signals, and the policy for each: whether it stops the program, is reported, and is passed to the program.
//!
//! By default every signal is passed to the program, except Ctrl-C on a terminal that the program shares with the debugger: that is meant
//! for the debugger and pauses the program. The program stops before the delivery of a signal that means a fault of its own (SIGSEGV,
//! SIGBUS, SIGFPE, SIGILL, SIGSYS), of SIGABRT, of a SIGTRAP that is not the debugger's, and of SIGINT, with which a user asks for
//! attention. Others (SIGCHLD, SIGALRM, SIGUSR1, SIGTERM, real-time signals …) are everyday traffic: stopping at each would make programs
//! that use them undebuggable.

use std::borrow::Cow;

/// The greatest signal number (signal(7)).
const LAST: i32 = 64;
/// The first and last real-time signals that programs can use: glibc reserves 32 and 33 for its threads.
const RTMIN: i32 = 34;
const RTMAX: i32 = LAST;

/// The names of signals 1 to 31, without `SIG`.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// Alternative names of the same signals.
const ALIASES: [(&str, i32); 4] = [
    ("IOT", libc::SIGABRT),
    ("CLD", libc::SIGCHLD),
    ("POLL", libc::SIGIO),
    ("UNUSED", libc::SIGSYS),
];

/// Signals that healthy programs receive all the time.
const EVERYDAY: [i32; 11] = [
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGCHLD,
    libc::SIGCONT,
    libc::SIGURG,
    libc::SIGIO,
    libc::SIGWINCH,
    libc::SIGSTKFLT,
    32,
    33,
];

/// SIGTERM, which asks a program to end.
pub const TERMINATE: i32 = libc::SIGTERM;

/// A signal's name as `kill -l` prints it: `SIGSEGV`, `SIGRTMIN+3`.
pub fn name(number: i32) -> Cow<'static, str> {
    let known = usize::try_from(number)
        .ok()
        .and_then(|number| number.checked_sub(1))
        .and_then(|index| NAMES.get(index));
    if let Some(name) = known {
        return format!("SIG{name}").into();
    }
    const MIDDLE: i32 = (RTMIN + RTMAX) / 2;
    const SECOND: i32 = RTMIN + 1;
    const BEHIND: i32 = MIDDLE + 1;
    const LAST_BUT_ONE: i32 = RTMAX - 1;
    match number {
        32 | 33 => format!("SIG{number}").into(),
        RTMIN => "SIGRTMIN".into(),
        RTMAX => "SIGRTMAX".into(),
        SECOND..=MIDDLE => format!("SIGRTMIN+{}", number - RTMIN).into(),
        BEHIND..=LAST_BUT_ONE => format!("SIGRTMAX-{}", RTMAX - number).into(),
        _ => format!("signal {number}").into(),
    }
}

/// The signal that `text` names: `SIGUSR1`, `usr1`, `10`, `SIGRTMIN+3`.
///
/// # Errors
/// A sentence: there is no such signal.
pub fn number(text: &str) -> Result<i32, String> {
    let upper = text.trim().to_ascii_uppercase();
    let unknown = || {
        format!(
            "there is no signal `{text}`; they are called SIGUSR1, SIGRTMIN+3 or by their number"
        )
    };
    if let Ok(number) = upper.parse::<i32>() {
        return match number {
            1..=LAST => Ok(number),
            _ => Err(unknown()),
        };
    }
    let name = upper.strip_prefix("SIG").unwrap_or(&upper);
    if let Some(index) = NAMES.iter().position(|known| *known == name) {
        return i32::try_from(index + 1).map_err(|_| unknown());
    }
    if let Some((_, number)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Ok(*number);
    }
    let real_time = |rest: &str, from: i32| match rest {
        "" => Some(from),
        // `rest` begins with its sign, which `parse` accepts.
        _ => rest.parse::<i32>().ok()?.checked_add(from),
    };
    let found = match (name.strip_prefix("RTMIN"), name.strip_prefix("RTMAX")) {
        (Some(rest), _) => real_time(rest, RTMIN),
        (_, Some(rest)) => real_time(rest, RTMAX),
        _ => {
            return name
                .parse()
                .ok()
                .filter(|number| matches!(number, 32 | 33))
                .ok_or_else(unknown);
        }
    };
    found
        .filter(|number| (RTMIN..=RTMAX).contains(number))
        .ok_or_else(unknown)
}

/// The numbers of all signals.
pub fn all() -> impl Iterator<Item = i32> {
    1..=LAST
}

/// Whether the signal is one that instructions raise. If the kernel sent it (`si_code` is positive), its `si_addr` is valid.
pub fn is_fault(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL | libc::SIGSYS
    )
}

/// Whether the signal comes from Ctrl-C on a terminal: only the kernel itself sends SIGINT with this code.
pub fn is_keyboard_interrupt(signal: i32, code: i32) -> bool {
    /// The `si_code` of a signal that the kernel sends for a reason of its own (sigaction(2)).
    const SI_KERNEL: i32 = 0x80;
    signal == libc::SIGINT && code == SI_KERNEL
}

/// When a signal stops the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Never.
    Never,
    /// Only if the program doesn't handle it, so that the signal would end the program.
    Fatal,
    /// Always, before it is delivered.
    Always,
}

/// How the debugger treats a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// When it stops the program.
    pub stop: When,
    /// Whether it is passed to the program.
    pub pass: bool,
    /// Whether it is reported when it doesn't stop the program.
    pub print: bool,
}

/// The policy for each of the 64 signals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalTable {
    /// Indexed by signal number; entry 0 is unused.
    policies: [Policy; LAST as usize + 1],
}

impl Default for SignalTable {
    fn default() -> SignalTable {
        let mut table = SignalTable::never();
        for signal in (1..=LAST).filter(|signal| is_fault(*signal)) {
            table.at(signal).stop = When::Always;
        }
        for signal in [libc::SIGABRT, libc::SIGTRAP, libc::SIGINT] {
            table.at(signal).stop = When::Always;
        }
        table
    }
}

impl SignalTable {
    /// A table in which no signal stops the program and all are passed on.
    pub fn never() -> SignalTable {
        let policy = Policy {
            stop: When::Never,
            pass: true,
            print: false,
        };
        SignalTable {
            policies: [policy; LAST as usize + 1],
        }
    }

    fn at(&mut self, signal: i32) -> &mut Policy {
        let index = usize::try_from(signal).unwrap_or(0).min(LAST as usize);
        &mut self.policies[index]
    }

    /// How the debugger treats a signal.
    pub fn of(&self, signal: i32) -> Policy {
        let index = usize::try_from(signal).unwrap_or(0).min(LAST as usize);
        self.policies[index]
    }

    /// Makes faults, SIGABRT and SIGTRAP stop only if they would end the program.
    pub fn faults_if_fatal(&mut self) {
        let aborts = [libc::SIGABRT, libc::SIGTRAP];
        for signal in (1..=LAST).filter(|signal| is_fault(*signal) || aborts.contains(signal)) {
            self.at(signal).stop = When::Fatal;
        }
    }

    /// Makes all signals stop except those that healthy programs receive all the time, which keep their policies.
    pub fn stop_at_most(&mut self) {
        for signal in (1..=LAST).filter(|signal| !EVERYDAY.contains(signal)) {
            self.at(signal).stop = When::Always;
        }
    }

    /// Sets when a signal stops the program. SIGKILL keeps its policy, because no tracer sees it before delivery.
    pub fn stop(&mut self, signal: i32, when: When) {
        if signal != libc::SIGKILL {
            self.at(signal).stop = when;
        }
    }

    /// Changes policies by a list such as `SIGUSR1, SIGCHLD:nopass, SIGRTMIN+3:nostop:print`. A name alone means `stop`. Words after it
    /// (`stop`, `nostop`, `pass`, `nopass`, `print`, `noprint`, after a colon or a space) each change one setting and leave the others.
    /// `all` stands for all signals but SIGKILL.
    ///
    /// # Errors
    /// A sentence that names the mistake; the table is then unchanged.
    pub fn change(&mut self, list: &str) -> Result<(), String> {
        let mut changed = self.clone();
        let entries = list.split([',', ';']).map(str::trim);
        for entry in entries.filter(|entry| !entry.is_empty()) {
            let mut words = entry
                .split([':', ' ', '\t'])
                .filter(|word| !word.is_empty());
            let name = words.next().unwrap_or_default();
            let words: Vec<&str> = words.collect();
            if name.eq_ignore_ascii_case("all") {
                for signal in (1..=LAST).filter(|signal| *signal != libc::SIGKILL) {
                    changed.at(signal).change(&words)?;
                }
                continue;
            }
            match number(name)? {
                libc::SIGKILL => {
                    return Err("SIGKILL can't be intercepted, not even by a debugger".to_owned());
                }
                signal => changed.at(signal).change(&words)?,
            }
        }
        *self = changed;
        Ok(())
    }
}

impl Policy {
    fn change(&mut self, words: &[&str]) -> Result<(), String> {
        if words.is_empty() {
            self.stop = When::Always;
        }
        for word in words {
            match word.to_ascii_lowercase().as_str() {
                "stop" => self.stop = When::Always,
                "nostop" => self.stop = When::Never,
                "pass" => self.pass = true,
                "nopass" => self.pass = false,
                "print" => self.print = true,
                "noprint" => self.print = false,
                _ => {
                    return Err(format!(
                        "`{word}` is nothing that can be done with a signal; there are stop, nostop, pass, nopass, print and noprint"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_has_a_name_and_is_found_by_it() {
        for signal in 1..=LAST {
            assert_eq!(number(&name(signal)), Ok(signal), "{}", name(signal));
            assert_eq!(number(&signal.to_string()), Ok(signal));
        }
        assert_eq!(name(34), "SIGRTMIN");
        assert_eq!(name(37), "SIGRTMIN+3");
        assert_eq!(name(63), "SIGRTMAX-1");
        assert_eq!(name(65), "signal 65");
        for (text, signal) in [
            ("usr1", 10),
            ("SIGCLD", 17),
            ("rtmin+30", 64),
            ("SIGIOT", 6),
        ] {
            assert_eq!(number(text), Ok(signal), "{text}");
        }
        for text in [
            "", "SIG", "0", "65", "SIGFOO", "RTMIN+31", "RTMIN+x", "-3", "RTMAX-31",
        ] {
            assert!(number(text).is_err(), "{text}");
        }
    }

    #[test]
    fn everyday_signals_do_not_stop() {
        let table = SignalTable::default();
        for signal in [
            libc::SIGCHLD,
            libc::SIGALRM,
            libc::SIGUSR1,
            libc::SIGTERM,
            libc::SIGURG,
            40,
        ] {
            assert_eq!(table.of(signal).stop, When::Never, "signal {signal}");
        }
        assert!(is_keyboard_interrupt(libc::SIGINT, 0x80));
        assert!(
            !is_keyboard_interrupt(libc::SIGINT, 0),
            "`kill -INT` is for the program"
        );
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGINT, libc::SIGTRAP] {
            assert_eq!(table.of(signal).stop, When::Always, "signal {signal}");
        }
        let all = (1..=LAST).map(|signal| table.of(signal));
        assert!(all.into_iter().all(|policy| policy.pass && !policy.print));
    }

    #[test]
    fn a_list_changes_what_it_names() {
        let mut table = SignalTable::default();
        table
            .change(" SIGUSR1, SIGCHLD:nopass; rtmin+3:nostop:print, SIGSEGV nostop pass ,")
            .expect("valid");
        let policy = |stop, pass, print| Policy { stop, pass, print };
        assert_eq!(table.of(libc::SIGUSR1), policy(When::Always, true, false));
        assert_eq!(table.of(libc::SIGCHLD), policy(When::Never, false, false));
        assert_eq!(table.of(37), policy(When::Never, true, true));
        assert_eq!(table.of(libc::SIGSEGV), policy(When::Never, true, false));
        table.change("all:nostop").expect("valid");
        assert!((1..=LAST).all(|signal| table.of(signal).stop == When::Never));
    }

    #[test]
    fn a_wrong_list_changes_nothing_and_says_what_is_wrong() {
        let mut table = SignalTable::default();
        for (list, part) in [
            ("SIGUSR1, SIGFOO", "no signal `SIGFOO`"),
            ("SIGUSR1:stopp", "`stopp` is nothing"),
            ("SIGKILL", "SIGKILL"),
            ("all:often", "`often` is nothing"),
        ] {
            let error = table.change(list).expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(table, SignalTable::default());
    }
}
