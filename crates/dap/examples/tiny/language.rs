//! The language: one statement a line, integers only, words separated by spaces.
//!
//! ```text
//! let n = 3           # variables are global
//! loop:               # a label
//! call report
//! let n = n - 1
//! if n goto loop
//! goto end
//! report:
//! print n * n + 1     # from left to right: + - * <
//! return
//! end:
//! ```

use std::collections::BTreeMap;

/// A result, or a message that says what is wrong.
pub type Result<T> = std::result::Result<T, String>;

enum Statement {
    Let(String, String),
    Print(String),
    Goto { label: String, condition: String },
    Call(String),
    Return,
}

/// A program and the state of its run.
pub struct Machine {
    /// By line, from 0; `None` for lines without a statement.
    statements: Vec<Option<Statement>>,
    labels: BTreeMap<String, usize>,
    pub variables: BTreeMap<String, i64>,
    /// The active calls, outermost first: the subroutine's name and the line to return to.
    calls: Vec<(String, usize)>,
    /// The line to run next, from 0.
    next: usize,
}

/// The outcome of running one line.
pub enum Ran {
    /// The program goes on; the value that the line printed, if any.
    On(Option<i64>),
    /// The program has ended.
    Ended,
}

impl Machine {
    pub fn load(text: &str) -> Result<Self> {
        let mut labels = BTreeMap::new();
        let mut statements = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let words: Vec<_> = line
                .split('#')
                .next()
                .unwrap_or("")
                .split_whitespace()
                .collect();
            let statement = match words.as_slice() {
                [] => None,
                [label] if label.ends_with(':') => {
                    labels.insert(label.trim_end_matches(':').to_owned(), index);
                    None
                }
                ["let", name, "=", value @ ..] => {
                    Some(Statement::Let((*name).to_owned(), value.join(" ")))
                }
                ["print", value @ ..] => Some(Statement::Print(value.join(" "))),
                ["if", condition @ .., "goto", label] => Some(Statement::Goto {
                    label: (*label).to_owned(),
                    condition: condition.join(" "),
                }),
                ["goto", label] => Some(Statement::Goto {
                    label: (*label).to_owned(),
                    condition: "1".to_owned(),
                }),
                ["call", label] => Some(Statement::Call((*label).to_owned())),
                ["return"] => Some(Statement::Return),
                _ => return Err(format!("line {} is no statement: {line}", index + 1)),
            };
            statements.push(statement);
        }
        let mut machine = Self {
            statements,
            labels,
            variables: BTreeMap::new(),
            calls: Vec::new(),
            next: 0,
        };
        machine.go_to(0);
        Ok(machine)
    }

    /// Goes to the first statement at or after a line.
    fn go_to(&mut self, line: usize) {
        self.next = self.statement_from(line).unwrap_or(self.statements.len());
    }

    fn statement_from(&self, line: usize) -> Option<usize> {
        (line..self.statements.len()).find(|&line| self.statements[line].is_some())
    }

    /// The first line, from 1, at or after this one that has a statement.
    pub fn line_with_statement(&self, line: i64) -> Option<i64> {
        let line = self.statement_from(usize::try_from(line - 1).ok()?)?;
        i64::try_from(line + 1).ok()
    }

    /// The line that is run next, from 1.
    pub fn line(&self) -> i64 {
        self.next as i64 + 1
    }

    /// How many calls are on the stack.
    pub fn depth(&self) -> usize {
        self.calls.len()
    }

    /// The name and line of each call, innermost first.
    pub fn stack(&self) -> Vec<(&str, i64)> {
        let names = self.calls.iter().rev().map(|(name, _)| name.as_str());
        // The call stands one line before the line to return to, which counts from 0 here and from 1 in the result.
        let lines = self.calls.iter().rev().map(|(_, back)| *back as i64);
        names
            .chain(["main"])
            .zip(std::iter::once(self.line()).chain(lines))
            .collect()
    }

    /// Runs one line.
    pub fn step(&mut self) -> Result<Ran> {
        let Some(Some(statement)) = self.statements.get(self.next) else {
            return Ok(Ran::Ended);
        };
        let mut printed = None;
        let mut next = self.next + 1;
        match statement {
            Statement::Let(name, value) => {
                let value = self.evaluate(value)?;
                self.variables.insert(name.clone(), value);
            }
            Statement::Print(value) => printed = Some(self.evaluate(value)?),
            Statement::Goto { label, condition } => {
                if self.evaluate(condition)? != 0 {
                    next = self.label(label)?;
                }
            }
            Statement::Call(label) => {
                let label = label.clone();
                next = self.label(&label)?;
                self.calls.push((label, self.next + 1));
            }
            Statement::Return => match self.calls.pop() {
                Some((_, back)) => next = back,
                None => return Ok(Ran::Ended),
            },
        }
        self.go_to(next);
        Ok(Ran::On(printed))
    }

    fn label(&self, name: &str) -> Result<usize> {
        let line = self.labels.get(name).copied();
        line.ok_or_else(|| format!("there is no label `{name}`"))
    }

    /// Calls a subroutine. Returns to the present line once the subroutine has returned or `go_on` returns `false`.
    pub fn call(&mut self, label: &str, mut go_on: impl FnMut(Option<i64>) -> bool) -> Result<()> {
        let (depth, back) = (self.depth(), self.next);
        let start = self.label(label)?;
        self.calls.push((label.to_owned(), back));
        self.go_to(start);
        let mut outcome = Ok(());
        while self.depth() > depth {
            match self.step() {
                Ok(Ran::On(printed)) if go_on(printed) => {}
                Ok(_) => break,
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        self.calls.truncate(depth);
        self.next = back;
        outcome
    }

    pub fn evaluate(&self, expression: &str) -> Result<i64> {
        let mut words = expression.split_whitespace();
        let mut value = self.term(words.next())?;
        while let Some(operator) = words.next() {
            let right = self.term(words.next())?;
            let result = match operator {
                "+" => value.checked_add(right),
                "-" => value.checked_sub(right),
                "*" => value.checked_mul(right),
                "<" => Some(i64::from(value < right)),
                _ => return Err(format!("`{operator}` is none of + - * <")),
            };
            value = result.ok_or_else(|| format!("{value} {operator} {right} is too large"))?;
        }
        Ok(value)
    }

    fn term(&self, word: Option<&str>) -> Result<i64> {
        let word = word.ok_or("a number or a variable is missing")?;
        let variable = self.variables.get(word).copied();
        variable
            .or_else(|| word.parse().ok())
            .ok_or_else(|| format!("there is no variable `{word}`"))
    }
}
