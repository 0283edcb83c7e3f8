//! Nobody can prepare the files that the program writes for itself.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use sortie_testkit::{Script, reply, when};

use crate::calls::{main_agent, task};
use crate::world::{PROMPT, World, as_each_user};

/// Sub-agent whose report is too long to be delivered.
fn long_report() -> Script {
    main_agent([task("explore", "CHILD")]).on(when::any(), reply::text("a long report\n".repeat(20_000)))
}

fn reports(world: &World) -> Vec<PathBuf> {
    world.listing("state/reports").into_iter().collect()
}

#[test]
fn s10_spill_files_are_private_and_their_names_cannot_be_guessed() {
    as_each_user(|world| {
        for _ in 0..2 {
            world.run(&[], long_report()).assert_completed();
        }
        let reports = reports(world);
        assert_eq!(reports.len(), 2, "{reports:?}");
        let name =
            |report: &PathBuf| report.file_stem().unwrap().to_str().unwrap().rsplit('-').next().unwrap().to_owned();
        let names: Vec<String> = reports.iter().map(name).collect();
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == 16), "{names:?}");
        for report in reports {
            let metadata = fs::symlink_metadata(&report).unwrap();
            assert_eq!((metadata.mode() & 0o777, metadata.uid()), (0o600, world.uid()));
        }
        assert_eq!(fs::metadata(world.path("state/reports")).unwrap().mode() & 0o777, 0o700);
    });
}

#[test]
fn s10_a_planted_directory_is_not_used() {
    as_each_user(|world| {
        world.link(world.path("outside"), "state/reports");
        let after = world.run(&[], long_report());
        assert_eq!(after.output.status.code(), Some(1), "{after:#?}");
        assert!(after.stdout().contains("the spill directory"), "{after:#?}");
        assert!(after.requests.is_empty(), "nothing was asked before");

        fs::remove_file(world.path("state/reports")).unwrap();
        fs::create_dir(world.path("state/reports")).unwrap();
        fs::set_permissions(world.path("state/reports"), fs::Permissions::from_mode(0o777)).unwrap();
        let after = world.run(&[], long_report());
        assert!(after.stdout().contains("is open to others (mode 777); run `chmod 700` on it"), "{after:#?}");
        assert!(!after.stdout().contains(PROMPT));
    });
}
