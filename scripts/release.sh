#!/usr/bin/env bash
# Usage: scripts/release.sh [PROFILE]
#
# Makes what a release consists of, in target/dist-out: an archive with the program, its completions and manual pages, the Python
# wheel, and the SHA-256 of both. PROFILE is `dist` unless named otherwise: every crate optimised and linked as one, which takes half an
# hour and more on two cores. maturin comes from PATH or into a virtual environment below target/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

profile=${1:-dist}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
target=$(rustc -vV | sed -n 's/^host: //p')
out=target/dist-out
name=lakeward-$version-$target

rm -rf "$out"
mkdir -p "$out/$name/completions" "$out/$name/man"
cargo build --profile "$profile" --locked --bin lakeward
program=target/$profile/lakeward
cp "$program" LICENSE README.md CHANGELOG.md "$out/$name"
strip "$out/$name/lakeward"
for shell in bash elvish fish powershell zsh; do
    "$program" completions "$shell" >"$out/$name/completions/lakeward.$shell"
done
"$program" manual "$out/$name/man"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -czf "$out/$name.tar.gz" "$name"
rm -r "${out:?}/$name"

maturin=$(command -v maturin || true)
if [[ -z $maturin ]]; then
    [[ -x target/release-tools/bin/maturin ]] || {
        python3 -m venv target/release-tools
        target/release-tools/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
    }
    maturin=target/release-tools/bin/maturin
fi
"$maturin" build --profile "$profile" --locked --manifest-path python/Cargo.toml --out "$out"

cd "$out"
sha256sum -- *.tar.gz *.whl >SHA256SUMS
ls -l
