//! Evaluates expressions inside a value, as Natvis needs it. A name means, in this order: a variable of the [`Scope`], `this`, a member of
//! the value, a static or constant outside it.

use super::{Fault, Runner};
use crate::Address;
use crate::eval::ir::{Binary, Expression};
use crate::eval::lex;
use crate::eval::parse;
use crate::eval::scope::Scope;
use crate::values::{Contents, Number, Reader, Value};
use dapple_symbols::functions::Language;
use dapple_target::suggest::nearest;
use std::sync::Arc;

/// The address of an object that isn't read, only measured.
const SOMEWHERE: Address = Address(1 << 32);

fn runner<'a>(text: &'a str, scope: &'a Scope<'a>, reader: &'a Reader<'a>) -> Runner<'a> {
    Runner {
        text,
        frame: scope.frame,
        reader,
        module: Arc::clone(&scope.object.module),
        wanted: None,
        literals: None,
        scope: Some(scope),
        calls: None,
    }
}

pub(in crate::eval) fn value_within(
    tree: &Expression,
    text: &str,
    scope: &Scope<'_>,
    reader: &Reader<'_>,
) -> Result<Value, Fault> {
    runner(text, scope, reader).value(tree)
}

pub(in crate::eval) fn number_within(
    tree: &Expression,
    text: &str,
    scope: &Scope<'_>,
    reader: &Reader<'_>,
) -> Result<Number, Fault> {
    runner(text, scope, reader).number(tree)
}

/// The value that an assignment would give its target. Nothing is written.
pub(in crate::eval) fn changed_within(
    (target, operator, source): (&Expression, Option<Binary>, &Expression),
    text: &str,
    scope: &Scope<'_>,
    reader: &Reader<'_>,
) -> Result<Value, Fault> {
    let runner = runner(text, scope, reader);
    match operator {
        None => runner.value(source),
        Some(operator) => {
            let number = runner.binary(operator, target, source)?;
            Ok(runner.computed(number))
        }
    }
}

impl Runner<'_> {
    pub(super) fn name_in(&self, scope: &Scope<'_>, name: &str, at: usize) -> Result<Value, Fault> {
        if let Some(variable) = scope.variable(name) {
            return Ok(variable);
        }
        let object = scope.object;
        if name == "this" {
            let address = object.contents.address().ok_or_else(|| {
                Fault::new(at, "the object is not in memory, so it has no address")
            })?;
            let target = object.type_id;
            return Ok(self.computed(Number::Pointer {
                address: address.0,
                target,
            }));
        }
        if let Some(member) = self.find_member(object, name) {
            return Ok(member);
        }
        let found = scope.outside(name, |name| self.outside(name));
        found.ok_or_else(|| {
            let mut names = Vec::new();
            self.collect_names(object, &mut names);
            let type_name = self.type_of(object);
            let message = match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => {
                    format!("`{type_name}` has no member `{name}`; did you mean `{near}`?")
                }
                None => format!("`{type_name}` has no member `{name}`"),
            };
            Fault::unknown(at, message)
        })
    }

    /// A static variable or a constant of an enumeration outside the value. Libraries of the distribution are not searched for variables.
    fn outside(&self, name: &str) -> Option<Value> {
        for module in self.reader.modules.iter().filter(|m| !m.is_distributions()) {
            let found = module.module.statics_named(name);
            if let Some(found) = found.iter().find(|found| !found.dropped) {
                return Some(self.variable(found, module));
            }
        }
        self.enumeration_constant(name)
    }

    /// The value of a variable such as `$i`, or of a template argument that is a value: `$T2`. `name` is without the `$`.
    pub(super) fn macro_in(
        &self,
        scope: &Scope<'_>,
        name: &str,
        at: usize,
    ) -> Result<Value, Fault> {
        if let Some(variable) = scope.variable(&format!("${name}")) {
            return Ok(variable);
        }
        let Some(text) = scope.argument_text(name) else {
            return Err(Fault::unknown(at, format!("there is no `${name}` here")));
        };
        // Evaluating an argument that contains a `$` might never end: the argument could refer to itself.
        let text = Some(text).filter(|text| !text.contains('$'));
        let text = text.ok_or_else(|| Fault::unknown(at, format!("`${name}` is no value")))?;
        if let Some(offset) = self.offset_of_member(text) {
            return Ok(self.computed(Number::integer(offset.into(), self.word_size(), false)));
        }
        let is_nothing =
            |_| Fault::unknown(at, format!("`${name}` is `{text}`, which is no value"));
        let tokens = lex::tokens(text, Language::Cpp).map_err(is_nothing)?;
        let tree = parse::parse(tokens, Language::Cpp).map_err(is_nothing)?;
        self.value(&tree).map_err(|fault| Fault { at, ..fault })
    }

    /// The offset of a member in its class, for a template argument that is a pointer to the member: `&Task::next`.
    fn offset_of_member(&self, text: &str) -> Option<u64> {
        let path = text.trim_matches(['(', ')']).strip_prefix('&')?;
        let (class, member) = path.rsplit_once("::")?;
        let (module, id) = self.type_named(class)?;
        let contents = Contents::Memory(SOMEWHERE);
        let object = Value::new(module, Some(id), self.frame.language, contents);
        let member = self.find_member(&object, member)?;
        let offset = member.contents.address()?.0.wrapping_sub(SOMEWHERE.0);
        (offset < self.reader.size_of(&object)?).then_some(offset)
    }
}
