//! Tests of the sentences for faults.

use super::*;

struct Case {
    info: SignalInfo,
    registers: Vec<(Register, u64)>,
    code: Vec<u8>,
    mappings: Vec<Mapping>,
}

const PC: u64 = 0x40_1000;

fn mapping(start: u64, end: u64, rights: &str, name: &str) -> Mapping {
    Mapping {
        start,
        end,
        read: rights.contains('r'),
        write: rights.contains('w'),
        execute: rights.contains('x'),
        offset: 0,
        name: name.to_owned(),
    }
}

fn case(number: i32, code: i32, address: u64, bytes: &[u8]) -> Case {
    let mut code_bytes = bytes.to_vec();
    code_bytes.resize(16, 0x90);
    Case {
        info: SignalInfo {
            number,
            code,
            address,
            ..SignalInfo::default()
        },
        registers: vec![(Register::RIP, PC), (Register::RSP, 0x7fff_ffff_0000)],
        code: code_bytes,
        mappings: vec![
            mapping(0x40_0000, 0x40_2000, "r-x", "/bin/x"),
            mapping(0x40_2000, 0x40_3000, "r--", "/bin/x"),
            mapping(0x50_0000, 0x50_1000, "rw-", "[heap]"),
            mapping(0x60_0000, 0x60_1000, "---", ""),
            mapping(0x60_1000, 0x68_0000, "rw-", ""),
            mapping(0x7fff_fff0_0000, 0x7fff_ffff_f000, "rw-", "[stack]"),
        ],
    }
}

impl Case {
    fn with(mut self, register: Register, value: u64) -> Case {
        self.registers.retain(|(r, _)| *r != register);
        self.registers.push((register, value));
        self
    }

    fn told(&self) -> (Option<u64>, String) {
        let register = |wanted: Register| {
            let found = self.registers.iter().find(|(r, _)| *r == wanted);
            Some(found.map_or(0, |(_, value)| *value))
        };
        let context = SignalContext {
            info: self.info,
            process: 7,
            machine: Machine::X86_64,
            pc: register(Register::RIP),
            sp: register(Register::RSP),
            register: &register,
            code: &self.code,
            mappings: &self.mappings,
            abort_message: None,
            sender: None,
            trap_message: None,
        };
        (fault_address(&context), describe(&context))
    }

    fn text(&self) -> String {
        self.told().1
    }
}

/// `mov eax, [rax]`
const READ: &[u8] = &[0x8b, 0x00];
/// `mov [rax], ecx`
const WRITE: &[u8] = &[0x89, 0x08];
/// `push rbp`
const PUSH: &[u8] = &[0x55];

#[test]
fn a_null_pointer_is_told_as_one_with_what_was_tried() {
    let read = case(libc::SIGSEGV, 1, 0, READ);
    assert_eq!(
        read.told(),
        (
            Some(0),
            "SIGSEGV: read of address 0x0, a null pointer".to_owned()
        )
    );
    let write = case(libc::SIGSEGV, 1, 16, WRITE).with(Register::RAX, 16);
    assert_eq!(
        write.text(),
        "SIGSEGV: write to address 0x10, 16 bytes from a null pointer"
    );
    let mut call = case(libc::SIGSEGV, 1, 0, &[]).with(Register::RIP, 0);
    call.code.clear();
    assert_eq!(
        call.text(),
        "SIGSEGV: jump to address 0x0, a null function pointer"
    );
}

#[test]
fn an_address_without_memory_says_what_it_is_behind() {
    let far = case(libc::SIGSEGV, 1, 0x123_4567, READ).with(Register::RAX, 0x123_4567);
    assert_eq!(
        far.text(),
        "SIGSEGV: read of address 0x1234567, where nothing is mapped"
    );
    let behind = case(libc::SIGSEGV, 1, 0x50_1008, WRITE).with(Register::RAX, 0x50_1008);
    assert_eq!(
        behind.text(),
        "SIGSEGV: write to address 0x501008, where nothing is mapped, 8 bytes behind the heap"
    );
}

#[test]
fn a_missing_permission_names_the_mapping_and_what_it_permits() {
    let text = case(libc::SIGSEGV, 2, 0x40_2010, WRITE).with(Register::RAX, 0x40_2010);
    assert_eq!(
        text.text(),
        "SIGSEGV: write to address 0x402010 in /bin/x: it may only be read"
    );
    let heap = case(libc::SIGSEGV, 2, 0x50_0010, READ).with(Register::RIP, 0x50_0010);
    assert_eq!(
        heap.text(),
        "SIGSEGV: jump to address 0x500010 in the heap: it may be read and written, not executed"
    );
}

