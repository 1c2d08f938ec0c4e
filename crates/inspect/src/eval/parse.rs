//! From tokens to a tree, by precedence climbing.

use super::builtins;
use super::callers::Caller;
use super::ir::{Binary, Expression, Kind, Statement, TypeName, Unary};
use super::lex::{Token, TokenKind};
use super::run::{c_functions, rust_guards};
use super::{CALLED_FROM, Fault, rust_library};
use crate::values::{FORMATS, Number};
use dapple_symbols::functions::Language;
use std::sync::Arc;

mod built;
mod types;

/// The deepest nesting of an expression.
const MAX_DEPTH: usize = 64;

/// Parses all tokens as one expression. Calls are refused, unless they may be answered by reading memory.
pub(super) fn parse(tokens: Vec<Token>, language: Language) -> Result<Expression, Fault> {
    whole(Parser::new(tokens, language))
}

/// As [`parse`], for an expression that may call functions.
pub(super) fn calling(tokens: Vec<Token>, language: Language) -> Result<Expression, Fault> {
    whole(Parser {
        may_call: true,
        ..Parser::new(tokens, language)
    })
}

/// Parses all tokens as the name of a type.
pub(super) fn type_name(tokens: Vec<Token>, language: Language) -> Result<TypeName, Fault> {
    let mut parser = Parser::new(tokens, language);
    let name = parser.type_name()?;
    parser.end_here().map(|()| name)
}

fn whole(mut parser: Parser) -> Result<Expression, Fault> {
    let expression = parser.ranged()?;
    match parser.peek() {
        TokenKind::Operator(
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | "++"
            | "--",
        ) => Err(parser.fault(NO_CHANGE)),
        _ => parser.end_here().map(|()| expression),
    }
}

/// Parses an expression or an assignment, either of which may call functions.
pub(super) fn statement(tokens: Vec<Token>, language: Language) -> Result<Statement, Fault> {
    let mut parser = Parser {
        may_call: true,
        ..Parser::new(tokens, language)
    };
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
    let target = parser.ranged()?;
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
            (None, parser.ranged()?)
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

/// Words that a declaration begins with.
const DECLARES: [&str; 12] = [
    "auto", "let", "int", "char", "long", "short", "float", "double", "unsigned", "bool", "static",
    "const",
];

/// Names of other debuggers' commands that evaluate an expression.
const COMMANDS: [&str; 8] = [
    "p",
    "print",
    "call",
    "output",
    "inspect",
    "expr",
    "expression",
    "display",
];

/// Replaces C++'s alternative tokens by operators (C++20 §5.5).
fn words_to_operators(tokens: &mut [Token]) {
    for token in tokens {
        let TokenKind::Name(word) = &token.kind else {
            continue;
        };
        token.kind = TokenKind::Operator(match word.as_str() {
            "and" => "&&",
            "or" => "||",
            "not" => "!",
            "bitand" => "&",
            "bitor" => "|",
            "xor" => "^",
            "compl" => "~",
            "not_eq" => "!=",
            _ => continue,
        });
    }
}

/// Why a call is refused where only a value is wanted.
const NO_CALLS: &str = "functions are not called here: that runs code of the program, and is done where it is typed, in the console or a watch";

/// The most arguments of a call.
const MAX_ARGUMENTS: usize = 64;

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    language: Language,
    may_call: bool,
}

impl Parser {
    fn new(mut tokens: Vec<Token>, language: Language) -> Parser {
        // A trailing `;`, as in `x;`, is ignored.
        if let [.., last, _] = tokens.as_slice()
            && last.kind == TokenKind::Operator(";")
        {
            tokens.remove(tokens.len() - 2);
        }
        if language == Language::Cpp {
            words_to_operators(&mut tokens);
        }
        Parser {
            tokens,
            next: 0,
            depth: 0,
            language,
            may_call: false,
        }
    }

