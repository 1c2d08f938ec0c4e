//! Where each step ends, in every build of a program.

use crate::walking::table;

table! {
    calls_at_o0: "calls.c" &["-O0"];
    calls_at_o2: "calls.c" &["-O2"];
    "
    run start           → start, main, 1
    over                → call, main, 1
    over                → nested, main, 1
    over                → pointer, main, 1
    over                → recursion, main, 1
    over                → inline, main, 1
    over                → tail calls, main, 1
    over                → library, main, 1
    over                → callback, main, 1
    over                → no source, main, 1
    over                → sort, main, 1
    over                → call catches, main, 1
    over                → call loop, main, 1
    over                → call statements, main, 1
    over                → sum, main, 1
    over                → print, main, 1
    over                → end, main, 1

    # The arguments of a call first, from right to left as the compiler has them.
    run nested          → nested, main, 1
    into                → twice, twice, 2
    over                → twice end, twice, 2
    out                 → nested, main, 1
    into                → twice, twice, 2
    out                 → nested, main, 1
    into                → add, add, 2
    over                → add end, add, 2

    run pointer         → pointer, main, 1
    into                → twice, twice, 2

    run recursion       → recursion, main, 1
    into                → factorial, factorial, 2
    over                → factorial if, factorial, 2
    over                → factorial deeper, factorial, 2
    into                → factorial, factorial, 3
    over                → factorial if, factorial, 3
    over                → factorial deeper, factorial, 3
    out                 → factorial deeper, factorial, 2

    # Over a call of itself: the deeper activations pass the same lines.
    run recursion       → recursion, main, 1
    into                → factorial, factorial, 2
    over                → factorial if, factorial, 2
    over                → factorial deeper, factorial, 2
    over                → factorial end, factorial, 2
    run tail calls      → tail calls, main, 1
    into                → tail, tail, 2
    over                → tail call, tail, 2

    run library         → library, main, 1
    into                → helper.c:7, helper, 2
    over                → helper.c:8, helper, 2
    run callback        → callback, main, 1
    into                → helper.c:13, calls_back, 2
    over                → helper.c:14, calls_back, 2
    into                → twice, twice, 3
    out                 → helper.c:14, calls_back, 2

    # The C library has no source: over it, and into what it calls of ours.
    run no source       → no source, main, 1
    into                → sort, main, 1
    into                → compare, compare, 2
    over                → compare end, compare, 2

    run call catches    → call catches, main, 1
    into                → setjmp, catches, 2
    over                → before jump, catches, 2
    over                → call jumps, catches, 2
    over                → setjmp, catches, 2
    over                → landed, catches, 2
    over                → catches end, catches, 2

    # A step that a jump takes away from its frame ends where the jump lands.
    run jumps           → jumps, jumps, 3
    over                → jumps call, jumps, 3
    over                → setjmp, catches, 2
    run longjmp         → longjmp, deeper, 4
    over                → setjmp, catches, 2
    run deeper          → deeper, deeper, 4
    out                 → setjmp, catches, 2

    run body            → body, loop, 2
    over                → body end, loop, 2
    over                → for, loop, 2
    over                → body, loop, 2
    over                → body end, loop, 2
    over                → for, loop, 2

    run statements      → statements, empty_lines, 2
    over                → spread, empty_lines, 2
    into                → twice, twice, 3
    out                 → spread, empty_lines, 2
    into                → add, add, 3
    run spread          → spread, empty_lines, 2
    over                → statements end, empty_lines, 2
    "
}

