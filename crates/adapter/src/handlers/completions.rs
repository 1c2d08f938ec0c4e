//! The `completions` request: what the word at the caret may become.

use crate::adapter::Adapter;
use crate::to_dap::OrFail;
use dapple_dap::server::{Context, Failure, byte_of_column, utf16_column};
use dapple_dap::types::{
    CompletionItem, CompletionItemType, CompletionsArguments, CompletionsResponse,
};
use dapple_engine::eval::CompletionKind;

/// Lists members, variables, types and registers, the most likely first.
pub fn completions(
    adapter: &mut Adapter,
    arguments: CompletionsArguments,
    context: &mut Context,
) -> Result<CompletionsResponse, Failure> {
    let client = context.conventions();
    let frame = match arguments.frame_id {
        Some(id) => Some(super::stack_trace::frame(adapter, id)?),
        None => None,
    };
    let line = arguments
        .line
        .map_or(1, |line| client.line_from_client(line));
    let line = usize::try_from(line.saturating_sub(1)).unwrap_or(0);
    let line = arguments.text.lines().nth(line).unwrap_or_default();
    let caret = byte_of_column(line, client.column_from_client(arguments.column));
    let typed = line.get(..caret).unwrap_or(line);
    let found = adapter
        .partly_stopped()?
        .completions(typed, frame)
        .or_fail()?;
    let start = utf16_column(line, found.start);
    let length = utf16_column(line, caret).saturating_sub(start);
    let start = client.column_to_client(start);
    let items = found.items.into_iter().enumerate().map(|(rank, item)| {
        let mut shown = CompletionItem::new(item.text)
            .with_sort_text(format!("{rank:04}"))
            .with_start(start)
            .with_length(length)
            .with_type(match item.kind {
                CompletionKind::Member => CompletionItemType::Field,
                CompletionKind::Method => CompletionItemType::Method,
                CompletionKind::Local | CompletionKind::Static => CompletionItemType::Variable,
                CompletionKind::Constant => CompletionItemType::Enum,
                CompletionKind::Type => CompletionItemType::Class,
                CompletionKind::Register => CompletionItemType::Value,
            });
        shown.detail = item.detail;
        shown
    });
    Ok(CompletionsResponse::new(items.collect()))
}
