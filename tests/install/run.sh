#!/usr/bin/env bash
# Installs the current build into a temporary prefix, then builds and runs the outside program
# twice: with find_package(weir), and with nothing but pkg-config and a compiler.
# Environment, set by CTest: WEIR_SOURCE_DIR, WEIR_BUILD_DIR, CMAKE, CXX.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
program=$WEIR_SOURCE_DIR/tests/install

"$CMAKE" --install "$WEIR_BUILD_DIR" --prefix "$prefix" >/dev/null
"$prefix/bin/weir" --help >/dev/null
echo "installed; the installed command runs"

for name in man completions dedup; do
  "$prefix/bin/weir" man $name | cmp - "$prefix/share/man/man1/weir-$name.1"
done
"$prefix/bin/weir" man | cmp - "$prefix/share/man/man1/weir.1"
"$prefix/bin/weir" completions bash | cmp - "$prefix/share/bash-completion/completions/weir"
"$prefix/bin/weir" completions zsh | cmp - "$prefix/share/zsh/site-functions/_weir"
"$prefix/bin/weir" completions fish | cmp - "$prefix/share/fish/vendor_completions.d/weir.fish"
echo "manual pages and completions are those of the installed command"

"$CMAKE" -S "$program" -B "$work/build" -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$CMAKE" --build "$work/build"
"$work/build/outside"
printf 'a\nb\na\n' >"$work/lines"
[[ $("$work/build/outside-engine" "$work/lines") == $'a\nb' ]]
"$work/build/outside-exchange"
echo "find_package(weir): built and ran"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weir.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir weir)
read -ra flags <<<"$(pkg-config --cflags --libs weir)"
"$CXX" -std=c++20 "$program/main.cpp" "${flags[@]}" -o "$work/outside"
LD_LIBRARY_PATH=$libdir "$work/outside"
read -ra flags <<<"$(pkg-config --cflags --libs weir-engine)"
"$CXX" -std=c++20 "$program/engine.cpp" "${flags[@]}" -o "$work/outside-engine"
[[ $(LD_LIBRARY_PATH=$libdir "$work/outside-engine" "$work/lines") == $'a\nb' ]]
read -ra flags <<<"$(pkg-config --cflags --libs weir-exchange)"
"$CXX" -std=c++20 "$program/exchange.cpp" "${flags[@]}" -o "$work/outside-exchange"
LD_LIBRARY_PATH=$libdir "$work/outside-exchange"
echo "pkg-config: built and ran"
