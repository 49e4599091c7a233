"""Keeps every run, and makes of them the table, the targets and the result files."""
import csv
import pathlib
import statistics
import sys
import time

COLUMNS = ("section", "tool", "input", "output", "round", "seconds", "mb_per_s", "ns_a_line",
           "peak_mib", "exit_status", "lines_out", "lines_right", "remark", "command")


class Skipped(Exception):
    """A part that cannot run here, and why."""


def progress(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def shown(value, form):
    return "-" if value is None else format(value, form)


class Report:
    def __init__(self):
        self.records = []
        self.notes = []
        self.wrong = []

    def note(self, text):
        self.notes.append(text)
        progress(text)

    def add(self, row, turn, output, outcome, lines, wrong):
        megabytes = row.data.bytes / 1e6
        ran = not outcome.failure
        remark = f"failed: {outcome.failure}" if outcome.failure else wrong
        self.records.append({
            "section": row.section, "tool": row.tool, "input": row.data.name,
            "input_lines": row.data.lines, "output": output, "round": turn,
            "seconds": outcome.seconds if ran else None,
            "mb_per_s": megabytes / outcome.seconds if ran else None,
            "ns_a_line": 1e9 * outcome.seconds / row.data.lines if ran else None,
            "peak_mib": outcome.peak_mib if ran else None, "exit_status": outcome.status,
            "budget_mib": row.budget_mib,
            "lines_out": lines, "lines_right": row.data.remaining if row.judge else None,
            "input_bytes": row.data.bytes, "remark": remark, "command": str(row.command),
        })
        if wrong:
            self.wrong.append(f"{row.section}: {row.tool}: {wrong}")
        progress(f"{row.section} round {turn + 1}: {row.tool} to {output}: "
                 + (remark or f"{outcome.seconds:.3f} s"))

    # -- figures ----------------------------------------------------------------------------

    def values(self, measure, section, tool, output="null", lines=None):
        """Round -> value."""
        return {record["round"]: record[measure] for record in self.records
                if (record["section"], record["tool"], record["output"]) == (section, tool, output)
                and record[measure] is not None and lines in (None, record["input_lines"])}

    def median(self, measure, *which, **more):
        values = self.values(measure, *which, **more)
        return statistics.median(values.values()) if values else None

    def ratio(self, measure, section, tool, other, output="null"):
        """Median of the ratios within each round; None if one of the two did not run."""
        above = self.values(measure, section, tool, output)
        below = self.values(measure, section, other, output)
        ratios = [above[turn] / below[turn] for turn in above if turn in below]
        return statistics.median(ratios) if ratios else None

    def fastest_exact(self):
        exact = {record["tool"] for record in self.records if record["section"] == "tools"
                 and record["lines_right"] and not record["tool"].startswith("weir")}
        speeds = {tool: self.median("mb_per_s", "tools", tool) for tool in exact}
        speeds = {tool: speed for tool, speed in speeds.items() if speed}
        return max(speeds, key=speeds.get) if speeds else None

    def targets(self):
        """(what, figure as text, wanted, met or missed or why neither)"""
        rows = []

        def target(what, figure, form, wanted, met):
            if figure is None:
                rows.append((what, "-", wanted, "not measured"))
            else:
                rows.append((what, format(figure, form), wanted,
                             "met" if met(figure) else "missed"))

        def at_least(what, figure, least, unit):
            target(what, figure, ".3f", f">= {least:g} {unit}", lambda value: value >= least)

        def gigabytes(section, tool, share=1):
            speed = self.median("mb_per_s", section, tool)
            return speed and speed * share / 1000

        at_least("one thread to the floor", self.ratio("mb_per_s", "tools", "weir-j1", "floor"),
                 0.75, "x")
        floor = gigabytes("tools", "floor")
        if floor and floor < 1.3:
            rows.append(("one thread", shown(gigabytes("tools", "weir-j1"), ".2f"), ">= 1 GB/s",
                         f"no target: the floor reaches {floor:.2f} GB/s here, not 1.3"))
        else:
            at_least("one thread", gigabytes("tools", "weir-j1"), 1.0, "GB/s")
        fastest = self.fastest_exact()
        for threads, tool in (("one thread", "weir-j1"), ("two threads", "weir-j2")):
            for other, least in (("perl", 12), ("gawk", 25), (fastest, 3)):
                name = f"{other}, the fastest exact tool" if other == fastest and least == 3 \
                    else other
                at_least(f"{threads} to {name}",
                         self.ratio("mb_per_s", "tools", tool, other), least, "x")
        at_least("two threads to one", self.ratio("mb_per_s", "tools", "weir-j2", "weir-j1"),
                 1.6, "x")
        for form in ("csv", "json"):
            at_least(f"{form.upper()} key, one thread", gigabytes("formats", f"weir-{form}-j1"),
                     0.4, "GB/s")
            at_least(f"{form.upper()} key, each of two threads",
                     gigabytes("formats", f"weir-{form}-j2", 0.5), 0.4, "GB/s")
        for packer in ("gzip", "zstd"):
            for threads in (1, 2):
                target(f"{packer} input to {packer} -dc alone, time, -j {threads}",
                       self.ratio("seconds", "formats", f"weir-{packer}-j{threads}", packer),
                       ".3f", "<= 1.2 x", lambda value: value <= 1.2)
        for what, long_line in (("peak memory over the budget", False),
                                ("peak memory over the budget and the long line", True)):
            over = [record["peak_mib"] - record["budget_mib"]
                    - (record["input_bytes"] / 2**20 if long_line else 0)
                    for record in self.records if record["tool"].startswith("weir")
                    and record["peak_mib"] and ("long-line" in record["tool"]) == long_line]
            if over or not long_line:
                target(what, max(over, default=None), ".1f", "<= 64 MiB",
                       lambda value: value <= 64)
        return rows

    # -- the table --------------------------------------------------------------------------

    def table(self):
        """One line for each row and output: medians over the rounds."""
        yield "MB = 10^6 bytes of uncompressed input. Medians; ratios are medians of ratios " \
              "within a round."
        for section in dict.fromkeys(record["section"] for record in self.records):
            yield ""
            yield f"{section:<18} {'output':<6} {'10^6 lines':>10} {'s':>8} {'MB/s':>7} " \
                  f"{'to floor':>8} {'ns/line':>8} {'peak MiB':>8} {'lines out':>10} " \
                  f"{'off by':>8}"
            rows = {}
            for record in self.records:
                if record["section"] == section:
                    key = record["tool"], record["input_lines"], record["output"]
                    rows.setdefault(key, []).append(record)
            for (tool, lines, output), records in rows.items():
                yield self.table_line(section, tool, lines, output, records)

    def table_line(self, section, tool, lines, output, records):
        def middle(measure):
            values = [record[measure] for record in records if record[measure] is not None]
            return statistics.median(values) if values else None

        start = f"{tool:<18} {output:<6} {lines / 1e6:>10.3g} "
        remark = next((record["remark"] for record in records if record["remark"]), "")
        if middle("seconds") is None:
            return start + remark
        floor = self.values("mb_per_s", section, "floor", "null", lines)
        to_floor = [record["mb_per_s"] / floor[record["round"]] for record in records
                    if record["mb_per_s"] and record["round"] in floor]
        counted = [record for record in records if record["lines_out"] is not None]
        # The worst one, not the median: an answer is right every time or it is not.
        off_by = max((record["lines_out"] - record["lines_right"] for record in counted
                      if record["lines_right"] is not None), key=abs, default=None)
        return (start + f"{middle('seconds'):>8.3f} {middle('mb_per_s'):>7.0f} "
                + f"{shown(statistics.median(to_floor) if to_floor else None, '.2f'):>8} "
                + f"{shown(middle('ns_a_line') if lines >= 1000 else None, '.1f'):>8} "
                + f"{middle('peak_mib'):>8.0f} "
                + f"{shown(counted[-1]['lines_out'] if counted else None, 'd'):>10} "
                + f"{shown(off_by, '+d'):>8}  {remark}").rstrip()

    def text(self, head):
        yield from (f"{name}: {value}" for name, value in head.items())
        yield ""
        yield from self.table()
        yield ""
        yield f"{'target':<48} {'figure':>8}  {'wanted':<12}"
        for what, figure, wanted, verdict in self.targets():
            yield f"{what:<48} {figure:>8}  {wanted:<12} {verdict}"
        if self.notes or self.wrong:
            yield ""
            yield from self.notes
            yield from (f"WRONG ANSWER: {text}" for text in dict.fromkeys(self.wrong))
        yield ""
        yield "commands, in the folder of the data:"
        commands = {(record["section"], record["tool"]): record["command"]
                    for record in self.records}
        for (section, tool), command in commands.items():
            yield f"  {section:<8} {tool:<18} {command}"

    def write(self, head, results, machine):
        """To stdout, and to new files in the folder `results`."""
        now = time.gmtime()
        head = {"date": time.strftime("%Y-%m-%d %H:%M UTC", now), **head}
        lines = list(self.text(head))
        print("\n".join(lines), flush=True)
        if not results:
            return
        folder = pathlib.Path(results)
        folder.mkdir(parents=True, exist_ok=True)
        stem = name = f"{time.strftime('%Y-%m-%d', now)}-versus-{machine}"
        number = 1
        while (folder / f"{name}.csv").exists() or (folder / f"{name}.txt").exists():
            number += 1
            name = f"{stem}-{number}"
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            file.writelines(f"# {key}: {value}\n" for key, value in head.items())
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            for record in self.records:
                writer.writerow({key: format(value, ".6g") if isinstance(value, float) else value
                                 for key, value in record.items()})
        progress(f"results: {name}.txt and {name}.csv")
