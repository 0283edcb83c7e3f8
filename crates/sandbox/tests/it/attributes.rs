//! Attributes that a new version of a file keeps.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use rustix::io::Errno;
use sortie_sandbox::WriteError;

use crate::fixture::Fixture;

const FILE: &str = "sub/deep/file.txt";

fn set_mode(fixture: &Fixture, path: &str, mode: u32) {
    fs::set_permissions(fixture.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

fn replace(fixture: &Fixture) -> Result<(), WriteError> {
    fixture.workspace.write(FILE, b"new", fixture.as_it_is(FILE)).map(|_| ())
}

fn mode(fixture: &Fixture) -> u32 {
    fs::metadata(fixture.path(FILE)).unwrap().mode() & 0o7777
}

fn attribute(fixture: &Fixture, path: &str, name: &str) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; 10_000];
    let length = fgetxattr(File::open(fixture.path(path)).unwrap(), name, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}

fn set_attribute(fixture: &Fixture, path: &str, name: &str, value: &[u8]) {
    fsetxattr(File::open(fixture.path(path)).unwrap(), name, value, XattrFlags::empty()).unwrap();
}

/// An access list as the kernel writes it: the owner all, user 4321 `user`, the group nothing, the mask `mask`.
fn access_list(user: u16, mask: u16) -> Vec<u8> {
    const NOBODY_IN_PARTICULAR: u32 = u32::MAX;
    let entries = [
        (0x01, 7, NOBODY_IN_PARTICULAR),
        (0x02, user, 4321),
        (0x04, 0, NOBODY_IN_PARTICULAR),
        (0x10, mask, NOBODY_IN_PARTICULAR),
        (0x20, 0, NOBODY_IN_PARTICULAR),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(u16::to_le_bytes(tag));
        bytes.extend(u16::to_le_bytes(permissions));
        bytes.extend(u32::to_le_bytes(id));
    }
    bytes
}

#[test]
fn the_mode_stays_but_lends_nobody_the_owners_rights() {
    let fixture = Fixture::new();
    for (before, after) in [(0o755, 0o755), (0o600, 0o600), (0o666, 0o666), (0o6755, 0o755), (0o1644, 0o644)] {
        set_mode(&fixture, FILE, before);
        replace(&fixture).unwrap();
        assert_eq!(mode(&fixture), after, "{before:o}");
    }
}

#[test]
fn the_owner_stays_if_this_user_can_give_files_away() {
    let fixture = Fixture::new();
    let owner = if rustix::process::geteuid().is_root() { 1234 } else { rustix::process::geteuid().as_raw() };
    let group = if rustix::process::geteuid().is_root() { 4321 } else { rustix::process::getegid().as_raw() };
    chown(fixture.path(FILE), Some(owner), Some(group)).unwrap();
    replace(&fixture).unwrap();
    let metadata = fs::metadata(fixture.path(FILE)).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (owner, group));
}

#[test]
fn user_attributes_stay() {
    let fixture = Fixture::new();
    set_attribute(&fixture, FILE, "user.origin", b"https://example.com");
    // Larger than a first buffer, and small enough for every file system.
    set_attribute(&fixture, FILE, "user.long", &[b'x'; 2000]);
    replace(&fixture).unwrap();
    assert_eq!(attribute(&fixture, FILE, "user.origin").unwrap(), b"https://example.com");
    assert_eq!(attribute(&fixture, FILE, "user.long").unwrap(), [b'x'; 2000]);
}

/// Without its list, the group's bits of the mode would suddenly mean the group.
#[test]
fn an_access_list_stays() {
    let fixture = Fixture::new();
    let list = access_list(4, 6);
    set_attribute(&fixture, FILE, "system.posix_acl_access", &list);
    assert_eq!(mode(&fixture), 0o760);
    replace(&fixture).unwrap();
    assert_eq!(attribute(&fixture, FILE, "system.posix_acl_access").unwrap(), list);
    assert_eq!(mode(&fixture), 0o760);
}

#[test]
fn a_list_for_new_files_does_not_open_an_old_one_to_others() {
    let fixture = Fixture::new();
    set_mode(&fixture, FILE, 0o640);
    set_attribute(&fixture, "sub/deep", "system.posix_acl_default", &access_list(6, 6));
    replace(&fixture).unwrap();
    assert_eq!(attribute(&fixture, FILE, "system.posix_acl_access"), Err(Errno::NODATA));
    assert_eq!(mode(&fixture), 0o640);
}
