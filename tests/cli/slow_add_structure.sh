#!/usr/bin/env bash
# Follows "Add a structure in three steps" of CONTRIBUTING.md in a copy of the tree: the toy's own
# files, one line, its golden file. Then the command, the laws and the loader's tests know it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir "$tree"
(cd "$WEIR_SOURCE_DIR" &&
  tar -cf - CMakeLists.txt CMakePresets.json cmake include src cli lab tests fuzz) | tar -xf - -C "$tree"

cp "$tree"/tests/fixtures/toy/toy.{hpp,cpp} "$tree/src/filter/"   # step 1
echo 'WEIR_STRUCTURE(toy)' >>"$tree/src/core/structures.def"      # step 2

# Sanitizers are off whatever the caller's build has: what is tested here are the steps.
# Only what the catalogue drives is built, not the tests of single parts.
rm -rf "$tree"/tests/{alone,core,filter,hash,install,lab,plan,sample,sketch,cli}
rm "$tree"/tests/laws/slow_sizes_test.cpp
cmake -S "$tree" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
  -DWEIR_WERROR=ON >/dev/null
cmake --build "$work/build" --target weir-cli weir-tests | tail -1

weir=$work/build/weir
listed=$("$weir" filters)
grep -q '^  toy ' <<<"$listed"
[[ $(printf 'a\nb\na\n' | "$weir" dedup --filter toy:m=1000) == $'a\nb' ]]
echo "the command knows it"

tests=$work/build/weir-tests
WEIR_WRITE_GOLDEN=1 "$tests" --gtest_filter='*Golden*' >/dev/null || true   # step 3
"$tests" --gtest_filter='*toy*:*Golden*' >"$work/log" || { cat "$work/log"; exit 1; }
ran=$(grep -c '^\[       OK \].*toy' "$work/log")
((ran >= 25)) || { echo "only $ran law tests ran for it"; exit 1; }
echo "$ran law tests hold for it"

# Nothing else was touched.
changed=$(cd "$tree" && find . -type f ! -path './tests/*' -newer "$work/build/CMakeCache.txt" | sort)
[[ -z $changed ]] || { echo "changed by the build: $changed"; exit 1; }
