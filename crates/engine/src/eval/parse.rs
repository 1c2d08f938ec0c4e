//! From tokens to a tree, by precedence climbing.

use super::Fault;
use super::ir::{Binary, Expression, Kind, Statement, Unary};
use super::lex::{Token, TokenKind};
use crate::values::{FORMATS, Number};
use dapple_symbols::functions::Language;

mod types;

/// How deep an expression may nest.
const MAX_DEPTH: usize = 64;

/// Reads an expression, which has to be all there is.
pub(super) fn parse(tokens: Vec<Token>, language: Language) -> Result<Expression, Fault> {
    let mut parser = Parser::new(tokens, language);
    let expression = parser.expression()?;
    match parser.peek() {
        TokenKind::Operator(
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++"
            | "--",
        ) => Err(parser.fault(NO_CHANGE)),
        _ => parser.end_here().map(|()| expression),
    }
}

/// Reads an expression or an assignment.
pub(super) fn statement(tokens: Vec<Token>, language: Language) -> Result<Statement, Fault> {
    let mut parser = Parser::new(tokens, language);
    let counts = |operator: &str| match operator {
        "++" => Some(Binary::Add),
        "--" => Some(Binary::Subtract),
        _ => None,
    };
    let first = match *parser.peek() {
        TokenKind::Operator(operator) if language != Language::Rust => counts(operator),
        _ => None,
    };
    parser.next += usize::from(first.is_some());
    let target = parser.expression()?;
    let one = |parser: &Parser| {
        let number = Number::integer(1, 4, true);
        let untyped = true;
        parser.make(parser.at(), Kind::Literal { number, untyped })
    };
    let (operator, source) = match *parser.peek() {
        _ if first.is_some() => (first, one(&parser)),
        TokenKind::Operator(text) if language != Language::Rust && counts(text).is_some() => {
            parser.next += 1;
            (counts(text), one(&parser))
        }
        TokenKind::Operator("=") => {
            parser.next += 1;
            (None, parser.expression()?)
        }
        TokenKind::Operator(text) => {
            let compound = text
                .strip_suffix('=')
                .and_then(|text| binary_operator(text, language));
            let Some((operator, _)) = compound else {
                return parser.end_here().map(|()| Statement::Value(target));
            };
            parser.next += 1;
            (Some(operator), parser.expression()?)
        }
        _ => return parser.end_here().map(|()| Statement::Value(target)),
    };
    if let TokenKind::Operator("=") = parser.peek() {
        return Err(parser.fault("one assignment at a time"));
    }
    parser.end_here()?;
    Ok(Statement::Assignment {
        target,
        operator,
        source,
    })
}

/// Why an assignment is refused where only a value is wanted.
const NO_CHANGE: &str = "evaluating must not change the program: assignments are refused";

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    language: Language,
}

impl Parser {
    fn new(tokens: Vec<Token>, language: Language) -> Parser {
        Parser {
            tokens,
            next: 0,
            depth: 0,
            language,
        }
    }

    /// A fault where anything follows.
    fn end_here(&self) -> Result<(), Fault> {
        if let (TokenKind::Operator(","), Some(behind)) =
            (self.peek(), self.tokens.get(self.next + 1))
        {
            let what = match &behind.kind {
                TokenKind::Name(name) => format!("`{name}` is no format"),
                _ => "a comma stands in front of a format only".to_owned(),
            };
            return Err(Fault::new(
                behind.at,
                format!("{what}; there are {FORMATS}"),
            ));
        }
        Err(self.fault(match self.peek() {
            TokenKind::End => return Ok(()),
            TokenKind::Operator("(") => "functions can't be called here",
            TokenKind::Operator(".." | "..=" | "...") => "ranges are not supported",
            _ => "an operator or the end was expected here",
        }))
    }

    fn token(&self) -> &Token {
        // The last token is the end, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &TokenKind {
        &self.token().kind
    }

    fn at(&self) -> usize {
        self.token().at
    }

    /// The end of the token before the next.
    fn end(&self) -> usize {
        self.next
            .checked_sub(1)
            .map_or(0, |last| self.tokens[last].end)
    }

    fn fault(&self, message: &str) -> Fault {
        Fault::new(self.at(), message)
    }

