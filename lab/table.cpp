#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "weir/error.hpp"

namespace weir::lab {

std::string percent(double share, int digits) {
  return fmt::format("{:.{}f}", 100 * share, digits);
}
std::string number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

void Table::print(std::FILE* to) const {
  std::vector<std::size_t> width(columns.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  };
  widen(columns);
  for (const auto& row : rows) widen(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i)
      text +=
          fmt::format("{}{:<{}}", i == 0 ? "" : "  ", row[i], i + 1 < row.size() ? width[i] : 0);
    fmt::print(to, "{}\n", text);
  };
  line(columns);
  for (const auto& row : rows) line(row);
}

void Table::write(const std::string& folder) const {
  const std::string path = folder + "/" + name + ".csv";
  std::ofstream out(path);
  const auto line = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool quoted = row[i].find_first_of(",\"\n") != std::string::npos;
      std::string cell = row[i];
      if (quoted) {
        for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
          cell.insert(at, 1, '"');
        cell = '"' + cell + '"';
      }
      out << (i == 0 ? "" : ",") << cell;
    }
    out << '\n';
  };
  line(columns);
  for (const auto& row : rows) line(row);
  out.close();
  if (!out) throw Error(ErrorCode::Io, "cannot write " + path);
}

}  // namespace weir::lab
