//! What a stopped program shows: stacks, variables, sources, expressions.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::setup::{Stop, at_stop, disconnect};
use super::{memory, values};
use crate::rules;
use crate::talk::{Failed, Talk};

/// A frame, thread or reference that no adapter gives out.
const NOWHERE: i64 = 2_147_483_643;

/// Looks at everything that a stop has.
pub(super) fn stopped(talk: &mut Talk<'_>) {
    if let Some(stop) = at_stop(talk) {
        stack(talk, &stop);
        source(talk, &stop);
        containers(talk, &stop);
        named_values(talk, &stop);
        assigned(talk, &stop);
        nowhere(talk);
        memory::check(talk, &stop);
    }
    disconnect(talk);
}

/// The stack as a whole and in parts.
fn stack(talk: &mut Talk<'_>, stop: &Stop) {
    let Some(all) = frames(talk, stop, json!({})) else {
        return;
    };
    let (frames_of_all, total) = all;
    let ids: BTreeSet<i64> = { frames_of_all.iter() }
        .filter_map(|frame| frame["id"].as_i64())
        .collect();
    talk.expects(rules::FRAME_IDS, ids.len() == frames_of_all.len(), || {
        format!(
            "{} frames have {} different ids",
            frames_of_all.len(),
            ids.len()
        )
    });
    if let Some(total) = total {
        talk.expects(
            rules::TOTAL_FRAMES,
            total >= frames_of_all.len() as i64,
            || {
                format!(
                    "`totalFrames` is {total}, and {} frames came",
                    frames_of_all.len()
                )
            },
        );
    }
    let Some((one, _)) = frames(talk, stop, json!({"levels": 1})) else {
        return;
    };
    talk.expects(rules::STACK_PAGING, one.len() <= 1, || {
        format!("with `levels` 1, {} frames came", one.len())
    });
    if frames_of_all.len() < 2 {
        return;
    }
    let Some((second, _)) = frames(talk, stop, json!({"startFrame": 1, "levels": 1})) else {
        return;
    };
    let name = |frame: Option<&Value>| frame.map(|frame| frame["name"].clone());
    talk.expects(
        rules::STACK_PAGING,
        name(second.first()) == name(frames_of_all.get(1)),
        || {
            format!(
                "with `startFrame` 1 came {:?}; of the whole stack, it is {:?}",
                name(second.first()),
                name(frames_of_all.get(1))
            )
        },
    );
}

type Frames = (Vec<Value>, Option<i64>);

fn frames(talk: &mut Talk<'_>, stop: &Stop, mut arguments: Value) -> Option<Frames> {
    arguments["threadId"] = json!(stop.thread);
    match talk.ask("stackTrace", arguments) {
        Ok(body) => {
            let frames = body["stackFrames"].as_array().cloned().unwrap_or_default();
            Some((frames, body["totalFrames"].as_i64()))
        }
        Err(Failed::Error(reason)) => {
            talk.finds(rules::STACK_FAILS, format!("`stackTrace` failed: {reason}"));
            None
        }
        Err(_) => None,
    }
}

/// The source of a frame can be shown.
fn source(talk: &mut Talk<'_>, stop: &Stop) {
    let source = stop.frame["source"].clone();
    let reference = source["sourceReference"].as_i64().unwrap_or_default();
    if reference > 0 {
        let asked = talk.ask(
            "source",
            json!({"source": source, "sourceReference": reference}),
        );
        talk.expects(rules::SOURCE_FAILS, asked.is_ok(), || {
            format!("`source` of the reference {reference} failed")
        });
        return;
    }
    let path = source["path"].as_str().unwrap_or_default();
    talk.expects(rules::SOURCE_MISSING, Path::new(path).is_file(), || {
        format!(
            "the frame's source has the path {path:?}, which is no file, and no `sourceReference`"
        )
    });
}

/// Variables with many children come in parts.
fn containers(talk: &mut Talk<'_>, stop: &Stop) {
    for scope in values::scopes(talk, stop.frame_id()) {
        let reference = scope["variablesReference"].as_i64().unwrap_or_default();
        if reference == 0 || scope["expensive"] == true {
            continue;
        }
        for variable in values::children(talk, reference).iter().take(20) {
            container(talk, variable);
        }
    }
}

