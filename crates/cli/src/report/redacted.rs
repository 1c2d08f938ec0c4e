//! The reason of a crash without what comes from the program's memory or registers (`--no-values`).
//!
//! Texts are not searched for secrets. What is said is put together from the signal's name and a few phrases that are known to be without values.

/// What the sentence of a fault may begin with, behind the signal's name, and what is said of it.
const ACCESSES: [(&str, &str); 4] = [
    ("read of address ", "read of memory"),
    ("write to address ", "write to memory"),
    ("jump to address ", "jump to memory"),
    ("access to address ", "access to memory"),
];
/// What is said of the address, by what the sentence has behind it.
const PLACES: [(&str, &str); 6] = [
    (", a null pointer", "through a null pointer"),
    (
        ", a null function pointer",
        "through a null function pointer",
    ),
    (" bytes from a null pointer", "near a null pointer"),
    (", where nothing is mapped", "where nothing is mapped"),
    (": it may only be read", "that may only be read"),
    (
        ": it may be read and written, not executed",
        "that may not be executed",
    ),
];
/// Sentences without values.
const WHOLE: [&str; 4] = [
    "the program aborts",
    "sent by the program itself",
    "sent by a program",
    "interrupted",
];
/// How a sentence begins where the stack has overflown.
const OVERFLOW: &str = "stack overflow: ";

/// The reason without values: `SIGSEGV: read of memory through a null pointer`. `sentence` is the whole one.
pub fn reason(signal: &str, sentence: &str) -> String {
    let rest = sentence.strip_prefix(signal).unwrap_or_default();
    let rest = rest.strip_prefix(": ").unwrap_or_default();
    let (overflow, rest) = match rest.strip_prefix(OVERFLOW) {
        Some(rest) => (OVERFLOW, rest),
        None => ("", rest),
    };
    if WHOLE.contains(&rest) {
        return format!("{signal}: {rest}");
    }
    if rest.starts_with("the program aborts: ") {
        return format!("{signal}: the program aborts");
    }
    let access = { ACCESSES.iter() }.find(|(begins, _)| rest.starts_with(begins));
    let Some((_, access)) = access else {
        return signal.to_owned();
    };
    let place = { PLACES.iter() }.find(|(phrase, _)| rest.contains(phrase));
    match place.filter(|_| overflow.is_empty()) {
        Some((_, place)) => format!("{signal}: {access} {place}"),
        None => format!("{signal}: {overflow}{access}"),
    }
}

/// The name of a function, or a text between frames. What a task waits for may name values.
pub fn function(name: &str, is_label: bool) -> &str {
    match is_label && name.starts_with("waiting for ") {
        true => "waiting",
        false => name,
    }
}

/// The name of a mapping. A program may name anonymous memory as it likes (prctl(2), `PR_SET_VMA_ANON_NAME`).
pub fn mapping(name: &str) -> &str {
    for kind in ["[anon:", "[anon_shmem:"] {
        if name.starts_with(kind) {
            return "[anon]";
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_keeps_the_kind_of_the_access_and_loses_the_address() {
        for (whole, expected) in [
            (
                "SIGSEGV: read of address 0x0, a null pointer",
                "SIGSEGV: read of memory through a null pointer",
            ),
            (
                "SIGSEGV: write to address 0x10, 16 bytes from a null pointer",
                "SIGSEGV: write to memory near a null pointer",
            ),
            (
                "SIGSEGV: jump to address 0x7f12, where nothing is mapped, 3 bytes behind the heap",
                "SIGSEGV: jump to memory where nothing is mapped",
            ),
            (
                "SIGSEGV: stack overflow: write to address 0x7ff, below the stack of 8 MiB",
                "SIGSEGV: stack overflow: write to memory",
            ),
            (
                "SIGABRT: the program aborts: std::runtime_error: secret",
                "SIGABRT: the program aborts",
            ),
            ("SIGABRT: secret: read of address", "SIGABRT"),
            ("secret", "SIGABRT"),
        ] {
            let signal = expected.split(':').next().unwrap();
            assert_eq!(reason(signal, whole), expected);
        }
        assert_eq!(function("waiting for secret", true), "waiting");
        assert_eq!(function("main", false), "main");
        assert_eq!(mapping("[anon:secret]"), "[anon]");
        assert_eq!(mapping("[heap]"), "[heap]");
    }
}
