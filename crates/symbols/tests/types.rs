//! Types as they are declared, in each way that compilers describe them.

mod support;

use dapple_symbols::Module;
use dapple_symbols::types::{
    Aggregate, AggregateKind, AliasKind, Encoding, Type, TypeId, TypeKind,
};
use std::sync::Arc;
use support::compile;

const C: &str = r#"
#include <stdint.h>
struct point { int x, y; };
struct bits { unsigned a : 3; unsigned b : 7; int c : 5; unsigned long long d : 40; };
struct list { struct list *next; char name[8]; union { int number; float fraction; }; };
enum color { RED, GREEN = 5, BLUE };
enum shift { DOWN = -1, UP = 1 };
typedef unsigned long word;
struct opaque;
struct point p = {1, 2};
struct bits bits;
struct list list;
enum color color;
enum shift shift;
word number;
const char *text = "x";
char *const fixed = 0;
char **lines;
int matrix[2][3];
int (*callback)(int, const char *);
int (*rows)[3];
int (*handlers[4])(void);
void *anything;
volatile int flag;
struct opaque *hidden;
long double wide;
_Bool truth;
double _Complex complex_number;
extern int open_ended[];
int open_ended[5];
int main(void) { return 0; }
"#;

const CPP: &str = r#"
#include <vector>
namespace ns {
struct Base { virtual ~Base() {} int base; static int shared; };
int Base::shared = 1;
struct Other { long other; };
class Shape : public Base, protected Other {
public:
    int area(int scale) const { return width * scale; }
    struct Inner { char c; } inner;
    int width;
    bool filled : 1;
};
struct Diamond : virtual Base { int d; };
template <typename T, int N> struct Stack { T items[N]; };
enum class Mode : unsigned char { Off, On = 200 };
}
namespace { struct Private { int p; } secret; }
ns::Shape shape;
ns::Diamond diamond;
ns::Stack<double, 3> stack;
ns::Mode mode = ns::Mode::On;
int number;
int &reference = number;
int &&rvalue = 5;
const ns::Shape &constant = shape;
int ns::Shape::*member = &ns::Shape::width;
int (ns::Shape::*method)(int) const = &ns::Shape::area;
decltype(nullptr) null;
char16_t unit;
int main() { return secret.p + shape.area(2); }
"#;

const RUST: &str = r#"
#![allow(dead_code)]
pub enum Shape { Circle(f64), Rect { width: u32, height: u32 }, Empty }
pub enum Small { A = -1, B = 1 }
pub struct Generic<T> { pub value: T, pub next: Option<Box<Generic<T>>> }
pub struct Pair(pub i32, pub char);
pub union Either { pub a: u32, pub b: f32 }
#[inline(never)]
fn look(shape: &Shape, small: Small, generic: Generic<u8>, pair: Pair, either: Either, maybe: Option<&i32>, text: &str, list: Vec<i32>, array: [u16; 4], slice: &[i64], tuple: (u8, i128), callback: fn(i32) -> bool, pointer: *const u8, single: Result<u32, std::convert::Infallible>, wide: Option<i128>) {
    std::hint::black_box((shape, &small, &generic, &pair)); // stop: look
    std::hint::black_box((&either as *const _, maybe, text, &list, array, slice, tuple, callback, pointer, single, wide));
}
fn main() {
    look(&Shape::Circle(1.0), Small::A, Generic { value: 1, next: None }, Pair(1, 'x'), Either { a: 1 }, None, "t", vec![1], [1; 4], &[1], (1, 2), |x| x > 1, std::ptr::null(), Ok(1), None);
}
"#;

/// The type of a global.
fn global(module: &Module, name: &str) -> Arc<Type> {
    let found = module.statics_named(name);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    module.type_of(found[0].type_id.unwrap()).unwrap()
}

fn aggregate(found: &Type) -> &Aggregate {
    match &found.kind {
        TypeKind::Aggregate(aggregate) => aggregate,
        other => panic!("{}: {other:?}", found.name),
    }
}

