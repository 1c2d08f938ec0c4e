//! Whole names as real programs and libraries have them, and the names that are shown.

use super::readable_name;

#[test]
fn names_of_real_programs_are_cut_to_what_people_read() {
    let cases = [
        ("main", "main"),
        ("<signal handler called>", "<signal handler called>"),
        // tokio, axum, hyper, std: as in their debug information and symbol tables
        ("one::leaf::{async_fn#0}", "one::leaf (async)"),
        (
            "one::selecting::{async_fn#0}::{closure#0}",
            "{closure in one::selecting}",
        ),
        (
            "axum::serve::handle_connection::{async_fn#0}::{async_block#3}<tokio::net::tcp::listener::TcpListener, axum::routing::Router<()>, axum::routing::Router<()>>",
            "{async block in axum::serve::handle_connection}",
        ),
        (
            "axum::serve::handle_connection::{async_fn#0}::{async_block#3}::{closure#0}<tokio::net::tcp::listener::TcpListener, axum::routing::Router<()>, axum::routing::Router<()>>",
            "{closure in {async block in axum::serve::handle_connection}}",
        ),
        (
            "<F as axum::handler::Handler<(M,T1),S>>::call::{async_block#0}",
            "{async block in <F as Handler<(M, T1), S>>::call}",
        ),
        (
            "<F as axum::handler::Handler<(M,T1),S>>::call::{{closure}}",
            "{closure in <F as Handler<(M, T1), S>>::call}",
        ),
        (
            "closures::main::{closure#0}::{async_closure#0}",
            "{async closure in closures::main}",
        ),
        (
            "tokio::runtime::task::core::Core<one::all::{async_fn_env#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>::poll<one::all::{async_fn_env#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>",
            "tokio::runtime::task::core::Core<…>::poll",
        ),
        (
            "tokio::runtime::task::core::Core<T,S>::poll::{{closure}}",
            "{closure in tokio::runtime::task::core::Core<T, S>::poll}",
        ),
        (
            "tokio::runtime::task::LocalNotified<alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>::run<alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>",
            "tokio::runtime::task::LocalNotified<Arc<Handle>>::run",
        ),
        (
            "tokio::runtime::context::scoped::Scoped<tokio::runtime::scheduler::Context>::set<tokio::runtime::scheduler::Context, tokio::runtime::scheduler::multi_thread::worker::run::{closure#0}::{closure_env#0}, ()>",
            "tokio::runtime::context::scoped::Scoped<Context>::set<…>",
        ),
        (
            "tokio::runtime::context::runtime::enter_runtime<tokio::runtime::scheduler::multi_thread::worker::run::{closure_env#0}, ()>",
            "tokio::runtime::context::runtime::enter_runtime<{closure in run}, ()>",
        ),
        (
            "std::thread::lifecycle::spawn_unchecked::{{closure}}::{{closure}}",
            "{closure in {closure in std::thread::lifecycle::spawn_unchecked}}",
        ),
        (
            "std::panicking::default_hook::{closure#0}::{closure#0}::{closure#1}",
            "{closure in {… in std::panicking::default_hook}}",
        ),
        (
            "std::panicking::catch_unwind::do_call<core::panic::unwind_safe::AssertUnwindSafe<tokio::runtime::task::harness::poll_future::{closure_env#0}<one::all::{async_fn_env#0}, alloc::sync::Arc<tokio::runtime::scheduler::multi_thread::handle::Handle, alloc::alloc::Global>>>, core::task::poll::Poll<()>>",
            "std::panicking::catch_unwind::do_call<…>",
        ),
        (
            "<alloc::boxed::Box<dyn core::ops::function::FnOnce<(), Output = ()> + core::marker::Send> as core::ops::function::FnOnce<()>>::call_once",
            "<alloc::boxed::Box<…> as FnOnce<()>>::call_once",
        ),
        (
            "<hyper::proto::h1::dispatch::Server<S,hyper::body::incoming::Incoming> as hyper::proto::h1::dispatch::Dispatch>::poll_msg",
            "<hyper::proto::h1::dispatch::Server<S, Incoming> as Dispatch>::poll_msg",
        ),
        (
            "core::ops::function::FnOnce::call_once{{vtable.shim}}",
            "virtual call of core::ops::function::FnOnce::call_once",
        ),
        (
            "<std::sys::backtrace::_print_fmt::{closure#1}::{closure#0} as core::ops::function::FnOnce<(&std::backtrace_rs::symbolize::Symbol,)>>::call_once::{shim:vtable#0}",
            "virtual call of <{closure in {closure in std::sys::backtrace::_print_fmt}} as FnOnce<(&Symbol, )>>::call_once",
        ),
        (
            "<std::sync::once::Once>::call_once::<std::rt::cleanup::{closure#0}>::{closure#0}",
            "{closure in std::sync::once::Once::call_once<{closure in cleanup}>}",
        ),
        (
            "<std::sys::thread::unix::Thread>::new::thread_start",
            "std::sys::thread::unix::Thread::new::thread_start",
        ),
        ("core::slice::<impl [T]>::iter_mut", "<[T]>::iter_mut"),
        (
            "std::vec::<impl core::convert::From<&str> for alloc::vec::Vec<u8>>::from",
            "<alloc::vec::Vec<u8> as From<&str>>::from",
        ),
        (
            "core::ptr::drop_in_place<alloc::vec::Vec<alloc::string::String>>",
            "core::ptr::drop_in_place<Vec<String>>",
        ),
        (
            "core::ptr::drop_in_place<tokio::runtime::task::core::Cell<tokio::runtime::blocking::task::BlockingTask<tokio::runtime::scheduler::multi_thread::worker::Launch::launch::{{closure}}>,tokio::runtime::blocking::schedule::BlockingSchedule>>",
            "core::ptr::drop_in_place<Cell<…>>",
        ),
        (
            "core::ptr::drop_in_place<[tokio::loom::std::parking_lot::Mutex<tokio::runtime::blocking::sharded::Shard>; 16]>",
            "core::ptr::drop_in_place<[Mutex<Shard>; 16]>",
        ),
        (
            "alloc::vec::Vec<u8, alloc::alloc::Global>::push<u8, alloc::alloc::Global>",
            "alloc::vec::Vec<u8>::push",
        ),
        ("tour::{impl#3}::fmt", "tour::<impl>::fmt"),
        ("{closure#0}<()>", "{closure}"),
        ("{async_fn#0}<u8>", "{async fn}"),
        ("numbers::odd::{gen_fn#0}", "numbers::odd (gen)"),
        // g++ and clang, libstdc++
        (
            "std::vector<geo::P, std::allocator<geo::P> >::push_back",
            "std::vector<P>::push_back",
        ),
        (
            "std::vector<std::map<std::string, std::vector<geo::P>>>::push_back",
            "std::vector<…>::push_back",
        ),
        (
            "geo::Big<std::string, std::vector<std::map<int, int>>, geo::P>::get<long int>",
            "geo::Big<…>::get<long int>",
        ),
        (
            "int geo::Big<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::vector<int, std::allocator<int> >, geo::P>::get<long>(long)",
            "geo::Big<…>::get<long>(long)",
        ),
        (
            "geo::Big<std::string, std::vector<std::map<int, int>>, geo::P>::get<long int>::{anonymous struct}::operator()::{anonymous struct}::operator()",
            "{lambda in {lambda in geo::Big<…>::get<long int>}}",
        ),
        ("main::{anonymous class}::__invoke", "{lambda in main}"),
        (
            "main::{lambda(geo::P const&, geo::P const&)#1}::operator()(geo::P const&, geo::P const&) const",
            "{lambda in main}",
        ),
        (
            "std::_Function_handler<int(int), main()::<lambda(int)>>::_M_invoke",
            "std::_Function_handler<…>::_M_invoke",
        ),
        (
            "std::_Any_data::_M_access<main()::<lambda(int)>*>",
            "std::_Any_data::_M_access<{lambda in main}*>",
        ),
        (
            "std::sort<__gnu_cxx::__normal_iterator<geo::P*, std::vector<geo::P>>, main()::<lambda(const geo::P&, const geo::P&)>>",
            "std::sort<…>",
        ),
        (
            "geo::(anonymous namespace)::hidden",
            "geo::(anonymous namespace)::hidden",
        ),
        (
            "std::basic_istream<char, std::char_traits<char> >& std::operator>><double, char, std::char_traits<char> >(std::basic_istream<char, std::char_traits<char> >&, std::complex<double>&)",
            "std::operator>> <…>(…)",
        ),
        (
            "virtual thunk to std::basic_fstream<wchar_t, std::char_traits<wchar_t> >::~basic_fstream()@@GLIBCXX_3.4",
            "virtual thunk to std::basic_fstream<wchar_t>::~basic_fstream()@@GLIBCXX_3.4",
        ),
        ("ns::work() [constprop.0]", "ns::work() [constprop.0]"),
        ("puts@plt", "puts@plt"),
        (
            "std::filesystem::__cxx11::path::compare(std::filesystem::__cxx11::path const&) const",
            "std::filesystem::path::compare(path const&)",
        ),
        (
            "A::operator std::string() const",
            "A::operator std::string()",
        ),
        ("ns::operator< <int>", "ns::operator< <int>"),
    ];
    for (whole, expected) in cases {
        assert_eq!(readable_name(whole), expected, "{whole}");
    }
}

#[test]
fn any_text_is_shown_without_panic_and_in_no_time() {
    let signs = [
        "<",
        ">",
        "::",
        "operator",
        "(",
        ")",
        "é",
        " ",
        "{",
        "}",
        "{{",
        "<impl ",
        "{closure#0}",
        " as ",
        "@",
    ];
    for a in signs {
        for b in signs {
            for c in signs {
                for d in signs {
                    readable_name(&[a, b, c, d, a].concat());
                }
            }
        }
    }
    for (open, close) in [
        ("A<", ">"),
        ("<A as ", ">::f"),
        ("(", ")::"),
        ("{", "}::"),
        ("f::{closure#0}::", ""),
    ] {
        for count in [10, 1000, 100_000] {
            readable_name(&(open.repeat(count) + "x" + &close.repeat(count)));
            readable_name(&open.repeat(count));
        }
    }
}