table! {
    more_calls_at_o0: "calls.c" &["-O0"];
    "
    run recursion       → recursion, main, 1
    over                → inline, main, 1
    into                → inlined, inlined, 2
    over                → inlined calls, inlined, 2
    into                → inner, inner, 3
    over                → inner end, inner, 3
    out                 → inlined calls, inlined, 2
    out                 → inline, main, 1

    run recursion       → recursion, main, 1
    over                → inline, main, 1
    into                → inlined, inlined, 2
    over                → inlined calls, inlined, 2
    over                → inlined last, inlined, 2
    over                → inlined end, inlined, 2
    over                → inline, main, 1
    over                → tail calls, main, 1

    # A breakpoint in a deeper activation.
    run recursion       → recursion, main, 1
    into                → factorial, factorial, 2
    over                → factorial if, factorial, 2
    over                → factorial deeper, factorial, 2
    break factorial one
    over                → breakpoint factorial one, factorial, 4

    run call loop       → call loop, main, 1
    into                → loop, loop, 2
    over                → for, loop, 2
    over                → body, loop, 2
    over                → body end, loop, 2
    over                → for, loop, 2
    over                → body, loop, 2
    over                → body end, loop, 2
    over                → for, loop, 2
    over                → loop end, loop, 2
    "
}

table! {
    more_calls_at_o2: "calls.c" &["-O2"];
    "
    run recursion       → recursion, main, 1
    over                → inline, main, 1
    into                → inlined, inlined, 2
    over                → inlined calls, inlined, 2
    into                → inner, inner, 3
    over                → inner end, inner, 3
    out                 → inlined last, inlined, 2
    out                 → tail calls, main, 1

    run recursion       → recursion, main, 1
    over                → inline, main, 1
    into                → inlined, inlined, 2
    over                → inlined calls, inlined, 2
    over                → inlined last, inlined, 2
    over                → tail calls, main, 1
    "
}

table! {
    events_at_o0: "events.c" &["-O0"];
    events_at_o2: "events.c" &["-O2"];
    "
    run start           → start, main, 1
    over                → call raises, main, 1
    over                → raise here, main, 1
    over                → call faults, main, 1
    over                → create, main, 1
    over                → join, main, 1
    over                → create quits, main, 1
    over                → join quits, main, 1
    over                → call forks, main, 1
    over                → call spawns, main, 1
    over                → last, main, 1
    over                → end, main, 1

    run call raises     → call raises, main, 1
    into                → raises, raises, 2
    over                → raise, raises, 2
    over                → raised, raises, 2

    # A handler is another flow: its own lines are stepped, and its end leads back to what it interrupted.
    run raise           → raise, raises, 2
    break handler
    over                → breakpoint handler, handler, 3
    over                → handler end, handler, 3
    out                 → raised, raises, 2

    run call faults     → call faults, main, 1
    into                → sigsetjmp, faults, 2
    over                → before fault, faults, 2
    over                → fault, faults, 2
    over                → sigsetjmp, faults, 2
    over                → after fault, faults, 2
    over                → faults end, faults, 2
    run jumper          → jumper, jumper, 3
    over                → jumper jumps, jumper, 3
    over                → sigsetjmp, faults, 2

    run worker          → worker, worker, 1
    over                → worker last, worker, 1
    over                → worker end, worker, 1
    run quits           → quits, quits, 1
    over                → pthread_exit, quits, 1
    break call forks
    over                → breakpoint call forks, main, 1

    run call forks      → call forks, main, 1
    into                → fork, forks, 2
    over                → forked, forks, 2
    over                → wait, forks, 2
    over                → forks end, forks, 2
    out                 → call forks, main, 1
    over                → call spawns, main, 1
    into                → vfork, spawns, 2
    over                → vforked, spawns, 2
    over                → vwait, spawns, 2
    over                → spawns end, spawns, 2
    "
}

table! {
    thread_end_at_o0: "events.c" &["-O0"];
    "
    # The thread that is stepped ends: the others run.
    run worker end      → worker end, worker, 1
    break join quits
    over                → worker close, worker, 1
    over                → breakpoint join quits, main, 1
    "
}

table! {
    thread_end_at_o2: "events.c" &["-O2"];
    "
    run worker end      → worker end, worker, 1
    break join quits
    over                → breakpoint join quits, main, 1
    "
}

