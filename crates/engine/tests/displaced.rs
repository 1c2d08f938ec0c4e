//! Displaced stepping, checked against the processor itself: a program with every kind of instruction gives the same results with a
//! breakpoint on each of them as without, and stops where single steps stop.

use crate::support::{Debuggee, Fixture, Outcome, inline};
use dapple_engine::event::{ExitStatus, StopReason};
use dapple_engine::launch::{LaunchOptions, Stdin};
use dapple_engine::session::StepKind;
use dapple_engine::{Address, ThreadId};
use iced_x86::{Decoder, DecoderOptions};
use std::collections::HashMap;

/// `classes(seed)` executes each kind of instruction, and returns a checksum of their effects.
const CLASSES: &str = r#"
#include <stdio.h>
__asm__(
".data\n"
"cell: .quad 7\n"
"source: .ascii \"abcdefgh\"\n"
"target: .zero 8\n"
"pointer: .quad callee\n"
"table: .quad case0, case1\n"
".balign 16\n"
"vector: .quad 3, 4\n"
".text\n"
".globl classes\n"
".type classes, @function\n"
"classes:\n"
"  endbr64\n"
"  push %rbp\n"
"  mov %rsp, %rbp\n"
"  sub $64, %rsp\n"
"  push %rbx\n"
"  pushq $5\n"
"  pop %rbx\n"
"  mov %rdi, %rax\n"
"  add cell(%rip), %rax\n"
"  mov %rax, cell(%rip)\n"
"  lea cell(%rip), %rcx\n"
"  add (%rcx), %rbx\n"
"  movdqu vector(%rip), %xmm0\n"
"  paddq vector(%rip), %xmm0\n"
"  movq %xmm0, %rdx\n"
"  add %rdx, %rbx\n"
"  nop\n"
"  nopw 0x0(%rax,%rax,1)\n"
"  lea source(%rip), %rsi\n"
"  lea target(%rip), %rdi\n"
"  mov $8, %ecx\n"
"  rep movsb\n"
"  add target(%rip), %rbx\n"
"  call callee\n"
"  call *pointer(%rip)\n"
"  lea callee(%rip), %rdx\n"
"  call *%rdx\n"
"  push %rdx\n"
"  call *(%rsp)\n"
"  pop %rdx\n"
"  pushq $1\n"
"  call drops\n"
"  cmp $0, %rbx\n"
"  je never\n"
"  jne 1f\n"
"never: add $1000, %rbx\n"
"1: jg 2f\n"
"  add $3, %rbx\n"
"2: mov $4, %ecx\n"
"3: inc %rbx\n"
"  loop 3b\n"
"  jrcxz 4f\n"
"  add $77, %rbx\n"
"4: mov $3, %ecx\n"
"  test %rcx, %rcx\n"
"5: inc %rbx\n"
"  cmp $99, %rbx\n"
"  loopne 5b\n"
"  jmp 6f\n"
"  add $55, %rbx\n"
"6: lea table(%rip), %rdx\n"
"  jmp *8(%rdx)\n"
"case0: add $11, %rbx\n"
"case1: add $13, %rbx\n"
"  mov $39, %eax\n"
"  syscall\n"
"  test %rax, %rax\n"
"  setg %al\n"
"  movzbl %al, %eax\n"
"  add %rax, %rbx\n"
"  lock xadd %rbx, cell(%rip)\n"
"  cmovg cell(%rip), %rbx\n"
"  pushfq\n"
"  pop %rdx\n"
"  and $0x8d5, %rdx\n"
"  add %rdx, %rbx\n"
"  mov %fs:0, %rdx\n"
"  test %rdx, %rdx\n"
"  js never\n"
"  jp 7f\n"
"  jnp 7f\n"
"7: jb never\n"
"  jae 8f\n"
"8: jo never\n"
"  mov %rbx, %rax\n"
"  mov -72(%rbp), %rbx\n"
"  leave\n"
"  ret\n"
"callee: add $2, %rbx\n"
"  ret\n"
"drops: add 8(%rsp), %rbx\n"
"  ret $8\n"
"classes_end:\n"
".size classes, . - classes\n"
);
long classes(long seed);
int main(void) { printf("%ld\n", classes(12)); return 0; } // stop: main
"#;

fn build() -> Fixture {
    inline("classes.c", CLASSES, &["-O0"])
}

