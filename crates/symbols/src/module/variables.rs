//! A module's queries about variables and their locations.

use super::Module;
use crate::FileAddress;
use crate::dwarf::array_lengths::Frame;
use crate::dwarf::cpp_coroutines::CppCoroutine;
use crate::dwarf::fixed_location::FixedLocation;
use crate::dwarf::location::EntryInFrame;
use crate::dwarf::location::LocationContext;
use crate::dwarf::location::Piece;
use crate::dwarf::location::Unavailable;
use crate::dwarf::scopes::Variable;
use crate::dwarf::types::StaticMember;
use crate::lines::LineRow;
use dapple_arch::instructions::{FRAME_POINTER, STACK_POINTER};
use dapple_arch::registers::{FP, SP};
use gimli::AttributeValue;
use gimli::UnitOffset;
use gimli::constants as dw;
use std::ops::Range;
use std::sync::Arc;

impl Module {
    /// Parameters and locals visible at `address`, outer blocks first, in declaration order: of the function itself (`inline_depth` 0), or
    /// of the n-th inlined call, counted from the outermost, that covers the address. Leaves out, in C and C++, locals that are declared
    /// after the line at `address` (for outer frames: the call's line); in Rust, variables of a pattern while the matched expression is being
    /// computed; in the body of a Rust `async fn`, the arguments' former places in the future and unnamed arguments that a pattern
    /// destructures.
    pub fn variables_at(&self, address: FileAddress, inline_depth: usize) -> Vec<Variable> {
        self.dwarf(|dwarf| dwarf.variables_at(address.0, inline_depth))
    }

    /// The argument of a Rust coroutine's body (that of an `async fn`, an async block or closure) with the pinned reference to its state,
    /// `Pin<&mut …>`. `None` if the code at `address` is no coroutine's; `inline_depth` as in [`Self::variables_at`].
    pub fn coroutine_argument_at(
        &self,
        address: FileAddress,
        inline_depth: usize,
    ) -> Option<Variable> {
        self.dwarf(|dwarf| dwarf.coroutine_argument(address.0, inline_depth))
    }

    /// What the function whose code covers `address` is for in a C++ coroutine. `None`: it is no coroutine's.
    pub fn cpp_coroutine_at(&self, address: FileAddress) -> Option<Arc<CppCoroutine>> {
        self.dwarf(|dwarf| dwarf.cpp_coroutine_at(address.0))
    }

    /// Whether the language calls the C++ function at `address`, or the innermost inlined one, for a coroutine: a member of a promise, an
    /// awaiter that belongs to a type of coroutines, or the destructor of such a type.
    pub fn serves_coroutines_at(&self, address: FileAddress) -> bool {
        self.dwarf(|dwarf| dwarf.serves_coroutines(address.0))
    }

    /// Whether nothing may have written a part of the stack of a Rust coroutine's body since its future was resumed in `state` (the number
    /// that tells the state), when control comes to `address`. `register` has the frame's registers, by DWARF number. `false` in optimised
    /// code, and where that isn't known.
    pub fn is_unwritten_since_resumption(
        &self,
        address: FileAddress,
        state: usize,
        slot: &Range<u64>,
        register: &dyn Fn(u16) -> Option<u64>,
    ) -> bool {
        let base = |base| match base {
            STACK_POINTER => register(SP),
            FRAME_POINTER => register(FP),
            _ => None,
        };
        self.dwarf(|dwarf| dwarf.is_unwritten_since_resumption(address.0, state, slot, &base))
    }

    /// The line at which a suspended Rust coroutine goes on, by the entry of its body and the number that tells its state: the line of the
    /// `await`. Inside a macro, it is the line where the macro is used. `None` in optimised code, and where that isn't known.
    pub fn suspension_row(&self, body: FileAddress, state: usize) -> Option<LineRow> {
        let resumed = self.dwarf(|dwarf| dwarf.resumption(body.0, state))?;
        // The block begins with code of the function's opening line.
        let rows = self.rows_in(FileAddress(resumed.start)..FileAddress(resumed.end));
        rows.into_iter().rfind(|row| row.line != 0)
    }

    /// Where the body of a Rust coroutine, which contains the address `body`, goes on if it was suspended in `state` (the number that tells its
    /// state). `None` in optimised code, and where that isn't known.
    pub fn resumption(&self, body: FileAddress, state: usize) -> Option<FileAddress> {
        let resumed = self.dwarf(|dwarf| dwarf.resumption(body.0, state))?;
        Some(FileAddress(resumed.start))
    }