table! {
    objects_at_o0: "objects.cpp" &["-O0"];
    objects_at_o2: "objects.cpp" &["-O2"];
    "
    run start           → start, main, 1
    over                → virtual, main, 1
    over                → thunk, main, 1
    over                → template, main, 1
    over                → other template, main, 1

    run virtual         → virtual, main, 1
    into                → dog, legs, 2
    over                → dog end, legs, 2
    run thunk           → thunk, main, 1
    into                → dog name, name, 2
    over                → dog name end, name, 2
    run call lambda     → call lambda, main, 1
    into                → lambda, operator(), 2
    over                → lambda end, operator(), 2
    # Through the standard library to what it calls of ours.
    run predicate       → predicate, operator(), 2
    over                → predicate end, operator(), 2

    run exception       → exception, main, 1
    into                → try, catches, 2
    run throws          → throws, throws, 4
    into                → constructor, Guard, 5
    out                 → throws if, throws, 4
    over                → throws deeper, throws, 4
    run outer try       → outer try, main, 1
    into                → rethrow try, rethrows, 2
    "
}

table! {
    more_objects_at_o0: "objects.cpp" &["-O0"];
    "
    run other template  → other template, main, 1
    over                → made lambda, main, 1
    over                → call lambda, main, 1
    over                → pass lambda, main, 1
    over                → make function, main, 1
    over                → call function, main, 1
    over                → sort, main, 1
    over                → exception, main, 1

    run template        → template, main, 1
    into                → larger, larger, 2
    over                → larger end, larger, 2
    run other template  → other template, main, 1
    into                → larger, larger, 2
    over                → larger end, larger, 2
    run pass lambda     → pass lambda, main, 1
    into                → apply, apply, 2
    over                → apply call, apply, 2
    into                → lambda, operator(), 3
    out                 → 66: }, apply, 2 else apply call, apply, 2

    # Through the standard library to what it calls of ours.
    run call function   → call function, main, 1
    into                → lambda, operator(), 2
    over                → lambda end, operator(), 2
    run sort            → sort, main, 1
    into                → predicate, operator(), 2
    over                → predicate end, operator(), 2

    # To what catches, past what destroys on the way.
    run exception       → exception, main, 1
    into                → try, catches, 2
    over                → first catch, catches, 2
    over                → catch, catches, 2
    over                → caught, catches, 2
    over                → 98: }, catches, 2
    over                → catches end, catches, 2
    run passes          → passes, passes, 3
    over                → passes call, passes, 3
    over                → first catch, catches, 2
    run throw           → throw, throws, 5
    over                → first catch, catches, 2
    run throws deeper   → throws deeper, throws, 4
    out                 → first catch, catches, 2

    run outer try       → outer try, main, 1
    into                → rethrow try, rethrows, 2
    over                → rethrow catch, rethrows, 2
    over                → rethrow caught, rethrows, 2
    over                → rethrow, rethrows, 2
    over                → outer catch, main, 1
    over                → outer caught, main, 1

    run scoped          → scoped, scoped, 2
    over                → in scope, scoped, 2
    over                → scope end, scoped, 2
    into                → destructor, ~Guard, 3
    over                → destructor end, ~Guard, 3
    "
}

table! {
    more_objects_at_o2: "objects.cpp" &["-O2"];
    "
    # A function of a template has no statements but its first, by gcc's line table.
    run template        → template, main, 1
    into                → larger head, larger, 2
    out                 → other template, main, 1
    into                → larger head, larger, 2

    # To what catches, past what destroys on the way; the dispatch to it has no line.
    run exception       → exception, main, 1
    into                → try, catches, 2
    over                → caught, catches, 2
    over                → catches end, catches, 2
    run passes          → passes, passes, 3
    over                → passes call, passes, 3
    over                → caught, catches, 2
    run throw           → throw, throws, 5
    over                → caught, catches, 2

    run outer try       → outer try, main, 1
    into                → rethrow try, rethrows, 2
    over                → rethrow caught, rethrows, 2
    over                → rethrow, rethrows, 2
    over                → outer caught, main, 1

    # What a template's function calls, and the library's that has taken the user's in.
    run pass lambda     → pass lambda, main, 1
    into                → apply head, apply, 2
    into                → lambda, operator(), 3
    "
}

