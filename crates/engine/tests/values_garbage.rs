//! Objects before their construction, after their destruction, and after being overwritten: each is shown or refused, quickly, whatever the
//! memory contains.

use crate::support::cpu_time::{Longest, timed};
use crate::support::{Fixture, clang, fixture, fixture_by, has_libcxx, listing};
use dapple_engine::session::memory::PartialWrite;
use dapple_engine::values::{NamedValue, Rendered};
use dapple_engine::{Address, Session};
use std::ops::Range;
use std::time::Duration;

/// CPU time limit of one answer, also in debug builds.
const PATIENCE: Duration = Duration::from_millis(50);
/// The default number of patterns. Try more after a change to how values are read, which takes some minutes: `DAPPLE_PATTERNS=10000 cargo
/// test --release -p dapple-engine --test values_garbage --test values_any_bytes -- --nocapture`
const PATTERNS: u64 = 40;
/// The size of `ground` in bytes.
const GROUND: u64 = 1 << 16;

/// Pseudorandom numbers (Marsaglia's xorshift): the same patterns in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The words that an object's memory may contain: numbers, and pointers to existing memory.
struct Places {
    storage: u64,
    size: u64,
    ground: u64,
    stack: u64,
    code: u64,
}

impl Places {
    fn word(&self, random: &mut Random, previous: u64) -> u64 {
        match random.below(14) {
            0 => random.next(),
            1 => 0,
            2 => u64::MAX,
            3 => random.below(40),
            4 => random.below(1 << 20),
            5 => 1 << random.below(64),
            6 | 7 => self.ground + random.below(GROUND / 16) * 16,
            8 => self.ground + random.below(GROUND),
            9 => self.storage + random.below(self.size / 8) * 8,
            10 => self.stack + random.below(4096),
            11 => self.code + random.below(64),
            // An address behind the previous word, as in a pair of begin and end pointers.
            12 => previous.wrapping_add(random.below(64) * 8),
            _ => previous,
        }
    }

    fn words(&self, random: &mut Random, count: u64) -> Vec<u8> {
        let mut previous = 0;
        (0..count)
            .flat_map(|_| {
                previous = self.word(random, previous);
                previous.to_le_bytes()
            })
            .collect()
    }
}

fn address_of(session: &Session, frame: dapple_engine::frame::FrameId, what: &str) -> u64 {
    let (_, rendered) = session.evaluate(what, Some(frame)).expect(what);
    rendered.memory.expect("an address").0
}

fn check(fixture: &Fixture) {
    let patterns = std::env::var("DAPPLE_PATTERNS").ok();
    let patterns = patterns.map_or(PATTERNS, |count| count.parse().expect("a number"));
    let mut debuggee = fixture.launch_here();
    debuggee.break_at(&["main"]);
    let (thread, _) = debuggee.run_to_breakpoint();
    let session = debuggee.session();
    let frame = listing::innermost(session, thread);
    let (all, rendered) = session.evaluate("all", Some(frame)).expect("all");
    let members = rendered.named;
    assert_eq!(members, 37, "{}", rendered.text);
    let (_, storage) = session.evaluate("storage", Some(frame)).expect("storage");
    let places = Places {
        storage: address_of(session, frame, "storage"),
        size: storage.indexed,
        ground: address_of(session, frame, "ground"),
        stack: address_of(session, frame, "&all"),
        code: address_of(session, frame, "main"),
    };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut shown, mut refused, mut longest) = (0, 0, Longest::default());
    for pattern in 0..patterns {
        let write = |at: u64, bytes: Vec<u8>| {
            let written = session.write_memory(Address(at), bytes, PartialWrite::Refused);
            written.expect("it can be written");
        };
        write(places.storage, places.words(&mut random, places.size / 8));
        let part = random.below(GROUND / 4096 - 1) * 4096;
        write(places.ground + part, places.words(&mut random, 512));
        let mut ask = |value: &NamedValue, range: Range<u64>, what: &str| {
            let children = || {
                session
                    .children(&value.value, None, range)
                    .expect("children")
            };
            let (children, taken) = timed(children);
            longest.note(what, pattern, taken);
            assert!(
                taken < PATIENCE,
                "{what} in pattern {pattern} takes {taken:?}"
            );
            children
        };
        for position in 0..members {
            let member = ask(&all, position..position + 1, &format!("member {position}"));
            let [(member, rendered)] = &member[..] else {
                panic!("no member {position}");
            };
            let name = &member.name;
            assert!(!rendered.text.is_empty(), "{name} in pattern {pattern}");
            assert!(
                rendered.text.len() < 2000,
                "{name} in pattern {pattern}: {}",
                rendered.text
            );
            match rendered.text.starts_with('<') {
                true => refused += 1,
                false => shown += 1,
            }
            // Requests the first and the last of the children that the value claims to have.
            let count = rendered.named.saturating_add(rendered.indexed);
            let check = |children: Vec<(NamedValue, Rendered)>, wanted: u64| {
                assert_eq!(children.len() as u64, wanted, "{name} in pattern {pattern}");
            };
            check(ask(member, 0..count.min(5), name), count.min(5));
            check(
                ask(member, count.saturating_sub(3)..count, name),
                count.min(3),
            );
        }
    }
    assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused");
    println!("the slowest:{}", longest.shown());
    // The state after the last pattern.
    let look = |session: &Session, frame| listing::value(session, frame, "all", 2);
    listing::live_and_post_mortem(session, thread, look);
}

#[test]
fn any_memory_is_shown_in_time_as_objects_of_libstdcxx() {
    check(&fixture("garbage.cpp", &["-std=c++20"]));
}

#[test]
fn any_memory_is_shown_in_time_as_objects_of_libcxx() {
    let compiler = clang().map(|clang| clang.replace("clang", "clang++"));
    let Some(compiler) = compiler.filter(|compiler| has_libcxx(compiler)) else {
        return println!("there is no libc++ here");
    };
    let flags = [
        "-std=c++20",
        "-stdlib=libc++",
        "-fstandalone-debug",
        "-static-libstdc++",
        "-lc++abi",
    ];
    check(&fixture_by(&compiler, "garbage.cpp", &flags));
}