/// The addresses of all instructions of `classes`.
fn instructions(debuggee: &Debuggee<'_>) -> Vec<Address> {
    let module = dapple_symbols::Module::open(&debuggee.fixture.binary).unwrap();
    let symbol = module.symbol_named("classes").unwrap();
    let code = module.bytes_at(symbol.address, symbol.size as usize);
    let start = debuggee.symbol("classes");
    Decoder::with_ip(64, code, start.0, DecoderOptions::NONE)
        .iter()
        .map(|instruction| Address(instruction.ip()))
        .collect()
}

fn by_steps() -> (Vec<Address>, String) {
    let fixture = build();
    let mut debuggee = fixture.launch();
    let all = instructions(&debuggee);
    debuggee
        .session()
        .set_address_breakpoints(vec![all[0]])
        .unwrap();
    debuggee.resume();
    let thread = debuggee.expect_stop()[0].thread;
    debuggee
        .session()
        .set_address_breakpoints(Vec::new())
        .unwrap();
    let mut way = vec![all[0]];
    loop {
        debuggee
            .session()
            .step(thread, StepKind::Instruction)
            .unwrap();
        let stops = debuggee.expect_stop();
        assert_eq!(stops[0].reason, StopReason::Step);
        if !all.contains(&stops[0].address) {
            break;
        }
        way.push(stops[0].address);
    }
    // A repeated string instruction traps after each iteration.
    way.dedup();
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    (way, debuggee.stdout)
}

#[test]
fn every_kind_of_instruction_does_the_same_from_under_a_breakpoint() {
    let (expected, output) = by_steps();
    assert!(expected.len() > 80, "{}", expected.len());
    let fixture = build();
    let mut debuggee = fixture.launch();
    let all = instructions(&debuggee);
    debuggee.session().set_address_breakpoints(all).unwrap();
    debuggee.resume();
    let mut way = Vec::new();
    let status = loop {
        match debuggee.wait() {
            Outcome::Exited(status) => break status,
            Outcome::Stopped(stops) => way.push(stops[0].address),
        }
        debuggee.resume();
    };
    assert_eq!(way, expected);
    assert_eq!((status, debuggee.stdout), (ExitStatus::Code(0), output));
}

#[test]
fn single_steps_stop_where_breakpoints_are_too() {
    let (expected, output) = by_steps();
    let fixture = build();
    let mut debuggee = fixture.launch();
    let all = instructions(&debuggee);
    debuggee
        .session()
        .set_address_breakpoints(all.clone())
        .unwrap();
    debuggee.resume();
    let thread = debuggee.expect_stop()[0].thread;
    let mut way = vec![all[0]];
    loop {
        debuggee
            .session()
            .step(thread, StepKind::Instruction)
            .unwrap();
        let stops = debuggee.expect_stop();
        if !all.contains(&stops[0].address) {
            break;
        }
        way.push(stops[0].address);
    }
    way.dedup();
    assert_eq!(way, expected);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert_eq!(debuggee.stdout, output);
}

/// Runs to the end, and counts the stops of each thread.
fn count(debuggee: &mut Debuggee<'_>) -> (HashMap<ThreadId, usize>, ExitStatus) {
    let mut hits: HashMap<ThreadId, usize> = HashMap::new();
    debuggee.resume();
    loop {
        match debuggee.wait() {
            Outcome::Exited(status) => return (hits, status),
            Outcome::Stopped(stops) => {
                for stop in stops {
                    *hits.entry(stop.thread).or_default() += 1;
                }
                debuggee.resume();
            }
        }
    }
}

#[test]
fn no_thread_slips_past_an_instruction_that_can_only_run_in_its_place() {
    // A far return can be neither copied nor emulated.
    let text = r#"
#include <pthread.h>
enum { THREADS = 4, ROUNDS = 50 };
__asm__(
".text\n"
".globl returns\n"
"returns:\n"
"  mov %cs, %eax\n"
"  push %rax\n"
"  lea 1f(%rip), %rax\n"
"  push %rax\n"
".globl place\n"
"place: lretq\n"
"1: ret\n"
);
void returns(void);
static void *run(void *p) { for (int i = 0; i < ROUNDS; i++) returns(); return p; }
int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;
    let fixture = inline("returns.c", text, &["-O0"]);
    let mut debuggee = fixture.launch();
    let place = debuggee.symbol("place");
    debuggee
        .session()
        .set_address_breakpoints(vec![place])
        .unwrap();
    let (hits, status) = count(&mut debuggee);
    assert_eq!(status, ExitStatus::Code(0));
    assert_eq!(hits.len(), 4, "{hits:?}");
    assert!(hits.values().all(|count| *count == 50), "{hits:?}");
}

