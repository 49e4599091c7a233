"""@redis/bloom, unchanged. Without Node.js, or without a way to get the package, this says so and is done."""
import shutil
import subprocess
import sys

from support.server import BUILD, SOURCE, Server

PACKAGES = ["@redis/client@5", "@redis/bloom@5"]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(0)


if not shutil.which("node") or not shutil.which("npm"):
    skip("there is no node, or no npm")
if int(subprocess.check_output(["node", "--version"], text=True).lstrip("v").split(".")[0]) < 18:
    skip("the packages need Node.js 18")

folder = BUILD / "redis-node"
if not (folder / "node_modules" / "@redis" / "bloom").exists():
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text("{}")
    try:
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", *PACKAGES], cwd=folder, timeout=120,
                              capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        skip("npm did not bring the packages within 120 s")
    if done.returncode != 0:
        skip("npm cannot install the packages here: " + done.stderr.strip().splitlines()[-1])
shutil.copy(SOURCE / "tests" / "redis" / "support" / "bloom.mjs", folder)
with Server() as server:
    subprocess.run(["node", "bloom.mjs", str(server.port)], cwd=folder, timeout=120, check=True)
