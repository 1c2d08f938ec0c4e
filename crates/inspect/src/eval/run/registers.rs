//! Registers by name, their parts, and the lanes of vector registers.

use super::{Fault, Runner, arithmetic};
use crate::eval::ir::{Expression, Kind};
use crate::values::{Number, Value};
use dapple_arch::Machine;
use dapple_arch::extended_floats::{from_extended, to_extended};
use dapple_arch::registers::named::{self, Holds, Named, STACK};
use dapple_arch::registers::state;
use dapple_target::suggest::nearest;

/// The register `name`, without the `$`.
fn find(machine: Machine, name: &str, at: usize) -> Result<Named, Fault> {
    Named::find(machine, name).ok_or_else(|| {
        if named::vector(machine, name).is_some() {
            let why = format!(
                "`${name}` is too wide for a number; it has lanes: `${name}.f32[0]`, `${name}.i64[3]`"
            );
            return Fault::new(at, why);
        }
        if name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
            let why = format!("there is no `${name}`: values that were shown have no numbers here");
            return Fault::new(at, why);
        }
        let names: Vec<String> = named::names(machine);
        let near = nearest(name, names.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `${near}`?"));
        Fault::new(at, format!("there is no register `${name}`{hint}"))
    })
}

/// The segment registers: x86-64 alone has them.
fn segments_of(machine: Machine) -> &'static [(u16, &'static str)] {
    match machine {
        Machine::X86_64 => &named::SEGMENTS,
        _ => &[],
    }
}

