// What a run shows as one page: report.html, which needs no other file and no script.
//
//   DIR/sections/EXPERIMENT.html   what one experiment shows, as its last run made it
//   DIR/CHART.svg                  its charts, to be used elsewhere
//   DIR/report.html                all sections that DIR has, in the order of the catalogue
#pragma once

#include <string>
#include <vector>

#include "section.hpp"

namespace weir::lab {

// How a section came about.
struct Origin {
  std::string name;                                        // of the experiment
  std::string command;                                     // that makes it again
  std::vector<std::pair<std::string, std::string>> facts;  // seeds, scale, machine, date, version
};

// Draws the charts and keeps the section. Throws Error(Io).
void keep_section(const std::string& folder, const Origin& origin, const Section& section);

// Of all sections kept in the folder: those named in `order` first, in this order. Returns the
// file's path. Throws Error(Io).
std::string write_report(const std::string& folder, const std::vector<std::string>& order);

}  // namespace weir::lab
