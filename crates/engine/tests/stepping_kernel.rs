//! Steps that involve the kernel: signal handlers, also on alternate stacks, and starts and ends of processes and threads.

use crate::walking::table;

table! {
    handlers_at_o0: "kernel.c" &["-O0"];
    handlers_at_o2: "kernel.c" &["-O2"];
    "
    run start           → start, main, 1
    over                → call kills, main, 1
    over                → call twin, main, 1
    over                → call escapes, main, 1
    over                → call faulting, main, 1
    over                → call forks, main, 1
    over                → forks checked, main, 1
    over                → call spawns, main, 1
    over                → spawns checked, main, 1
    over                → join leaving, main, 1
    over                → join returning, main, 1
    over                → join low, main, 1
    over                → join high, main, 1
    over                → check, main, 1
    over                → wrong, main, 1
    continue            → exit 41

    # Into goes past a handler, too.
    run kill            → kill, kills, 2
    over                → killed, kills, 2
    run kill            → kill, kills, 2
    into                → killed, kills, 2
    run kill            → kill, kills, 2
    out                 → call twin, main, 1
    continue            → exit 41

    # A handler calls what is being stepped.
    run twin            → twin, twin, 2
    over                → twin if, twin, 2
    over                → twin raises, twin, 2
    over                → twin last, twin, 2
    over                → twin end, twin, 2
    run twin raises     → twin raises, twin, 2
    into                → twin last, twin, 2
    run twin raises     → twin raises, twin, 2
    out                 → call twin, main, 1
    continue            → exit 41

    run escape          → escape, escapes, 2
    over                → sigsetjmp, escapes, 2
    over                → escaped, escapes, 2
    run escape          → escape, escapes, 2
    into                → sigsetjmp, escapes, 2
    run escape          → escape, escapes, 2
    out                 → call escapes, main, 1
    continue            → exit 41

    run fault           → fault, faulting, 2
    over                → fault setjmp, faulting, 2
    over                → faulted, faulting, 2
    run fault           → fault, faulting, 2
    into                → fault setjmp, faulting, 2
    run fault           → fault, faulting, 2
    out                 → call faulting, main, 1
    continue            → exit 41
    "
}

