//! How threads are resumed: the actions of `vCont`, and what a stub has of them (gdb manual, "vCont" in "Packets").

use crate::signal::Signal;
use crate::thread_id::ThreadId;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// `c`: run on.
    Continue,
    /// `C`: run on with a signal.
    ContinueWith(Signal),
    /// `s`: execute one instruction.
    Step,
    /// `S`: execute one instruction, with a signal.
    StepWith(Signal),
    /// `t`: stop. In non-stop mode.
    Stop,
    /// `r`: step as long as the program counter is at `start` or behind, and before `end`. A stub without it makes one step.
    StepRange {
        /// The first address.
        start: u64,
        /// The address behind the last one.
        end: u64,
    },
}

/// An action and the threads that it is for. The first resumption that names a thread holds; threads that none names stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// What they do.
    pub action: Action,
    /// Which threads. `None` is for all that no other resumption names.
    pub threads: Option<ThreadId>,
}

/// The actions that a stub knows, from its answer to `vCont?`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Actions {
    letters: BTreeSet<u8>,
}

impl Action {
    /// Whether it executes single instructions.
    pub(crate) fn is_step(self) -> bool {
        matches!(
            self,
            Action::Step | Action::StepWith(_) | Action::StepRange { .. }
        )
    }
}

impl Actions {
    /// Reads an answer such as `vCont;c;C;s;S`. `None` if it is no such list.
    #[must_use]
    pub fn parse(answer: &[u8]) -> Option<Actions> {
        let list = answer.strip_prefix(b"vCont")?;
        let letters = list
            .split(|byte| *byte == b';')
            .filter_map(|action| match action {
                [letter] => Some(*letter),
                _ => None,
            })
            .collect();
        Some(Actions { letters })
    }

    /// Whether the stub knows an action by its letter.
    #[must_use]
    pub fn has(&self, letter: char) -> bool {
        u8::try_from(letter).is_ok_and(|letter| self.letters.contains(&letter))
    }

    /// Whether `vCont` can be used. gdb wants these, too.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        ['c', 'C'].iter().all(|letter| self.has(*letter))
    }

    /// Whether threads can be stepped by `vCont`. Older gdbservers list no steps where the processor has none, as on 32-bit Arm. Some stubs list only `s`.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        self.has('s')
    }
}

/// The packet `vCont` for resumptions.
pub(crate) fn vcont(resumptions: &[Resume], actions: &Actions) -> String {
    let mut packet = "vCont".to_owned();
    for resumption in resumptions {
        // Writing to a string cannot fail.
        let _ = match resumption.action {
            Action::Continue => write!(packet, ";c"),
            Action::ContinueWith(signal) => write!(packet, ";C{:02x}", signal.number()),
            Action::Step => write!(packet, ";s"),
            Action::StepWith(signal) => write!(packet, ";S{:02x}", signal.number()),
            Action::Stop => write!(packet, ";t"),
            Action::StepRange { start, end } if actions.has('r') => {
                write!(packet, ";r{start:x},{end:x}")
            }
            Action::StepRange { .. } => write!(packet, ";s"),
        };
        if let Some(threads) = resumption.threads {
            let _ = write!(packet, ":{threads}");
        }
    }
    packet
}

/// The packet for stubs without `vCont`, and the thread that `Hc` has to choose before it. `None` if the resumptions cannot be said: there, one
/// action is for the chosen thread, and others run on.
pub(crate) fn without_vcont(resumptions: &[Resume]) -> Option<(ThreadId, String)> {
    let (first, others) = resumptions.split_first()?;
    if !others.iter().all(|other| other.action == Action::Continue) {
        return None;
    }
    let packet = match first.action {
        Action::Continue => "c".to_owned(),
        Action::ContinueWith(signal) => format!("C{:02x}", signal.number()),
        Action::Step | Action::StepRange { .. } => "s".to_owned(),
        Action::StepWith(signal) => format!("S{:02x}", signal.number()),
        Action::Stop => return None,
    };
    let chosen = match first.action {
        Action::Continue if others.is_empty() => first.threads.unwrap_or(ThreadId::ALL),
        Action::Continue => ThreadId::ALL,
        _ => first.threads.unwrap_or(ThreadId::ANY),
    };
    Some((chosen, packet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_id::Id;

    const THREAD: ThreadId = ThreadId {
        process: None,
        thread: Id::Number(18),
    };

    #[test]
    fn actions_become_a_packet() {
        let all = Actions::parse(b"vCont;c;C;s;S;t;r").unwrap_or_default();
        let resumptions = [
            Resume {
                action: Action::StepRange {
                    start: 0x10,
                    end: 0x20,
                },
                threads: Some(THREAD),
            },
            Resume {
                action: Action::ContinueWith(Signal::Usr1),
                threads: None,
            },
        ];
        assert_eq!(vcont(&resumptions, &all), "vCont;r10,20:12;C1e");
        let few = Actions::parse(b"vCont;c;C;s;S").unwrap_or_default();
        assert!(few.is_complete() && few.has_steps());
        let without_steps = Actions::parse(b"vCont;c;C;t").unwrap_or_default();
        assert!(without_steps.is_complete() && !without_steps.has_steps());
        assert_eq!(vcont(&resumptions, &few), "vCont;s:12;C1e");
        assert_eq!(without_vcont(&resumptions), None);
    }

    #[test]
    fn without_vcont_one_thread_has_an_action_and_others_run() {
        let step = Resume {
            action: Action::Step,
            threads: Some(THREAD),
        };
        let run = Resume {
            action: Action::Continue,
            threads: None,
        };
        assert_eq!(without_vcont(&[step, run]), Some((THREAD, "s".to_owned())));
        assert_eq!(without_vcont(&[run]), Some((ThreadId::ALL, "c".to_owned())));
        assert_eq!(without_vcont(&[]), None);
    }

    #[test]
    fn an_answer_of_another_form_is_no_list() {
        assert_eq!(Actions::parse(b""), None);
        assert_eq!(Actions::parse(b"OK"), None);
        let odd = Actions::parse(b"vCont;c;;xx;\xff").unwrap_or_default();
        assert!(odd.has('c') && !odd.has('x') && !odd.is_complete());
    }
}
