//! Tests of precedence, casts, calls, and the position of faults.

use super::super::lex::tokens;
use super::*;

/// The tree as text, with all its brackets.
fn show(expression: &Expression) -> String {
    match &expression.kind {
        Kind::Name(name) => name.clone(),
        Kind::Register(name) => format!("${name}"),
        Kind::CalledFrom(caller) => format!("{caller:?}"),
        Kind::Literal { number, .. } => number.text(),
        Kind::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Kind::Member {
            base, name, arrow, ..
        } => {
            format!("{}{}{name}", show(base), if *arrow { "->" } else { "." })
        }
        Kind::PointedMember {
            base,
            pointer,
            arrow,
        } => {
            let sign = if *arrow { "->*" } else { ".*" };
            format!("({}{sign}{})", show(base), show(pointer))
        }
        Kind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        Kind::Slice { base, from, to, .. } => {
            let part = |part: &Option<Box<Expression>>| part.as_deref().map(show);
            let (from, to) = (part(from).unwrap_or_default(), part(to).unwrap_or_default());
            format!("{}[{from}..{to}]", show(base))
        }
        Kind::Unary { operator, operand } => format!("({operator:?} {})", show(operand)),
        Kind::Binary {
            operator,
            left,
            right,
        } => {
            format!("({} {operator:?} {})", show(left), show(right))
        }
        Kind::Cast { operand, target } => {
            let (name, stars) = (&target.name, "*".repeat(target.pointers));
            format!("({name}{stars}){}", show(operand))
        }
        Kind::SizeOfType(target) => format!("sizeof({})", target.name),
        Kind::SizeOf(operand) => format!("sizeof {}", show(operand)),
        Kind::Conditional { condition, yes, no } => {
            format!("({} ? {} : {})", show(condition), show(yes), show(no))
        }
        Kind::Method { base, name, .. } => format!("{}.{name}()", show(base)),
        Kind::Built { path, parts } => {
            let parts: Vec<String> = parts.iter().map(|part| show(&part.value)).collect();
            let path = path.as_deref().unwrap_or_default();
            format!("{path}{{{}}}", parts.join(", "))
        }
        Kind::AlignOfType(target) => format!("alignof({target:?})"),
        Kind::AlignOf(operand) => format!("alignof {}", show(operand)),
        Kind::Call { callee, arguments } => {
            let arguments: Vec<String> = arguments.iter().map(show).collect();
            format!("{}({})", show(callee), arguments.join(", "))
        }
    }
}

fn parsed(text: &str, language: Language) -> Result<String, Fault> {
    tokens(text, language)
        .and_then(|tokens| parse(tokens, language))
        .map(|tree| show(&tree))
}

#[test]
fn pointers_to_members_bind_tighter_than_operators_and_looser_than_signs() {
    let read = |text| parsed(text, Language::Cpp).expect("it is one");
    assert_eq!(read("2 * a.*b + c"), "((2 Multiply (a.*b)) Add c)");
    assert_eq!(read("-a.*b"), "((Negate a).*b)");
    assert_eq!(read("p->*b.*c"), "((p->*b).*c)");
    assert_eq!(read("a.b->*c.d"), "(a.b->*c.d)");
    assert!(parsed("a. *b", Language::Cpp).is_err());
    assert!(parsed("a.*b", Language::C).is_err());
    assert!(parsed("a.*", Language::Cpp).is_err());
}

#[test]
fn postfix_binds_tighter_than_prefix_and_prefix_than_infix() {
    let tree = parsed("*p->next.items[i + 1] - 2 * -x", Language::C);
    assert_eq!(
        tree.as_deref(),
        Ok("((Dereference p->next.items[(i Add 1)]) Subtract (2 Multiply (Negate x)))")
    );
}

#[test]
fn comparing_and_masking_bind_as_in_the_language() {
    assert_eq!(
        parsed("a & b == c", Language::C).as_deref(),
        Ok("(a BitAnd (b Equal c))")
    );
    assert_eq!(
        parsed("a & b == c", Language::Rust).as_deref(),
        Ok("((a BitAnd b) Equal c)")
    );
}

#[test]
fn casts_are_written_as_in_the_language() {
    for (text, language, tree) in [
        (
            "(unsigned long)x + 1",
            Language::Cpp,
            "((unsigned long)x Add 1)",
        ),
        ("x as u8", Language::Rust, "(u8)x"),
        ("(int16_t)x", Language::C, "(int16_t)x"),
        ("(struct node *)p->next", Language::C, "(node*)p->next"),
        ("(const char **)p", Language::C, "(char**)p"),
        ("(colour)x", Language::C, "(colour)x"),
        ("(x) - 1", Language::C, "(x Subtract 1)"),
        ("(x)", Language::C, "x"),
        ("p as *const Vec<u8>", Language::Rust, "(Vec<u8>*)p"),
        ("(Pair<int, T> *)p", Language::Cpp, "(Pair<int, T>*)p"),
        ("static_cast<Base *>(p)", Language::Cpp, "(Base*)p"),
        (
            "sizeof(int) * sizeof x",
            Language::C,
            "(sizeof(int) Multiply sizeof x)",
        ),
        ("size_of::<Node>()", Language::Rust, "sizeof(Node)"),
        ("a ? b : c ? d : e", Language::C, "(a ? b : (c ? d : e))"),
        (
            "&v[1..n + 2]",
            Language::Rust,
            "(AddressOf v[1..(n Add 2)])",
        ),
        ("v[..=2]", Language::Rust, "v[..2]"),
        ("v[..]", Language::Rust, "v[..]"),
        ("v.len() == 2", Language::Rust, "(v.len() Equal 2)"),
    ] {
        assert_eq!(parsed(text, language).as_deref(), Ok(tree), "{text}");
    }
    assert_eq!(parsed("(x)", Language::C).as_deref(), Ok("x"));
}

