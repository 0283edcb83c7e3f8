//! Programs that reach other machines.

use crate::armed::sheet::{Nature, Sheet, sheet};

pub(super) const SHEETS: &[Sheet] = &[
    Sheet {
        runs: "-o -F -S -D -b -I -J --ssh --client --server",
        turns: "^-",
        ..sheet("ssh scp sftp slogin mosh ssh-copy-id autossh sshfs")
    },
    Sheet {
        runs: "-e --rsh --rsync-path --daemon --config",
        spills: "-T --backup-dir --temp-dir --partial-dir --delete --remove-source-files",
        writes: "--log-file --write-batch --only-write-batch",
        turns: "-M --remote-option --early-input --password-file --files-from",
        ..sheet("rsync")
    },
    Sheet {
        runs: "--engine",
        spills: "-O -J -K --remote-name --remote-name-all --remote-header-name --output-dir --config",
        writes: "-o -D -c --output --dump-header --cookie-jar --trace --trace-ascii --stderr --libcurl --etag-save --hsts \
                 --alt-svc",
        turns: "-T -w --upload-file --write-out --netrc-file --unix-socket --abstract-unix-socket",
        ..sheet("curl")
    },
    Sheet {
        runs: "-e --execute --use-askpass",
        spills: "-P -m -r -i --directory-prefix --mirror --recursive --input-file --page-requisites",
        writes: "-O -o -a --output-document --output-file --append-output --save-cookies --warc-file --rejected-log",
        turns: "--post-file --body-file --config",
        nature: Nature::Spills,
        excuses: "--spider =-V =-h --version --help",
        ..sheet("wget wget2")
    },
    Sheet {
        runs: "^--on- -c --conf-path",
        spills: "-d -i --dir --input-file",
        writes: "-o -l --out --log --save-session",
        nature: Nature::Spills,
        excuses: "=-v =-h --version --help",
        ..sheet("aria2c")
    },
    Sheet {
        runs: "-e -c -f",
        nature: Nature::RunsInput,
        excuses: "-e -c -f --version --help",
        ..sheet("lftp ftp ncftp")
    },
    Sheet { runs: "-c -e --exec --sh-exec --lua-exec", writes: "-o --output --hex-dump", ..sheet("nc ncat netcat") },
    Sheet {
        runs: "^EXEC: ^SYSTEM: ^exec: ^system: ^SHELL: ^shell: *,exec *EXEC: *SYSTEM:",
        spills: "^OPEN: ^open: ^CREATE: ^create: ^GOPEN: ^gopen: ^PIPE: ^pipe:",
        ..sheet("socat")
    },
    Sheet { runs: "-z", writes: "-w", ..sheet("tcpdump tshark dumpcap") },
    Sheet { runs: "--script", spills: "^-o", turns: "^-s", ..sheet("nmap") },
    Sheet {
        runs: "--pinentry-program --exec-path --photo-viewer --agent-program --dirmngr-program --options",
        writes: "-o --output",
        ..sheet("gpg gpg2")
    },
    Sheet {
        runs: "-engine -provider -config",
        writes: "=-out =--out =-keyout =--keyout =-writerand =-CAserial",
        ..sheet("openssl")
    },
    Sheet { turns: "--config -H --host", ..sheet("docker podman nerdctl") },
    Sheet { runs: "--kubeconfig", ..sheet("kubectl oc") },
    Sheet { runs: "--post-renderer --plugins", ..sheet("helm") },
    Sheet { runs: "-a -m -e --args --module-name --extra-vars", ..sheet("ansible ansible-playbook") },
];
