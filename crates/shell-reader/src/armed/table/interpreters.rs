//! Languages, editors and databases: what makes them run a text instead of a file.

use crate::armed::sheet::{Nature, Sheet, in_front, sheet};

const SAYS_VERSION: &str = "=-V =--version =-h =--help =-v =-version =--help-all";

pub(super) const SHEETS: &[Sheet] = &[
    Sheet {
        runs: "-c -i <",
        turns: "-m -X",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("python python2 python3 pypy pypy3")
    },
    Sheet {
        runs: "-e -p -i < --eval --print --interactive --import --loader --experimental-loader",
        turns: "-r --require --env-file --inspect ^http: ^https:",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("node nodejs deno bun tsx ts-node")
    },
    Sheet {
        runs: "-e -E -M -m -d <",
        spills: "-i",
        turns: "-I -x -X -D",
        nature: Nature::RunsInputAlone,
        excuses: "=-v ^-V =--version =-h =--help",
        ..in_front("perl")
    },
    Sheet {
        runs: "-e <",
        spills: "-i",
        turns: "-r -R -I -x -C -S --require",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front("ruby")
    },
    Sheet { nature: Nature::RunsInput, excuses: SAYS_VERSION, ..sheet("irb iex ghci jshell") },
    Sheet {
        runs: "-r -B -R -E -d -z -a < --run --process-code --process-begin --process-end --define --interactive",
        turns: "-F -c -S --process-file --php-ini",
        nature: Nature::RunsInputAlone,
        excuses: "=-v =-i =-m =-h =--version =--ini =--info =--modules =--help",
        ..in_front("php")
    },
    Sheet {
        runs: "-e -i -E -c < --eval --expr --execute --print --load",
        turns: "-l -L -r --require",
        nature: Nature::RunsInputAlone,
        excuses: SAYS_VERSION,
        ..in_front(
            "lua luajit Rscript R octave julia elixir erl racket guile sbcl clisp clojure clj groovy scala kotlin \
             osascript tclsh wish gnuplot maxima coffee m4",
        )
    },
    Sheet { runs: "=-e <", turns: "-fplugin -pgm ^-F", writes: "^-o", ..sheet("ghc runghc") },
    Sheet {
        runs: "-javaagent -agentpath -agentlib ^-XX:On ^@ ^-Xbootclasspath -processor -processorpath ^-Xplugin ^-J",
        spills: "=-d",
        ..sheet("java javac")
    },
    Sheet { nature: Nature::RunsInput, excuses: "=--version =--help", ..sheet("ed red ex") },
    Sheet {
        runs: "-c -S -s -u -U ^+ --cmd --servername --remote --startuptime",
        writes: "-w -W",
        turns: "-o -i",
        ..sheet("vim vi nvim view vimdiff rvim rview")
    },
    Sheet { runs: "-l -f --eval --execute --load --script --funcall --batch --insert", ..sheet("emacs emacsclient") },
    Sheet {
        runs: "*\\! *\\copy *\\o *\\g *PROGRAM *program",
        writes: "-o -L --output --log-file",
        turns: "-c -f -v --command --file --set --variable",
        nature: Nature::RunsInput,
        excuses: "-c -f -l -V --command --file --list --version --help",
        ..sheet("psql")
    },
    Sheet {
        runs: "*\\! *system --init-command --pager --tee",
        turns: "-e --execute --defaults-file --defaults-extra-file",
        nature: Nature::RunsInput,
        excuses: "-e -V --execute --version --help",
        ..sheet("mysql mariadb")
    },
    Sheet {
        runs: "^. -cmd -init *load_extension *edit( *writefile( *fts3_tokenizer",
        nature: Nature::RunsInputAlone,
        excuses: "-version -help",
        ..sheet("sqlite3")
    },
    Sheet { runs: "--eval --shell", nature: Nature::RunsInputAlone, ..sheet("mongosh mongo") },
    Sheet { runs: "-f", ..sheet("tmux") },
    Sheet { runs: "-X -c", nature: Nature::RunsInput, excuses: "-ls -list -v", ..sheet("screen") },
];
