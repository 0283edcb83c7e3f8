//! Random tests: commands get no more than editing tools do, and a child's commands no more than its parent's.
//! `SORTIE_CASES` scales the number of chains as it scales the cases of the other random tests.

use std::path::Path;

use sortie_policy::{Access, Confinement, Decision, Ground, Judge, NetworkReach, Why, Writes};
use sortie_protocol::{GrantLayer, Mode};

use crate::cases::{HOSTS, Link, PATHS, Step, chain};
use crate::draw::Draw;
use crate::property::share_of_cases;
use crate::support::{EDITING, READING, grant, path, places};

const CHAINS: u64 = 2_000;

/// True if commands may write this file.
fn writable(confinement: &Confinement<'_>, file: &str) -> bool {
    let Writes::Within(directories) = confinement.writes() else { return false };
    let absolute = |path: &Path| places().root.unwrap().join(path);
    let inside = directories.iter().any(|directory| absolute(Path::new(file)).starts_with(absolute(directory)));
    inside && !confinement.keeps(Path::new(file), Access::Write)
}

/// The reason for which a judge denies a call, apart from protected paths.
fn denied(judge: &Judge, tool: &str, file: &str) -> Option<Why> {
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

/// Judges of the parts of one layer that bind commands.
struct Binding<'a> {
    layer: &'a GrantLayer,
    forbidding: Judge,
    list: Judge,
}

impl<'a> Binding<'a> {
    fn of(layer: &'a GrantLayer) -> Self {
        let judge = |layer| Judge::new(&grant([layer]), places()).unwrap();
        Self { layer, forbidding: judge(forbidding(layer)), list: judge(listing(layer)) }
    }

    fn check_writable(&self, file: &str) {
        let Self { layer, forbidding, list } = self;
        for tool in ["Edit", "Write"] {
            assert_eq!(denied(forbidding, tool, file), None, "commands write {file}, {tool} may not: {layer:#?}");
        }
        let reads = layer.tools.is_some() && READING.iter().any(|tool| list.admits_some(tool));
        let edits = EDITING.iter().any(|tool| denied(list, tool, file).is_none());
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
        assert!(!writable(&inner, file) || writable(&outer, file), "{file} {}", context());
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
    for index in 0..share_of_cases(CHAINS) {
        let links = chain(&mut Draw(Draw(index).number()));
        for pair in links.windows(2) {
            assert!(!matches!(pair[1].step, Step::Root));
            check_within(&pair[0], &pair[1]);
        }
        for link in &links {
            check_network(link);
            check_named(link, Access::Read);
            check_named(link, Access::Write);
            let confinement = link.judge.confinement();
            let bindings: Vec<Binding<'_>> = link.grant.layers.iter().map(Binding::of).collect();
            for file in PATHS {
                if writable(&confinement, file) {
                    free += 1;
                    for binding in &bindings {
                        binding.check_writable(file);
                    }
                } else {
                    kept += 1;
                }
            }
        }
    }
    // If nothing could be written, the test would prove nothing.
    assert!(free * 20 > kept, "{free} writable, {kept} kept");
}
