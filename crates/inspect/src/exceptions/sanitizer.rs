//! Reports of sanitizer runtimes (AddressSanitizer, ThreadSanitizer, UndefinedBehaviorSanitizer and others), from their text.
//!
//! All of them pass their output, piece by piece, to a function that others may replace (`__sanitizer_on_print`,
//! `sanitizer/common_interface_defs.h`). [`Writing`] joins the pieces and recognizes a complete report. No function of the runtime is
//! called.

use super::thrown::Thrown;
use super::{BreakMode, Exception};
use crate::Address;

/// The longest report in bytes. Pieces that would make it longer are left out.
const LONGEST: usize = 1 << 16;
/// The most lines of a report that its description includes after the first.
const MOST_LINES: usize = 5;
/// The sanitizer whose reports are one line for each failed check, without a head line.
const UNDEFINED: &str = "UndefinedBehaviorSanitizer";

/// A complete report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The sanitizer's name, such as `AddressSanitizer`.
    pub sanitizer: String,
    /// The kind of error in the runtime's terms, such as `heap-use-after-free`.
    pub kind: String,
    /// The report's most important lines.
    pub(crate) description: String,
    /// The whole report.
    pub text: String,
}

/// The output of the runtimes that belongs to none of the returned reports.
#[derive(Debug, Default)]
pub struct Writing {
    text: String,
    /// The current report was returned already; the rest of its text is ignored.
    is_told: bool,
    /// The next piece is the line of a failed check.
    is_check: bool,
}

impl Writing {
    /// Notes that a check for undefined behaviour has failed; its line is the next piece.
    pub fn check_failed(&mut self) {
        self.is_check = true;
    }

    /// Adds a piece of output, and returns the report that it completes. `handler` is called for a failed check; it returns the name of the
    /// runtime's function that the check has called.
    pub fn add(&mut self, piece: &str, handler: impl FnOnce() -> Option<String>) -> Option<Report> {
        if std::mem::take(&mut self.is_check)
            && let Some((place, message)) = piece.split_once(" runtime error: ")
        {
            return Some(of_check(place, message, handler().as_deref()));
        }
        // Most reports begin with this line, and some end with it as well.
        if piece.starts_with("==========") {
            let report = self.complete();
            self.is_told = false;
            return report;
        }
        if piece.contains("==ERROR: ") || piece.contains("==WARNING: ") {
            self.text.clear();
            self.is_told = false;
        }
        if self.text.len() + piece.len() <= LONGEST {
            self.text.push_str(piece);
        }
        let ends = piece.starts_with("SUMMARY: ") || piece.trim_end().ends_with("==ABORTING");
        if ends { self.complete() } else { None }
    }

    /// The complete report. `None`: it was returned before, or the text is not a report.
    fn complete(&mut self) -> Option<Report> {
        let text = std::mem::take(&mut self.text);
        if self.is_told {
            return None;
        }
        let report = of_text(&text)?;
        self.is_told = true;
        Some(report)
    }
}

/// The report of a failed check: its place (`file.c:3:34:`) and message.
fn of_check(place: &str, message: &str, handler: Option<&str>) -> Report {
    let message = message.trim_end();
    let text = format!("{place} runtime error: {message}");
    Report {
        sanitizer: UNDEFINED.to_owned(),
        kind: kind_of_check(handler.unwrap_or_default(), message),
        description: format!("{UNDEFINED}: {message}"),
        text,
    }
}

/// Parses a report with a head line: `==17==ERROR: AddressSanitizer: heap-use-after-free on address 0x6040 at pc …`.
fn of_text(text: &str) -> Option<Report> {
    let mut lines = text.lines();
    let (start, head) = lines.find_map(|line| {
        let (before, kind) = line.split_once("Sanitizer: ")?;
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let is_head = !line.starts_with("SUMMARY: ") && name.starts_with(char::is_uppercase);
        is_head.then(|| (line, (format!("{name}Sanitizer"), kind)))
    })?;
    let (sanitizer, rest) = head;
    if sanitizer == UNDEFINED {
        return None;
    }
    let text = &text[text.find(start)?..];
    let rest = [" at pc ", " (pc ", " (pid="]
        .into_iter()
        .fold(rest, |rest, end| rest.split(end).next().unwrap_or(rest));
    let summary = text.lines().find_map(|line| {
        let said = line.strip_prefix("SUMMARY: ")?.strip_prefix(&sanitizer)?;
        said.strip_prefix(": ")
    });
    let mut description = vec![format!("{sanitizer}: {}", rest.trim())];
    let more = text.lines().skip(1).map(str::trim);
    let more = more.filter(|line| says_what(line)).take(MOST_LINES);
    description.extend(more.map(|line| line.trim_end_matches(':').to_owned()));
    Some(Report {
        kind: kind(rest, summary.unwrap_or_default()),
        sanitizer,
        description: description.join("\n"),
        text: text.trim_end().to_owned(),
    })
}

