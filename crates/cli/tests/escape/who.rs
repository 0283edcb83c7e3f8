//! Prints the user of the suite: root is refused nothing, so a run as root alone proves less.

use std::io::Write as _;

use crate::user::User;

/// Its name is the last: it runs when all others have been started.
#[test]
fn the_suite_says_as_whom_it_ran() {
    let users: Vec<String> = User::all().iter().map(|user| format!("uid {}", user.uid())).collect();
    // Past the runner, which only shows output of failing tests.
    writeln!(std::io::stderr(), "escape suite: every attack was made as {}", users.join(" and as ")).unwrap();
    if rustix::process::geteuid().is_root() {
        assert_eq!(users.len(), 2, "once more without privileges");
    }
}
