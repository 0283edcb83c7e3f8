//! Places of files: each in a room, and no more files in a room than a reader takes in at a glance.

use std::collections::BTreeSet;

use super::super::finding::Finding;
use super::House;

const MOST_ROOMS: usize = 10;
const FEWEST_FILES: usize = 3;
const MOST_FILES: usize = 12;

const TABLE: &str = "xtask/src/tidy/rooms.rs";

pub(super) fn everything_in_a_room(house: &House<'_>) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for placed in &house.files {
        let (shelf, in_folder) = (placed.shelf(), placed.path.contains('/'));
        let stray = house.rank(shelf).is_none() && (in_folder || placed.file.is_rust());
        if !stray || !seen.insert((shelf, in_folder)) {
            continue;
        }
        let what = if in_folder {
            format!("the folder `{shelf}` is no room of `{}`", house.plan.folder)
        } else {
            format!("`{}` lies outside the rooms of `{}`", placed.path, house.plan.folder)
        };
        let mend = format!("move it into one of {}, or name it in {TABLE}", house.rooms.join(", "));
        findings.push(Finding::at(placed.file, 1, what, mend));
    }
    findings
}

pub(super) fn sizes(house: &House<'_>) -> Vec<Finding> {
    let source = format!("crates/{}/src", house.plan.folder);
    let count = house.rooms.len();
    let too_many = (count > MOST_ROOMS).then(|| {
        let what = format!("`{}` has {count} rooms, more than {MOST_ROOMS}", house.plan.folder);
        Finding::error(&source, what, "join rooms that change together, or make a crate of some")
    });
    let unknown = house.plan.other_sizes.iter().filter(|(room, _)| !house.rooms.contains(room)).map(|(room, _)| {
        let what = format!("`{room}` may have another size in `{}`, and is no room there", house.plan.folder);
        Finding::error(TABLE, what, "take it out of `other_sizes`")
    });
    let rooms = house.rooms.iter().filter_map(|room| size(house, room, &source));
    too_many.into_iter().chain(unknown).chain(rooms).collect()
}

fn size(house: &House<'_>, room: &str, source: &str) -> Option<Finding> {
    let Some(door) = house.door(room) else {
        let mend = format!("write it with `//!` and one sentence that says what the room owns, or mend {TABLE}");
        return Some(Finding::error(format!("{source}/{room}.rs"), format!("the room `{room}` has no file"), mend));
    };
    let mut files = BTreeSet::from([""]);
    for placed in house.files.iter().filter(|placed| placed.file.is_rust() && !placed.is_all_tests()) {
        if let Some((folder, name)) = placed.path.split_once('/').filter(|(folder, _)| *folder == room) {
            files.insert(placed.path[folder.len() + 1..].split('/').next().unwrap_or(name).trim_end_matches(".rs"));
        }
    }
    let usual = (FEWEST_FILES..=MOST_FILES).contains(&files.len());
    let excused = house.plan.other_sizes.iter().any(|(name, _)| *name == room);
    let what = format!("the room `{room}` has {} files, and a room has {FEWEST_FILES} to {MOST_FILES}", files.len());
    match (usual, excused) {
        (false, false) => {
            let mend =
                format!("join it with a neighbour, or split it; or give the reason as one of `other_sizes` in {TABLE}");
            Some(Finding::at(door, 1, what, mend))
        }
        (true, true) => Some(Finding::at(
            door,
            1,
            format!("`{room}` has the size of other rooms by now"),
            format!("take it out of `other_sizes` in {TABLE}"),
        )),
        _ => None,
    }
}
