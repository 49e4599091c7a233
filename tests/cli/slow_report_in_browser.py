"""The lab's report as a person sees it: in a browser, on a desktop, a phone and paper.

The page holds a real experiment and the sample of everything (tests/lab/sample_section.hpp).
WEIR_PICTURES=DIR keeps what the browser shows, to be looked at.
"""
import os
import pathlib
import subprocess
import unittest

from support.browser import Browser
from support.command import CommandTest

WEIR_TESTS = pathlib.Path(os.environ["WEIR_BUILD_DIR"]) / "weir-tests"
VIEWS = {"desktop": {"width": 1280}, "phone": {"width": 360, "height": 740, "phone": True},
         "print": {"width": 688, "media": "print"}}  # A4 without its margins

# What is wrong with the page, in words; nothing when all is well.
CHECK = r"""(() => {
  const wrong = [], say = text => wrong.push(text);
  const root = document.documentElement, wide = root.clientWidth;
  const name = e => e.tagName + (e.id ? "#" + e.id : "") + " " + (e.textContent || "").trim().slice(0, 40);
  const inside = (a, b, slack) => a.left >= b.left - slack && a.right <= b.right + slack &&
                                  a.top >= b.top - slack && a.bottom <= b.bottom + slack;
  if (root.scrollWidth > wide) say(`the page is ${root.scrollWidth} wide on ${wide}`);
  for (const e of document.body.querySelectorAll("*")) {
    const box = e.getBoundingClientRect();
    if (!box.width || e.closest("svg, defs") !== null && e.tagName !== "svg") continue;
    const scrolls = e.parentElement.closest(".scroll, pre");
    if (scrolls && getComputedStyle(scrolls).overflowX === "auto") continue;
    if (box.right > wide + 0.5 || box.left < -0.5)
      say(`${name(e)} reaches from ${box.left} to ${box.right} on ${wide}`);
  }
  const charts = [...document.querySelectorAll("figure.chart")];
  if (charts.length === 0) say("there is no chart");
  for (const chart of charts) {
    const svg = chart.querySelector("svg");
    if (!svg) { say("a chart without a picture"); continue; }
    const title = svg.querySelector("title").textContent, frame = svg.getBoundingClientRect();
    if (frame.width < 300 || frame.height < 180) say(`${title}: ${frame.width} x ${frame.height}`);
    const large = [...svg.querySelectorAll("path")].filter(p => !p.closest("defs")).filter(p => {
      const box = p.getBoundingClientRect();
      return box.width > 50 && box.height > 20;
    });
    const drawn = svg.textContent.includes("nothing to show") ? 1 : 2;  // axes, and something
    if (large.length < drawn) say(`${title}: nothing is drawn`);
    const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
    const boxes = texts.map(t => t.getBoundingClientRect());
    texts.forEach((text, i) => {
      const size = parseFloat(getComputedStyle(text).fontSize) * frame.width / svg.viewBox.baseVal.width;
      if (size < 7.5) say(`${title}: '${text.textContent}' is ${size} px small`);
      if (!inside(boxes[i], frame, 1)) say(`${title}: '${text.textContent}' is cut off`);
      for (let j = 0; j < i; ++j) {
        const a = boxes[i], b = boxes[j];
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
          say(`${title}: '${text.textContent}' lies on '${texts[j].textContent}'`);
      }
    });
  }
  for (const link of document.querySelectorAll("nav a"))
    if (!document.getElementById(link.hash.slice(1))) say(`${link.hash} leads nowhere`);
  return wrong;
})()"""


class ReportInBrowser(CommandTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        out = self.folder / "out"
        made = subprocess.run([WEIR_TESTS, "--gtest_filter=LabReport.ShowsEverything*"],
                              env={**os.environ, "WEIR_KEEP_REPORT": str(out)},
                              capture_output=True)
        self.assertEqual(made.returncode, 0, made.stdout)
        self.done("lab", "run", "distances", "--repeat", 2, "--filter", "weir", "--filter",
                  "stable", "--out", out)
        self.page = out / "report.html"

    def wrong(self, page, **view):
        self.browser.show(page.as_uri(), **view)
        return self.browser.run(CHECK) + self.browser.complaints()

    def test_is_whole_on_every_screen_and_on_paper(self):
        for name, view in VIEWS.items():
            with self.subTest(view=name):
                self.assertEqual(self.wrong(self.page, **view), [])
                self.assertEqual(self.browser.run("document.querySelectorAll('section').length"), 2)
                if folder := os.environ.get("WEIR_PICTURES"):
                    self.browser.picture(pathlib.Path(folder) / f"{name}.png")
        pdf = self.browser.paper()
        self.assertTrue(pdf.startswith(b"%PDF"))
        if folder := os.environ.get("WEIR_PICTURES"):
            (pathlib.Path(folder) / "paper.pdf").write_bytes(pdf)

    def test_each_chart_is_a_picture_of_its_own(self):
        for file in sorted(self.page.parent.glob("*.svg")):
            with self.subTest(file=file.name):
                self.browser.show(file.as_uri(), 700)
                self.assertEqual(self.browser.complaints(), [])
                self.assertEqual(self.browser.run("document.documentElement.tagName"), "svg")
                self.assertEqual(
                    self.browser.run("document.getElementsByTagName('parsererror').length"), 0)

    def test_a_page_that_is_not_whole_is_found_out(self):
        whole = self.page.read_text()
        for trouble, said in (
                ("<div style='width:400px'>wide</div>", "wide on 360"),
                ("<script>undefined_function()</script>", "Uncaught"),
                ("<img src='missing.png'>", "asks for"),
                ("<figure class=chart><svg viewBox='0 0 560 400'><title>bare</title></svg></figure>",
                 "bare: nothing is drawn"),
                ("<figure class=chart><svg viewBox='0 0 560 400'><title>cut</title>"
                 "<text x=540 y=20>too far right</text></svg></figure>", "is cut off")):
            with self.subTest(trouble=trouble):
                page = self.file("broken.html", whole.replace("</main>", trouble + "</main>").encode())
                found = self.wrong(page, **VIEWS["phone"])
                self.assertTrue(any(said in word for word in found), found)


if __name__ == "__main__":
    unittest.main()
