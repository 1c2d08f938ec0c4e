//! The properties of any input, tried on random ones and on all inputs that fuzzing has found to fail (`fuzz/found`).

use crate::properties;
use proptest::prelude::*;
use std::path::Path;

/// A property, and the fuzz target that tries it.
type Target = (&'static str, fn(&[u8]));

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..20),
        "[$#%*}+<>/a-zA-Z0-9;:,. '=-]{0,40}".prop_map(String::into_bytes),
        proptest::sample::select(vec![
            "$OK#9a",
            "$#00",
            "+",
            "-",
            "T05thread:p1.1;",
            "swbreak:;",
            "watch:1f;",
            "W00",
            "mp1.1,p1.2",
            "l",
            "<threads>",
            "<thread id='p1.1'/>",
            "</threads>",
            "<target>",
            "</target>",
            "<feature name='a'>",
            "<reg name='r' bitsize='32'/>",
            "</feature>",
            "<xi:include href='x'/>",
            "\x0c",
            "<vector id='v' type='uint8' count='4'/>",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_input_has_the_properties(input in any_bytes()) {
        properties::any_stream_is_decoded(&input);
        properties::any_answer_is_read(&input);
        properties::any_document_is_read(&input);
        properties::any_session_ends(&input);
    }
}

#[test]
fn what_fuzzing_has_found_is_mended() {
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/found");
    let targets: [Target; 4] = [
        ("stream", properties::any_stream_is_decoded),
        ("answer", properties::any_answer_is_read),
        ("document", properties::any_document_is_read),
        ("session", properties::any_session_ends),
    ];
    for (target, property) in targets {
        let Ok(inputs) = std::fs::read_dir(found.join(target)) else {
            continue;
        };
        for input in inputs {
            property(&std::fs::read(input.unwrap().path()).unwrap());
        }
    }
}
