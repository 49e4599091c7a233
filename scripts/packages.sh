# The Debian packages this project needs, and how to get them. Sourced by run, test and scripts/*.
# An entry is PACKAGE, or PACKAGE=COMMAND where the command on PATH is as good as the package.
# shellcheck shell=bash disable=SC2034

build_packages=(
  g++=g++ cmake=cmake ninja-build=ninja pkg-config=pkg-config
  libsodium-dev libxxhash-dev zlib1g-dev libzstd-dev libsimdjson-dev libfmt-dev libcli11-dev
  librsync-dev
)
test_packages=(
  "${build_packages[@]}"
  libgtest-dev libgmock-dev librapidcheck-dev
  clang-format-16=clang-format-16 git=git python3=python3
  zsh=zsh fish=fish groff-base=groff mandoc=mandoc gzip=gzip zstd=zstd util-linux=setpriv
  rdiff=rdiff  # what weir signature, delta and patch are held against
  gnuplot-nox=gnuplot chromium=chromium  # the lab's charts, and a reader of its report
  redis-tools=redis-check-rdb  # holds the server as well, without the service of redis-server
  python3-redis  # a client of BF.* and CMS.*; node, where there is one, brings the other
)
redis_packages=(redis-tools=redis-check-rdb)
format_packages=(clang-format-16=clang-format-16 git=git)
# Not needed by run and test: static analysis, fuzzing, benchmarks.
tidy_packages=("${test_packages[@]}" clang-tidy-16=clang-tidy-16)
fuzz_packages=("${build_packages[@]}" clang-16=clang++-16 libclang-rt-16-dev)
bench_packages=("${build_packages[@]}" libbenchmark-dev)
# What bench/versus compares with; the others come through cargo, if there is one.
versus_packages=(coreutils=sort gawk=gawk mawk=mawk perl=perl gzip=gzip zstd=zstd git=git)
# What bench/sync compares with.
sync_bench_packages=(rsync=rsync rdiff=rdiff zstd=zstd tar=tar git=git python3=python3)

say() { printf '==> %s\n' "$*" >&2; }

installed() {
  dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

apt_install() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "$@" </dev/null >&2
}

# ensure_packages ENTRY...: installs what is missing; silent and offline when nothing is.
ensure_packages() {
  local entry package failed=() missing=()
  for entry in "$@"; do
    package=${entry%%=*}
    if [[ $entry == *=* ]] && command -v "${entry#*=}" >/dev/null; then continue; fi
    if ! installed "$package"; then missing+=("$package"); fi
  done
  if ((${#missing[@]} == 0)); then return 0; fi

  if ! command -v apt-get >/dev/null; then
    say "apt-get not found; please install what corresponds to: ${missing[*]}"
    exit 1
  fi
  say "installing ${missing[*]}"
  as_root apt-get update -q </dev/null >&2 ||
    say "apt-get update failed; trying with the package lists at hand"
  if apt_install "${missing[@]}"; then return 0; fi

  # Together they failed; one by one tells which.
  for package in "${missing[@]}"; do
    apt_install "$package" || failed+=("$package")
  done
  if ((${#failed[@]} == 0)); then return 0; fi
  say "could not install: ${failed[*]}"
  say "install by hand, as root: apt-get install ${failed[*]}"
  exit 1
}