/// `name: type @ offset`, with bits for bit fields.
fn members(module: &Module, found: &Type) -> Vec<String> {
    let describe = |member: &dapple_symbols::types::Member| {
        let name =
            member
                .name
                .as_deref()
                .unwrap_or(if member.base { "(base)" } else { "(anonymous)" });
        let bits = member.bits.map_or(String::new(), |(first, size)| {
            format!(" bits {first}+{size}")
        });
        let type_name = &module.type_of(member.type_id).unwrap().name;
        let place = if member.virtual_base {
            "virtual".to_owned()
        } else {
            member.offset.to_string()
        };
        format!("{name}: {type_name} @ {place}{bits}")
    };
    aggregate(found).members.iter().map(describe).collect()
}

fn target(module: &Module, found: &Type) -> Arc<Type> {
    match found.kind {
        TypeKind::Pointer(_, Some(id)) | TypeKind::Alias(_, Some(id)) => {
            module.type_of(id).unwrap()
        }
        ref other => panic!("{other:?}"),
    }
}

const C_VARIANTS: [&[&str]; 4] = [
    &["-g", "-gdwarf-4"],
    &["-g", "-gdwarf-5"],
    &["-gdwarf-4", "-fdebug-types-section"],
    &["-gdwarf-5", "-fdebug-types-section"],
];

#[test]
fn names_are_written_as_in_c() {
    for flags in C_VARIANTS {
        let module = compile("types.c", C, flags).open();
        let cases = [
            ("p", "struct point", Some(8)),
            ("number", "word", Some(8)),
            ("text", "const char *", Some(8)),
            ("fixed", "char *const", Some(8)),
            ("lines", "char **", Some(8)),
            ("matrix", "int [2][3]", Some(24)),
            ("callback", "int (*)(int, const char *)", Some(8)),
            ("rows", "int (*)[3]", Some(8)),
            ("handlers", "int (*[4])()", Some(32)),
            ("anything", "void *", Some(8)),
            ("flag", "volatile int", Some(4)),
            ("hidden", "struct opaque *", Some(8)),
            ("color", "enum color", Some(4)),
            ("wide", "long double", Some(16)),
            ("open_ended", "int [5]", Some(20)),
        ];
        for (name, expected, size) in cases {
            let found = global(&module, name);
            assert_eq!(
                (&*found.name, found.size),
                (expected, size),
                "{name}, {flags:?}"
            );
        }
        let opaque = target(&module, &global(&module, "hidden"));
        assert!(aggregate(&opaque).declaration && opaque.size.is_none());
    }
}

#[test]
fn members_and_bitfields_have_their_places() {
    for flags in C_VARIANTS {
        let module = compile("types.c", C, flags).open();
        assert_eq!(
            members(&module, &global(&module, "p")),
            ["x: int @ 0", "y: int @ 4"]
        );
        let expected = [
            "a: unsigned int @ 0 bits 0+3",
            "b: unsigned int @ 0 bits 3+7",
            "c: int @ 1 bits 2+5",
            "d: long long unsigned int @ 1 bits 7+40",
        ];
        let found = members(&module, &global(&module, "bits"));
        assert_eq!(found, expected, "{flags:?}");
        let list = global(&module, "list");
        let found = members(&module, &list);
        assert_eq!(
            found,
            [
                "next: struct list * @ 0",
                "name: char [8] @ 8",
                "(anonymous): {anonymous union} @ 16"
            ]
        );
        let union = module.type_of(aggregate(&list).members[2].type_id).unwrap();
        assert_eq!(aggregate(&union).kind, AggregateKind::Union);
        assert_eq!(
            members(&module, &union),
            ["number: int @ 0", "fraction: float @ 0"]
        );
    }
}