impl Runner<'_> {
    /// Whose registers the frame has.
    pub(super) fn machine(&self) -> Machine {
        self.frame.physical.registers.machine()
    }

    /// The size of an address, and so of `size_t` and `usize`, in bytes.
    pub(super) fn word_size(&self) -> u8 {
        self.machine().address_size() as u8
    }

    /// The register, or lane of a register, that an expression denotes. `None`: it denotes neither.
    pub(super) fn register_meant(&self, expression: &Expression) -> Result<Option<Named>, Fault> {
        if self.scope.is_some() {
            return Ok(None);
        }
        let lanes_of = |base: &Expression| match &base.kind {
            Kind::Member {
                base,
                name,
                name_at,
                ..
            } => match &base.kind {
                Kind::Register(register) => Some((register.clone(), name.clone(), *name_at)),
                _ => None,
            },
            _ => None,
        };
        match &expression.kind {
            Kind::Register(name) if !name.starts_with("exception") && name != "thread" => {
                find(self.machine(), name, expression.at).map(Some)
            }
            Kind::Index { base, index } => {
                let Some((register, kind, at)) = lanes_of(base) else {
                    return Ok(None);
                };
                let Number::Integer { value, .. } = self.number(index)? else {
                    return Err(self.fault(index, "is no index: it is not an integer"));
                };
                let lane = Named::lane(self.machine(), &register, &kind, value).transpose();
                lane.map_err(|why| Fault::new(at, why))
            }
            Kind::Member { .. } => match lanes_of(expression) {
                None => Ok(None),
                Some((register, kind, at)) => {
                    match named::lanes(self.machine(), &register, &kind) {
                        None => Ok(None),
                        Some(Ok(lanes)) => Err(Fault::new(at, lanes.all)),
                        Some(Err(why)) => Err(Fault::new(at, why)),
                    }
                }
            },
            _ => Ok(None),
        }
    }

    /// The value of a register.
    pub(super) fn in_register(&self, register: Named, at: usize) -> Result<Value, Fault> {
        let bits = self.register_bits(register.number, at)? >> register.skip;
        let size = (register.bits / 8) as u8;
        let number = match register.holds {
            Holds::Signed => Number::integer(bits.cast_signed(), size, true),
            Holds::Unsigned => Number::integer(bits.cast_signed(), size, false),
            Holds::Address => Number::Pointer {
                address: bits as u64,
                target: None,
            },
            Holds::Flag => Number::integer((bits & 1).cast_signed(), 4, true),
            Holds::Float if size == 4 => Number::Float {
                value: f32::from_bits(bits as u32).into(),
                size,
            },
            Holds::Float => Number::Float {
                value: f64::from_bits(bits as u64),
                size: 8,
            },
            Holds::Extended => Number::Float {
                value: from_extended(bits),
                size: 16,
            },
        };
        Ok(self.computed(number))
    }

    fn register_bits(&self, number: u16, at: usize) -> Result<u128, Fault> {
        let physical = &self.frame.physical;
        let name = named::name_of(self.machine(), number);
        let lost = || {
            let why = format!("register `${name}` was not saved in this frame");
            Fault::new(at, why)
        };
        let machine = self.machine();
        if let Some(index) = machine.vector_index(number) {
            let vectors = physical.vectors.as_deref().ok_or_else(lost)?;
            return vectors.get(index).copied().ok_or_else(lost);
        }
        if machine.name_of(number).is_some() || number == machine.thread_pointer() {
            let value = physical.registers.get(number).ok_or_else(lost)?;
            return Ok(value.into());
        }
        // The flags, segments and extended registers are known only for the innermost frame: its callers may have had other values in them.
        let live = self.reader.live.filter(|_| physical.level == 0);
        let (kernels, state) = live
            .and_then(|live| live.of(self.frame.id.thread))
            .ok_or_else(lost)?;
        if state::is_flags(machine, number) {
            return Ok(kernels.flags().into());
        }
        let mut segments = segments_of(machine).iter();
        if let Some((_, segment)) = segments.find(|(known, _)| *known == number) {
            let segments = kernels.segments();
            let found = segments.iter().find(|(name, _)| name == segment);
            return found.map(|(_, value)| (*value).into()).ok_or_else(lost);
        }
        state::bits(machine, &state, number)
            .map_err(|why| Fault::new(at, format!("`${name}` {why}")))
    }

    /// The bits that represent `number` in `register`. An integer that doesn't fit is an error, unless an operator has computed it
    /// (`is_computed`): such a result wraps around, and the caller has to ignore the bits above the register's.
    pub(super) fn bits_for(
        &self,
        register: Named,
        number: Number,
        (name, source): (&str, &Expression),
        is_computed: bool,
    ) -> Result<u128, Fault> {
        let bits = register.bits;
        let unfit = || {
            let given = number.text();
            let what = match register.holds {
                Holds::Float | Holds::Extended => "a floating-point number".to_owned(),
                Holds::Flag => "0 or 1".to_owned(),
                _ => format!("{bits} bits"),
            };
            Fault::new(source.at, format!("`{name}` holds {what}, not {given}"))
        };
        if let Holds::Float | Holds::Extended = register.holds {
            let is_number = matches!(number, Number::Integer { .. } | Number::Float { .. });
            let value = is_number.then(|| arithmetic::as_float(number, (bits / 8) as u8));
            let value = value.ok_or_else(unfit)?;
            return Ok(match bits {
                32 => (value as f32).to_bits().into(),
                64 => value.to_bits().into(),
                _ => to_extended(value),
            });
        }
        let value = match number {
            Number::Integer { value, .. } => value,
            Number::Pointer { address, .. } => address.into(),
            Number::Bool(value) => value.into(),
            Number::Char(code) => code.into(),
            Number::Float { .. } => return Err(unfit()),
        };
        let least = match register.holds {
            Holds::Flag => 0,
            _ if bits >= 128 => i128::MIN,
            _ => -(1i128 << (bits - 1)),
        };
        let fits = bits >= 128 || (least..1i128 << bits).contains(&value);
        match fits || (is_computed && register.holds != Holds::Flag) {
            true => Ok(value.cast_unsigned()),
            false => Err(unfit()),
        }
    }

    /// Fails with the reason if a register can't be set at all.
    pub(super) fn check_settable(&self, register: Named, at: usize) -> Result<(), Fault> {
        let number = register.number;
        let is_segment = { segments_of(self.machine()).iter() }.any(|(known, _)| *known == number);
        if is_segment {
            let name = named::name_of(self.machine(), number);
            let why = format!("`${name}` can't be set: the system keeps it for itself");
            return Err(Fault::new(at, why));
        }
        // Fails if the x87 register is empty: setting its bits wouldn't make it a used one.
        if self.machine() == Machine::X86_64 && STACK.contains(&number) {
            self.register_bits(number, at)?;
        }
        Ok(())
    }
}
