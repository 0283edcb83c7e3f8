//! Opens regular files of a workspace for reading; anything else is refused before a byte of it is consumed.

use std::fs::File;

use rustix::fs::{AtFlags, FileType, fstat, statat};
use rustix::io::Errno;
use sortie_mutant::is_out;

use crate::paths::safe_open::{self, LOOK, READ};
use crate::paths::{AccessError, FileKind, Opened, Place, Stamp, shown};

/// A file, and its stamp when it was opened.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) stamp: Stamp,
}

/// Opens a regular file. A link on the way is [`Errno::LOOP`].
pub(super) fn open_regular(path: &str, place: &Place<'_>) -> Opened<OpenFile> {
    // Checked first, because opening a device can already have an effect; and again once open, because the name may
    // have changed its meaning in between. The first check may pass through a link, so it only decides whether to go
    // on.
    let directory = place.root.directory();
    let glance = statat(directory, &*place.beneath, AtFlags::SYMLINK_NOFOLLOW);
    if !glance.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile) {
        let kind = safe_open::kind_of(&safe_open::open(directory, &place.beneath, LOOK)?)?.into();
        if kind != FileKind::File && !is_out("regular-files") {
            return Ok(Err(not_regular(path, kind)));
        }
    }
    match open_unseen(path, place) {
        Err(Errno::NOENT) => Ok(Err(AccessError::Vanished { path: shown(path) })),
        opened => opened,
    }
}

/// Opens a file just listed as regular; checks it only once it is open.
pub(super) fn open_unseen(path: &str, place: &Place<'_>) -> Opened<OpenFile> {
    let file = safe_open::open(place.root.directory(), &place.beneath, READ)?;
    let stamp = Stamp::from(fstat(&file)?);
    if stamp.kind != FileKind::File && !is_out("regular-files") {
        return Ok(Err(not_regular(path, stamp.kind)));
    }
    Ok(Ok(OpenFile { file: File::from(file), stamp }))
}

fn not_regular(path: &str, kind: FileKind) -> AccessError {
    match kind {
        FileKind::Directory => AccessError::IsDirectory { path: shown(path) },
        kind => AccessError::NotRegular { path: shown(path), kind },
    }
}