#[test]
fn enumerations_and_base_types_are_read() {
    for flags in C_VARIANTS {
        let module = compile("types.c", C, flags).open();
        let values = |name: &str| match &global(&module, name).kind {
            TypeKind::Enumeration { signed, values } => (
                *signed,
                values
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            other => panic!("{other:?}"),
        };
        assert_eq!(values("color"), (false, "RED=0 GREEN=5 BLUE=6".to_owned()));
        assert_eq!(values("shift"), (true, "DOWN=-1 UP=1".to_owned()));
        let encoding = |name: &str| match global(&module, name).kind {
            TypeKind::Base(encoding) => encoding,
            ref other => panic!("{other:?}"),
        };
        assert_eq!(encoding("wide"), Encoding::Float);
        assert_eq!(encoding("truth"), Encoding::Bool);
        assert_eq!(encoding("complex_number"), Encoding::ComplexFloat);
        let word = global(&module, "number");
        assert!(matches!(word.kind, TypeKind::Alias(AliasKind::Typedef, _)));
        let stripped = module.strip_aliases(word.id).unwrap().unwrap();
        assert_eq!(&*stripped.name, "long unsigned int");
        assert_eq!(
            &*module
                .strip_aliases(global(&module, "flag").id)
                .unwrap()
                .unwrap()
                .name,
            "int"
        );
    }
}

#[test]
fn cpp_types_have_namespaces_bases_and_arguments() {
    for flags in C_VARIANTS {
        let module = compile("types.cpp", CPP, flags).open();
        let names = [
            ("shape", "ns::Shape"),
            ("stack", "ns::Stack<double, 3>"),
            ("mode", "ns::Mode"),
            ("reference", "int &"),
            ("rvalue", "int &&"),
            ("constant", "const ns::Shape &"),
            ("member", "int ns::Shape::*"),
            ("method", "int (ns::Shape::*)(int) const"),
            ("unit", "char16_t"),
            ("secret", "(anonymous namespace)::Private"),
            ("ns::Base::shared", "int"),
        ];
        for (name, expected) in names {
            assert_eq!(&*global(&module, name).name, expected, "{flags:?}");
        }
        let shape = global(&module, "shape");
        assert_eq!(aggregate(&shape).kind, AggregateKind::Class);
        assert!(!aggregate(&shape).declaration);
        assert_eq!(
            members(&module, &shape),
            [
                "(base): ns::Base @ 0",
                "(base): ns::Other @ 16",
                "inner: ns::Shape::Inner @ 24",
                "width: int @ 28",
                "filled: bool @ 32 bits 0+1"
            ],
            "{flags:?}"
        );
        let base = module
            .type_of(aggregate(&shape).members[0].type_id)
            .unwrap();
        assert!(aggregate(&base).members[0].artificial, "the vtable pointer");
        assert_eq!(aggregate(&base).members.len(), 2, "no static members");
        assert_eq!(
            members(&module, &global(&module, "diamond"))[0],
            "(base): ns::Base @ virtual"
        );
        let stack = global(&module, "stack");
        let arguments: Vec<String> = aggregate(&stack)
            .type_arguments
            .iter()
            .map(|(name, id)| format!("{name}={}", module.type_of(id.unwrap()).unwrap().name))
            .collect();
        assert_eq!(arguments, ["T=double"]);
        assert_eq!(global(&module, "method").size, Some(16));
        assert_eq!(global(&module, "member").size, Some(8));
        let TypeKind::Enumeration {
            signed: false,
            values,
        } = &global(&module, "mode").kind
        else {
            panic!("mode");
        };
        assert_eq!(values[1], ("On".into(), 200));
    }
}

#[test]
fn a_declaration_is_completed_from_another_unit() {
    // Two units: the second one is compiled separately and linked in.
    let library = "struct opaque { int inside; };\nstruct opaque *make(void) { static struct opaque o; return &o; }\n";
    let object = compile("library.c", library, &["-g", "-c"]);
    let main = "struct opaque; struct opaque *make(void);\nstruct opaque *pointer;\nint main(void) { pointer = make(); return 0; }\n";
    let module = compile(
        "main.c",
        main,
        &["-g", object.binary.to_str().unwrap(), "-x", "c"],
    )
    .open();
    let found = target(&module, &global(&module, "pointer"));
    assert!(!aggregate(&found).declaration);
    assert_eq!(members(&module, &found), ["inside: int @ 0"]);
}

#[test]
fn rust_types_have_rustcs_names_and_variants() {
    for flags in [&["-g"][..], &["-g", "-Cdwarf-version=5"]] {
        let fixture = compile("types.rs", RUST, flags);
        let module = fixture.open();
        let parameters = module.variables_at(fixture.address(&module, "look"), 0);
        let id = |name: &str| -> TypeId {
            parameters
                .iter()
                .find(|variable| variable.name == name)
                .unwrap_or_else(|| panic!("{name}"))
                .type_id
                .unwrap()
        };
        let found = |name: &str| module.type_of(id(name)).unwrap();
        let names = [
            ("shape", "&types::Shape"),
            ("small", "types::Small"),
            ("generic", "types::Generic<u8>"),
            ("maybe", "core::option::Option<&i32>"),
            ("text", "&str"),
            ("list", "alloc::vec::Vec<i32, alloc::alloc::Global>"),
            ("array", "[u16; 4]"),
            ("slice", "&[i64]"),
            ("tuple", "(u8, i128)"),
            ("callback", "fn(i32) -> bool"),
            ("pointer", "*const u8"),
        ];
        for (name, expected) in names {
            assert_eq!(&*found(name).name, expected);
        }
        let variants = |aggregate: &Aggregate| -> Vec<String> {
            let part = aggregate.variants.as_ref().unwrap();
            let describe = |variant: &dapple_symbols::types::Variant| {
                let payload = module.type_of(variant.member.type_id).unwrap();
                format!(
                    "{} {:?} {:?}",
                    variant.name,
                    variant.discriminants,
                    members(&module, &payload)
                )
            };
            part.variants.iter().map(describe).collect()
        };
        let shape = target(&module, &found("shape"));
        let part = aggregate(&shape).variants.as_ref().unwrap();
        assert!(part.discriminant.is_some());
        let described = variants(aggregate(&shape));
        assert_eq!(described[0], "Circle [(0, 0)] [\"__0: f64 @ 8\"]");
        assert_eq!(
            described[1],
            "Rect [(1, 1)] [\"width: u32 @ 4\", \"height: u32 @ 8\"]"
        );
        assert_eq!(described[2], "Empty [(2, 2)] []");
        let maybe = variants(aggregate(&found("maybe")));
        assert_eq!(maybe, ["None [(0, 0)] []", "Some [] [\"__0: &i32 @ 0\"]"]);
        assert_eq!(
            variants(aggregate(&found("single")))[0],
            "Ok [] [\"__0: u32 @ 0\"]"
        );
        assert_eq!(
            variants(aggregate(&found("wide")))[1],
            "Some [(1, 1)] [\"__0: i128 @ 16\"]"
        );
        let TypeKind::Enumeration {
            signed: true,
            values,
        } = &found("small").kind
        else {
            panic!("small")
        };
        assert_eq!(values[0], ("A".into(), -1));
        assert_eq!(aggregate(&found("either")).kind, AggregateKind::Union);
        assert_eq!(aggregate(&found("generic")).type_arguments[0].0, "T".into());
        let TypeKind::Array { ref dimensions, .. } = found("array").kind else {
            panic!("array")
        };
        assert_eq!(
            (dimensions.as_slice(), found("array").size),
            (&[Some(4)][..], Some(8))
        );
    }
}

#[test]
fn static_members_lead_to_their_definitions() {
    const STATICS: &str = r#"
struct Base { static int made; static const int limit = 40; int own; };
int Base::made = 3;
template <typename T> struct Box { T item; static T shared; };
template <typename T> T Box<T>::shared = T(5);
struct Only { static int gone; static int count; };
int Only::count = 1;
Base base; Box<short> box; Only only;
int main() { return Base::limit + Base::made + Box<short>::shared + sizeof(&Only::gone); }
"#;
    for flags in C_VARIANTS {
        let module = compile("statics.cpp", STATICS, flags).open();
        let statics = |name: &str| -> Vec<String> {
            let found = global(&module, name);
            let members = aggregate(&found).members.len();
            let all = &aggregate(&found).statics;
            assert!(members <= 1, "{name}: {members}");
            let describe = |one: &dapple_symbols::types::StaticMember| {
                let type_name = &module.type_of(one.type_id).unwrap().name;
                let found = module.static_member(one).map(|found| found.name);
                format!("{}: {type_name} is {found:?}", one.name)
            };
            all.iter().map(describe).collect()
        };
        assert_eq!(
            statics("base"),
            [
                "made: int is Some(\"Base::made\")",
                "limit: const int is Some(\"Base::limit\")"
            ],
            "{flags:?}"
        );
        let shared = statics("box");
        assert!(
            shared.len() == 1 && shared[0].contains("is Some(\"Box<short"),
            "{shared:?}"
        );
        let only = statics("only");
        assert_eq!(only.last().unwrap(), "count: int is Some(\"Only::count\")");
        // In DWARF 5, gcc omits unused members.
        assert!(
            only.len() == 1 || only[0] == "gone: int is None",
            "{only:?}"
        );
    }
}
