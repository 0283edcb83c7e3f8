//! A terminal with a person at one end.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The person's end, and the programs' end.
pub(crate) fn terminal() -> (File, OwnedFd) {
    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&host).unwrap();
    unlockpt(&host).unwrap();
    let name = ptsname(&host, Vec::new()).unwrap();
    let guest = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (File::from(host), guest)
}
