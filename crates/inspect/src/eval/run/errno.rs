//! Evaluates `errno`. In C it is a macro that calls a function (errno(3)); here the thread's own variable is read, found by the C library's
//! symbol for it.

use super::super::ir::Scalar;
use super::Runner;
use crate::Address;
use crate::unwind::FrameContext;
use crate::values::{Contents, Number, Value};
use dapple_symbols::location::LocationContext;

/// The name of both the expression and the symbol.
const ERRNO: &str = "errno";

impl Runner<'_> {
    /// The value of `errno`. `None`: `name` is another name, no C library has the symbol, or the thread's variable can't be located.
    pub(super) fn errno(&self, name: &str) -> Option<Value> {
        if name != ERRNO {
            return None;
        }
        let reader = self.reader;
        let (module, offset) = reader.modules.iter().find_map(|module| {
            let file = module.module.path().file_name()?.to_string_lossy();
            let is_library = file.starts_with("libc.") || module.module.interpreter().is_none();
            let offset = is_library.then(|| module.module.thread_local_named(ERRNO))??;
            Some((module, offset))
        })?;
        let context =
            FrameContext::of_module(&self.frame.physical, module, reader.modules, reader.memory);
        let address = Address(context.thread_local(offset).ok()?);
        let int = Scalar::Integer {
            size: 4,
            signed: true,
        };
        if let Some((module, id)) = self.scalar_type(int) {
            let contents = Contents::Memory(address);
            return Some(Value::new(module, Some(id), self.frame.language, contents));
        }
        let mut bytes = [0; 4];
        reader.memory.read(address, &mut bytes).ok()?;
        let number = i32::from_le_bytes(bytes);
        Some(self.computed(Number::integer(number.into(), 4, true)))
    }
}