/// The first words that the head line and the summary share: `heap-use-after-free`, `data race`.
fn kind(head: &str, summary: &str) -> String {
    let pairs = head.split_whitespace().zip(summary.split_whitespace());
    let common: Vec<&str> = pairs
        .take_while(|(one, other)| one == other)
        .map(|(word, _)| word)
        .collect();
    match common.is_empty() {
        // In `attempting double-free on 0x6040`, the head doesn't begin with the kind; the summary does.
        true => {
            let words = if summary.is_empty() { head } else { summary };
            words
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        }
        false => common.join(" "),
    }
}

/// Whether a line describes the access or the memory at the address.
fn says_what(line: &str) -> bool {
    const STARTS: [&str; 10] = [
        "READ of size ",
        "WRITE of size ",
        "Read of size ",
        "Write of size ",
        "Atomic read of size ",
        "Atomic write of size ",
        "Previous ",
        "Location is ",
        "Address 0x",
        "The signal is caused by ",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
        || (line.starts_with("0x") && line.contains(" is located "))
}

/// What a check is about, from the name of its runtime function (`__ubsan_handle_…`) and its message.
fn kind_of_check(handler: &str, message: &str) -> String {
    let name = handler.strip_prefix("__ubsan_handle_").unwrap_or(handler);
    let name = name.strip_suffix("_abort").unwrap_or(name);
    let name = name.strip_suffix("_v1").unwrap_or(name);
    let has = |part: &str| message.contains(part);
    let kind = match name {
        "add_overflow" | "sub_overflow" | "mul_overflow" | "negate_overflow" => {
            match message.starts_with("unsigned") {
                true => "unsigned integer overflow",
                false => "signed integer overflow",
            }
        }
        "divrem_overflow" if has("division by zero") => "division by zero",
        "divrem_overflow" => "signed integer overflow",
        "type_mismatch" if has("null pointer") => "null pointer use",
        "type_mismatch" if has("misaligned") => "misaligned pointer use",
        "type_mismatch" => "object too small",
        "" => message.split(':').next().unwrap_or(message),
        _ => {
            return CHECKS
                .iter()
                .find(|(known, _)| *known == name)
                .map_or_else(|| name.replace('_', " "), |(_, kind)| (*kind).to_owned());
        }
    };
    kind.to_owned()
}

/// The checks for undefined behaviour, indexed by their numbers in clang's trap instructions (`SanitizerHandler`): the name of the
/// runtime's function, and what the check is about.
const CHECKS: [(&str, &str); 25] = [
    ("add_overflow", "integer overflow of an addition"),
    ("builtin_unreachable", "unreachable code"),
    ("cfi_check_fail", "control flow integrity"),
    (
        "divrem_overflow",
        "division by zero or overflow of a division",
    ),
    ("dynamic_type_cache_miss", "wrong dynamic type"),
    ("float_cast_overflow", "float cast overflow"),
    ("function_type_mismatch", "wrong function type"),
    ("implicit_conversion", "implicit conversion"),
    ("invalid_builtin", "invalid argument of a builtin"),
    ("invalid_objc_cast", "invalid cast"),
    ("load_invalid_value", "invalid value"),
    ("missing_return", "missing return"),
    ("mul_overflow", "integer overflow of a multiplication"),
    ("negate_overflow", "integer overflow of a negation"),
    ("nullability_arg", "null argument"),
    ("nullability_return", "null return value"),
    ("nonnull_arg", "null argument"),
    ("nonnull_return", "null return value"),
    ("out_of_bounds", "index out of bounds"),
    ("pointer_overflow", "pointer overflow"),
    ("shift_out_of_bounds", "shift out of bounds"),
    ("sub_overflow", "integer overflow of a subtraction"),
    ("type_mismatch", "null, misaligned or too small object"),
    ("alignment_assumption", "wrong assumption of an alignment"),
    ("vla_bound_not_positive", "array length not positive"),
];

/// The message for a check, by its number in clang's trap instruction.
pub(crate) fn trapped_check(number: u8) -> Option<String> {
    let (_, kind) = CHECKS.get(usize::from(number))?;
    Some(failed_check(kind))
}

/// The message for a trap instruction. `function` is the name of an inlined call in clang's debug information that exists only to have this
/// name, which describes a failed check or a `__builtin_verbose_trap`. `None`: it is another function.
pub(crate) fn trap_message(function: &str) -> Option<String> {
    let said = function.strip_prefix("__clang_trap_msg$")?;
    Some(match said.split_once('$')? {
        ("Undefined Behavior Sanitizer", check) => failed_check(check),
        (category, message) => format!("the program gives up: {category}: {message}"),
    })
}

fn failed_check(check: &str) -> String {
    format!("a check of {UNDEFINED} has failed: {check}")
}

impl Report {
    /// The signal that the report is about, if it is about one.
    pub fn signal(&self) -> Option<i32> {
        Some(match self.kind.as_str() {
            "SEGV" => libc::SIGSEGV,
            "BUS" => libc::SIGBUS,
            "FPE" => libc::SIGFPE,
            "ILL" => libc::SIGILL,
            "ABRT" => libc::SIGABRT,
            "TRAP" => libc::SIGTRAP,
            _ => return None,
        })
    }

    /// Converts the report to an exception that a thread has stopped for.
    pub fn exception(self, mode: BreakMode) -> Exception {
        let thrown = address_in(&self.description).map(Thrown::Fault);
        Exception {
            id: self.kind,
            description: self.description,
            mode,
            message: Some(self.text),
            type_name: Some(self.sanitizer),
            thrown,
            ..Exception::default()
        }
    }
}

/// The first address in a text.
fn address_in(text: &str) -> Option<Address> {
    let (_, rest) = text.split_once("0x")?;
    let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
    let number = rest.get(..digits)?;
    u64::from_str_radix(number, 16).ok().map(Address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &[&str]) -> Vec<Report> {
        let mut writing = Writing::default();
        let reports = pieces
            .iter()
            .filter_map(|piece| writing.add(piece, || None));
        reports.collect()
    }

    #[test]
    fn a_report_is_complete_with_its_summary_and_told_once() {
        let reports = written(&[
            "started\n",
            "=================================================================\n",
            "==17==ERROR: AddressSanitizer: attempting double-free on 0x6040 in thread T0:\n",
            "    #0 0x1 in free\n",
            "0x6040 is located 0 bytes inside of 40-byte region [0x6040,0x6068)\n",
            "SUMMARY: AddressSanitizer: double-free a.c:5 in main\n",
            "Shadow bytes around the buggy address:\n",
            "==17==ABORTING\n",
        ]);
        assert_eq!(reports.len(), 1, "{reports:#?}");
        let report = &reports[0];
        assert_eq!(
            (report.sanitizer.as_str(), report.kind.as_str()),
            ("AddressSanitizer", "double-free")
        );
        assert_eq!(
            report.description,
            "AddressSanitizer: attempting double-free on 0x6040 in thread T0:\n\
             0x6040 is located 0 bytes inside of 40-byte region [0x6040,0x6068)"
        );
        assert!(report.text.starts_with("==17==ERROR: "), "{}", report.text);
        let exception = report.clone().exception(BreakMode::Unhandled);
        assert_eq!(exception.thrown, Some(Thrown::Fault(Address(0x6040))));
    }

    #[test]
    fn without_a_summary_the_end_of_the_report_is_what_comes_last() {
        let reports = written(&[
            "==17==ERROR: MemorySanitizer: SEGV on unknown address 0x0 (pc 0x1 bp 0x2 sp 0x3 T17)\n",
            "==17==ABORTING\n",
        ]);
        assert_eq!(reports[0].kind, "SEGV");
        assert_eq!(reports[0].signal(), Some(libc::SIGSEGV));
        assert_eq!(
            reports[0].description,
            "MemorySanitizer: SEGV on unknown address 0x0"
        );
    }

    #[test]
    fn a_report_between_two_lines_ends_at_the_second_and_another_may_follow() {
        let reports = written(&[
            "==================\n",
            "WARNING: ThreadSanitizer: data race (pid=17)\n",
            "  Write of size 4 at 0x6040 by thread T1:\n",
            "==================\n",
            "==================\n",
            "WARNING: ThreadSanitizer: data race (pid=17)\n",
            "SUMMARY: ThreadSanitizer: data race a.c:4 in work\n",
            "==================\n",
            "ThreadSanitizer: reported 2 warnings\n",
            "==17==WARNING: MemorySanitizer: use-of-uninitialized-value\n",
            "SUMMARY: MemorySanitizer: use-of-uninitialized-value a.c:4 in work\n",
        ]);
        let told: Vec<&str> = reports.iter().map(|it| it.description.as_str()).collect();
        assert_eq!(
            told,
            [
                "ThreadSanitizer: data race\nWrite of size 4 at 0x6040 by thread T1",
                "ThreadSanitizer: data race",
                "MemorySanitizer: use-of-uninitialized-value",
            ]
        );
    }

    #[test]
    fn what_is_no_report_is_none_and_of_a_long_one_the_beginning_is_kept() {
        assert_eq!(
            written(&["SUMMARY: \n", "Sanitizer: \n", "==ABORTING\n"]),
            []
        );
        let long = "x".repeat(LONGEST);
        let head = "==1==ERROR: AddressSanitizer: bad-free on address 0x1\n";
        let reports = written(&[head, &long, "SUMMARY: AddressSanitizer: bad-free a\n"]);
        assert!(
            reports[0].text.len() <= LONGEST,
            "{}",
            reports[0].text.len()
        );
    }

    #[test]
    fn checks_have_the_words_of_their_messages() {
        for (handler, message, kind) in [
            (
                "__ubsan_handle_negate_overflow_abort",
                "negation of -2147483648 cannot be represented in type 'int'",
                "signed integer overflow",
            ),
            (
                "__ubsan_handle_type_mismatch_v1",
                "load of null pointer of type 'int'",
                "null pointer use",
            ),
            (
                "__ubsan_handle_out_of_bounds",
                "index 3 …",
                "index out of bounds",
            ),
            ("__ubsan_handle_new_check", "new", "new check"),
            (
                "",
                "signed integer overflow: 1 + 2",
                "signed integer overflow",
            ),
        ] {
            assert_eq!(kind_of_check(handler, message), kind);
        }
    }
}
