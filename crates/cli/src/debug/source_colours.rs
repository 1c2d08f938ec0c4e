//! Colours for source text in C, C++, Rust, Python, Go and JavaScript: keywords, strings, comments and numbers.
//!
//! The rules are a few regular expressions, because a listing has to appear at once: a grammar of syntect's takes 50 to 200 ms to compile at its first
//! use, these take 1 ms. What comes before the listing is read as well, as far as [`BEFORE`] lines, so that a comment that began there is known.

use std::path::Path;

use synoptic::{Highlighter, TokOpt};

use super::style::{Role, Style};

/// How many lines before a listing are read.
pub const BEFORE: usize = 300;
/// Longer lines, in bytes, were written by no human, and get no colours.
const LONGEST_LINE: usize = 2000;

const C: &str = "alignas|alignof|asm|auto|bool|break|case|catch|char|class|co_await|co_return|co_yield|concept|const|const_cast|consteval|constexpr|constinit|\
                 continue|decltype|default|delete|do|double|dynamic_cast|else|enum|explicit|export|extern|false|final|float|for|friend|goto|if|inline|int|long|\
                 mutable|namespace|new|noexcept|nullptr|operator|override|private|protected|public|register|reinterpret_cast|requires|restrict|return|short|\
                 signed|sizeof|static|static_assert|static_cast|struct|switch|template|this|thread_local|throw|true|try|typedef|typeid|typename|typeof|union|\
                 unsigned|using|virtual|void|volatile|wchar_t|while";
const RUST: &str = "as|async|await|break|const|continue|crate|dyn|else|enum|extern|false|fn|for|if|impl|in|let|loop|match|mod|move|mut|pub|ref|return|self|Self|\
                    static|struct|super|trait|true|type|union|unsafe|use|where|while";

const PYTHON: &str = "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|\
                      pass|raise|return|try|while|with|yield";
const GO: &str = "break|case|chan|const|continue|default|defer|else|fallthrough|false|for|func|go|goto|if|import|interface|iota|map|nil|package|range|return|select|struct|\
                  switch|true|type|var";
const JAVASCRIPT: &str = "as|async|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|false|finally|for|from|function|get|if|\
                          implements|import|in|instanceof|interface|let|new|null|of|return|set|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|\
                          with|yield";

/// A line in pieces, with what each is. Put together, they are the line.
pub type Pieces = Vec<(Option<Role>, String)>;

/// The pieces of the last `count` of these lines; `None` if the file's language is unknown, or its lines are too long.
pub fn pieces(path: &Path, lines: &[String], count: usize) -> Option<Vec<Pieces>> {
    if lines.iter().any(|line| line.len() > LONGEST_LINE) {
        return None;
    }
    let mut highlighter = highlighter(path)?;
    highlighter.run(lines);
    let shown = lines.iter().enumerate().skip(lines.len() - count);
    let pieces = shown.map(|(index, line)| {
        let pieces = highlighter.line(index, line).into_iter();
        pieces.map(|piece| match piece {
            TokOpt::Some(text, name) => (role(&name), text),
            TokOpt::None(text) => (None, text),
        })
    });
    Some(pieces.map(Iterator::collect).collect())
}

/// A line in its colours. `is_strong`: it is the one to look at.
pub fn painted(pieces: &Pieces, style: Style, is_strong: bool) -> String {
    let painted = pieces.iter().map(|(role, text)| match role {
        role if is_strong => style.paint_strong(*role, text),
        Some(role) => style.paint(*role, text),
        None => text.clone(),
    });
    painted.collect()
}

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Rust,
    Python,
    Go,
    JavaScript,
}

impl Language {
    /// That of a file, by the ending of its name.
    fn of(path: &Path) -> Option<Language> {
        Some(match path.extension()?.to_str()? {
            "rs" => Language::Rust,
            "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "h" | "hh" | "hpp" | "hxx" | "inl"
            | "ipp" => Language::C,
            "py" | "pyi" => Language::Python,
            "go" => Language::Go,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Language::JavaScript,
            _ => return None,
        })
    }

    fn keywords(self) -> &'static str {
        match self {
            Language::C => C,
            Language::Rust => RUST,
            Language::Python => PYTHON,
            Language::Go => GO,
            Language::JavaScript => JAVASCRIPT,
        }
    }
}

