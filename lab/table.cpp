#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "text.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// "12", "-0.5 %", "3.1 ± 0.2", "2 / 3" and "cannot", but no name or list of parameters.
bool is_figure(const std::string& cell) {
  if (cell == "cannot" || cell == "-" || cell == "–") return true;
  bool digit = false;
  for (const char c : cell) {
    if (c >= '0' && c <= '9') digit = true;
    if ((c >= 'a' && c <= 'z' && c != 'e') || (c >= 'A' && c <= 'Z') || c == '=') return false;
  }
  return digit;
}

}  // namespace

std::string percent(double share, int digits) {
  return fmt::format("{:.{}f}", 100 * share, digits);
}
std::string number(double value, int digits) { return fmt::format("{:.{}g}", value, digits); }

std::vector<bool> Table::number_columns() const {
  std::vector<bool> numbers(columns.size(), true);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    bool any = false;
    for (const auto& row : rows) {
      if (i >= row.size() || row[i].empty()) continue;
      numbers[i] = numbers[i] && is_figure(row[i]);
      any = true;
    }
    numbers[i] = numbers[i] && any;
  }
  return numbers;
}

void Table::print(std::FILE* to) const {
  const std::vector<bool> numbers = number_columns();
  std::vector<std::size_t> width(columns.size());
  const auto widen = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], letters(row[i]));
  };
  widen(columns);
  for (const auto& row : rows) widen(row);
  const auto line = [&](const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(width[i] - letters(row[i]), ' ');
      text += (i == 0 ? "" : "  ") + (numbers[i] ? space + row[i] : row[i] + space);
    }
    fmt::print(to, "{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
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