table! {
    closures_at_o0: "closures.rs" &["-Copt-level=0"];
    closures_at_o2: "closures.rs" &["-Copt-level=2"];
    "
    run start           → start, main, 1
    over                → call, main, 1
    over                → nested, main, 1
    over                → pointer, main, 1
    over                → recursion, main, 1
    over                → dyn, main, 1
    over                → call generic, main, 1
    over                → make closure, main, 1
    over                → call closure, main, 1
    over                → make once, main, 1
    over                → call once, main, 1

    run call            → call, main, 1
    into                → twice, twice, 2
    over                → twice end, twice, 2
    run nested          → nested, main, 1
    into                → twice, twice, 2
    out                 → nested, main, 1
    into                → twice, twice, 2
    out                 → nested, main, 1
    into                → add, add, 2
    over                → add end, add, 2
    run pointer         → pointer, main, 1
    into                → twice, twice, 2

    run recursion       → recursion, main, 1
    into                → factorial, factorial, 2
    over                → factorial if, factorial, 2
    over                → factorial deeper, factorial, 2
    into                → factorial, factorial, 3
    out                 → factorial deeper, factorial, 2

    run dyn             → dyn, main, 1
    into                → dog, legs, 2
    over                → dog end, legs, 2
    run call generic    → call generic, main, 1
    into                → generic, generic, 2
    over                → generic call, generic, 2
    into                → bird, legs, 3
    over                → bird end, legs, 3

    # Through the standard library to what it calls of ours.
    run make closure    → make closure, main, 1
    over                → call closure, main, 1
    into                → closure, main::{closure#1}, 2
    over                → closure end, main::{closure#1}, 2
    into                → twice, twice, 3
    run mapped          → mapped, main::{closure#2}, 2
    over                → mapped end, main::{closure#2}, 2
    run comparing       → comparing, main::{closure#3}, 2
    over                → compared, main::{closure#3}, 2

    run call scoped     → call scoped, main, 1
    into                → scoped, scoped, 2
    over                → scoped value, scoped, 2
    over                → scoped end, scoped, 2
    into                → drop, drop, 3

    run good            → good, main, 1
    over                → bad, main, 1
    into                → asks, asks, 2
    into                → fallible, fallible, 3
    out                 → asks, asks, 2
    over                → asks close, asks, 2

    run after panic     → after panic, main, 1
    over                → spawn, main, 1
    over                → joined, main, 1
    run thread          → thread, main::{closure#5}, 1
    over                → thread end, main::{closure#5}, 1
    into                → twice, twice, 2
    "
}

table! {
    more_closures_at_o0: "closures.rs" &["-Copt-level=0"];
    "
    run call once       → call once, main, 1
    over                → before map, main, 1
    over                → map, main, 1
    over                → sum, main, 1

    # Through the standard library: a box's shim, iterators, a sort, a value's destructor.
    run call once       → call once, main, 1
    into                → once, boxed::{closure#0}, 2
    over                → once end, boxed::{closure#0}, 2
    run map             → map, main, 1
    over                → sum, main, 1
    into                → mapped, main::{closure#2}, 2
    over                → mapped end, main::{closure#2}, 2
    run sort            → sort, main, 1
    into                → comparing, main::{closure#3}, 2
    run scoped end      → scoped end, scoped, 2
    into                → drop, drop, 3
    over                → drop end, drop, 3

    # A panic, to the line that catches it, which is not done yet.
    run catch           → catch, main, 1
    into                → catch, main::{closure#4}, 2
    into                → panics, panics, 3
    over                → panics if, panics, 3
    over                → panics deeper, panics, 3
    over                → catch, main, 1
    over                → after panic, main, 1
    run panic           → panic, panics, 4
    over                → catch, main, 1
    run panic           → panic, panics, 4
    out                 → catch, main, 1
    run panics          → panics, panics, 3
    out                 → catch, main, 1
    "
}

table! {
    more_closures_at_o2: "closures.rs" &["-Copt-level=2"];
    "
    run catch           → catch, main, 1
    over                → after panic, main, 1
    run panics          → panics, panics, 3
    over                → panics if, panics, 3
    over                → panics deeper, panics, 3
    over                → after panic, main, 1
    run panic           → panic, panics, 4
    over                → after panic, main, 1
    run panic           → panic, panics, 4
    out                 → after panic, main, 1
    "
}

table! {
    statements_at_o0: "statements.c" &["-O0"];
    statements_at_o2: "statements.c" &["-O2"];
    "
    run three           → three, main, 1
    statement           → three, main, 1, two(2);
    statement           → three, main, 1, one(3);
    into                → one, one, 2
    run three           → three, main, 1
    over                → loop, main, 1

    # Calls in one expression are one statement.
    run if              → if, main, 1
    statement           → if, main, 1, one(a);
    "
}

table! {
    more_statements_at_o0: "statements.c" &["-O0"];
    "
    run three           → three, main, 1
    statement           → three, main, 1, two(2);
    into statement      → two, two, 2, =
    statement           → two, two, 2, +
    run loop            → loop, main, 1
    statement           → loop, main, 1, <
    statement           → loop, main, 1, one(i);
    statement           → loop, main, 1, ++)
    statement           → loop, main, 1, <
    statement           → loop, main, 1, one(i);
    into statement      → one, one, 2, =
    out                 → loop, main, 1
    statement           → loop, main, 1, <
    statement           → nested, main, 1, two(one(1))
    statement           → if, main, 1, (a
    statement           → if, main, 1, one(a);
    # A semicolon in a text is none.
    statement           → text, main, 1, text
    statement           → text, main, 1, *text
    statement           → end, main, 1, 0;
    "
}

table! {
    statements_in_rust_at_o0: "statements.rs" &["-Copt-level=0"];
    statements_in_rust_at_o2: "statements.rs" &["-Copt-level=2"];
    "
    run three           → three, main, 1
    statement           → three, main, 1, two(2);
    statement           → three, main, 1, one(3);
    statement           → nested, main, 1, one(1))
    statement           → if, main, 1, black_box(a)
    statement           → if, main, 1, two(4);
    statement           → end, main, 1, black_box(2);
    "
}

table! {
    skipped_at_o0: "targets.cpp" &["-O0"];
    skipped_at_o2: "targets.cpp" &["-O2"];
    "
    run nested          → nested, main, 1
    skip std one numbers::s*
    into                → two, two, 2
    out                 → nested, main, 1
    into                → pointer, main, 1
    # Asked for, it is entered; in it and out of it steps are as ever.
    into one            → one, one, 2
    over                → one end, one, 2
    out                 → pointer, main, 1
    into                → two, two, 2

    # What it calls is entered.
    run call tail       → call tail, main, 1
    skip tail two
    into                → one, one, 3

    run call loop       → call loop, main, 1
    skip loop
    break one
    over                → breakpoint one, one, 3

    run virtual         → virtual, main, 1
    skip one Square::*
    into                → inlined, main, 1
    "
}

table! {
    skipped_in_rust_at_o0: "targets.rs" &["-Copt-level=0"];
    skipped_in_rust_at_o2: "targets.rs" &["-Copt-level=2"];
    "
    run nested          → nested, main, 1
    skip std targets::t* sum
    into                → one, one, 2
    out                 → nested, main, 1
    into                → pointer, main, 1
    run dyn             → dyn, main, 1
    skip std one Square::area
    into                → inlined, main, 1
    "
}