#[test]
fn a_stack_that_overflows_is_called_so_on_the_main_thread_and_others() {
    let sp = 0x7fff_fff0_0000;
    let main = case(libc::SIGSEGV, 1, sp - 8, PUSH).with(Register::RSP, sp);
    assert_eq!(
        main.text(),
        "SIGSEGV: stack overflow: write to address 0x7fffffeffff8, below the stack of 1 MiB"
    );
    let thread = case(libc::SIGSEGV, 2, 0x60_0ff8, PUSH)
        .with(Register::RSP, 0x60_1000)
        .with(Register::FS, 0x67_f000);
    assert_eq!(
        thread.text(),
        "SIGSEGV: stack overflow: write to address 0x600ff8, below the stack of 508 KiB"
    );
    // A guard page of another thread's stack.
    let other = case(libc::SIGSEGV, 2, 0x60_0ff8, WRITE).with(Register::RAX, 0x60_0ff8);
    assert_eq!(
        other.text(),
        "SIGSEGV: write to address 0x600ff8 in anonymous memory: nothing is permitted"
    );
}

#[test]
fn what_the_processor_refuses_without_an_address_is_found_in_the_instruction() {
    let wild = case(libc::SIGSEGV, SI_KERNEL, 0, READ).with(Register::RAX, 0xdead_beef_dead_beef);
    assert_eq!(
        wild.told(),
        (
            Some(0xdead_beef_dead_beef),
            "SIGSEGV: read of address 0xdeadbeefdeadbeef, which is not a canonical address"
                .to_owned()
        )
    );
    // movaps [rax], xmm0
    let odd = case(libc::SIGSEGV, SI_KERNEL, 0, &[0x0f, 0x29, 0x00]).with(Register::RAX, 0x50_0008);
    assert_eq!(
        odd.text(),
        "SIGSEGV: write to address 0x500008, which is not aligned to 16 bytes as `movaps` needs it"
    );
    // hlt
    assert_eq!(
        case(libc::SIGSEGV, SI_KERNEL, 0, &[0xf4]).text(),
        "SIGSEGV: `hlt` is an instruction for the kernel only"
    );
    // ret
    assert_eq!(
        case(libc::SIGSEGV, SI_KERNEL, 0, &[0xc3]).text(),
        "SIGSEGV: return to an address that is not canonical: the stack is overwritten"
    );
}

#[test]
fn bus_errors_are_about_files_and_alignment() {
    let mut file = case(libc::SIGBUS, 2, 0x70_1000, READ).with(Register::RAX, 0x70_1000);
    file.mappings
        .insert(5, mapping(0x70_0000, 0x70_2000, "rw-", "/tmp/data"));
    assert_eq!(
        file.text(),
        "SIGBUS: read of address 0x701000 beyond the end of the mapped file /tmp/data"
    );
    let odd = case(libc::SIGBUS, 1, 0x50_0001, READ).with(Register::RAX, 0x50_0001);
    assert_eq!(
        odd.text(),
        "SIGBUS: read of address 0x500001, which is not aligned"
    );
}

#[test]
fn a_division_is_told_by_its_divisor() {
    // idiv ecx
    let by_zero = case(libc::SIGFPE, 1, PC, &[0xf7, 0xf9]);
    assert_eq!(by_zero.text(), "SIGFPE: integer division by zero");
    let overflow = by_zero.with(Register::RCX, 0xffff_ffff);
    assert_eq!(
        overflow.text(),
        "SIGFPE: integer overflow: the quotient does not fit"
    );
}

#[test]
fn an_illegal_instruction_is_told_apart_from_a_deliberate_one() {
    let deliberate = case(libc::SIGILL, 2, PC, &[0x0f, 0x0b]).text();
    assert!(
        deliberate.starts_with("SIGILL: the instruction `ud2` at 0x401000"),
        "{deliberate}"
    );
    // `ud1 eax, [eax + 20]`
    assert_eq!(
        case(libc::SIGILL, 2, PC, &[0x67, 0x0f, 0xb9, 0x40, 20]).text(),
        "SIGILL: a check of UndefinedBehaviorSanitizer has failed: shift out of bounds (a trap instruction at 0x401000)"
    );
    assert_eq!(
        case(libc::SIGILL, 2, PC, &[0x06, 0x06, 0x06, 0x06]).text(),
        "SIGILL: no instruction at 0x401000: 06 06 06 06"
    );
}

#[test]
fn a_sent_signal_has_no_address_but_a_sender() {
    let mut sent = case(libc::SIGSEGV, 0, 0x10, READ);
    sent.info.sender = 7;
    assert_eq!(
        sent.told(),
        (None, "SIGSEGV: sent by the program itself".to_owned())
    );
    sent.info.sender = 8;
    assert_eq!(sent.text(), "SIGSEGV: sent by process 8");
    assert_eq!(
        facts(sent.info),
        "si_signo 11, si_code SI_USER (0), si_pid 8"
    );
    let fault = case(libc::SIGSEGV, 2, 0x10, READ);
    assert_eq!(
        facts(fault.info),
        "si_signo 11, si_code SEGV_ACCERR (2), si_addr 0x10"
    );
}
