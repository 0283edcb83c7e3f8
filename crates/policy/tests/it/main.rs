//! Authority only shrinks, whatever the layers say.

use proptest::prelude::*;
use sortie_policy::{Decision, decide, narrow};
use sortie_protocol::{Grant, GrantLayer};

const TOOLS: [&str; 5] = ["Read", "Grep", "Task", "Write", "Bash"];

fn layer() -> impl Strategy<Value = GrantLayer> {
    let tools = proptest::option::of(proptest::sample::subsequence(TOOLS.to_vec(), 0..=TOOLS.len()));
    tools.prop_map(|tools| GrantLayer {
        owner: "someone".to_owned(),
        tools: tools.map(|names| names.into_iter().map(str::to_owned).collect()),
    })
}

proptest! {
    #[test]
    fn a_child_never_may_what_its_parent_may_not(layers in proptest::collection::vec(layer(), 0..5), added in layer()) {
        let parent = Grant { layers };
        let child = narrow(&parent, added.clone());
        for tool in TOOLS {
            let parent_may = decide(&parent, tool) == Decision::Allow;
            let layer_may = added.tools.as_ref().is_none_or(|tools| tools.iter().any(|name| name == tool));
            prop_assert_eq!(decide(&child, tool) == Decision::Allow, parent_may && layer_may);
        }
    }
}

#[test]
fn an_empty_list_admits_nothing() {
    let grant = narrow(&Grant::default(), GrantLayer { owner: "agent mute".to_owned(), tools: Some(Vec::new()) });
    for tool in TOOLS {
        assert_eq!(decide(&grant, tool), Decision::Deny { owner: "agent mute".to_owned() });
    }
}

#[test]
fn the_outermost_owner_that_refuses_is_named() {
    let only = |owner: &str, tool: &str| GrantLayer { owner: owner.to_owned(), tools: Some(vec![tool.to_owned()]) };
    let grant = narrow(&narrow(&Grant::default(), only("agent plan", "Read")), only("agent explore", "Grep"));
    assert_eq!(decide(&grant, "Bash"), Decision::Deny { owner: "agent plan".to_owned() });
    assert_eq!(decide(&grant, "Read"), Decision::Deny { owner: "agent explore".to_owned() });
}

#[test]
fn names_are_compared_exactly() {
    let grant =
        narrow(&Grant::default(), GrantLayer { owner: "agent x".to_owned(), tools: Some(vec!["Read".to_owned()]) });
    for lookalike in ["read", "READ", " Read", "Rеad"] {
        assert_ne!(decide(&grant, lookalike), Decision::Allow, "{lookalike:?} is not Read");
    }
}
