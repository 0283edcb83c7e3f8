//! Places with keys and passwords of the user and of other people, wherever variables and the user database put them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sortie_policy::{moved_secret_places, secret_places_below};

use super::Environment;

/// The user database.
const USERS: &str = "/etc/passwd";

/// Directories with a home directory for each person, whatever the user database says: users of a network are not in
/// it.
const DIRECTORIES_OF_HOMES: [&str; 2] = ["/home", "/var/home"];

/// Home directory of the administrator.
const HOME_OF_ROOT: &str = "/root";

/// A process's own directory belongs to its user.
const OWN_PROCESS: &str = "/proc/self";

impl Environment {
    /// Home directories of the user, the one in `HOME` first: the user database may name another.
    pub(super) fn homes(&self) -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = self.home().into_iter().collect();
        homes.extend(home_by_users().and_then(|home| home.canonicalize().ok()));
        homes.dedup();
        homes
    }

    /// Home directories of other people inside these directories.
    ///
    /// Directories of homes are only listed if the agents work there: listing them may mount all of them.
    pub(crate) fn other_homes(&self, tops: &[&Path]) -> Vec<PathBuf> {
        let listed = DIRECTORIES_OF_HOMES
            .iter()
            .map(Path::new)
            .filter(|of_homes| tops.iter().any(|top| of_homes.starts_with(top) || real(of_homes).starts_with(top)));
        let listed = listed.flat_map(entries);
        let users = std::fs::read_to_string(USERS).unwrap_or_default();
        let own = self.homes();
        let mut homes: Vec<PathBuf> = homes_in(&users).chain([PathBuf::from(HOME_OF_ROOT)]).chain(listed).collect();
        homes.extend(homes.iter().map(|home| real(home)).collect::<Vec<_>>());
        homes.retain(|home| tops.iter().any(|top| home.starts_with(top)) && !own.contains(home) && home.is_dir());
        homes.sort();
        homes.dedup();
        homes
    }

    /// Returns the secret places besides those below `HOME`. They are below the home directory in the user database,
    /// where variables name them, and where links lead from all of them.
    pub(crate) fn secret_places(&self) -> Vec<PathBuf> {
        let variable = |name: &str| {
            let lower = || self.path(&name.to_ascii_lowercase());
            self.path(name).or_else(lower).map(PathBuf::into_os_string)
        };
        let moved = moved_secret_places(&variable).into_iter().filter(|path| is_a_place(path));
        let below = self.homes().into_iter().flat_map(|home| secret_places_below(&home).collect::<Vec<_>>());
        let mut places: Vec<PathBuf> = below.chain(moved).collect();
        let real = |place: &PathBuf| place.canonicalize().ok().filter(|real| real != place && is_a_place(real));
        places.extend(places.iter().filter_map(real).collect::<Vec<_>>());
        places
    }
}

/// Home directory that the user database names for the user of this process. Users of a network are not in the file.
fn home_by_users() -> Option<PathBuf> {
    let uid = std::fs::metadata(OWN_PROCESS).ok()?.uid();
    let users = std::fs::read_to_string(USERS).ok()?;
    home_in(&users, uid)
}

fn home_in(users: &str, uid: u32) -> Option<PathBuf> {
    let of_user = |line: &&str| line.split(':').nth(2).and_then(|id| id.parse().ok()) == Some(uid);
    let home = PathBuf::from(users.lines().find(of_user)?.split(':').nth(5)?);
    // Services have no home of their own.
    (home.is_absolute() && home != Path::new("/")).then_some(home)
}

/// Home directories of all users of the database.
fn homes_in(users: &str) -> impl Iterator<Item = PathBuf> {
    let homes = users.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from);
    // Services have no home of their own.
    homes.filter(|home| home.is_absolute() && is_a_place(home))
}

/// The directories in one; none if it cannot be listed.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The place that a path leads to; itself if it does not exist.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// False for devices, as in `HISTFILE=/dev/null`, and for the root.
fn is_a_place(path: &Path) -> bool {
    path != Path::new("/") && !["/dev", "/proc", "/sys"].iter().any(|own| path.starts_with(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_by_the_number_of_its_user() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nme:x:1000:10:Me:/people/me:/bin/sh\n";
        assert_eq!(home_in(users, 0), Some("/root".into()));
        assert_eq!(home_in(users, 1000), Some("/people/me".into()));
        assert_eq!(home_in(users, 65534), None);
        assert_eq!(home_in(users, 7), None);
    }

    #[test]
    fn every_user_of_the_database_has_a_home_but_for_services_without_one() {
        let users = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\nsys:x:3:3::/dev:/bin/false\n\
                     db:x:70:70:DB:/var/lib/db:/bin/false\nbroken\n";
        assert_eq!(homes_in(users).collect::<Vec<_>>(), [Path::new("/root"), Path::new("/var/lib/db")]);
    }

    #[test]
    fn devices_are_no_places() {
        assert!(!is_a_place(Path::new("/dev/null")) && !is_a_place(Path::new("/")));
        assert!(is_a_place(Path::new("/device")));
    }
}
