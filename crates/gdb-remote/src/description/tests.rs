//! Descriptions as gdbserver and QEMU write them, and such as would never end.

use super::*;

/// Reads a description of files in memory.
fn described(files: &[(&str, &str)]) -> std::result::Result<Description, String> {
    read(
        |name| match files.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err(Error::NotSupported {
                asked: name.to_owned(),
            }),
        },
    )
    .map_err(|error| error.to_string())
}

const TARGET: &str = "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>i386:x86-64</architecture>\
    <osabi>GNU/Linux</osabi><xi:include href=\"core.xml\"/><feature name=\"more\"><reg name=\"late\" bitsize=\"32\" regnum=\"9\"/>\
    <reg name=\"next\" bitsize=\"12\" save-restore=\"no\" group=\"float\"/></feature></target>";

const CORE: &str = "<?xml version=\"1.0\"?><feature name=\"org.gnu.gdb.i386.core\">\
    <flags id=\"eflags\" size=\"4\"><field name=\"CF\" start=\"0\" end=\"0\"/><field name=\"\" start=\"1\"/></flags>\
    <vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/><vector id=\"v16\" type=\"uint8\" count=\"16\"/>\
    <union id=\"vec\"><field name=\"a\" type=\"v4f\"/><field name=\"b\" type=\"v16\"/></union>\
    <struct id=\"pair\"><field name=\"low\" type=\"v16\"/><field name=\"high\" type=\"uint64\"/></struct>\
    <enum id=\"mode\" size=\"1\"><evalue name=\"user\" value=\"0x10\"/></enum>\
    <reg name=\"first\" bitsize=\"64\" type=\"data_ptr\" regnum=\"2\"/><reg name=\"flags\" bitsize=\"32\" type=\"eflags\"/>\
    <reg name=\"vector\" bitsize=\"128\" type=\"vec\"/></feature>";

#[test]
fn registers_have_numbers_sizes_and_places() {
    let description = described(&[("target.xml", TARGET), ("core.xml", CORE)]).unwrap();
    assert_eq!(description.architecture.as_deref(), Some("i386:x86-64"));
    assert_eq!(description.osabi.as_deref(), Some("GNU/Linux"));
    let registers: Vec<_> = description
        .registers
        .iter()
        .map(|it| (it.name.as_str(), it.number, it.offset, it.size()))
        .collect();
    assert_eq!(
        registers,
        [
            ("first", 2, 0, 8),
            ("flags", 3, 8, 4),
            ("vector", 4, 12, 16),
            ("late", 9, 28, 4),
            ("next", 10, 32, 2)
        ]
    );
    assert_eq!(description.registers_size(), 34);
    let next = description.register("next").unwrap();
    assert!(!next.is_saved);
    assert_eq!(description.features[next.feature].name, "more");
    assert_eq!(next.group.as_deref(), Some("float"));
    let mut all = vec![Some(0); 33];
    all[28] = Some(7);
    assert_eq!(next.value_in(&all), None);
    assert_eq!(
        description
            .register("late")
            .and_then(|it| it.value_in(&all)),
        Some(vec![7, 0, 0, 0])
    );
    all[8] = None;
    assert_eq!(
        description
            .register("flags")
            .and_then(|it| it.value_in(&all)),
        None
    );
}

#[test]
fn registers_of_lldb_server_say_their_places() {
    let text = "<target><architecture>x86_64</architecture><feature>\
        <reg name='rax' bitsize='64' regnum='0' offset='80'/><reg name='rbx' bitsize='64' regnum='1' offset='40'/>\
        <reg name='eax' bitsize='32' regnum='9' offset='80' value_regnums='0'/></feature></target>";
    let description = described(&[("target.xml", text)]).unwrap();
    let places: Vec<_> = description.registers.iter().map(|it| it.offset).collect();
    assert_eq!(places, [80, 40, 80]);
    assert_eq!(description.registers_size(), 88);
    assert!(described(&[("target.xml", &text.replace("'40'", "'0xffffffffff'"))]).is_err());
}

#[test]
fn types_have_sizes() {
    let description = described(&[("target.xml", TARGET), ("core.xml", CORE)]).unwrap();
    let bits = |name: &str| description.features[0].types[name].bits;
    assert_eq!(bits("eflags"), Some(32));
    assert_eq!(bits("vec"), Some(128));
    assert_eq!(bits("pair"), Some(192));
    assert_eq!(bits("mode"), Some(8));
    let vector = description.register("vector").unwrap();
    assert!(matches!(
        description.type_of(vector).map(|it| &it.kind),
        Some(TypeKind::Union(fields)) if fields.len() == 2
    ));
}

#[test]
fn inclusions_end() {
    let own = "<target><xi:include href='target.xml'/></target>";
    assert_eq!(
        described(&[("target.xml", own)]),
        Err("cannot read target description target.xml: it includes itself".to_owned())
    );
    let other = "<target><xi:include href='a'/></target>";
    let circle = "<feature name='x'><xi:include href='target.xml'/></feature>";
    assert!(
        described(&[("target.xml", other), ("a", circle)])
            .is_err_and(|error| error.ends_with("it includes itself"))
    );
    let mut calls = 0;
    let endless = read(|_| {
        calls += 1;
        Ok(format!("<target><include href='{calls}'/></target>").into_bytes())
    });
    assert!(endless.is_err_and(|error| error.to_string().ends_with("include each other")));
    let wide = format!(
        "<target>{}</target>",
        "<include href='a'/>".repeat(MAX_FILES)
    );
    assert!(
        described(&[("target.xml", &wide), ("a", "<target/>")])
            .is_err_and(|error| error.ends_with("files"))
    );
    assert!(
        described(&[("target.xml", other)])
            .is_err_and(|error| error == "the stub does not support a")
    );
}

#[test]
fn what_is_wrong_is_told() {
    let wrong = |inner: &str| {
        let text = format!("<target><feature name='f'>{inner}</feature></target>");
        described(&[("target.xml", &text)]).map(|it| it.registers.len())
    };
    for (inner, reason) in [
        ("<reg name='a'/>", "an element `reg` lacks `bitsize`"),
        (
            "<reg name='a' bitsize='0'/>",
            "the register \"a\" has 0 bits",
        ),
        (
            "<reg name='a' bitsize='99999999'/>",
            "the register \"a\" has 99999999 bits",
        ),
        (
            "<reg name='a' bitsize='8' regnum='1'/><reg name='b' bitsize='8' regnum='1'/>",
            "two registers have the number 1",
        ),
        (
            "<vector id='v' type='uint8' count='0xffffffffffffffff'/>",
            "a vector is too large",
        ),
        (
            "<vector id='v' type='uint8' count='0xffffff'/>",
            "a type is too large, or there are too many",
        ),
    ] {
        assert_eq!(
            wrong(inner),
            Err(format!(
                "cannot read target description target.xml: {reason}"
            ))
        );
    }
    assert!(wrong("<reg name='a' bitsize='8' regnum='0xffffffffffffffff'/>").is_err());
    assert!(described(&[("target.xml", "<feature name='f'/>")]).is_err());
}
