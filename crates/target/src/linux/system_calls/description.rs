//! How a system call is described as data: what the kernel writes through which argument, and what else the call does.
//!
//! The lists of calls ([`super::table`]) consist of these. An output names arguments by their position, from 0. What an output's bytes are is
//! worked out by [`super::places`].

use super::Kind;

/// The position of an argument, from 0.
pub(super) type Argument = usize;

/// A system call, or a command of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Description {
    /// The call's number, or the command's value.
    pub number: u32,
    /// Its name, as in the manual.
    pub name: &'static str,
    /// What it writes into the caller's memory.
    pub outputs: &'static [Output],
    /// What else it does when it has succeeded.
    pub does: fn(&Facts) -> Kind,
    /// It does that whatever its result is.
    pub always_does: bool,
    /// Whether it may wait until another thread or process does something, or time has passed; at its entry.
    pub blocks: fn(&Facts) -> bool,
    /// The commands of a call that has some.
    pub commands: Option<Commands>,
    /// The argument that points at a structure whose first 88 bytes `does` needs.
    pub structure: Option<Argument>,
}

/// The commands of a system call like ioctl(2).
#[derive(Debug, Clone, Copy)]
pub(super) struct Commands {
    /// The argument that has the command.
    pub argument: Argument,
    /// The bits of the argument that are the command.
    pub mask: u32,
    /// The known commands.
    pub known: &'static [Description],
}

/// What is known of a call.
#[derive(Debug)]
pub(super) struct Facts {
    /// The arguments.
    pub arguments: [u64; 6],
    /// The result; 0 at its entry.
    pub result: i64,
    /// The structure that [`Description::structure`] points at, as 8-byte words; zeros behind its end.
    pub structure: [u64; 11],
}

/// Memory that the kernel writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    /// Which memory.
    pub place: Place,
    /// After which results.
    pub when: When,
}

/// The results after which an output has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// The call has succeeded.
    Success,
    /// The call has succeeded, or a signal has interrupted it.
    Interrupted,
    /// Whatever the result is. The kernel may have left the memory as it was.
    Always,
}

/// Which memory an output is in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// The memory that an argument points at.
    At(Argument, Length),
    /// Memory that a pointer in a structure points at: the structure's argument, the pointer's offset, the length.
    Nested(Argument, u64, Length),
    /// Buffers of an iovec array (`array`, `count`), filled one after the other with as many bytes as the result says.
    Buffers(Argument, Argument),
    /// A `struct msghdr` (recvmsg(2)): its fields, name, control data and buffers.
    Message(Argument),
    /// An array of `struct mmsghdr` (`array`, `count`; recvmmsg(2)): as many messages as the result says.
    Messages(Argument, Argument),
    /// The `msg_len` of as many `struct mmsghdr` as the result says (`array`, `count`; sendmmsg(2)).
    SentLengths(Argument, Argument),
}

/// How many bytes are written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Length {
    /// This many.
    Fixed(u64),
    /// As many as an argument says.
    Argument(Argument),
    /// As many elements (of so many bytes) as an argument of 32 bits says.
    Elements(u64, Argument),
    /// As many elements (of so many bytes) as an argument of 64 bits says.
    LongElements(u64, Argument),
    /// As many as the result says, at most what the argument says.
    Result(Argument),
    /// As many elements (of so many bytes) as the result says, at most as many as an argument of 32 bits says.
    ResultElements(u64, Argument),
    /// A header of so many bytes, and as many as the result says, at most what the argument says.
    HeaderAndResult(u64, Argument),
    /// A set of descriptors or processors: a bit for each number below the argument, in words of 64.
    Bits(Argument),
    /// A byte for each page of 4096 bytes of the length that the argument says.
    Pages(Argument),
    /// As many as the 32-bit word behind a pointer says: before the call the room, after it the length that there is to write, which may be more.
    InOut(Argument),
    /// The structure's own 32-bit word at an offset says how many elements follow its header: (header, offset of the count, size of an element).
    Counted(u64, u64, u64),
    /// As [`Length::Counted`] with a count of 16 bits.
    ShortCounted(u64, u64, u64),
    /// As [`Length::Counted`]; after the call, the word before the count says how many of them were written (`struct fiemap`).
    Extents(u64, u64, u64),
    /// For [`Place::Nested`]: as many as the result says, at most what the structure's 32-bit word at an offset says.
    NestedResult(u64),
    /// For [`Place::Nested`]: as many as the structure's 32-bit word at an offset says, before or after the call, whichever is less.
    NestedInOut(u64),
    /// After the call, the first 32-bit word at the place says how many; at most what the argument says.
    Own(Argument),
}

/// A call that writes nothing.
pub(super) const fn silent(number: u32, name: &'static str) -> Description {
    call(number, name, &[])
}

/// A call with what it writes.
pub(super) const fn call(
    number: u32,
    name: &'static str,
    outputs: &'static [Output],
) -> Description {
    Description {
        number,
        name,
        outputs,
        does: |_| Kind::Plain,
        always_does: false,
        blocks: |_| false,
        commands: None,
        structure: None,
    }
}

impl Description {
    /// The call may wait for other threads or processes.
    pub(super) const fn blocks(self) -> Description {
        self.blocks_if(|_| true)
    }

    /// The call may wait for other threads or processes if its arguments say so. The result isn't known yet.
    pub(super) const fn blocks_if(mut self, blocks: fn(&Facts) -> bool) -> Description {
        self.blocks = blocks;
        self
    }

    /// What the call does beside writing memory.
    pub(super) const fn does(mut self, does: fn(&Facts) -> Kind) -> Description {
        self.does = does;
        self
    }

    /// As [`Description::does`], whatever the result is.
    pub(super) const fn always_does(mut self, does: fn(&Facts) -> Kind) -> Description {
        self.does = does;
        self.always_does = true;
        self
    }

    /// `does` needs the structure that an argument points at.
    pub(super) const fn reads(mut self, structure: Argument) -> Description {
        self.structure = Some(structure);
        self
    }

    /// The call has commands: the argument, and the bits of it that are the command.
    pub(super) const fn commands(
        mut self,
        argument: Argument,
        mask: u32,
        known: &'static [Description],
    ) -> Description {
        self.commands = Some(Commands {
            argument,
            mask,
            known,
        });
        self
    }
}

/// Memory that is written if the call succeeds.
pub(super) const fn output(place: Place) -> Output {
    Output {
        place,
        when: When::Success,
    }
}

/// A structure of this size.
pub(super) const fn fixed(argument: Argument, size: u64) -> Output {
    output(Place::At(argument, Length::Fixed(size)))
}

/// Memory behind an argument.
pub(super) const fn at(argument: Argument, length: Length) -> Output {
    output(Place::At(argument, length))
}

/// A buffer (`argument`) whose room another argument says, of which the kernel fills as many bytes as the result says.
pub(super) const fn filled(argument: Argument, room: Argument) -> Output {
    at(argument, Length::Result(room))
}

/// A socket address and its length (`socklen_t *`).
pub(super) const fn socket_address(address: Argument, length: Argument) -> [Output; 2] {
    [at(address, Length::InOut(length)), fixed(length, 4)]
}

impl Output {
    /// It is also written when a signal interrupts the call.
    pub(super) const fn or_interrupted(mut self) -> Output {
        self.when = When::Interrupted;
        self
    }

    /// It is written whatever the result is.
    pub(super) const fn always(mut self) -> Output {
        self.when = When::Always;
        self
    }
}
