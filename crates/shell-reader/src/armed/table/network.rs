//! Programs that reach other machines.

use crate::armed::profile::{Nature, Profile, profile};

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        runs: "-o -F -S -D -b -I -J --ssh --client --server",
        turns: "^-",
        ..profile("ssh scp sftp slogin mosh ssh-copy-id autossh sshfs")
    },
    Profile {
        runs: "-e --rsh --rsync-path --daemon --config",
        spills: "-T --backup-dir --temp-dir --partial-dir --delete --remove-source-files",
        writes: "--log-file --write-batch --only-write-batch",
        turns: "-M --remote-option --early-input --password-file --files-from",
        ..profile("rsync")
    },
    Profile {
        runs: "--engine",
        spills: "-O -J -K --remote-name --remote-name-all --remote-header-name --output-dir --config",
        writes: "-o -D -c --output --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts \
                 --alt-svc",
        turns: "-T -w --upload-file --write-out --netrc-file --unix-socket --abstract-unix-socket",
        ..profile("curl")
    },
    Profile {
        runs: "-e --execute --use-askpass",
        spills: "-P -m -r -i --directory-prefix --mirror --recursive --input-file --page-requisites",
        writes: "-O -o -a --output-document --output-file --append-output --save-cookies --warc-file --rejected-log",
        turns: "--post-file --body-file --config",
        nature: Nature::Spills,
        excuses: "--spider =-V =-h --version --help",
        ..profile("wget wget2")
    },
    Profile {
        runs: "^--on- -c --conf-path",
        spills: "-d -i --dir --input-file",
        writes: "-o -l --out --log --save-session",
        nature: Nature::Spills,
        excuses: "=-v =-h --version --help",
        ..profile("aria2c")
    },
    Profile {
        runs: "-e -c -f",
        nature: Nature::RunsInput,
        excuses: "-e -c -f --version --help",
        ..profile("lftp ftp ncftp")
    },
    Profile {
        runs: "-c -e --exec --sh-exec --lua-exec",
        writes: "-o --output --hex-dump",
        ..profile("nc ncat netcat")
    },
    Profile {
        runs: "^EXEC: ^SYSTEM: ^exec: ^system: ^SHELL: ^shell: *,exec *EXEC: *SYSTEM:",
        spills: "^OPEN: ^open: ^CREATE: ^create: ^GOPEN: ^gopen: ^PIPE: ^pipe:",
        ..profile("socat")
    },
    Profile { runs: "-z", writes: "-w", ..profile("tcpdump tshark dumpcap") },
    Profile { runs: "--script", spills: "^-o", turns: "^-s", ..profile("nmap") },
    Profile {
        runs: "--pinentry-program --exec-path --photo-viewer --agent-program --dirmngr-program --options",
        writes: "-o --output",
        ..profile("gpg gpg2")
    },
    Profile {
        runs: "-engine -provider -config",
        writes: "=-out =--out =-keyout =--keyout =-writerand =-CAserial",
        ..profile("openssl")
    },
    Profile { runs: "-D -w", ..profile("ssh-keygen") },
    Profile { runs: "-s -S", ..profile("ssh-add") },
    Profile { runs: "--provider --module", writes: "--outfile", ..profile("certtool p11tool pkcs11-tool") },
    Profile { turns: "--config -H --host", ..profile("docker podman nerdctl") },
    Profile { runs: "--kubeconfig", ..profile("kubectl oc") },
    Profile { runs: "--post-renderer --plugins", ..profile("helm") },
    Profile { runs: "-a -m -e --args --module-name --extra-vars", ..profile("ansible ansible-playbook") },
];
