//! Random tests: commands get no more than editing tools do, and a child's commands no more than its parent's.

use std::path::Path;

use sortie_policy::{Access, Decision, Ground, Judge, NetworkReach, Why, Writes};
use sortie_protocol::{GrantLayer, Mode};

use crate::cases::{HOSTS, Link, PATHS, Step, chain};
use crate::draw::Draw;
use crate::support::{EDITING, READING, grant, path, places};

const CHAINS: u64 = 2_000;

/// True if commands may write this file.
fn writable(judge: &Judge, file: &str) -> bool {
    let confinement = judge.confinement();
    let Writes::Within(directories) = confinement.writes() else { return false };
    let absolute = |path: &Path| places().root.unwrap().join(path);
    let inside = directories.iter().any(|directory| absolute(Path::new(file)).starts_with(absolute(directory)));
    inside && !confinement.keeps(Path::new(file), Access::Write)
}

/// The reason for which a layer would deny a call, apart from protected paths.
fn denied(layer: &GrantLayer, tool: &str, file: &str) -> Option<Why> {
    let judge = Judge::new(&grant([layer.clone()]), places()).unwrap();
    match judge.decide(tool, &path(file)) {
        Decision::Deny(Ground { why: Why::Protected { .. }, .. }) => None,
        Decision::Deny(ground) => Some(ground.why),
        _ => None,
    }
}

/// The part of a layer that forbids.
fn forbidding(layer: &GrantLayer) -> GrantLayer {
    let about_some = |rule: &&String| rule.contains('(') && !rule.contains("(*)") && !rule.contains("(**)");
    let asked = layer.ask.iter().filter(about_some);
    let deny = layer.deny.iter().chain(asked).cloned().collect();
    GrantLayer { deny, mode: layer.mode.filter(|mode| *mode == Mode::Plan), ..GrantLayer::new("forbids") }
}

fn listing(layer: &GrantLayer) -> GrantLayer {
    GrantLayer { tools: layer.tools.clone(), ..GrantLayer::new("lists") }
}

fn check_writable(link: &Link, file: &str) {
    for layer in &link.grant.layers {
        for tool in ["Edit", "Write"] {
            let why = denied(&forbidding(layer), tool, file);
            assert_eq!(why, None, "commands write {file}, {tool} may not: {layer:#?}");
        }
        let list = listing(layer);
        let judge = Judge::new(&grant([list.clone()]), places()).unwrap();
        let reads = layer.tools.is_some() && READING.iter().any(|tool| judge.admits_some(tool));
        let edits = EDITING.iter().any(|tool| denied(&list, tool, file).is_none());
        assert!(!reads || edits, "commands of a reader write {file}: {layer:#?}");
    }
}

fn check_network(link: &Link) {
    let confinement = link.judge.confinement();
    for host in HOSTS.into_iter().filter(|host| !host.contains(' ')) {
        let reached = confinement.reaches(host).is_allowed();
        match confinement.network() {
            NetworkReach::None => assert!(!reached, "{host} under {:#?}", link.grant),
            NetworkReach::All => assert!(reached, "{host} under {:#?}", link.grant),
            NetworkReach::Hosts => {}
        }
        if link.judge.decide("WebFetch", &crate::support::host(host)).is_allowed() {
            assert!(reached, "{host} can be fetched, under {:#?}", link.grant);
        }
    }
}

/// Checks that a kept path is named, or that globs are reported.
fn check_named(link: &Link, access: Access) {
    let confinement = link.judge.confinement();
    let named = confinement.named_places(access);
    for place in &named {
        assert!(confinement.keeps(place, access), "{} under {:#?}", place.display(), link.grant);
    }
    if confinement.has_globs(access) {
        return;
    }
    let absolute = |path: &Path| places().root.unwrap().join(path);
    let plain = |path: &Path| absolute(path).to_str().unwrap().replace('ｓ', "s").to_lowercase();
    for file in PATHS.into_iter().filter(|file| !file.contains("..")).map(Path::new) {
        let is_named = named.iter().any(|place| Path::new(&plain(file)).starts_with(plain(place)));
        assert_eq!(confinement.keeps(file, access), is_named, "{} under {:#?}", file.display(), link.grant);
    }
}

/// Checks that the commands of a child or a resumed task get no more than those of the parent.
fn check_within(parent: &Link, child: &Link) {
    let (outer, inner) = (parent.judge.confinement(), child.judge.confinement());
    let context = || format!("{:#?}", child.grant);
    assert!(inner.network() <= outer.network(), "{}", context());
    for host in HOSTS {
        assert!(!inner.reaches(host).is_allowed() || outer.reaches(host).is_allowed(), "{host} {}", context());
    }
    for file in PATHS {
        assert!(!writable(&child.judge, file) || writable(&parent.judge, file), "{file} {}", context());
        for access in [Access::Read, Access::Write] {
            let file = Path::new(file);
            assert!(inner.keeps(file, access) || !outer.keeps(file, access), "{} {}", file.display(), context());
        }
    }
}

#[test]
fn commands_write_only_editable_files_and_no_more_than_their_parents() {
    let mut free = 0;
    let mut kept = 0;
    for index in 0..CHAINS {
        let links = chain(&mut Draw(Draw(index).number()));
        for pair in links.windows(2) {
            assert!(!matches!(pair[1].step, Step::Root));
            check_within(&pair[0], &pair[1]);
        }
        for link in &links {
            check_network(link);
            check_named(link, Access::Read);
            check_named(link, Access::Write);
            for file in PATHS {
                if writable(&link.judge, file) {
                    free += 1;
                    check_writable(link, file);
                } else {
                    kept += 1;
                }
            }
        }
    }
    // If nothing could be written, the test would prove nothing.
    assert!(free * 20 > kept, "{free} writable, {kept} kept");
}
