//! System calls on keys (keyrings(7)).

use super::description::{Description, call, filled, fixed, silent};

#[rustfmt::skip]
pub(super) const CALLS: &[Description] = &[
    silent(248, "add_key"),
    silent(249, "request_key"),
    silent(250, "keyctl").commands(0, u32::MAX, KEYCTL),
];

/// Those that encrypt and sign are left out: the room for what they write is in a structure of several versions.
#[rustfmt::skip]
const KEYCTL: &[Description] = &[
    silent(0, "KEYCTL_GET_KEYRING_ID"),
    silent(1, "KEYCTL_JOIN_SESSION_KEYRING"),
    silent(2, "KEYCTL_UPDATE"),
    silent(3, "KEYCTL_REVOKE"),
    silent(4, "KEYCTL_CHOWN"),
    silent(5, "KEYCTL_SETPERM"),
    call(6, "KEYCTL_DESCRIBE", &[filled(2, 3)]),
    silent(7, "KEYCTL_CLEAR"),
    silent(8, "KEYCTL_LINK"),
    silent(9, "KEYCTL_UNLINK"),
    silent(10, "KEYCTL_SEARCH"),
    call(11, "KEYCTL_READ", &[filled(2, 3)]),
    silent(12, "KEYCTL_INSTANTIATE"),
    silent(13, "KEYCTL_NEGATE"),
    silent(14, "KEYCTL_SET_REQKEY_KEYRING"),
    silent(15, "KEYCTL_SET_TIMEOUT"),
    silent(16, "KEYCTL_ASSUME_AUTHORITY"),
    call(17, "KEYCTL_GET_SECURITY", &[filled(2, 3)]),
    silent(18, "KEYCTL_SESSION_TO_PARENT"),
    silent(19, "KEYCTL_REJECT"),
    silent(20, "KEYCTL_INSTANTIATE_IOV"),
    silent(21, "KEYCTL_INVALIDATE"),
    silent(22, "KEYCTL_GET_PERSISTENT"),
    call(23, "KEYCTL_DH_COMPUTE", &[filled(2, 3)]),
    // `struct keyctl_pkey_query`.
    call(24, "KEYCTL_PKEY_QUERY", &[fixed(4, 56)]),
    silent(29, "KEYCTL_RESTRICT_KEYRING"),
    silent(30, "KEYCTL_MOVE"),
    call(31, "KEYCTL_CAPABILITIES", &[filled(1, 2)]),
    silent(32, "KEYCTL_WATCH_KEY"),
];
