//! Colours for source text in C, C++ and Rust: keywords, strings, comments and numbers.
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

/// A line in its colours.
pub fn painted(pieces: &Pieces, style: Style) -> String {
    let painted = pieces.iter().map(|(role, text)| match role {
        Some(role) => style.paint(*role, text),
        None => text.clone(),
    });
    painted.collect()
}

fn highlighter(path: &Path) -> Option<Highlighter> {
    let is_rust = match path.extension()?.to_str()? {
        "rs" => true,
        "c" | "cc" | "cpp" | "cxx" | "c++" | "C" | "h" | "hh" | "hpp" | "hxx" | "inl" | "ipp" => {
            false
        }
        _ => return None,
    };
    // Of rules that match at the same place, the first counts.
    let mut rules = Highlighter::new(4);
    rules.bounded("comment", r"/\*", r"\*/", false);
    rules.keyword("comment", "//.*$");
    if is_rust {
        rules.bounded("string", "r##\"", "\"##", false);
        rules.bounded("string", "r#\"", "\"#", false);
        rules.keyword("string", "\\br\"[^\"]*\"");
    } else {
        rules.bounded("string", r#"R"\("#, r#"\)""#, false);
        rules.keyword("keyword", r"^\s*#\s*[a-z]+\b");
        rules.keyword("string", r#"^\s*#\s*include\s*<[^>]*>"#);
    }
    rules.bounded("string", "\"", "\"", true);
    rules.keyword("string", r"'(?:\\[^'][^']*|\\'|[^'\\])'");
    // A lifetime is no keyword, even if it is called `'static`.
    rules.keyword("lifetime", r"'\w+");
    rules.keyword("number", r"\b[0-9](?:[0-9a-zA-Z_']*\w)?(?:\.[0-9]\w*)?");
    let words = if is_rust { RUST } else { C };
    rules.keyword("keyword", &format!(r"\b(?:{words})\b"));
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
        assert!(pieces(Path::new("a.py"), &["import x".to_owned()], 1).is_none());
    }
}
