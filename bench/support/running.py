"""Runs one command, measured and bounded, and leaves nothing behind."""
import contextlib
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time


@dataclasses.dataclass
class Command:
    """What a row of the table runs; files are named relative to the work folder."""
    argv: list
    stdin: str = ""      # a file
    fed_by: list = None  # a command whose output is the input

    def __str__(self):
        def shown(argv):
            return shlex.join([pathlib.Path(argv[0]).name, *argv[1:]])
        text = shown(self.argv)
        if self.fed_by:
            text = f"{shown(self.fed_by)} | {text}"
        return f"{text} < {self.stdin}" if self.stdin else text


@dataclasses.dataclass
class Outcome:
    seconds: float
    peak_mib: float  # never less than this script's own, about 15 MiB: the kernel's way to count
    status: int
    failure: str = ""


def complaint(stderr, status):
    """The line that tells why, without addresses and folders of this machine."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if line.lower().startswith("error")] or lines
    text = telling[0] if telling else f"exit status {status}"
    text = re.sub(r"\w+://\S+", "(address)", text)
    return re.sub(r"(?<!\S)`?/\S+/", "", text)[:160]


def end_group(process):
    """Ends a process and all it has started; it leads a group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        process.wait()


def run(command, folder, output, timeout, environment=None):
    """`output` is a path. The measured process is the last one of the pipe."""
    started = []
    late = threading.Event()

    def give_up():
        late.set()
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    timer = threading.Timer(timeout, give_up)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: [end_group(process) for process in started])
        stack.callback(timer.cancel)
        errors = stack.enter_context(tempfile.TemporaryFile())
        source = stack.enter_context(open(folder / command.stdin if command.stdin else os.devnull,
                                          "rb"))
        sink = stack.enter_context(open(output, "wb"))
        common = {"cwd": folder, "stderr": errors, "start_new_session": True,
                  "env": {**os.environ, **(environment or {})}}
        timer.start()
        start = time.perf_counter()
        if command.fed_by:
            started.append(subprocess.Popen(command.fed_by, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, **common))
            source = stack.enter_context(started[0].stdout)
        try:
            process = subprocess.Popen(command.argv, stdin=source, stdout=sink, **common)
        except OSError as error:
            return Outcome(0, 0, 127, error.strerror)
        started.append(process)
        if command.fed_by:
            source.close()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read(65536).decode(errors="replace")
        failure = ""
        if late.is_set():
            failure = f"stopped after {timeout:.0f} s"
        elif process.returncode != 0:
            failure = complaint(said, process.returncode)
        return Outcome(seconds, usage.ru_maxrss / 1024, process.returncode, failure)


def count_lines(path):
    buffer = bytearray(1 << 18)
    lines = 0
    with open(path, "rb", buffering=0) as file:
        while size := file.readinto(buffer):
            lines += buffer.count(b"\n", 0, size)
    return lines


def warm(path):
    """Into the page cache."""
    buffer = bytearray(1 << 18)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


MOST_WARM_MIB = 2048


def warm_memory(mib):
    """Makes the host of a virtual machine give this much memory before the clock runs.

    Seen on a busy virtual machine: 512 MiB cost a process 1.5 to 3 s after a pause of 3 s, 0.1 to
    0.2 s when another process had just freed as much. It looks as if the host took free memory
    back (the kernel's page reporting). If so, more than a process takes at once is of no use.
    """
    touch = ("import mmap, sys; size = int(sys.argv[1]) << 20; "
             "block = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); "
             "block.madvise(mmap.MADV_HUGEPAGE)\n"
             "for at in range(0, size, 4096): block[at] = 1")
    mib = min(mib, MOST_WARM_MIB)
    for _ in range(4):  # until it was quick: only then the host did not have to give any
        start = time.perf_counter()
        subprocess.run([sys.executable, "-S", "-c", touch, str(mib)], stdin=subprocess.DEVNULL,
                       check=False, timeout=300)
        if time.perf_counter() - start < 0.1 + mib / 2000:
            break


@contextlib.contextmanager
def work_folder(parent, keep):
    """A new folder below `parent`, removed in the end whatever happens."""
    def stop(number, _):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    if parent:
        os.makedirs(parent, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-versus-", dir=parent))
    try:
        yield folder
    finally:
        if keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