table! {
    more_handlers_at_o0: "kernel.c" &["-O0"];
    "
    run kill            → kill, kills, 2
    statement           → killed, kills, 2, =
    run escape          → escape, escapes, 2
    statement           → sigsetjmp, escapes, 2, (sigsetjmp(escape,
    run fault           → fault, faulting, 2
    statement           → fault setjmp, faulting, 2, (sigsetjmp(escape,

    # By instruction into the handler; out of it leads back to the line that it has interrupted.
    run kill            → kill, kills, 2
    instructions        → handler opens, handler, 3
    over                → handler, handler, 3
    over                → handler end, handler, 3
    out                 → kill, kills, 2
    over                → killed, kills, 2
    run fault           → fault, faulting, 2
    instructions        → jumper opens, jumper, 3
    over                → jumper, jumper, 3
    into                → leaf, leaf, 4
    out                 → jumper, jumper, 3
    over                → jumper jumps, jumper, 3
    over                → fault setjmp, faulting, 2
    over                → faulted, faulting, 2
    continue            → exit 41
    "
}

table! {
    low_stack_at_o0: "kernel.c" &["-O0"];
    low_stack_at_o2: "kernel.c" &["-O2"];
    "
    run works           → works, works, 1
    over                → works kills, works, 1
    over                → works twin, works, 1
    over                → works escapes, works, 1
    over                → works faults, works, 1
    over                → works last, works, 1
    continue            → exit 41

    run works kills     → works kills, works, 1
    break handler
    over                → breakpoint handler, handler, 3
    into                → leaf, leaf, 4
    out                 → handler, handler, 3
    over                → handler end, handler, 3

    run works twin      → works twin, works, 1
    break twin
    over                → breakpoint twin, twin, 2
    continue            → breakpoint twin, twin, 4
    over                → twin if, twin, 4
    over                → twin last, twin, 4
    out                 → again, again, 3

    run works escapes   → works escapes, works, 1
    break jumper jumps
    over                → breakpoint jumper jumps, jumper, 3
    over                → sigsetjmp, escapes, 2
    over                → escaped, escapes, 2
    over                → escapes end, escapes, 2
    continue            → breakpoint jumper jumps, jumper, 3
    out                 → fault setjmp, faulting, 2
    over                → faulted, faulting, 2
    "
}

table! {
    high_stack_at_o0: "kernel.c" &["-O0"];
    high_stack_at_o2: "kernel.c" &["-O2"];
    "
    run join high       → join high, main, 1
    break works kills
    over                → breakpoint works kills, works, 1
    break handler
    over                → breakpoint handler, handler, 3
    into                → leaf, leaf, 4
    out                 → handler, handler, 3
    over                → handler end, handler, 3

    # The handler's twin is higher up, on another stack.
    run join high       → join high, main, 1
    break works twin
    over                → breakpoint works twin, works, 1
    into                → twin, twin, 2
    over                → twin if, twin, 2
    over                → twin raises, twin, 2
    over                → twin last, twin, 2
    over                → twin end, twin, 2
    continue            → exit 41

    run join high       → join high, main, 1
    break twin
    over                → breakpoint twin, twin, 2
    continue            → breakpoint twin, twin, 4
    over                → twin if, twin, 4
    over                → twin last, twin, 4
    out                 → again, again, 3
    continue            → exit 41

    run join high       → join high, main, 1
    break jumper jumps
    over                → breakpoint jumper jumps, jumper, 3
    over                → sigsetjmp, escapes, 2
    over                → escaped, escapes, 2
    over                → escapes end, escapes, 2
    continue            → breakpoint jumper jumps, jumper, 3
    out                 → fault setjmp, faulting, 2
    over                → faulted, faulting, 2
    continue            → exit 41
    "
}

table! {
    processes_at_o0: "kernel.c" &["-O0"];
    processes_at_o2: "kernel.c" &["-O2"];
    "
    run fork            → fork, forks, 2
    over                → forked, forks, 2
    over                → wait, forks, 2
    over                → forks end, forks, 2
    run fork            → fork, forks, 2
    into                → forked, forks, 2
    run fork            → fork, forks, 2
    out                 → call forks, main, 1
    run fork            → fork, forks, 2
    instructions        → forked, forks, 2
    instructions        → wait, forks, 2
    continue            → exit 41

    run vfork           → vfork, spawns, 2
    over                → vforked, spawns, 2
    over                → vwait, spawns, 2
    over                → spawns end, spawns, 2
    run vfork           → vfork, spawns, 2
    into                → vforked, spawns, 2
    run vfork           → vfork, spawns, 2
    out                 → call spawns, main, 1
    run vfork           → vfork, spawns, 2
    instructions        → vforked, spawns, 2
    instructions        → vwait, spawns, 2
    continue            → exit 41

    run exec            → exec, main, 1
    over                → exit 41
    run exec            → exec, main, 1
    into                → exit 41
    run exec            → exec, main, 1
    out                 → exit 41
    run exec            → exec, main, 1
    break executed
    over                → breakpoint executed, main, 1
    continue            → exit 41

    run thread exit     → thread exit, leaves, 1
    over                → exit 41
    run thread exit     → thread exit, leaves, 1
    into                → exit 41
    run thread exit     → thread exit, leaves, 1
    out                 → exit 41
    run thread exit     → thread exit, leaves, 1
    instructions        → exit 41
    run thread exit     → thread exit, leaves, 1
    break joined
    over                → breakpoint joined, joins, 2

    run join leaving    → join leaving, main, 1
    into                → create, joins, 2
    over                → join, joins, 2
    into                → joined, joins, 2
    run join leaving    → join leaving, main, 1
    into                → create, joins, 2
    into                → join, joins, 2
    out                 → join returning, main, 1
    continue            → exit 41
    "
}

table! {
    more_processes_at_o0: "kernel.c" &["-O0"];
    "
    run fork            → fork, forks, 2
    statement           → forked, forks, 2, (child
    run vfork           → vfork, spawns, 2
    statement           → vforked, spawns, 2, (child
    run exec            → exec, main, 1
    statement           → exit 41, nowhere
    run exec            → exec, main, 1
    instructions        → exit 41
    run thread exit     → thread exit, leaves, 1
    statement           → exit 41, nowhere
    "
}

table! {
    contexts_at_o0: "contexts.c" &["-O0"];
    "
    run begin           → begin, main, 1
    over                → end, main, 1
    continue            → exit 43

    # In the second round the others, on higher stacks, come back at the same places first.
    run yield           → yield, generator, 1
    over                → yielded, generator, 1
    over                → for, generator, 1
    over                → turn, generator, 1
    over                → yield, generator, 1
    over                → yielded, generator, 1
    over                → for, generator, 1
    over                → turn, generator, 1
    over                → yield, generator, 1
    into                → swap, yield, 2
    over                → back, yield, 2
    out                 → yielded, generator, 1
    continue            → exit 43

    run swap            → swap, yield, 2
    out                 → yielded, generator, 1
    over                → for, generator, 1
    over                → turn, generator, 1
    over                → yield, generator, 1
    into                → swap, yield, 2
    out                 → yielded, generator, 1
    "
}
