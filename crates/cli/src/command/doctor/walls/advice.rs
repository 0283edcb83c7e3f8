//! Advice for a machine that cannot build a wall: the switch or package by name, if known.

use std::fs;
use std::path::Path;

use rustix::process::geteuid;

/// Obstacles to walls on one machine. A switch that the machine lacks is `None`.
#[derive(Debug, Clone, Default)]
pub(super) struct Machine {
    is_root: bool,
    is_container: bool,
    unprivileged_userns_clone: Option<u64>,
    apparmor_restrict_unprivileged_userns: Option<u64>,
    /// Limits on namespaces, by the name of the switch.
    most: Vec<(&'static str, Option<u64>)>,
    /// Release of the kernel.
    release: String,
    /// Enabled security modules.
    modules: Option<String>,
}

const LIMITS: [&str; 5] = [
    "user.max_ipc_namespaces",
    "user.max_mnt_namespaces",
    "user.max_net_namespaces",
    "user.max_pid_namespaces",
    "user.max_user_namespaces",
];

impl Machine {
    pub(super) fn look() -> Self {
        let text = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let switch = |name: &str| text(&format!("/proc/sys/{}", name.replace('.', "/")))?.parse().ok();
        Self {
            is_root: geteuid().is_root(),
            is_container: ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists()),
            unprivileged_userns_clone: switch("kernel.unprivileged_userns_clone"),
            apparmor_restrict_unprivileged_userns: switch("kernel.apparmor_restrict_unprivileged_userns"),
            most: LIMITS.map(|name| (name, switch(name))).to_vec(),
            release: text("/proc/sys/kernel/osrelease").unwrap_or_default(),
            modules: text("/sys/kernel/security/lsm"),
        }
    }

    /// Advice for a machine without namespaces.
    pub(super) fn how_to_have_namespaces(&self) -> String {
        let mut steps: Vec<String> = self
            .most
            .iter()
            .filter(|(_, most)| *most == Some(0))
            .map(|(name, _)| format!("set `{name}` to more than 0 with sysctl"))
            .collect();
        if !self.is_root && self.unprivileged_userns_clone == Some(0) {
            steps.push("set `kernel.unprivileged_userns_clone` to 1 with sysctl".to_owned());
        }
        if !self.is_root && self.apparmor_restrict_unprivileged_userns == Some(1) {
            let step = "set `kernel.apparmor_restrict_unprivileged_userns` to 0 with sysctl, or give this program an \
                        AppArmor profile that allows `userns`";
            steps.push(step.to_owned());
        }
        if steps.is_empty() && self.is_container {
            let step = "start the container with `--security-opt seccomp=unconfined --security-opt \
                        systempaths=unconfined`, and with `--cap-add SYS_ADMIN` where it runs as root";
            steps.push(step.to_owned());
        }
        if steps.is_empty() {
            steps.push("the sandbox around this program must allow `unshare` and `mount`".to_owned());
        }
        format!("for namespaces: {}", steps.join("; "))
    }

    pub(super) fn how_to_have_landlock(&self) -> String {
        /// First kernel with Landlock.
        const SINCE: (u32, u32) = (5, 13);
        let mut numbers = self.release.split(|letter: char| !letter.is_ascii_digit()).map(|number| number.parse().ok());
        let version: Option<(u32, u32)> = numbers.next().flatten().zip(numbers.next().flatten());
        let is_on = |modules: &String| modules.split(',').any(|module| module == "landlock");
        let release = &self.release;
        let step = match &self.modules {
            _ if version.is_some_and(|version| version < SINCE) => {
                format!("Linux 5.13 or later is needed, and this is {release}")
            }
            Some(modules) if !is_on(modules) => {
                format!("boot the kernel with `lsm=landlock,{modules}`; it must be built with CONFIG_SECURITY_LANDLOCK")
            }
            Some(_) => "the sandbox around this program must allow the system calls of Landlock".to_owned(),
            None => {
                "the kernel must be built with CONFIG_SECURITY_LANDLOCK and booted with `landlock` in `lsm=`".to_owned()
            }
        };
        format!("for Landlock: {step}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn the_blocking_switch_is_named() {
        let machine = Machine {
            unprivileged_userns_clone: Some(0),
            apparmor_restrict_unprivileged_userns: Some(1),
            most: vec![("user.max_user_namespaces", Some(0)), ("user.max_mnt_namespaces", Some(9))],
            ..Machine::default()
        };
        expect!["for namespaces: set `user.max_user_namespaces` to more than 0 with sysctl; set `kernel.unprivileged_userns_clone` to 1 with sysctl; set `kernel.apparmor_restrict_unprivileged_userns` to 0 with sysctl, or give this program an AppArmor profile that allows `userns`"]
            .assert_eq(&machine.how_to_have_namespaces());
    }

    #[test]
    fn switches_for_ordinary_users_do_not_block_root() {
        let machine = Machine {
            is_root: true,
            unprivileged_userns_clone: Some(0),
            apparmor_restrict_unprivileged_userns: Some(1),
            ..Machine::default()
        };
        let advice = "for namespaces: the sandbox around this program must allow `unshare` and `mount`";
        assert_eq!(machine.how_to_have_namespaces(), advice);
        let contained = Machine { is_container: true, ..machine };
        assert!(contained.how_to_have_namespaces().contains("--cap-add SYS_ADMIN"));
    }

    #[test]
    fn landlock_depends_on_the_kernel_its_modules_and_outer_confinement() {
        let advice = |release: &str, modules: Option<&str>| {
            let modules = modules.map(str::to_owned);
            Machine { release: release.into(), modules, ..Machine::default() }.how_to_have_landlock()
        };
        assert_eq!(advice("5.4.0-x", None), "for Landlock: Linux 5.13 or later is needed, and this is 5.4.0-x");
        assert!(
            advice("6.12.3", Some("capability,yama")).contains("boot the kernel with `lsm=landlock,capability,yama`")
        );
        assert!(advice("6.12.3", Some("capability,landlock")).contains("the sandbox around this program"));
        assert!(advice("6.12.3", None).contains("CONFIG_SECURITY_LANDLOCK"));
    }
}