/// A vfork child, which shares the program's memory, waits in a system call while another thread counts. That thread then lets the child
/// continue.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int child, count;
static int ends[2];
static int child_reads(char *into) {
    long got = SYS_read;
    __asm__ volatile(".globl the_call\nthe_call: syscall" : "+a"(got) : "D"(ends[0]), "S"(into), "d"(1) : "rcx", "r11", "memory");
    return got == 1 && *into == 'x' ? 7 : 8;
}
static void *counts(void *argument) {
    while (!child)
        ;
    count += 1; // stop: one
    count += 1; // stop: two
    count += 1; // stop: three
    write(ends[1], "x", 1); // stop: write
    return argument;
}
int main(void) {
    pthread_t thread;
    char byte = 0;
    int status = 0;
    pipe(ends);
    pthread_create(&thread, 0, counts, 0);
    pid_t made = vfork();
    if (made == 0) {
        child = getpid();
        _exit(child_reads(&byte));
    }
    waitpid(made, &status, 0);
    pthread_join(thread, 0);
    printf("%d %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1, count);
    return 0;
}
"#;

/// The process ids of a process's children.
fn children(process: i32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("children")).unwrap_or_default()
    };
    let text: String = tasks.flatten().map(of).collect();
    text.split_whitespace()
        .map(|child| child.parse().unwrap())
        .collect()
}

#[test]
fn a_child_in_the_programs_memory_keeps_the_copy_it_is_in() {
    let program = inline("waits.c", WAITS, &["-pthread"]);
    let mut debuggee = program.launch();
    let process = debuggee.session().process().pid;
    debuggee.break_at(&["one"]);
    let call = debuggee.symbol("the_call");
    debuggee
        .session()
        .set_address_breakpoints(vec![call])
        .unwrap();
    assert_eq!(debuggee.run_to_breakpoint().1, "one");
    // The child executes the displaced copy of `syscall` as soon as it waits in its read.
    let child = children(process)[0];
    let is_in_read = || {
        let call = std::fs::read_to_string(format!("/proc/{child}/syscall")).unwrap_or_default();
        call.starts_with("0 ")
    };
    while !is_in_read() {
        std::thread::yield_now();
    }
    // Breakpoints are set and removed, and with them their copies.
    debuggee
        .session()
        .set_address_breakpoints(Vec::new())
        .unwrap();
    for place in ["two", "three", "write"] {
        debuggee.break_at(&[place]);
        assert_eq!(debuggee.run_to_breakpoint().1, place);
    }
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(0));
    assert_eq!(debuggee.stdout, "7 3\n");
}

/// A system call that was interrupted, and that the kernel lets its thread make again, from the instruction in front of where the thread stands.
const READS: &str = r#"
#include <unistd.h>
int main(void) {
    char c = 0;
    return read(0, &c, 1) == 1 ? c : 1;
}
"#;

#[test]
fn a_breakpoint_behind_a_call_that_is_made_again_is_hit_when_the_call_is_over() {
    let fixture = inline("reads.c", READS, &[]);
    let mut debuggee = fixture.launch_options(LaunchOptions {
        program: fixture.binary.clone(),
        stdin: Stdin::Sent,
        ..LaunchOptions::default()
    });
    debuggee.resume();
    let path = format!("/proc/{}/syscall", debuggee.session().process().pid);
    while !std::fs::read_to_string(&path).is_ok_and(|call| call.starts_with("0 0x0 ")) {
        std::thread::yield_now();
    }
    debuggee.session().pause(None).unwrap();
    let paused = debuggee.expect_stop().remove(0);
    let behind = vec![paused.address];
    let set = debuggee.session().set_address_breakpoints(behind).unwrap();
    debuggee.resume();
    let input = Some(b"*".to_vec());
    debuggee.session().send_input(input).unwrap();
    let stop = debuggee.expect_stop().remove(0);
    assert_eq!(stop.reason, StopReason::Breakpoint(vec![set[0].id]));
    assert_eq!(stop.address, paused.address);
    debuggee.resume();
    assert_eq!(debuggee.expect_exit(), ExitStatus::Code(42));
}
