// Results: one row a measurement, printed for people and written as CSV.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace weir::lab {

struct Table {
  std::string name;  // of the file: NAME.csv
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  // Which columns hold nothing but figures: they are aligned to the right.
  [[nodiscard]] std::vector<bool> number_columns() const;
  void print(std::FILE* to) const;
  // Throws Error(Io).
  void write(const std::string& folder) const;
};

std::string percent(double share, int digits = 3);
std::string number(double value, int digits = 4);

}  // namespace weir::lab