    /// Whether the function at `address` is a Rust `async fn` as its callers see it: it only makes the future, and the body runs later.
    pub fn makes_future_at(&self, address: FileAddress) -> bool {
        self.dwarf(|dwarf| dwarf.makes_future(address.0))
    }

    /// The statics and globals of the unit that covers `address`.
    pub fn statics_at(&self, address: FileAddress) -> Vec<Variable> {
        self.dwarf(|dwarf| {
            dwarf
                .units_at(address.0)
                .flat_map(|unit| dwarf.statics_of(unit))
                .collect()
        })
    }

    /// The variable that defines a static member; `None` if this module has no definition of it.
    pub fn static_member(&self, member: &StaticMember) -> Option<Variable> {
        self.dwarf(|dwarf| dwarf.static_member(member))
    }

    /// A static member's name qualified with its class and namespaces.
    pub fn static_member_name(&self, member: &StaticMember) -> Option<String> {
        self.dwarf(|dwarf| {
            let unit = dwarf.unit(member.entry.unit)?;
            dwarf.qualified_name(&dwarf.chain(unit, UnitOffset(member.entry.offset)))
        })
    }

    /// The statics in any unit whose names match `name`, read as a [`NamePattern`](crate::names::NamePattern). If there are none and `name`
    /// has no wildcard in its last component, the storage of `thread_local!` statics so named.
    pub fn statics_named(&self, name: &str) -> Vec<Variable> {
        self.dwarf(|dwarf| dwarf.statics_named(name))
    }

    /// The pieces of `variable` at `address`, in the frame of `context`.
    ///
    /// # Errors
    /// The reason why no piece can be located.
    pub fn locate(
        &self,
        variable: &Variable,
        address: FileAddress,
        context: &dyn LocationContext,
    ) -> Result<Vec<Piece>, Unavailable> {
        if variable.dropped {
            return Err(Unavailable::Discarded);
        }
        let entry = EntryInFrame::new(variable.unit, variable.offset, variable.function);
        self.dwarf(|dwarf| {
            let size = variable.type_id.and_then(|id| dwarf.type_size(id));
            dwarf.locate(entry, size, address.0, context)
        })
    }

    /// Whether `variable` has a location list, as variables of optimised code have: its location depends on the address.
    pub fn has_location_list(&self, variable: &Variable) -> bool {
        self.dwarf(|dwarf| {
            let Some(unit) = dwarf.unit(variable.unit) else {
                return false;
            };
            let chain = dwarf.chain(unit, UnitOffset(variable.offset));
            let location = chain.attribute(dw::DW_AT_location);
            location.is_some_and(|(_, value)| !matches!(value, AttributeValue::Exprloc(_)))
        })
    }

    /// The pieces of the object that a [`Place::ImplicitPointer`](crate::location::Place::ImplicitPointer) points to or into.
    /// `context` and `address` are those of the pointer.
    ///
    /// # Errors
    /// The reason why no piece can be located.
    pub fn locate_pointee(
        &self,
        pointee: &EntryInFrame,
        address: FileAddress,
        context: &dyn LocationContext,
    ) -> Result<Vec<Piece>, Unavailable> {
        self.dwarf(|dwarf| dwarf.locate(*pointee, None, address.0, context))
    }

    /// The location of `variable`, if it is the same in every frame at `address`; `None` if [`Module::locate`] is needed.
    pub fn fixed_location(
        &self,
        variable: &Variable,
        address: FileAddress,
    ) -> Option<FixedLocation> {
        self.dwarf(|dwarf| dwarf.fixed_location(variable, address.0))
    }

    /// The number of elements in each dimension of an array variable, from the outermost, in the frame of `context` and
    /// `address`. Empty if the variable is no array; `None` for a dimension of unknown length. Only needed if the type
    /// itself doesn't have the lengths.
    pub fn array_lengths(
        &self,
        variable: &Variable,
        address: FileAddress,
        context: &dyn LocationContext,
    ) -> Vec<Option<u64>> {
        let frame = Frame {
            variable,
            address: address.0,
            context,
        };
        self.dwarf(|dwarf| dwarf.array_lengths(&frame))
    }
}