    /// Refuses types given to a Rust method, as in `sum::<i32>`.
    fn check_without_types(&mut self, name: &str, at: usize) -> Result<(), Fault> {
        if self.language != Language::Rust || self.called_with_types().is_empty() {
            return Ok(());
        }
        let why = format!(
            "`{name}` can't be given types here, and what is done with iterators isn't evaluated"
        );
        Err(Fault::new(at, why))
    }

    /// Refuses any further token.
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
        let before = self.next.checked_sub(1).map(|last| self.kind_at(last));
        let is_rust = self.language == Language::Rust;
        Err(self.fault(match (self.peek(), before) {
            (TokenKind::End, _) => return Ok(()),
            (TokenKind::Operator("("), _) => NO_CALLS,
            (TokenKind::Operator(".." | "..=" | "..."), _) if !is_rust => {
                "a range stands in an index only: `v[1..3]`"
            }
            (TokenKind::Operator(")"), _) => "this `)` closes nothing",
            (TokenKind::Operator("]"), _) => "this `]` closes nothing",
            (TokenKind::Operator("}"), _) => "this `}` closes nothing",
            (TokenKind::Operator(";"), _) => "one expression at a time",
            (TokenKind::Operator("!"), Some(TokenKind::Name(_))) if is_rust => {
                "macros are the compiler's: there is none to be called"
            }
            (TokenKind::Operator("?"), _) if is_rust => {
                "`?` would return from a function; `.unwrap()` tells what is inside"
            }
            (TokenKind::Name(name), _) if name == "as" && !is_rust => {
                "a cast is written in front: `(int)x`"
            }
            (TokenKind::Name(_), Some(TokenKind::Name(word)))
                if DECLARES.contains(&word.as_str()) =>
            {
                "no variables can be declared here; those of the program can be set: `x = 3`"
            }
            (_, Some(TokenKind::Name(word)))
                if COMMANDS.contains(&word.as_str()) && self.next == 1 =>
            {
                "the expression alone is enough, without a command in front"
            }
            _ => "an operator or the end was expected here",
        }))
    }

    fn token(&self) -> &Token {
        // The last token is `End`, which is never passed.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &TokenKind {
        &self.token().kind
    }

    fn at(&self) -> usize {
        self.token().at
    }

    /// The offset after the last token that was read.
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

    /// An expression, or in Rust a range: `0..3`.
    fn ranged(&mut self) -> Result<Expression, Fault> {
        let is_range = |parser: &Parser| {
            let is_dots = matches!(parser.peek(), TokenKind::Operator(".." | "..="));
            is_dots && parser.language == Language::Rust
        };
        let at = self.at();
        let from = match is_range(self) {
            true => None,
            false => Some(self.expression()?),
        };
        if !is_range(self) {
            return from.ok_or_else(|| self.fault("a value was expected here"));
        }
        let inclusive = self.accept("..=");
        self.accept("..");
        let is_open = matches!(self.peek(), TokenKind::End | TokenKind::Operator(")" | ","));
        let to = match is_open && !inclusive {
            true => None,
            false => Some(self.expression()?),
        };
        Ok(self.make(at, built::range(from, to, inclusive)))
    }

    /// A whole expression, as it may stand in brackets.
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
        // Each iteration nests the tree one level deeper.
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
            if self.is_pointed_member() {
                let arrow = !self.accept(".");
                self.next += usize::from(arrow);
                self.expect("*")?;
                let pointer = Box::new(self.nested(Self::unary)?);
                let base = Box::new(left);
                left = self.make(
                    at,
                    Kind::PointedMember {
                        base,
                        pointer,
                        arrow,
                    },
                );
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
        // Each iteration nests the tree one level deeper, even where the text has no brackets.
        for _ in 0..4 * MAX_DEPTH {
            if self.is_pointed_member() {
                return Ok(expression);
            }
            expression = if self.accept(".") {
                self.behind_dot(expression, false)?
            } else if self.accept("->") {
                self.behind_dot(expression, true)?
            } else if self.accept("[") {
                self.behind_bracket(expression)?
            } else if matches!(self.peek(), TokenKind::Operator("(")) {
                self.call_of(expression)?
            } else {
                return Ok(expression);
            };
        }
        Err(self.fault("the expression is nested too deep"))
    }

    /// A member, or the call of a method whose name is one that may be answered without calling the program.
    fn behind_dot(&mut self, base: Expression, arrow: bool) -> Result<Expression, Fault> {
        let at = base.at;
        let name_at = self.at();
        let TokenKind::Name(name) = self.peek().clone() else {
            return Err(self.fault("a member's name was expected here"));
        };
        self.next += 1;
        self.check_without_types(&name, name_at)?;
        let base = Box::new(base);
        let is_method = self.is_answered(&name, None) && self.accept("(");
        let arguments = match is_method {
            true => Some(self.arguments()?),
            false => None,
        };
        let count = arguments.as_ref().map(Vec::len);
        match arguments {
            Some(arguments) if self.is_answered(&name, count) => {
                let kind = Kind::Method {
                    base,
                    name,
                    name_at,
                    arguments,
                    arrow,
                };
                Ok(self.make(at, kind))
            }
            Some(_) if !self.may_call => Err(Fault::new(name_at, NO_CALLS)),
            arguments => {
                let kind = Kind::Member {
                    base,
                    name,
                    name_at,
                    arrow,
                };
                let member = self.make(at, kind);
                let Some(arguments) = arguments else {
                    return Ok(member);
                };
                let callee = Box::new(member);
                Ok(self.make(at, Kind::Call { callee, arguments }))
            }
        }
    }

    /// An element, or a range of them.
    fn behind_bracket(&mut self, base: Expression) -> Result<Expression, Fault> {
        let at = base.at;
        let base = Box::new(base);
        let is_range = |parser: &Parser| matches!(parser.peek(), TokenKind::Operator(".." | "..="));
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
        Ok(self.make(at, kind))
    }

    fn call_of(&mut self, callee: Expression) -> Result<Expression, Fault> {
        let (at, bracket) = (callee.at, self.at());
        self.next += 1;
        let callee = Box::new(callee);
        let arguments = self.arguments()?;
        let is_read = c_functions::is_known(&callee, arguments.len())
            || self.language == Language::Rust && rust_guards::is_count(&callee, arguments.len());
        if !self.may_call && !is_read {
            return Err(Fault::new(bracket, NO_CALLS));
        }
        Ok(self.make(at, Kind::Call { callee, arguments }))
    }

    /// Whether a method of that name may be answered without calling the program. `arguments` is its argument count, where that is known.
    fn is_answered(&self, name: &str, arguments: Option<usize>) -> bool {
        let is_rust = self.language == Language::Rust;
        match arguments {
            None => builtins::is_known(name) || is_rust && rust_library::is_known(name),
            Some(count) => {
                builtins::named(name, count).is_some()
                    || is_rust && rust_library::takes(name, count)
            }
        }
    }

    /// Whether `.*` or `->*` is next. They bind tighter than any other binary operator.
    fn is_pointed_member(&self) -> bool {
        let begin = self.token();
        let next = self.tokens.get(self.next + 1);
        let is_star =
            next.is_some_and(|next| next.kind == TokenKind::Operator("*") && next.at == begin.end);
        let is_member = matches!(begin.kind, TokenKind::Operator("." | "->"));
        self.language == Language::Cpp && is_member && is_star
    }

    /// A call's arguments, after the opening bracket.
    fn arguments(&mut self) -> Result<Vec<Expression>, Fault> {
        let mut arguments = Vec::new();
        if self.accept(")") {
            return Ok(arguments);
        }
        loop {
            if arguments.len() >= MAX_ARGUMENTS {
                return Err(self.fault("these are too many arguments"));
            }
            arguments.push(self.nested(Self::expression)?);
            if self.accept(")") {
                return Ok(arguments);
            }
            if !self.accept(",") {
                return Err(self.fault("`,` or `)` was expected here"));
            }
        }
    }

    fn primary(&mut self) -> Result<Expression, Fault> {
        let at = self.at();
        let kind = match self.peek().clone() {
            TokenKind::Name(name) => {
                self.check_statement(&name)?;
                self.next += 1;
                if let Some(kind) = self.keyword(&name)? {
                    return Ok(self.make(at, kind));
                }
                let mut name = self.path_through_arguments(name);
                if let Some(kind) = self.built_of(&name)? {
                    return Ok(self.make(at, kind));
                }
                if self.may_call {
                    name.push_str(&self.called_with_types());
                }
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
                match name.as_str() {
                    CALLED_FROM => self.called_from()?,
                    _ => Kind::Register(name),
                }
            }
            TokenKind::Number { number, untyped } => {
                self.next += 1;
                let number = match number {
                    // In C, character literals have an integer type.
                    Number::Char(code) if self.language == Language::C => {
                        Number::integer(code.into(), 4, true)
                    }
                    // In Rust, a literal without a suffix takes the type of the other operand, and is signed by default.
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
                let inner = self.ranged()?;
                if let Some(tuple) = self.tuple(&inner)? {
                    return Ok(self.make(at, tuple));
                }
                self.expect(")")?;
                return Ok(self.make(at, inner.kind));
            }
            TokenKind::String(text) => {
                self.next += 1;
                Kind::Text(text)
            }
            TokenKind::Operator("{" | "[") => match self.nested(Self::built)? {
                Some(kind) => kind,
                None => return Err(self.fault("a value was expected here")),
            },
            TokenKind::Operator("++" | "--") => return Err(self.fault(NO_CHANGE)),
            TokenKind::End => return Err(self.fault("the expression ends too early")),
            TokenKind::Operator("|" | "||") if self.language == Language::Rust => {
                return Err(self.fault("a value was expected here; closures can't be made"));
            }
            TokenKind::Operator(_) => return Err(self.fault("a value was expected here")),
        };
        Ok(self.make(at, kind))
    }
}

