// A chart as SVG, drawn by gnuplot.
//
// Two axes and no frame; the vertical axis' label lies above it, the legend below in columns. Lines
// differ by colour (Okabe and Ito 2008: told apart by the colour-blind) and by the shape of their
// points, so that grey print will do. A line whose name begins with that of an earlier one in
// another style ("rsbf" as points, "rsbf, theory" dashed) has its colour. The band around a line is
// Point::error to both sides.
// The picture has no size of its own, only proportions: it becomes as wide as its place.
#pragma once

#include <string>

#include "section.hpp"

namespace weir::lab {

// Throws Error(Io) where gnuplot is missing or fails.
std::string draw(const Chart& chart);

// The gnuplot script of the chart, data included.
std::string chart_script(const Chart& chart);

}  // namespace weir::lab
