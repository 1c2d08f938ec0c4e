//! `object.*pointer` and `object->*pointer` (C++20 §7.6.4): pointers to members, as the Itanium C++ ABI lays them out (§2.3). A pointer to
//! data is an offset in its class, or -1 for null. A pointer to a function begins with the function's address; for a virtual function, with
//! the offset in the virtual table plus one. The adjustment of the object's address follows.

use super::called::Candidate;
use super::{Fault, MAX_STEPS, Runner};
use crate::Address;
use crate::eval::a_type;
use crate::eval::ir::{Expression, Kind};
use crate::modules::LoadedModule;
use crate::values::view::{LONG, View};
use crate::values::{Contents, Value, names};
use dapple_symbols::types::{Type, TypeId, TypeKind};
use std::sync::Arc;

/// The member of an object that a pointer to a member designates.
pub(super) enum Member {
    /// A data member.
    Data(Value),
    /// A member function, and the adjusted address of the object.
    Function {
        code: Address,
        object: Address,
        type_: (Arc<LoadedModule>, TypeId),
    },
}

/// A pointer to a member.
struct MemberPointer {
    value: Value,
    /// The member's type.
    target: TypeId,
    class: Arc<Type>,
    is_function: bool,
}

impl Runner<'_> {
    /// The data member that `base.*pointer` denotes. With `arrow`, the expression is `base->*pointer`. Fails for a member function.
    pub(super) fn pointed_member(
        &self,
        base: &Expression,
        pointer: &Expression,
        arrow: bool,
    ) -> Result<Value, Fault> {
        match self.member_pointed(base, pointer, arrow)? {
            Member::Data(value) => Ok(value),
            Member::Function { .. } => {
                let sign = if arrow { "->*" } else { ".*" };
                let (object, pointer_text) = (self.source(base), self.source(pointer));
                let why = format!(
                    "points to a member function, which can be called only: `({object}{sign}{pointer_text})(…)`"
                );
                Err(self.fault(pointer, &why))
            }
        }
    }

    /// The function that `(base.*pointer)(…)` calls. `None`: `callee` is another expression.
    pub(super) fn member_function_pointed(
        &self,
        callee: &Expression,
    ) -> Option<Result<Candidate, Fault>> {
        let Kind::PointedMember {
            base,
            pointer,
            arrow,
        } = &callee.kind
        else {
            return None;
        };
        Some(match self.member_pointed(base, pointer, *arrow) {
            Ok(Member::Function {
                code,
                object,
                type_: (module, id),
            }) => self
                .method_at(code, object, (&module, id))
                .ok_or_else(|| self.fault(pointer, "points to no function that is known")),
            Ok(Member::Data(value)) => Err(self.no_function(callee, &value)),
            Err(fault) => Err(fault),
        })
    }

    fn member_pointed(
        &self,
        base: &Expression,
        pointer: &Expression,
        arrow: bool,
    ) -> Result<Member, Fault> {
        let value = self.object_of(base, pointer.at, arrow)?;
        let Some(object) = self.receiver(&value, arrow) else {
            self.check_available(&value, base)?;
            let a_type = a_type(self.type_of(&value));
            return Err(self.fault(base, &format!("is no object of a class, it is {a_type}")));
        };
        let found = self.member_pointer(pointer)?;
        let class = &found.class;
        let part = self.part_of_class(&object, class, 0).ok_or_else(|| {
            let why = format!(
                "points to a member of `{}`, and `{}` is {}",
                names::shorten(&class.name, class.language),
                self.source(base),
                a_type(self.type_of(&object))
            );
            self.fault(pointer, &why)
        })?;
        match found.is_function {
            false => {
                let mut member = self.data_pointed(&found, &part, pointer)?;
                member.format = object.format;
                Ok(Member::Data(member))
            }
            true => self.function_pointed(&found, &part, (base, pointer)),
        }
    }

    /// The pointer to a member that `pointer` evaluates to, directly or through references.
    fn member_pointer(&self, pointer: &Expression) -> Result<MemberPointer, Fault> {
        let whole = self.value(pointer)?;
        let refused = || {
            let a_type = a_type(self.type_of(&whole));
            self.fault(
                pointer,
                &format!("is no pointer to a member, it is {a_type}"),
            )
        };
        let mut value = whole.clone();
        let mut found = None;
        for _ in 0..MAX_STEPS {
            let type_ = self.reader.resolve(&value).ok_or_else(refused)?.type_;
            if let TypeKind::MemberPointer { target, class } = type_.kind {
                found = target.zip(class);
                break;
            }
            match self.reader.view(&value, LONG) {
                View::Alias(target) => value = target,
                _ => break,
            }
        }
        let (target, class) = found.ok_or_else(refused)?;
        self.check_available(&value, pointer)?;
        let strip = |id| value.module.module.strip_aliases(id).ok().flatten();
        let class = strip(class).ok_or_else(refused)?;
        let is_function =
            strip(target).is_some_and(|type_| matches!(type_.kind, TypeKind::Function { .. }));
        Ok(MemberPointer {
            value,
            target,
            class,
            is_function,
        })
    }

    fn word_of(&self, found: &MemberPointer, at: u64, pointer: &Expression) -> Result<u64, Fault> {
        let size = self.reader.address_size();
        let word = self
            .reader
            .word(&found.value.contents.part(size * at, size));
        word.map_err(|_| self.fault(pointer, "can't be read"))
    }

    fn data_pointed(
        &self,
        found: &MemberPointer,
        part: &Value,
        pointer: &Expression,
    ) -> Result<Value, Fault> {
        let inside = self.word_of(found, 0, pointer)?;
        if self.reader.signed(inside) == -1 {
            return Err(self.fault(pointer, "is a null pointer"));
        }
        let member = |contents| found.value.sibling(Some(found.target), contents);
        let size = self.reader.size_of(&member(Contents::Memory(Address(0))));
        Ok(member(part.contents.part(inside, size.unwrap_or(0))))
    }

    fn function_pointed(
        &self,
        found: &MemberPointer,
        part: &Value,
        (base, pointer): (&Expression, &Expression),
    ) -> Result<Member, Fault> {
        let Some(address) = part.contents.address() else {
            return Err(self.fault(base, "is not in memory"));
        };
        let function = self.word_of(found, 0, pointer)?;
        let adjustment = self.word_of(found, 1, pointer)?;
        // Which function is virtual is said where no address of code says something else: on arm in the adjustment, since the lowest bit of an address is
        // set for Thumb code (C++ ABI for the Arm Architecture, §4.2.1).
        let is_in_adjustment = self.machine() == dapple_arch::Machine::Arm;
        let adjustment = self.reader.signed(adjustment);
        let (is_virtual, adjustment, slot) = match is_in_adjustment {
            true => (adjustment & 1 == 1, adjustment >> 1, function),
            false => (function & 1 == 1, adjustment, function.wrapping_sub(1)),
        };
        let object = address.offset(adjustment);
        let code = match function {
            0 if !is_virtual => return Err(self.fault(pointer, "is a null pointer")),
            _ if is_virtual => {
                let read = |address: u64| {
                    let word = self.reader.memory.read_address(Address(address));
                    word.map_err(|_| self.fault(base, "has no virtual table that can be read"))
                };
                read(read(object.0)?.wrapping_add(slot))?
            }
            function => function,
        };
        Ok(Member::Function {
            code: Address(code),
            object,
            type_: (Arc::clone(&found.value.module), found.target),
        })
    }

    /// The part of an object that is of the type `class`: the object itself, or a base, which may be virtual.
    fn part_of_class(&self, object: &Value, class: &Type, depth: usize) -> Option<Value> {
        let own = self.reader.resolve(object)?.type_;
        if own.name == class.name {
            return Some(object.clone());
        }
        let TypeKind::Aggregate(aggregate) = &own.kind else {
            return None;
        };
        let mut bases = aggregate.members.iter().filter(|member| member.base);
        bases.find_map(|base| match depth < MAX_STEPS {
            true => self.part_of_class(&self.reader.member(object, base), class, depth + 1),
            false => None,
        })
    }
}