fn highlighter(path: &Path) -> Option<Highlighter> {
    let language = Language::of(path)?;
    // Of rules that match at the same place, the first counts.
    let mut rules = Highlighter::new(4);
    match language {
        Language::Python => {
            rules.bounded("string", "\"\"\"", "\"\"\"", true);
            rules.bounded("string", "'''", "'''", true);
            rules.keyword("comment", "#.*$");
        }
        _ => {
            rules.bounded("comment", r"/\*", r"\*/", false);
            rules.keyword("comment", "//.*$");
        }
    }
    match language {
        Language::Rust => {
            rules.bounded("string", "r##\"", "\"##", false);
            rules.bounded("string", "r#\"", "\"#", false);
            rules.keyword("string", "\\br\"[^\"]*\"");
        }
        Language::C => {
            rules.bounded("string", r#"R"\("#, r#"\)""#, false);
            rules.keyword("keyword", r"^\s*#\s*[a-z]+\b");
            rules.keyword("string", r#"^\s*#\s*include\s*<[^>]*>"#);
        }
        Language::Go => rules.bounded("string", "`", "`", false),
        Language::JavaScript => rules.bounded("string", "`", "`", true),
        Language::Python => {}
    }
    match language {
        // Strings that end with their line.
        Language::Python | Language::JavaScript => {
            rules.keyword("string", r#""(?:[^"\\]|\\.)*""#);
            rules.keyword("string", r"'(?:[^'\\]|\\.)*'");
        }
        _ => {
            rules.bounded("string", "\"", "\"", true);
            rules.keyword("string", r"'(?:\\[^'][^']*|\\'|[^'\\])'");
            // A lifetime is no keyword, even if it is called `'static`.
            rules.keyword("lifetime", r"'\w+");
        }
    }
    rules.keyword("number", r"\b[0-9](?:[0-9a-zA-Z_']*\w)?(?:\.[0-9]\w*)?");
    rules.keyword("keyword", &format!(r"\b(?:{})\b", language.keywords()));
    Some(rules)
}

fn role(name: &str) -> Option<Role> {
    match name {
        "comment" => Some(Role::Comment),
        "string" => Some(Role::Text),
        "number" => Some(Role::Number),
        "keyword" => Some(Role::Keyword),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with marks: `k` for keywords, `t` for texts, `n` for numbers, `c` for comments.
    fn marked(path: &str, text: &str) -> String {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let all = pieces(Path::new(path), &lines, lines.len()).expect("a known language");
        let mark = |(role, text): &(Option<Role>, String)| match role {
            Some(Role::Keyword) => format!("k[{text}]"),
            Some(Role::Text) => format!("t[{text}]"),
            Some(Role::Number) => format!("n[{text}]"),
            Some(Role::Comment) => format!("c[{text}]"),
            _ => text.clone(),
        };
        let lines = all.iter().map(|line| line.iter().map(mark).collect());
        lines.collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn rust_is_told_from_what_only_looks_like_it() {
        for (text, expected) in [
            ("let c = '\"'; // \"x\"", "k[let] c = t['\"']; c[// \"x\"]"),
            ("fn f<'a>(x: &'static str)", "k[fn] f<'a>(x: &'static str)"),
            ("\"a\\\"b // no\" + 1.5e3", "t[\"a\\\"b // no\"] + n[1.5e3]"),
            (
                "/* a\n \"b */ 0x1f_u32; 0..10",
                "c[/* a]\nc[ \"b */] n[0x1f_u32]; n[0]..n[10]",
            ),
            (
                "r#\"a \" b\nc\"#; b'\\n' '\\''",
                "t[r#\"a \" b]\nt[c\"#]; bt['\\n'] t['\\'']",
            ),
            ("letter = if1; 日本 'ß'", "letter = if1; 日本 t['ß']"),
        ] {
            assert_eq!(marked("a.rs", text), expected);
        }
    }

    #[test]
    fn c_and_its_preprocessor_have_colours() {
        for (text, expected) in [
            ("#define N 1'000 // n", "k[#define] N n[1'000] c[// n]"),
            (
                "return \"a\" 'b' + 0x1F;",
                "k[return] t[\"a\"] t['b'] + n[0x1F];",
            ),
            ("int x1 = 2;", "k[int] x1 = n[2];"),
        ] {
            assert_eq!(marked("a.cpp", text), expected);
        }
        assert!(pieces(Path::new("a.txt"), &["import x".to_owned()], 1).is_none());
    }

    #[test]
    fn languages_of_other_adapters_have_colours() {
        for (file, text, expected) in [
            (
                "a.py",
                "def f(x): # it's\n    return 'a' + \"\"\"b\nc\"\"\" + 1 # d",
                "k[def] f(x): c[# it's]\n    k[return] t['a'] + t[\"\"\"b]\nt[c\"\"\"] + n[1] c[# d]",
            ),
            (
                "a.go",
                "func f() string { return `a\n\"b` + \"c\" } // 'd'",
                "k[func] f() string { k[return] t[`a]\nt[\"b`] + t[\"c\"] } c[// 'd']",
            ),
            (
                "a.ts",
                "const s = 'it\\'s' + `x ${1}`; /* 2 */",
                "k[const] s = t['it\\'s'] + t[`x ${1}`]; c[/* 2 */]",
            ),
        ] {
            assert_eq!(marked(file, text), expected, "{file}");
        }
    }
}
