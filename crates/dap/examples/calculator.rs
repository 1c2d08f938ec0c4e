//! A debug adapter for a calculator, whose programs are lines such as `x = 1 + 2` and `print x + 3`.
//! Editors launch it with `{"program": "FILE", "stopOnEntry": true}`. `exit = 3` is the exit code.

use std::collections::BTreeMap;

use dapple_dap::types::{StoppedEventReason as Reason, *};
use dapple_dap::{Failure, Outbox, Raw, Server};

#[derive(Default)]
struct Calculator {
    path: String,
    entry: Option<Reason>,
    lines: BTreeMap<i64, String>,
    /// The line that is executed next; 0 before the start.
    line: i64,
    variables: BTreeMap<String, f64>,
    breakpoints: Vec<i64>,
}

impl Calculator {
    fn sum(&self, sum: &str) -> f64 {
        let value = |term: &str| term.parse().ok().or(self.variables.get(term).copied());
        sum.split(" + ").filter_map(value).sum()
    }

    /// Executes lines up to a breakpoint or the end. With `stop`, it stops at the next line.
    fn run(&mut self, stop: Option<Reason>, outbox: &Outbox) -> Result<Empty, Failure> {
        loop {
            let line = self.lines.get(&self.line).map_or("", String::as_str);
            if let Some(sum) = line.strip_prefix("print ") {
                outbox.output(OutputEventCategory::Stdout, format!("{}\n", self.sum(sum)));
            } else if let Some((name, sum)) = line.split_once(" = ") {
                self.variables.insert(name.to_owned(), self.sum(sum));
            }
            self.line += 1;
            if !self.lines.contains_key(&self.line) {
                outbox.ended(self.sum("exit") as i64);
                return Ok(Empty);
            } else if stop.is_some() || self.breakpoints.contains(&self.line) {
                outbox.stopped(stop.unwrap_or(Reason::Breakpoint), 1);
                return Ok(Empty);
            }
        }
    }
}

fn main() {
    Server::builder()
        .on::<LaunchRequest>(|calc: &mut Calculator, arguments, context| {
            let program = arguments.other.get("program");
            let program = program.ok_or(Failure::new("`program` is missing"))?;
            calc.path = program.decode()?;
            let entry = arguments.other.get("stopOnEntry").map(Raw::text);
            calc.entry = (entry == Some("true")).then_some(Reason::Entry);
            let text = std::fs::read_to_string(&calc.path);
            let text = text.map_err(|error| Failure::new(format!("{}: {error}", calc.path)))?;
            calc.lines = (1..).zip(text.lines().map(str::to_owned)).collect();
            context.outbox().event::<InitializedEvent>(Empty);
            Ok(Empty)
        })
        .on::<SetBreakpointsRequest>(|calc, arguments, _| {
            let is_program = arguments.source.path.as_ref() == Some(&calc.path);
            let mut answer = Vec::new();
            for asked in arguments.breakpoints.unwrap_or_default() {
                let verified = is_program && calc.lines.contains_key(&asked.line);
                answer.push(Breakpoint::new(verified).with_line(asked.line));
            }
            if is_program {
                calc.breakpoints = answer.iter().filter_map(|set| set.line).collect();
            }
            Ok(SetBreakpointsResponse::new(answer))
        })
        .on::<ConfigurationDoneRequest>(|calc, _, context| {
            calc.run(calc.entry.clone(), context.outbox())
        })
        .on::<NextRequest>(|calc, _, context| calc.run(Some(Reason::Step), context.outbox()))
        .on::<ContinueRequest>(|calc, _, context| {
            calc.run(None, context.outbox())?;
            Ok(ContinueResponse::new())
        })
        .on::<ThreadsRequest>(|_, _, _| Ok(ThreadsResponse::new(vec![Thread::new(1, "main")])))
        .on::<StackTraceRequest>(|calc, _, _| {
            let source = Source::new().with_path(&calc.path);
            let frame = StackFrame::new(1, "main", calc.line, 1).with_source(source);
            Ok(StackTraceResponse::new(vec![frame]))
        })
        .on::<ScopesRequest>(|_, _, _| Ok(ScopesResponse::new(vec![Scope::new("Names", 1, false)])))
        .on::<VariablesRequest>(|calc, _, _| {
            let values = calc.variables.iter();
            let values = values.map(|(name, value)| Variable::new(name, value.to_string(), 0));
            Ok(VariablesResponse::new(values.collect()))
        })
        .on::<EvaluateRequest>(|calc, arguments, _| {
            let value = calc.variables.get(&arguments.expression);
            let value = value.ok_or(Failure::new("there is no such variable"))?;
            Ok(EvaluateResponse::new(value.to_string(), 0))
        })
        .build()
        .serve_stdio(|_| Calculator::default());
}
