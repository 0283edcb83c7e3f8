//! Flags of `cargo xtask hosts`.

use super::host::Host;

pub(super) struct Options {
    pub(super) hosts: Vec<Host>,
    pub(super) write: bool,
}

impl Options {
    pub(super) fn parse(flags: &[String]) -> Option<Self> {
        let mut options = Self { hosts: Host::ALL.to_vec(), write: false };
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "--write" => options.write = true,
                "--only" => {
                    let named = |name| Host::ALL.into_iter().find(|host| host.name() == name);
                    options.hosts = flags.next()?.split(',').map(named).collect::<Option<_>>()?;
                }
                _ => return None,
            }
        }
        Some(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_hosts_can_be_named() {
        let parse = |flags: &[&str]| Options::parse(&flags.iter().map(|flag| (*flag).to_owned()).collect::<Vec<_>>());
        let options = parse(&["--only", "codex,gemini", "--write"]).unwrap();
        assert_eq!((options.hosts, options.write), (vec![Host::Codex, Host::Gemini], true));
        assert_eq!(parse(&[]).unwrap().hosts.len(), 4);
        assert!(parse(&["--only", "emacs"]).is_none() && parse(&["--fast"]).is_none());
    }
}
