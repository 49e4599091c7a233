// A section with everything that a page can hold: every kind of line, both kinds of axis, gaps,
// bands, long names, wide tables and hostile text.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "section.hpp"

namespace weir::lab {

inline Line curve(const std::string& name, Line::Style style, double scale, double error = 0) {
  Line line{name, {}, style};
  for (int i = 1; i <= 40; ++i)
    line.points.push_back({i * 25e6, scale * (1 - std::exp(-i / 9.0)), error * scale});
  return line;
}

inline std::vector<Chart> sample_charts() {
  using Style = Line::Style;
  Chart stream{"sample-stream", "Repeats missed along the stream", "records", "FNR (%)", {}};
  stream.lines = {curve("rsbf", Style::Line, 62, 0.05), curve("rsbf, theory", Style::Dashed, 60),
                  curve("stable", Style::Line, 82, 0.02),
                  curve("stable, theory", Style::Dashed, 85),
                  curve("a window", Style::Steps, 30, 0.03)};
  stream.lines[2].points[20].y = NAN;

  Chart sizes{"sample-sizes",
              "False positives by size: <script>alert('x & y')</script>",
              "bits a key",
              "FPR",
              {},
              true,
              true};
  Line measured{"Bloom filter with k = 4", {}, Style::Points},
      formula{"formula", {}, Style::Dashed}, none{"never shown, for it is 0 everywhere", {}};
  for (const double bits : {2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0}) {
    const double fpr = std::pow(1 - std::exp(-4 / bits), 4);
    measured.points.push_back({bits, fpr, 0.2 * fpr});
    formula.points.push_back({bits, fpr * 1.05});
    none.points.push_back({bits, 0});
  }
  sizes.lines = {measured, formula, none};

  Chart crowd{"sample-crowd", "Ten lines of one kind", "importance", "weighted errors", {}};
  for (int i = 0; i < 10; ++i) {
    Line line{"a filter with `a long name`, $no " + std::to_string(i), {}};
    for (int x = 1; x <= 10; ++x)
      line.points.push_back({static_cast<double>(x), 1e-5 * (i + 1) * std::sqrt(x), 3e-7 * i});
    crowd.lines.push_back(line);
  }
  const Chart empty{"sample-empty", "A chart of nothing", "x", "y", {{"no points", {}}}};
  return {stream, sizes, crowd, empty};
}

inline Section sample_section() {
  Section section{"A sample of everything & <more>", {}, {}, sample_charts()};
  section.text = {
      "What a page has to bear: `code`, <b>tags</b> that are text, and a word without end: " +
          std::string(120, 'w') + ".",
      "A second paragraph, \"quoted\"."};
  Table wide{"sample-wide", {"row of the table", "filter"}, {}};
  for (int i = 0; i < 12; ++i) wide.columns.push_back("figure " + std::to_string(i) + " %");
  wide.columns.emplace_back("parameters");
  for (int r = 0; r < 5; ++r) {
    std::vector<std::string> row = {"table 2, 4,194,304 bits, row " + std::to_string(r), "<weir>"};
    for (int i = 0; i < 12; ++i)
      row.push_back(percent(0.01 * i * (r + 1)) + " ± " + percent(0.001 * r));
    row.emplace_back(
        "lines=4002,n=47,B=82,a=2,e=3,imax=1,mode=tables,refresh=yes,count=insertions");
    wide.add(row);
  }
  const Table small{"sample-small", {"filter", "FNR %"}, {{"weir", "1.5"}, {"stable", "cannot"}}};
  section.tables = {wide, small};
  return section;
}

}  // namespace weir::lab
