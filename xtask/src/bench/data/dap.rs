//! Inspection through the Debug Adapter Protocol.

use anyhow::Context;
use dapple_dap::types::*;

use super::session::{Below, Look, Page};
use crate::bench::run::dap::Dap;

impl Dap {
    /// The scopes that an editor opens at each stop.
    fn open_scopes(&mut self) -> anyhow::Result<Vec<Scope>> {
        let frame = self.frame_id()?;
        let arguments = ScopesArguments::new(frame);
        let scopes = self.client.request::<ScopesRequest>(&arguments)?.scopes;
        Ok(scopes.into_iter().filter(|one| !one.expensive).collect())
    }

    fn variables(&mut self, arguments: &VariablesArguments) -> anyhow::Result<Vec<Variable>> {
        Ok(self
            .client
            .request::<VariablesRequest>(arguments)?
            .variables)
    }
}

impl Look for Dap {
    fn locals(&mut self) -> anyhow::Result<usize> {
        let mut count = 0;
        for scope in self.open_scopes()? {
            let arguments = VariablesArguments::new(scope.variables_reference);
            count += self.variables(&arguments)?.len();
        }
        Ok(count)
    }

    fn open(&mut self, local: &str) -> anyhow::Result<String> {
        for scope in self.open_scopes()? {
            let arguments = VariablesArguments::new(scope.variables_reference);
            let variables = self.variables(&arguments)?;
            if let Some(found) = variables.iter().find(|one| one.name == local) {
                let indexed = found.indexed_variables.is_some_and(|count| count > 0);
                return Ok(format!("{} {indexed}", found.variables_reference));
            }
        }
        anyhow::bail!("{local} is in no scope")
    }

    fn page(&mut self, opened: &str, _: Below, start: u64, count: u64) -> anyhow::Result<Page> {
        let (reference, indexed) = opened.split_once(' ').context("not opened")?;
        let mut arguments = VariablesArguments::new(reference.parse()?)
            .with_start(start.try_into()?)
            .with_count(count.try_into()?);
        if indexed == "true" {
            arguments = arguments.with_filter(VariablesArgumentsFilter::Indexed);
        }
        let variables = self.variables(&arguments)?;
        let last = variables.last();
        let opened = last.filter(|one| one.variables_reference > 0);
        Ok(Page {
            count: variables.len() as u64,
            last: last.map(|one| one.value.clone()).unwrap_or_default(),
            opened: opened.map(|one| one.variables_reference.to_string()),
        })
    }

    fn last(&mut self, page: &Page) -> anyhow::Result<String> {
        let mut text = page.last.clone();
        if let Some(reference) = &page.opened {
            let parts = self.variables(&VariablesArguments::new(reference.parse()?))?;
            for part in parts {
                text.push(' ');
                text.push_str(&part.value);
            }
        }
        Ok(text)
    }

    fn walk(&mut self, opened: &str) -> anyhow::Result<usize> {
        let (root, _) = opened.split_once(' ').context("not opened")?;
        let mut count = 0;
        let mut open = vec![root.parse()?];
        while let Some(reference) = open.pop() {
            count += 1;
            let node = self.variables(&VariablesArguments::new(reference))?;
            let below = node.iter().filter(|field| {
                field.variables_reference > 0 && matches!(field.name.as_str(), "left" | "right")
            });
            open.extend(
                below
                    .filter(|field| !is_null(&field.value))
                    .map(|field| field.variables_reference),
            );
        }
        Ok(count)
    }

    fn evaluate(&mut self, expression: &str) -> anyhow::Result<String> {
        let frame = self.frame_id()?;
        let arguments = EvaluateArguments::new(expression)
            .with_frame_id(frame)
            .with_context(EvaluateArgumentsContext::Watch);
        Ok(self.client.request::<EvaluateRequest>(&arguments)?.result)
    }

    fn frames(&mut self, most: Option<i64>) -> anyhow::Result<usize> {
        let arguments = StackTraceArguments::new(self.thread).with_levels(most.unwrap_or(0));
        let stack = self.client.request::<StackTraceRequest>(&arguments)?;
        Ok(stack.stack_frames.len())
    }
}

fn is_null(value: &str) -> bool {
    value.contains("null")
        || value
            .trim_start_matches("0x")
            .bytes()
            .all(|digit| digit == b'0')
}
