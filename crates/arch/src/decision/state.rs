//! The code of a decision, and what a thread has done when it is stopped somewhere in it.

/// The code of a decision, and of what comes after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trampoline {
    /// The code. Its first byte is where threads enter.
    pub bytes: Vec<u8>,
    /// Where in it the `int3` of threads that ask is. All registers, the flags and the stack are as at the place there. The code behind it
    /// goes on, so a one-byte `nop` in its place makes all threads go on.
    pub ask: u64,
    /// Where in it the code is that a thread goes on with.
    pub go_on: u64,
    /// If it writes records: where a thread that asks has a word that says why, as an offset from its stack pointer (below the red zone):
    /// [`RING_IS_FULL`], or 0. A signal handler that runs between the decision and the `int3` overwrites it.
    pub why_slot: Option<i64>,
    /// Parts of the code up to `go_on`, each with its start and its state, in order.
    pub(super) zones: Vec<(u64, State)>,
}

/// Why a thread asks: there is no room for its record.
pub const RING_IS_FULL: u64 = u64::MAX;

/// What a thread has done that is about to execute an instruction of a [`Trampoline`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is still deciding, and may be put back to the place.
    Deciding(Saved),
    /// It has decided, and may have counted its hit or begun a record: let it run on by single steps until it is in another state. It
    /// accesses only its frame, and the ring.
    Counted,
    /// It goes on: it is at this offset in the code made by [`super::Request::go_on`]. If that is 0, all registers are as at the place.
    GoingOn(u64),
    /// It asks: it is at the `int3`, or at the jump behind it. All registers are as at the place.
    Asking,
}

/// Where a thread has its values of the registers at the place. Slots are offsets from its present stack pointer. Registers that aren't
/// mentioned have their values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Saved {
    /// What is to be added to the stack pointer.
    pub stack: u64,
    /// General registers: DWARF numbers, and their slots of 8 bytes.
    pub general: Vec<(u16, u64)>,
    /// The slot of 2 bytes with the status flags, in the form of [`with_flags`].
    pub flags: Option<u64>,
    /// SSE registers: their numbers, and their slots of 16 bytes.
    pub sse: Vec<(u8, u64)>,
    /// The slot of 4 bytes with MXCSR.
    pub mxcsr: Option<u64>,
}

/// The flags register with its status flags as they are saved in a slot: the overflow flag in the first byte, all others in the second.
pub fn with_flags(register: u64, slot: [u8; 2]) -> u64 {
    /// CF, PF, AF, ZF and SF (Intel SDM volume 1, §3.4.3), which `lahf` saves.
    const LOW: u64 = 0xd5;
    const OVERFLOW: u64 = 1 << 11;
    let overflow = if slot[0] == 0 { 0 } else { OVERFLOW };
    register & !(LOW | OVERFLOW) | u64::from(slot[1]) & LOW | overflow
}

/// How many bytes [`Trampoline::switched`] puts in front.
pub const SWITCHED: u64 = 8;
/// Where in the code of [`Trampoline::switched`] the switch is.
pub const SWITCH: u64 = 1;

impl Trampoline {
    /// Code that was compiled for [`SWITCHED`] bytes behind where it will be, with a switch in front: while the byte at [`SWITCH`] is 0, threads
    /// go on without a decision. One byte can be written while threads are there: a processor sees the old one or the new one.
    #[must_use]
    pub fn switched(mut self) -> Trampoline {
        // `jmp` over the next jump, or to it if the distance is 0; `jmp go_on`; a byte that is never executed.
        let [over, behind] = [2, 7];
        let past_jump = (SWITCHED - over) as u8;
        let go_on = (SWITCHED - behind + self.go_on) as u32;
        let mut bytes = vec![0xeb, past_jump, 0xe9];
        bytes.extend(go_on.to_le_bytes());
        bytes.push(0xcc);
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
        self.ask += SWITCHED;
        self.go_on += SWITCHED;
        for (start, _) in &mut self.zones {
            *start += SWITCHED;
        }
        self
    }

    /// The state of a thread that is about to execute the instruction at an offset.
    pub fn state_at(&self, offset: u64) -> State {
        if let Some(behind) = offset.checked_sub(self.go_on) {
            return State::GoingOn(behind);
        }
        let next = self.zones.partition_point(|(start, _)| *start <= offset);
        let zone = next.checked_sub(1).and_then(|index| self.zones.get(index));
        let state = zone.map(|(_, state)| state.clone());
        state.unwrap_or_else(|| State::Deciding(Saved::default()))
    }
}
