//! The rules that are checked, besides those of [`dapple_dap::lifecycle`].
//!
//! A rule is a sentence of the specification, or advice: what clients rely on, though the specification doesn't say it.

use dapple_dap::lifecycle::Severity;
use std::fmt;

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its name: lower-case words joined by hyphens. Names stay as they are.
    pub name: &'static str,
    /// Whether the specification says it.
    pub severity: Severity,
    /// What it says.
    pub sentence: &'static str,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! rules {
    ($($constant:ident $name:literal $severity:ident $sentence:literal;)*) => {
        $(
            #[doc = $sentence]
            pub const $constant: Rule = Rule { name: $name, severity: Severity::$severity, sentence: $sentence };
        )*
        /// All rules of this module.
        pub const ALL: &[Rule] = &[$($constant),*];
    };
}

rules! {
    // Messages.
    FRAMING "framing" Violation "Each message has a header with its length, and a body of JSON.";
    SHAPE "shape" Violation "Each message is as the definition says.";
    UNANSWERED "unanswered" Violation "Each request is answered.";
    DIED "died" Violation "Whatever a client sends, the adapter goes on until the session's end.";
    ERROR_WITHOUT_REASON "error-without-reason" Advice "A failed request says why, in `message` or `body.error`.";
    RESPONSE_AFTER_STEP "response-after-step" Violation "The response to a step or to `goto` comes before the `stopped` event.";
    RESPONSE_AFTER_STOP "response-after-stop" Advice "The response to `continue` comes before the `stopped` event that it leads to.";
    OPEN_PROGRESS "open-progress" Advice "A progress that was started is ended.";

    // Start.
    INITIALIZE_FAILS "initialize-fails" Violation "`initialize` succeeds.";
    NO_INITIALIZED "no-initialized" Violation "The adapter sends `initialized` when it is ready for the configuration.";
    LAUNCH_FAILS "launch-fails" Violation "`launch` succeeds with arguments that fit the adapter.";
    CHILD_SESSION_FAILS "child-session-fails" Violation "An adapter that debugs the program in a child session asks for it by `startDebugging`, and takes a second connection.";
    BAD_LAUNCH_SUCCEEDS "bad-launch-succeeds" Advice "`launch` of a program that doesn't exist fails, with a reason.";
    EARLY_REQUEST_SUCCEEDS "early-request-succeeds" Advice "A request before `initialize` is answered with an error.";
    SECOND_INITIALIZE_SUCCEEDS "second-initialize-succeeds" Advice "A second `initialize` is answered with an error.";

    // Breakpoints.
    BREAKPOINT_COUNT "breakpoint-count" Violation "The array elements are in the same order as the elements of the `breakpoints` in the arguments.";
    BREAKPOINT_FAILS "breakpoint-fails" Violation "`setBreakpoints` succeeds for a source of the program.";
    BREAKPOINT_UNVERIFIED "breakpoint-unverified" Advice "A breakpoint on a line with code is verified before the program runs, or an event `breakpoint` says that it is now.";
    BREAKPOINT_LINE "breakpoint-line" Violation "A verified breakpoint says the line where it is; on a line with code, that line.";
    UNVERIFIED_WITHOUT_REASON "unverified-without-reason" Advice "A breakpoint that can't be set says why, in `message`.";
    BREAKPOINT_ID_CHANGES "breakpoint-id-changes" Advice "A breakpoint that is set again as it was keeps its `id`.";
    UNKNOWN_BREAKPOINT_CHANGED "unknown-breakpoint-changed" Violation "An event `breakpoint` about a change names the `id` of a breakpoint that the client knows.";
    UNKNOWN_BREAKPOINT_HIT "unknown-breakpoint-hit" Violation "`hitBreakpointIds` are ids that the adapter has given to breakpoints.";
    WRONG_BREAKPOINT_HIT "wrong-breakpoint-hit" Violation "`hitBreakpointIds` are the ids of the breakpoints that triggered the event.";
    HIT_BREAKPOINTS_MISSING "hit-breakpoints-missing" Advice "A stop at a breakpoint that has an `id` names it in `hitBreakpointIds`.";
    CLEARED_BREAKPOINT_STOPS "cleared-breakpoint-stops" Violation "`setBreakpoints` replaces all breakpoints of a source.";
    CONDITION_IGNORED "condition-ignored" Violation "A breakpoint stops the program only if its `condition` holds, if the adapter advertises conditions.";
    HIT_CONDITION_IGNORED "hit-condition-ignored" Violation "A breakpoint stops the program only at the hits that its `hitCondition` says, if the adapter advertises them.";
    LOGPOINT_STOPS "logpoint-stops" Violation "A breakpoint with a `logMessage` doesn't stop the program but logs, if the adapter advertises log points.";
    LOG_MISSING "log-missing" Violation "A log point writes its message as an `output` event.";
    FUNCTION_BREAKPOINT_MISSED "function-breakpoint-missed" Violation "A function breakpoint stops the program in the function.";
    DATA_BREAKPOINT_MISSED "data-breakpoint-missed" Violation "A verified data breakpoint stops the program where the data is accessed.";
    LINE_BASE "line-base" Violation "Lines are counted from 0 for a client whose `linesStartAt1` is false.";

    // Stops.
    NO_STOP "no-stop" Violation "The program stops at a verified breakpoint.";
    STOP_LINE "stop-line" Violation "The program stops at the line of the breakpoint.";
    STEP_REASON "step-reason" Violation "A stop after a step has the reason `step`, and one after `goto` has `goto`.";
    STOP_REASON "stop-reason" Advice "A stop at a breakpoint has the reason `breakpoint`, or one that names the kind of breakpoint.";
    STOP_WITHOUT_THREAD "stop-without-thread" Advice "A `stopped` event names a thread.";
    STOP_UNKNOWN_THREAD "stop-unknown-thread" Violation "The thread that a `stopped` event names is among those that `threads` lists.";
    NO_THREADS "no-threads" Violation "`threads` lists at least one thread while the program is stopped.";
    STEP_LINE "step-line" Violation "A step ends at the line that it leads to in the source.";
    RESUME_FAILS "resume-fails" Violation "A request that resumes or pauses the program (`continue`, a step, `goto`, `pause`) succeeds where the program is stopped, or runs.";
    STEP_BACK_LINE "step-back-line" Violation "`stepBack` undoes a step, if the adapter advertises it.";
    INSTRUCTION_STEP "instruction-step" Violation "A step with the granularity `instruction` executes one instruction, if the adapter advertises granularities.";
    LINE_STEP "line-step" Violation "A step with the granularity `line` executes the rest of the line, and one with `statement` leads elsewhere, if the adapter advertises granularities.";
    GRANULARITY_NOT_IGNORED "granularity-not-ignored" Advice "`granularity` is ignored if the adapter doesn't advertise granularities.";
    GOTO_LINE "goto-line" Violation "`goto` stops the program at its target, and executes nothing on the way.";
    RESTART_WITHOUT_STOP "restart-without-stop" Advice "`restart` runs the program anew, with the breakpoints that it has.";

    // Looking.
    STACK_FAILS "stack-fails" Violation "`stackTrace` of a stopped thread has at least one frame.";
    STACK_PAGING "stack-paging" Violation "`startFrame` is the index of the first frame returned, and `levels` the most frames.";
    TOTAL_FRAMES "total-frames" Violation "`totalFrames` is not less than the number of frames.";
    FRAME_IDS "frame-ids" Violation "A frame's `id` is unique across all threads.";
    SOURCE_MISSING "source-missing" Advice "A source's `path` is a file that exists; without one, `sourceReference` gives the content.";
    SOURCE_FAILS "source-fails" Violation "`source` gives the content of a `sourceReference`.";
    SCOPES_FAIL "scopes-fail" Violation "`scopes` of a valid frame succeeds.";
    VARIABLES_FAIL "variables-fail" Violation "`variables` of a valid reference succeeds.";
    VARIABLES_PAGING "variables-paging" Violation "`variables` with `start` and `count` returns that part of the indexed variables.";
    VALUE_MISSING "value-missing" Violation "A variable of the frame is in one of its scopes.";
    VALUE_WRONG "value-wrong" Violation "A variable has the value that the program has given it.";
    EVALUATE_NAME "evaluate-name" Violation "`evaluateName` can be passed to `evaluate` to fetch the variable's value.";
    EVALUATE_FAILS "evaluate-fails" Advice "`evaluate` gives the value of a variable of the frame.";
    BAD_EXPRESSION_SUCCEEDS "bad-expression-succeeds" Advice "`evaluate` of an expression that makes no sense fails.";
    SET_VARIABLE_HAS_NO_EFFECT "set-variable-has-no-effect" Violation "After `setVariable` the variable has the new value.";
    SET_VALUE "set-value" Violation "`setVariable` is answered with the new value of the variable.";
    TYPE_UNASKED "type-unasked" Violation "The `type` of a variable is returned only if the client supports it.";
    STALE_FRAME "stale-frame" Advice "The ids of a stop are refused once the program has run on: another object would be taken for the old one.";
    UNKNOWN_REFERENCE_SUCCEEDS "unknown-reference-succeeds" Advice "A reference, frame or thread that the adapter never gave out is refused.";

    // Memory.
    MEMORY_FAILS "memory-fails" Violation "`readMemory` of a `memoryReference` succeeds.";
    MEMORY_DISAGREES "memory-disagrees" Violation "The same memory read in two ways is the same.";
    MEMORY_ADDRESS "memory-address" Violation "The `address` of `readMemory` is that of the first byte of data returned.";
    MEMORY_LENGTH "memory-length" Violation "`readMemory` returns at most `count` bytes, as base64.";
    DISASSEMBLY_COUNT "disassembly-count" Violation "`disassemble` returns exactly as many instructions as asked for.";
    DISASSEMBLY_ORDER "disassembly-order" Violation "The addresses of disassembled instructions ascend.";
    DISASSEMBLY_OFFSET "disassembly-offset" Violation "`instructionOffset` is applied to the reference of `disassemble`, in instructions.";
    DISASSEMBLY_DISAGREES "disassembly-disagrees" Violation "`instructionBytes` are what `readMemory` has at the instruction's address.";

    // Capabilities.
    ADVERTISED_FAILS "advertised-fails" Violation "A request that the adapter advertises succeeds.";
    WORKS_UNADVERTISED "works-unadvertised" Advice "A request that works is advertised.";
    CANCELLED_UNANSWERED "cancelled-unanswered" Violation "A request that was cancelled is answered all the same.";

    // Bad input.
    UNKNOWN_COMMAND_SUCCEEDS "unknown-command-succeeds" Violation "A request that the adapter doesn't know fails.";
    BAD_ARGUMENTS_SUCCEED "bad-arguments-succeed" Advice "A request whose arguments have the wrong types fails, and says which.";
    UNKNOWN_FIELD_FAILS "unknown-field-fails" Violation "Fields that the adapter doesn't know are ignored.";

    // Ends.
    NO_EXITED "no-exited" Advice "When the program has exited, an event `exited` says its code, before `terminated`.";
    EXIT_CODE "exit-code" Violation "`exited` has the exit code that the program has returned.";
    NO_TERMINATED "no-terminated" Violation "When the program has ended, an event `terminated` says so.";
    TERMINATE_WITHOUT_END "terminate-without-end" Violation "`terminate` shuts down a program that doesn't object, and an event `terminated` says so.";
    OUTPUT_MISSING "output-missing" Advice "What the program writes comes as `output` events.";
    DISCONNECT_FAILS "disconnect-fails" Violation "`disconnect` is answered with success.";
    SURVIVES_DISCONNECT "survives-disconnect" Advice "An adapter on stdio ends after `disconnect`, once its input ends.";
    SURVIVES_CLIENT "survives-client" Advice "An adapter on stdio ends when its client is gone.";
    DEBUGGEE_SURVIVES "debuggee-survives" Violation "A launched program ends with `disconnect`, unless the client asks to leave it.";
}
