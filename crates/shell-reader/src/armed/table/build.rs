//! Programs that compile, build, install and pack.

use crate::armed::profile::{Nature, Profile, in_front, of_subcommands, profile};

const LINKING: &str = "^-Clink ^link-arg ^linker ^pre-link ^--codegen=link ^--codegen=pre-link ^-Zcodegen-backend \
    ^codegen-backend ^-Zpre-link ^-Cdlltool ^dlltool ^@";

pub(super) const PROFILES: &[Profile] = &[
    Profile { runs: "--config --debugger", ..profile("hg") },
    Profile { runs: "--config --config-file --config-toml --tool", turns: "-R --repository", ..profile("jj") },
    Profile { runs: "--config-option --config-dir --editor-cmd --diff-cmd --diff3-cmd", ..profile("svn svnadmin") },
    Profile {
        runs: "-E --eval < NAME=",
        turns: "-f -C -I -e --file --makefile --directory --include-dir --environment-overrides",
        ..profile("make gmake")
    },
    Profile { runs: "^-P =-E ^-DCMAKE ^CMAKE", turns: "^-C", ..profile("cmake") },
    Profile { runs: "-S --script --build-and-test", ..profile("ctest") },
    Profile { turns: "-C -f -t", ..profile("ninja samu") },
    Profile { runs: "-c --command --shell --shell-arg --set", turns: "-f -d --justfile", ..profile("just") },
    Profile { runs: "-e -E -p -r --execute --require", turns: "-f --rakefile", ..profile("rake") },
    Profile {
        runs: "-I --init-script ^-Dexec",
        turns: "-b -c -D -P -p -s -f --settings --file",
        ..profile("gradle gradlew mvn ant")
    },
    Profile { runs: "--run_under --bazelrc", ..profile("bazel bazelisk") },
    Profile {
        runs: "-wrapper -fplugin -fpass-plugin -specs -plugin -load -ld-path ^-B ^@",
        writes: "^-o ^-MF",
        turns: "-fuse-ld -Xclang",
        ..profile("gcc g++ cc c++ cpp clang clang++ tcc gfortran")
    },
    Profile { runs: "-plugin ^@", writes: "^-o", ..profile("ld ld.bfd ld.gold ld.lld lld gold mold") },
    Profile { runs: LINKING, writes: "^-o --out-dir", turns: "--sysroot", ..profile("rustc rustdoc") },
    Profile { runs: "--config", turns: "^+", ..profile("cargo") },
    Profile { turns: "-C -Z", ..in_front("cargo") },
    Profile { runs: LINKING, ..of_subcommands("cargo", "rustc rustdoc") },
    Profile {
        runs: "-exec -toolexec -vettool -overlay *extld",
        writes: "=-o =--o ^-o= -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir",
        turns: "=-C -modfile -pkgdir -compiler -gccgoflags",
        ..profile("go")
    },
    Profile { turns: "-w -u", ..of_subcommands("go", "env") },
    Profile {
        runs: "-c --script-shell --shell --call --node-options --editor --viewer --init-module --onload-script --git",
        turns: "-C --prefix --dir --cwd --userconfig --globalconfig --use-yarnrc --registry",
        ..profile("npm pnpm yarn")
    },
    Profile { runs: "-c --call --shell-mode", ..profile("npx pnpx") },
    Profile {
        runs: "--python --global-option --build-option --install-option --config-settings",
        spills: "-t -d -w --target --prefix --root --src --dest --wheel-dir",
        writes: "--log --report",
        turns: "-i -f ^--ind ^--ext ^--find",
        ..profile("pip pip3")
    },
    Profile { runs: "-o -c --option --config-file", ..profile("apt apt-get apt-cache") },
    Profile { runs: "--pre-invoke --post-invoke --status-logger --root --instdir --admindir", ..profile("dpkg") },
    Profile { runs: "-E -D --pipe --eval --define --rcfile --macros", ..profile("rpm rpmbuild") },
    Profile { runs: "-e --ed", writes: "-o -r --output --reject-file", turns: "-d --directory", ..profile("patch") },
    Profile {
        runs: "-I -F --checkpoint-action --use-compress-program --to-command --info-script --new-volume-script \
               --rsh-command --rmt-command",
        spills: "-x -c -r -u --extract --get --create --append --update --delete --index-file",
        turns: "-C",
        bundled: true,
        ..profile("tar gtar bsdtar")
    },
    Profile { spills: "-d -m -q -r -s -x", bundled: true, ..profile("ar") },
    Profile { spills: "-c -u -x", bundled: true, ..profile("jar") },
    Profile { spills: "-i -o -p --extract --create --pass-through", writes: "-O -F --file", ..profile("cpio") },
    Profile { runs: "-T --test --unzip-command", spills: "-m -b --move", writes: "-O --output-file", ..profile("zip") },
    Profile { spills: "-d", nature: Nature::Spills, excuses: "-l -t -v -p -c -Z -z -h", ..profile("unzip") },
    Profile {
        runs: "-F -L --filter --lua-filter --pdf-engine --pdf-engine-opt -d --defaults",
        writes: "-o --output --log",
        spills: "--extract-media",
        ..profile("pandoc")
    },
    Profile {
        runs: "-shell-escape -enable-write18",
        spills: "-output-directory",
        ..profile("latex pdflatex xelatex lualatex tex pdftex")
    },
    Profile { writes: "^-o", spills: "-O", ..profile("dot neato fdp sfdp twopi circo") },
    Profile { runs: "--plugin ^@", spills: "*_out", ..profile("protoc") },
];
