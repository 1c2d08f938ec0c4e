//! The version of the protocol that the crate says it speaks.

#[test]
fn the_version_is_that_of_the_definition_which_the_types_are_generated_from() {
    assert_eq!(
        dapple_dap::PROTOCOL_VERSION,
        dapple_schema::PROTOCOL_VERSION
    );
    assert_eq!(
        dapple_dap::PROTOCOL_VERSION,
        dapple_schema::upstream::Upstream::recorded().version
    );
}