fn container(talk: &mut Talk<'_>, variable: &Value) {
    let reference = variable["variablesReference"].as_i64().unwrap_or_default();
    if reference == 0 {
        return;
    }
    let name = variable["name"].as_str().unwrap_or_default();
    let indexed = variable["indexedVariables"].as_i64().unwrap_or_default();
    if indexed < 4 {
        values::children(talk, reference);
        return;
    }
    let arguments =
        json!({"variablesReference": reference, "filter": "indexed", "start": 2, "count": 2});
    let body = match talk.ask("variables", arguments) {
        Ok(body) => body,
        Err(Failed::Error(reason)) => {
            let text = format!("`variables` of `{name}` with `start` and `count` failed: {reason}");
            return talk.finds(rules::VARIABLES_FAIL, text);
        }
        Err(_) => return,
    };
    let part = body["variables"].as_array().cloned().unwrap_or_default();
    talk.expects(rules::VARIABLES_PAGING, part.len() == 2, || {
        format!(
            "of `{name}`, which has {indexed} indexed variables, two were asked for and {} came",
            part.len()
        )
    });
    let first = part
        .first()
        .and_then(|one| one["name"].as_str())
        .unwrap_or_default();
    let has_index = first.chars().any(|c| c.is_ascii_digit());
    talk.expects(
        rules::VARIABLES_PAGING,
        !has_index || values::shows(first, "2"),
        || format!("of `{name}`, the variables from 2 on were asked for, and {first:?} came first"),
    );
}

/// Names and expressions that stand for a variable give its value.
fn named_values(talk: &mut Talk<'_>, stop: &Stop) {
    for (name, value) in talk.options.marks.values("stop").to_vec() {
        let Some((_, variable)) = values::find(talk, stop, &name) else {
            continue;
        };
        if let Some(expression) = variable["evaluateName"].as_str() {
            let found = values::evaluate(talk, stop, expression, "watch");
            let shown = found.as_ref().ok().and_then(|body| body["result"].as_str());
            let is_it = shown.is_some_and(|shown| values::shows(shown, &value));
            talk.expects(rules::EVALUATE_NAME, is_it, || {
                format!(
                    "the `evaluateName` {expression:?} gives {found:?}; the variable is {value}"
                )
            });
        }
        if name.contains('.') {
            continue;
        }
        for context in ["watch", "hover", "repl"] {
            if context == "hover" && !talk.has("supportsEvaluateForHovers") {
                continue;
            }
            // In consoles, debuggers have commands of their own.
            let Ok(found) = values::evaluate(talk, stop, &name, context) else {
                if context == "watch" {
                    talk.finds(
                        rules::EVALUATE_FAILS,
                        format!("`evaluate` of `{name}` failed, which is a variable"),
                    );
                }
                continue;
            };
            let shown = found["result"].as_str().unwrap_or_default().to_owned();
            talk.expects(
                rules::VALUE_WRONG,
                context == "repl" || values::shows(&shown, &value),
                || format!("`evaluate` of `{name}` ({context}) gives {shown:?}; it is {value}"),
            );
        }
    }
    let nonsense = values::evaluate(talk, stop, "no_such_variable_here", "watch");
    talk.expects(rules::BAD_EXPRESSION_SUCCEEDS, nonsense.is_err(), || {
        format!("`evaluate` of `no_such_variable_here` succeeded: {nonsense:?}")
    });
}

/// A variable that is set has its new value, and then the old one again.
fn assigned(talk: &mut Talk<'_>, stop: &Stop) {
    if !talk.has("supportsSetVariable") {
        return;
    }
    let Some((name, value)) = { talk.options.marks.values("stop").to_vec() }
        .into_iter()
        .find(|(name, value)| !name.contains('.') && value.parse::<i64>().is_ok())
    else {
        return;
    };
    for new in ["42", &value] {
        let Some((container, _)) = values::find(talk, stop, &name) else {
            return;
        };
        let arguments = json!({"variablesReference": container, "name": name, "value": new});
        match talk.ask("setVariable", arguments) {
            Ok(body) => {
                let said = body["value"].as_str().unwrap_or_default();
                talk.expects(rules::SET_VALUE, values::shows(said, new), || {
                    format!("`setVariable` of `{name}` to {new} is answered with {said:?}")
                });
                let shown = values::find(talk, stop, &name).map(|(_, one)| one["value"].clone());
                let shown = shown.unwrap_or_default();
                let is_set = shown
                    .as_str()
                    .is_some_and(|shown| values::shows(shown, new));
                talk.expects(rules::SET_VARIABLE_HAS_NO_EFFECT, is_set, || {
                    format!("`{name}` was set to {new}, and is shown as {shown}")
                });
            }
            Err(Failed::Error(reason)) => {
                let text = format!("`setVariable` of `{name}` to {new} failed: {reason}");
                return talk.finds(rules::ADVERTISED_FAILS, text);
            }
            Err(_) => return,
        }
    }
}

/// What the adapter never gave out is refused.
fn nowhere(talk: &mut Talk<'_>) {
    for (command, arguments) in [
        ("stackTrace", json!({"threadId": NOWHERE})),
        ("scopes", json!({"frameId": NOWHERE})),
        ("variables", json!({"variablesReference": NOWHERE})),
    ] {
        let asked = talk.ask(command, arguments.clone());
        let text =
            || format!("`{command}` with {arguments} succeeded, which the adapter never gave out");
        talk.expects(rules::UNKNOWN_REFERENCE_SUCCEEDS, asked.is_err(), text);
    }
}
