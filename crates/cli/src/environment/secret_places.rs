//! Places with the user's keys and passwords, wherever variables and the user database put them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sortie_policy::{moved_secret_places, secret_places_below};

use super::Environment;

/// The user database.
const USERS: &str = "/etc/passwd";

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

    /// Returns the secret places besides those below `HOME`: below the home directory in the user database, where
    /// variables name them, and where links lead from all of them.
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
    fn devices_are_no_places() {
        assert!(!is_a_place(Path::new("/dev/null")) && !is_a_place(Path::new("/")));
        assert!(is_a_place(Path::new("/device")));
    }
}
