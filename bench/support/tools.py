"""The tools weir is compared with: where they are, which version, how to get them."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

from support import running

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 15 * 60

# Executable -> crate, version, options of cargo. Not in Debian; pinned, so that runs compare.
# qsv from 5.1.0 to 16.1.0, the last there, does not build (dathere/qsv, issues 2819 and 3523).
CRATES = {
    "huniq": ("huniq", "2.7.0", []),
    "runiq": ("runiq", "2.1.0", []),
    "qsvlite": ("qsv", "4.0.0", ["--bin", "qsvlite", "--features", "lite"]),
}


@dataclasses.dataclass
class Tool:
    path: str = ""
    version: str = ""
    missing: str = ""  # why it is not there


def first_line_of(*argv):
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"unknown ({error.__class__.__name__})"
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
    return lines[0].strip("* ") if lines else "unknown"


def version_of(name, path):
    option = {"mawk": ["-W", "version"], "perl": ["-e", "print qq(perl $^V)"]}
    return first_line_of(path, *option.get(name, ["--version"]))


def packaged(names):
    """Those of Debian, installed the way of the repository's other scripts."""
    if any(shutil.which(name) is None for name in names):
        subprocess.run(["bash", "-c", "source scripts/packages.sh && "
                        'ensure_packages "${versus_packages[@]}"'], cwd=ROOT, check=False)
    found = {}
    for name in names:
        path = shutil.which(name)
        found[name] = Tool(path, version_of(name, path)) if path else Tool(missing="not installed")
    return found


def crate(name, work, install):
    """A tool built by cargo, kept in the cache; the build itself happens in the work folder."""
    package, version, options = CRATES[name]
    cache = os.environ.get("XDG_CACHE_HOME")
    cache = pathlib.Path(cache) / "weir" if cache else ROOT / "build"
    root = cache / "versus-tools" / f"{package}-{version}"
    path = root / "bin" / name
    if path.exists():
        return Tool(str(path), version_of(name, str(path)))
    if not install:
        return Tool(missing=f"{package} {version}: not installed, and --no-install given")
    cargo = shutil.which("cargo")
    if cargo is None:
        return Tool(missing=f"{package} {version}: cargo not found")
    # As its authors locked it; if that no longer builds, with what the registry gives.
    for locked in (["--locked"], []):
        print(f"==> cargo install {package} {version} {' '.join(locked)}", file=sys.stderr)
        argv = [cargo, "install", package, "--version", version, *locked, *options,
                "--root", str(root)]
        outcome = running.run(running.Command(argv), work, os.devnull, INSTALL_SECONDS,
                              {"CARGO_TARGET_DIR": str(work / "cargo")})
        shutil.rmtree(work / "cargo", ignore_errors=True)
        if outcome.status == 0:
            return Tool(str(path), version_of(name, str(path)))
        if outcome.failure.startswith("stopped"):
            break
    rust = first_line_of("rustc", "--version")
    return Tool(missing=f"{package} {version} did not install with {rust}: {outcome.failure}")


def machine():
    """Name -> value, as it stands on top of the results."""
    def after_colon(file, key):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith(key):
                    return line.split(":", 1)[1].strip()
        return "unknown"

    def read(file):
        try:
            return pathlib.Path(file).read_text(encoding="utf-8").strip()
        except OSError:
            return "unknown"

    system = os.uname()
    commit = first_line_of("git", "-C", str(ROOT), "describe", "--always", "--dirty")
    return {
        "cpu": f'{after_colon("/proc/cpuinfo", "model name")}, {os.cpu_count()} cores',
        "memory": after_colon("/proc/meminfo", "MemTotal"),
        "kernel": f"{system.sysname} {system.release}",
        "huge pages": read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "sources at commit": commit,
    }


def machine_name(cpu):
    """A short name for file names: of "AMD EPYC 7R13, 2 cores" it is epyc."""
    words = re.findall(r"[a-z][a-z0-9]+", re.sub(r"\(\w+\)", "", cpu.lower()))
    known = [word for word in words if word not in ("amd", "intel", "cpu", "processor")]
    return known[0] if known else "unknown"
