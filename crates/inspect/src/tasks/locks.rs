//! Which lock a future waits for, and which locks a suspended future holds: the guards among its variables.

use super::awaits::Node;
use super::parts;
use crate::values::rust::active_variant;
use crate::values::{Reader, Value, names};
use dapple_symbols::types::TypeKind;

/// What tells a lock from others: the semaphore in each of tokio's locks, and the locks of async-lock.
const LOCKS: [&str; 4] = [
    "tokio::sync::batch_semaphore::Semaphore",
    "async_lock::mutex::Mutex",
    "async_lock::rwlock::raw::RawRwLock",
    "async_lock::semaphore::Semaphore",
];
/// The types of guards. Each leads to its lock.
const GUARDS: &[&str] = &[
    "tokio::sync::mutex::MutexGuard",
    "tokio::sync::mutex::OwnedMutexGuard",
    "tokio::sync::mutex::MappedMutexGuard",
    "tokio::sync::mutex::OwnedMappedMutexGuard",
    "tokio::sync::rwlock::read_guard::RwLockReadGuard",
    "tokio::sync::rwlock::write_guard::RwLockWriteGuard",
    "tokio::sync::rwlock::owned_read_guard::OwnedRwLockReadGuard",
    "tokio::sync::rwlock::owned_write_guard::OwnedRwLockWriteGuard",
    "tokio::sync::semaphore::SemaphorePermit",
    "tokio::sync::semaphore::OwnedSemaphorePermit",
    "async_lock::mutex::MutexGuard",
    "async_lock::mutex::MutexGuardArc",
    "async_lock::rwlock::RwLockReadGuard",
    "async_lock::rwlock::RwLockUpgradableReadGuard",
    "async_lock::rwlock::RwLockUpgradableReadGuardArc",
    "async_lock::rwlock::RwLockWriteGuard",
    "async_lock::rwlock::RwLockWriteGuardArc",
    "async_lock::semaphore::SemaphoreGuard",
    "async_lock::semaphore::SemaphoreGuardArc",
];

/// The addresses of the locks that suspended futures hold.
pub(super) fn held(reader: &Reader<'_>, nodes: &[Node]) -> Vec<u64> {
    let mut found = Vec::new();
    collect(reader, nodes, &mut found);
    found
}

fn collect(reader: &Reader<'_>, nodes: &[Node], found: &mut Vec<u64>) {
    for node in nodes {
        if let Node::Body(body, below) = node {
            if body.position.is_some() {
                found.extend(held_in(reader, &body.state));
            }
            collect(reader, below, found);
        }
    }
}

/// The locks that the variables in a future's state hold.
fn held_in(reader: &Reader<'_>, state: &Value) -> Vec<u64> {
    let Some(type_) = parts::type_of(reader, state) else {
        return Vec::new();
    };
    let TypeKind::Aggregate(aggregate) = &type_.kind else {
        return Vec::new();
    };
    let Ok(variant) = active_variant(reader, state, aggregate) else {
        return Vec::new();
    };
    let payload = reader.member(state, &variant.member);
    let Some(payload_type) = parts::type_of(reader, &payload) else {
        return Vec::new();
    };
    let variables = parts::fields(reader, &payload, &payload_type).into_iter();
    let shadowing = reader.shadowing(state).into_iter();
    let shadowing = shadowing.flat_map(|(_, all)| all.into_iter().map(|it| it.value));
    let guards = variables.chain(shadowing).filter(|variable| {
        parts::type_of(reader, variable)
            .is_some_and(|type_| GUARDS.contains(&names::path_name(&type_.name)))
    });
    guards.filter_map(|guard| lock_of(reader, &guard)).collect()
}

/// The address of the lock that a guard, or a future that waits for the lock, leads to.
pub(super) fn lock_of(reader: &Reader<'_>, value: &Value) -> Option<u64> {
    let is_lock = |path: &str| LOCKS.contains(&path);
    let follows = |name: &str| {
        let owned = name.strip_prefix("alloc::sync::ArcInner<").unwrap_or(name);
        owned.starts_with("tokio::sync::") || owned.starts_with("async_lock::")
    };
    let found = parts::all(reader, value, &is_lock, &follows);
    Some(found.first()?.contents.address()?.0)
}