    fn accept(&mut self, operator: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Operator(next) if *next == operator);
        self.next += usize::from(found);
        found
    }

    fn accept_name(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Name(name) if name == wanted);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, operator: &str) -> Result<(), Fault> {
        if self.accept(operator) {
            Ok(())
        } else {
            Err(self.fault(&format!("`{operator}` was expected here")))
        }
    }

    fn make(&self, at: usize, kind: Kind) -> Expression {
        Expression {
            at,
            end: self.end(),
            kind,
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(self.fault("the expression is nested too deep"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// All of an expression: what a bracket may hold.
    fn expression(&mut self) -> Result<Expression, Fault> {
        let condition = self.binary(0)?;
        if self.language == Language::Rust || !self.accept("?") {
            return Ok(condition);
        }
        let at = condition.at;
        let yes = Box::new(self.nested(Self::expression)?);
        self.expect(":")?;
        let no = Box::new(self.nested(Self::expression)?);
        let condition = Box::new(condition);
        Ok(self.make(at, Kind::Conditional { condition, yes, no }))
    }

    fn binary(&mut self, least: u8) -> Result<Expression, Fault> {
        self.nested(|parser| parser.binary_inside(least))
    }

    fn binary_inside(&mut self, least: u8) -> Result<Expression, Fault> {
        let mut left = self.unary()?;
        // Each turn nests the tree by one.
        let mut turns = 0;
        loop {
            turns += 1;
            if turns > 4 * MAX_DEPTH {
                return Err(self.fault("the expression is nested too deep"));
            }
            let at = left.at;
            if self.language == Language::Rust && self.accept_name("as") {
                let target = self.type_name()?;
                let operand = Box::new(left);
                left = self.make(at, Kind::Cast { operand, target });
                continue;
            }
            let TokenKind::Operator(text) = *self.peek() else {
                break;
            };
            let Some((operator, strength)) = binary_operator(text, self.language) else {
                break;
            };
            if strength < least {
                break;
            }
            self.next += 1;
            let right = self.binary(strength + 1)?;
            left = self.make(
                at,
                Kind::Binary {
                    operator,
                    left: Box::new(left),
                    right: Box::new(right),
                },
            );
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let operator = match self.peek() {
            TokenKind::Operator("*") => Some(Unary::Dereference),
            TokenKind::Operator("&") => Some(Unary::AddressOf),
            TokenKind::Operator("-") => Some(Unary::Negate),
            TokenKind::Operator("+") => Some(Unary::Plus),
            TokenKind::Operator("!") => Some(Unary::Not),
            TokenKind::Operator("~") => Some(Unary::Complement),
            TokenKind::Operator("&&") if self.language == Language::Rust => {
                return Err(self.fault("a reference to a reference can't be made here"));
            }
            _ => None,
        };
        if let Some(operator) = operator {
            self.next += 1;
            if operator == Unary::AddressOf && self.language == Language::Rust {
                self.accept_name("mut");
            }
            let operand = Box::new(self.nested(Self::unary)?);
            return Ok(self.make(at, Kind::Unary { operator, operand }));
        }
        if self.is_cast_next() {
            self.next += 1;
            let target = self.type_name()?;
            self.expect(")")?;
            let operand = Box::new(self.nested(Self::unary)?);
            return Ok(self.make(at, Kind::Cast { operand, target }));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expression, Fault> {
        let mut expression = self.primary()?;
        // Each turn nests the tree by one, whatever the text looks like.
        for _ in 0..4 * MAX_DEPTH {
            let at = expression.at;
            let arrow = matches!(self.peek(), TokenKind::Operator("->"));
            if self.accept(".") || self.accept("->") {
                let name_at = self.at();
                let TokenKind::Name(name) = self.peek().clone() else {
                    return Err(self.fault("a member's name was expected here"));
                };
                self.next += 1;
                let base = Box::new(expression);
                if is_method(&name) && self.accept("(") {
                    self.expect(")")?;
                    let kind = Kind::Method {
                        base,
                        name,
                        name_at,
                    };
                    expression = self.make(at, kind);
                    continue;
                }
                expression = self.make(
                    at,
                    Kind::Member {
                        base,
                        name,
                        name_at,
                        arrow,
                    },
                );
            } else if self.accept("[") {
                let base = Box::new(expression);
                let is_range =
                    |parser: &Parser| matches!(parser.peek(), TokenKind::Operator(".." | "..="));
                let from = match is_range(self) {
                    true => None,
                    false => Some(Box::new(self.expression()?)),
                };
                let kind = if is_range(self) {
                    let inclusive = self.accept("..=");
                    self.accept("..");
                    let to = match self.peek() {
                        TokenKind::Operator("]") if !inclusive => None,
                        _ => Some(Box::new(self.expression()?)),
                    };
                    Kind::Slice {
                        base,
                        from,
                        to,
                        inclusive,
                    }
                } else if let Some(index) = from {
                    Kind::Index { base, index }
                } else {
                    return Err(self.fault("an index was expected here"));
                };
                self.expect("]")?;
                expression = self.make(at, kind);
            } else {
                return Ok(expression);
            }
        }
        Err(self.fault("the expression is nested too deep"))
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let kind = match self.peek().clone() {
            TokenKind::Name(name) => {
                self.next += 1;
                if let Some(kind) = self.keyword(&name)? {
                    return Ok(self.make(at, kind));
                }
                let name = self.path_through_arguments(name);
                match literal(&name) {
                    Some(number) => Kind::Literal {
                        number,
                        untyped: false,
                    },
                    None => Kind::Name(name),
                }
            }
            TokenKind::Register(name) => {
                self.next += 1;
                Kind::Register(name)
            }
            TokenKind::Number { number, untyped } => {
                self.next += 1;
                let number = match number {
                    // C's characters are numbers.
                    Number::Char(code) if self.language == Language::C => {
                        Number::integer(code.into(), 4, true)
                    }
                    // Rust's take the type of what they meet, and have no unsigned one of their own.
                    Number::Integer { value, .. }
                        if untyped && value >= 0 && self.language == Language::Rust =>
                    {
                        let size = match value {
                            ..=0x7fff_ffff => 4,
                            0x8000_0000..=0x7fff_ffff_ffff_ffff => 8,
                            _ => 16,
                        };
                        Number::integer(value, size, true)
                    }
                    number => number,
                };
                Kind::Literal { number, untyped }
            }
            TokenKind::Operator("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(self.make(at, inner.kind));
            }
            TokenKind::Text(text) => {
                self.next += 1;
                Kind::Text(text)
            }
            TokenKind::Operator("++" | "--") => return Err(self.fault(NO_CHANGE)),
            TokenKind::End => return Err(self.fault("the expression ends too early")),
            TokenKind::Operator(_) => return Err(self.fault("a value was expected here")),
        };
        Ok(self.make(at, kind))
    }
}

fn literal(name: &str) -> Option<Number> {
    match name {
        "true" => Some(Number::Bool(true)),
        "false" => Some(Number::Bool(false)),
        "nullptr" | "NULL" => Some(Number::Pointer {
            address: 0,
            target: None,
        }),
        _ => None,
    }
}

/// Whether a method asks how much there is.
fn is_method(name: &str) -> bool {
    let names = ["len", "length", "size", "is_empty", "empty"];
    names.contains(&name) || ["is_some", "is_none", "is_ok", "is_err"].contains(&name)
}

/// An operator and how tightly it binds: C 2011 §6.5, the Rust reference's "Expression precedence".
fn binary_operator(text: &str, language: Language) -> Option<(Binary, u8)> {
    let (operator, c, rust) = match text {
        "||" => (Binary::Or, 1, 1),
        "&&" => (Binary::And, 2, 2),
        "|" => (Binary::BitOr, 3, 4),
        "^" => (Binary::BitXor, 4, 5),
        "&" => (Binary::BitAnd, 5, 6),
        "==" => (Binary::Equal, 6, 3),
        "!=" => (Binary::NotEqual, 6, 3),
        "<" => (Binary::Less, 7, 3),
        "<=" => (Binary::LessEqual, 7, 3),
        ">" => (Binary::Greater, 7, 3),
        ">=" => (Binary::GreaterEqual, 7, 3),
        "<<" => (Binary::ShiftLeft, 8, 8),
        ">>" => (Binary::ShiftRight, 8, 8),
        "+" => (Binary::Add, 9, 9),
        "-" => (Binary::Subtract, 9, 9),
        "*" => (Binary::Multiply, 10, 10),
        "/" => (Binary::Divide, 10, 10),
        "%" => (Binary::Remainder, 10, 10),
        _ => return None,
    };
    Some((operator, if language == Language::Rust { rust } else { c }))
}

#[cfg(test)]
mod tests {
    use super::super::lex::tokens;
    use super::*;

    /// The tree as text with all its brackets.
    fn show(expression: &Expression) -> String {
        match &expression.kind {
            Kind::Name(name) => name.clone(),
            Kind::Register(name) => format!("${name}"),
            Kind::Literal { number, .. } => number.text(),
            Kind::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
            Kind::Member {
                base, name, arrow, ..
            } => {
                format!("{}{}{name}", show(base), if *arrow { "->" } else { "." })
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
        }
    }

    fn parsed(text: &str, language: Language) -> Result<String, Fault> {
        tokens(text)
            .and_then(|tokens| parse(tokens, language))
            .map(|tree| show(&tree))
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
        const PIECES: [&str; 40] = [
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
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..8 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push_str(PIECES[(state % 40) as usize]);
            }
            for language in [Language::C, Language::Rust] {
                if let Err(fault) = parsed(&text, language) {
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
}
