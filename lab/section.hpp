// What a reader sees of an experiment: text, tables and charts, in this order.
#pragma once

#include <string>
#include <vector>

#include "table.hpp"

namespace weir::lab {

struct Point {
  double x = 0, y = 0;
  double error = 0;  // half the height of the band around the line; 0: none
};
struct Line {
  // Steps: each value level, half the way to its neighbours.
  enum class Style { Line, Dashed, Points, Steps };
  std::string name;
  std::vector<Point> points;
  Style style = Style::Line;
};
struct Chart {
  std::string name;  // of the file: NAME.svg; unique among all experiments
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  bool log_x = false, log_y = false;
};

struct Section {
  std::string title;
  std::vector<std::string> text;  // paragraphs: what was run, what to see, what parts from theory
  std::vector<Table> tables;
  std::vector<Chart> charts;
};

}  // namespace weir::lab