#[test]
fn calls_are_read_where_they_may_be_made() {
    let called = |text: &str, language| {
        tokens(text, language)
            .and_then(|tokens| calling(tokens, language))
            .map(|tree| show(&tree))
    };
    for (text, language, tree) in [
        ("f()", Language::C, "f()"),
        ("f(1, g(x)[2]) + 1", Language::C, "(f(1, g(x)[2]) Add 1)"),
        ("ns::f(a ? b : c)", Language::Cpp, "ns::f((a ? b : c))"),
        ("table[1](3)(4)", Language::C, "table[1](3)(4)"),
        ("p->next.size(3)", Language::Cpp, "p->next.size(3)"),
        ("v.size()", Language::Cpp, "v.size()"),
        ("(int)f(x)", Language::C, "(int)f(x)"),
        ("largest<int>(1, 2)", Language::Cpp, "largest<int>(1, 2)"),
        ("a < b", Language::Cpp, "(a Less b)"),
        ("(*callback)(5)", Language::C, "(Dereference callback)(5)"),
        (
            "Shape::new(2.0).area()",
            Language::Rust,
            "Shape::new(2.0).area()",
        ),
        ("pick::<u8>(1)", Language::Rust, "pick<u8>(1)"),
    ] {
        assert_eq!(called(text, language).as_deref(), Ok(tree), "{text}");
    }
    let fault = |text| called(text, Language::C).expect_err("a fault");
    assert_eq!(fault("f(1, ").at, 5);
    assert_eq!(fault("f(1 2)").at, 4);
    assert_eq!(fault("f(,)").at, 2);
    assert!(fault("f(1) = 2").message.contains("must not change"));
    assert!(called(&format!("f({})", "1,".repeat(100)), Language::C).is_err());
    assert!(called(&format!("f{}", "()".repeat(1000)), Language::C).is_err());
    assert!(called(&"f(".repeat(1000), Language::C).is_err());
}

#[test]
fn faults_point_at_their_place() {
    let fault = |text| parsed(text, Language::C).expect_err("a fault");
    assert_eq!(fault("a +").at, 3);
    assert_eq!(fault("a[1").at, 3);
    assert_eq!(fault("a b").at, 2);
    assert_eq!(fault("x = 3").at, 2);
    assert!(fault("x = 3").message.contains("must not change"));
    assert!(fault("f(3)").message.contains("called"));
    assert!(fault("i++").message.contains("must not change"));
}

#[test]
fn nothing_that_is_typed_panics() {
    const PIECES: [&str; 42] = [
        "a",
        "::",
        "b9",
        "0x",
        "1",
        ".",
        "..",
        "'",
        "'\\",
        "é",
        "🦀",
        "(",
        ")",
        "[",
        "]",
        "->",
        "*",
        "&",
        "&&",
        "-",
        "+=",
        "$",
        "$rip",
        " as ",
        "u8",
        "(int)",
        "1e",
        "1.5",
        "\"",
        "=",
        "r#",
        " ",
        "?",
        ":",
        "sizeof",
        "<",
        "size_of::<",
        ".len()",
        "static_cast<",
        "\"a\"",
        ",",
        "f(",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(PIECES[(state % 42) as usize]);
        }
        for language in [Language::C, Language::Rust] {
            let called = tokens(&text, language).and_then(|tokens| calling(tokens, language));
            for fault in parsed(&text, language)
                .err()
                .into_iter()
                .chain(called.err())
            {
                assert!(
                    fault.at <= text.len() && !fault.message.is_empty(),
                    "{text}"
                );
                assert!(!fault.sentence(&text).is_empty());
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        "(".repeat(2000),
        "*".repeat(2000),
        "a[".repeat(1000),
        "-".repeat(2000),
    ] {
        assert!(parsed(&text, Language::C).is_err());
    }
    assert!(parsed(&format!("a{}", ".b".repeat(1000)), Language::C).is_err());
    assert!(parsed(&format!("1{}", "+1".repeat(2000)), Language::C).is_err());
    assert!(parsed(&format!("1{}", " as u8".repeat(600)), Language::Rust).is_err());
    assert!(parsed(&format!("{}1", "1?".repeat(2000)), Language::C).is_err());
    assert!(parsed(&"(".repeat(10_000), Language::C).is_err());
}
