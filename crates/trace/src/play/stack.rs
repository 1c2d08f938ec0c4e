//! Answers to requests for pieces of a stack that were not asked for in the recording, put together from those that were.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::words::items;

/// The command.
pub(super) const STACK: &str = "stackTrace";

/// The place of the first frame that is asked for, and how many are. All others are if there is no number, or 0.
pub(super) fn piece(arguments: &Value) -> (usize, Option<usize>) {
    let number = |name: &str| {
        let number = arguments.get(name).and_then(Value::as_u64);
        number.and_then(|number| usize::try_from(number).ok())
    };
    let levels = number("levels").filter(|&levels| levels > 0);
    (number("startFrame").unwrap_or(0), levels)
}

/// The frames that are asked for, as far as they are known. `known` are the arguments and bodies of the requests for the same stack that
/// were answered.
///
/// # Errors
/// The stack has such frames, and none of them is known: the first frame that is asked for.
pub(super) fn composed<'a>(
    known: impl Iterator<Item = (&'a Value, &'a Value)>,
    arguments: &Value,
) -> Result<Vec<Value>, usize> {
    let mut frames = BTreeMap::new();
    let mut total = 0;
    for (asked, body) in known {
        frames.extend((piece(asked).0..usize::MAX).zip(items(body, "stackFrames")));
        total = total.max(body["totalFrames"].as_u64().unwrap_or(0));
    }
    let (start, levels) = piece(arguments);
    let known = (start..usize::MAX)
        .map_while(|at| frames.get(&at).map(|&frame| frame.clone()))
        .take(levels.unwrap_or(usize::MAX));
    let known: Vec<Value> = known.collect();
    match known.is_empty() && (start as u64) < total {
        true => Err(start),
        false => Ok(known),
    }
}