impl Parser {
    /// Parses the argument of `$called_from`.
    fn called_from(&mut self) -> Result<Kind, Fault> {
        let form = |parser: &Parser| {
            parser.fault(&format!(
                "`${CALLED_FROM}` takes a function's name as a text: `${CALLED_FROM}(\"main\")`"
            ))
        };
        if !self.accept("(") {
            return Err(form(self));
        }
        let at = self.at();
        let TokenKind::String(text) = self.peek().clone() else {
            return Err(form(self));
        };
        self.next += 1;
        self.expect(")")?;
        let caller = Caller::new(&String::from_utf8_lossy(&text), at)?;
        Ok(Kind::CalledFrom(Arc::new(caller)))
    }

    /// Refuses a word that begins a statement.
    fn check_statement(&self, word: &str) -> Result<(), Fault> {
        let token = self.token();
        // A raw identifier, such as `r#match`, is longer than the word, and is a name.
        if token.end - token.at != word.len() {
            return Ok(());
        }
        let words: &[&str] = match self.language {
            Language::Rust => &[
                "if", "match", "while", "for", "loop", "return", "break", "continue", "unsafe",
                "async", "await", "fn", "move",
            ],
            Language::Cpp => &[
                "if", "while", "for", "do", "switch", "return", "goto", "break", "continue", "new",
                "delete", "throw", "try", "using", "typeid", "decltype", "co_await",
            ],
            _ => &[
                "if", "while", "for", "do", "switch", "return", "goto", "break", "continue",
            ],
        };
        let what = match word {
            _ if !words.contains(&word) => return Ok(()),
            "new" | "delete" | "throw" => {
                "would run code of the program: call a function that does"
            }
            "typeid" | "decltype" => "is the compiler's; the type is told with the value",
            _ => "is not evaluated: only plain expressions are",
        };
        Err(self.fault(&format!("`{word}` {what}")))
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
mod tests;
