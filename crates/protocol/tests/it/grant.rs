//! Layers of grants as they are stored.

use sortie_protocol::{Grant, GrantLayer, Mode};

#[test]
fn a_layer_of_an_older_journal_means_what_it_meant() {
    let read: Grant = serde_json::from_str(
        r#"[{"owner":"agent main"},{"owner":"agent explore","tools":["Read"]},{"owner":"agent mute","tools":[]}]"#,
    )
    .unwrap();
    let expected = [
        GrantLayer::new("agent main"),
        GrantLayer { tools: Some(vec!["Read".to_owned()]), ..GrantLayer::new("agent explore") },
        GrantLayer { tools: Some(Vec::new()), ..GrantLayer::new("agent mute") },
    ];
    assert_eq!(read.layers, expected);
}

#[test]
fn a_layer_keeps_its_fields_and_omits_empty_ones() {
    let plain = GrantLayer::new("agent main");
    assert_eq!(serde_json::to_string(&plain).unwrap(), r#"{"owner":"agent main"}"#);
    let rules = |rule: &str| vec![rule.to_owned()];
    let full = GrantLayer {
        owner: "user settings".to_owned(),
        tools: Some(Vec::new()),
        deny: rules("Bash(rm:*)"),
        ask: rules("Edit"),
        allow: rules("Read(src/**)"),
        shares_allow: true,
        mode: Some(Mode::AcceptEdits),
        approves_reads: true,
        never_asks: true,
        as_started: true,
    };
    let text = serde_json::to_string(&full).unwrap();
    assert_eq!(
        text,
        r#"{"owner":"user settings","tools":[],"deny":["Bash(rm:*)"],"ask":["Edit"],"allow":["Read(src/**)"],"shares_allow":true,"mode":"accept-edits","approves_reads":true,"never_asks":true,"as_started":true}"#
    );
    assert_eq!(serde_json::from_str::<GrantLayer>(&text).unwrap(), full);
}

#[test]
fn a_layer_with_unknown_fields_is_refused() {
    for text in [r#"{"owner":"a","forbid":["Bash"]}"#, r#"{"owner":"a","mode":"strict"}"#, r#"{"tools":[]}"#] {
        assert!(serde_json::from_str::<GrantLayer>(text).is_err(), "{text}");
    }
}

#[test]
fn modes_are_known_by_one_name_everywhere() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(mode));
        assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
    }
    let error = "yolo".parse::<Mode>().unwrap_err().to_string();
    assert_eq!(error, "there is no mode `yolo`; use default, plan, accept-edits or bypass");
}
