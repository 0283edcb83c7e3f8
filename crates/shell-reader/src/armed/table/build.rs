//! Programs that compile, build, install and pack.

use crate::armed::sheet::{Nature, Sheet, in_front, of_verbs, sheet};

const LINKING: &str = "^-Clink ^link-arg ^linker ^pre-link ^--codegen=link ^--codegen=pre-link ^-Zcodegen-backend \
    ^codegen-backend ^-Zpre-link ^-Cdlltool ^dlltool ^@";

pub(super) const SHEETS: &[Sheet] = &[
    Sheet { runs: "--config --debugger", ..sheet("hg") },
    Sheet { runs: "--config --config-file --config-toml --tool", turns: "-R --repository", ..sheet("jj") },
    Sheet { runs: "--config-option --config-dir --editor-cmd --diff-cmd --diff3-cmd", ..sheet("svn svnadmin") },
    Sheet {
        runs: "-E --eval < NAME=",
        turns: "-f -C -I -e --file --makefile --directory --include-dir --environment-overrides",
        ..sheet("make gmake")
    },
    Sheet { runs: "^-P =-E ^-DCMAKE ^CMAKE", turns: "^-C", ..sheet("cmake") },
    Sheet { runs: "-S --script --build-and-test", ..sheet("ctest") },
    Sheet { turns: "-C -f -t", ..sheet("ninja samu") },
    Sheet { runs: "-c --command --shell --shell-arg --set", turns: "-f -d --justfile", ..sheet("just") },
    Sheet { runs: "-e -E -p -r --execute --require", turns: "-f --rakefile", ..sheet("rake") },
    Sheet {
        runs: "-I --init-script ^-Dexec",
        turns: "-b -c -D -P -p -s -f --settings --file",
        ..sheet("gradle gradlew mvn ant")
    },
    Sheet { runs: "--run_under --bazelrc", ..sheet("bazel bazelisk") },
    Sheet {
        runs: "-wrapper -fplugin -fpass-plugin -specs -plugin -load -ld-path ^-B ^@",
        writes: "^-o ^-MF",
        turns: "-fuse-ld -Xclang",
        ..sheet("gcc g++ cc c++ cpp clang clang++ tcc gfortran")
    },
    Sheet { runs: "-plugin ^@", writes: "^-o", ..sheet("ld ld.bfd ld.gold ld.lld lld gold mold") },
    Sheet { runs: LINKING, writes: "^-o --out-dir", turns: "--sysroot", ..sheet("rustc rustdoc") },
    Sheet { runs: "--config", turns: "^+", ..sheet("cargo") },
    Sheet { turns: "-C -Z", ..in_front("cargo") },
    Sheet { runs: LINKING, ..of_verbs("cargo", "rustc rustdoc") },
    Sheet {
        runs: "-exec -toolexec -vettool -overlay *extld",
        writes: "=-o =--o ^-o= -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir",
        turns: "=-C -modfile -pkgdir -compiler -gccgoflags",
        ..sheet("go")
    },
    Sheet { turns: "-w -u", ..of_verbs("go", "env") },
    Sheet {
        runs: "-c --script-shell --shell --call --node-options --editor --viewer --init-module --onload-script --git",
        turns: "-C --prefix --dir --cwd --userconfig --globalconfig --use-yarnrc --registry",
        ..sheet("npm pnpm yarn")
    },
    Sheet { runs: "-c --call --shell-mode", ..sheet("npx pnpx") },
    Sheet {
        runs: "--python --global-option --build-option --install-option --config-settings",
        spills: "-t -d -w --target --prefix --root --src --dest --wheel-dir",
        writes: "--log --report",
        turns: "-i -f ^--ind ^--ext ^--find",
        ..sheet("pip pip3")
    },
    Sheet { runs: "-o -c --option --config-file", ..sheet("apt apt-get apt-cache") },
    Sheet { runs: "--pre-invoke --post-invoke --status-logger --root --instdir --admindir", ..sheet("dpkg") },
    Sheet { runs: "-E -D --pipe --eval --define --rcfile --macros", ..sheet("rpm rpmbuild") },
    Sheet { runs: "-e --ed", writes: "-o -r --output --reject-file", turns: "-d --directory", ..sheet("patch") },
    Sheet {
        runs: "-I -F --checkpoint-action --use-compress-program --to-command --info-script --new-volume-script \
               --rsh-command --rmt-command",
        spills: "-x -c -r -u --extract --get --create --append --update --delete --index-file",
        turns: "-C",
        bundled: true,
        ..sheet("tar gtar bsdtar")
    },
    Sheet { spills: "-d -m -q -r -s -x", bundled: true, ..sheet("ar") },
    Sheet { spills: "-c -u -x", bundled: true, ..sheet("jar") },
    Sheet { spills: "-i -o -p --extract --create --pass-through", writes: "-O -F --file", ..sheet("cpio") },
    Sheet { runs: "-T --test --unzip-command", spills: "-m -b --move", writes: "-O --output-file", ..sheet("zip") },
    Sheet { spills: "-d", nature: Nature::Spills, excuses: "-l -t -v -p -c -Z -z -h", ..sheet("unzip") },
    Sheet {
        runs: "-F -L --filter --lua-filter --pdf-engine --pdf-engine-opt -d --defaults",
        writes: "-o --output --log",
        spills: "--extract-media",
        ..sheet("pandoc")
    },
    Sheet {
        runs: "-shell-escape -enable-write18",
        spills: "-output-directory",
        ..sheet("latex pdflatex xelatex lualatex tex pdftex")
    },
    Sheet { writes: "^-o", spills: "-O", ..sheet("dot neato fdp sfdp twopi circo") },
    Sheet { runs: "--plugin ^@", spills: "*_out", ..sheet("protoc") },
];
