//! Interpreters, editors and databases, which can run a text instead of a file.

use crate::armed::profile::{Nature, Profile, in_front, profile};

const SAYS_VERSION: &str = "=-V =--version =-h =--help =-v =-version =--help-all";

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        runs: "-c -i <",
        turns: "-m -X",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("python python2 python3 pypy pypy3")
    },
    Profile {
        runs: "-e -p -i < --eval --print --interactive --import --loader --experimental-loader",
        turns: "-r --require --env-file --inspect ^http: ^https:",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("node nodejs deno bun tsx ts-node")
    },
    Profile {
        runs: "-e -E -M -m -d <",
        spills: "-i",
        turns: "-I -x -X -D",
        nature: Nature::RunsInputAlone,
        excuses: "=-v ^-V =--version =-h =--help",
        ..in_front("perl")
    },
    Profile {
        runs: "-e <",
        spills: "-i",
        turns: "-r -R -I -x -C -S --require",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("ruby")
    },
    Profile { nature: Nature::RunsInput, excuses: SAYS_VERSION, ..profile("irb iex ghci jshell") },
    Profile {
        runs: "-r -B -R -E -d -z -a < --run --process-code --process-begin --process-end --define --interactive",
        turns: "-F -c -S --process-file --php-ini",
        nature: Nature::RunsInputAlone,
        excuses: "=-v =-i =-m =-h =--version =--ini =--info =--modules =--help",
        ..in_front("php")
    },
    Profile {
        runs: "-e -i -E -c < --eval --expr --execute --print --load",
        turns: "-l -L -r --require",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front(
            "lua luajit Rscript R octave julia elixir erl racket guile sbcl clisp clojure clj groovy scala kotlin \
             osascript tclsh wish gnuplot maxima coffee m4",
        )
    },
    Profile { runs: "=-e <", turns: "-fplugin -pgm ^-F", writes: "^-o", ..profile("ghc runghc") },
    Profile {
        runs: "-javaagent -agentpath -agentlib ^-XX:On ^@ ^-Xbootclasspath -processor -processorpath ^-Xplugin ^-J",
        spills: "=-d",
        ..profile("java javac")
    },
    Profile { nature: Nature::RunsInput, excuses: "=--version =--help", ..profile("ed red ex") },
    Profile {
        runs: "-c -S -s -u -U ^+ --cmd --servername --remote --startuptime",
        writes: "-w -W",
        turns: "-o -i",
        ..profile("vim vi nvim view vimdiff rvim rview")
    },
    Profile {
        runs: "-l -f --eval --execute --load --script --funcall --batch --insert",
        ..profile("emacs emacsclient")
    },
    Profile {
        runs: "*\\! *\\copy *\\o *\\g *PROGRAM *program",
        writes: "-o -L --output --log-file",
        turns: "-c -f -v --command --file --set --variable",
        nature: Nature::RunsInput,
        excuses: "-c -f -l -V --command --file --list --version --help",
        ..profile("psql")
    },
    Profile {
        runs: "*\\! *system --init-command --pager --tee",
        turns: "-e --execute --defaults-file --defaults-extra-file",
        nature: Nature::RunsInput,
        excuses: "-e -V --execute --version --help",
        ..profile("mysql mariadb")
    },
    Profile {
        runs: "^. -cmd -init *load_extension *edit( *writefile( *fts3_tokenizer",
        nature: Nature::RunsInputAlone,
        excuses: "-version -help",
        ..profile("sqlite3")
    },
    Profile { runs: "--eval --shell", nature: Nature::RunsInputAlone, ..profile("mongosh mongo") },
    Profile { runs: "-f", ..profile("tmux") },
    Profile { runs: "-X -c", nature: Nature::RunsInput, excuses: "-ls -list -v", ..profile("screen") },
];
