#include "results.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace weir::lab {
namespace {

void add_new(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

Mean mean_of(const std::vector<double>& values) {
  Mean mean;
  mean.seeds = static_cast<unsigned>(values.size());
  if (values.empty()) return mean;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) mean.value += v / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean.value) * (v - mean.value);
  if (values.size() > 1) mean.error = std::sqrt(squares / (n - 1) / n);
  return mean;
}

Mean Results::mean(const std::string& row, const std::string& series, const std::string& what,
                   double x) const {
  std::vector<double> values;
  for (const Measurement& m : all)
    if (m.x == x && m.what == what && m.series == series && m.row == row) values.push_back(m.value);
  return mean_of(values);
}

std::vector<double> Results::xs(const std::string& row, const std::string& series,
                                const std::string& what) const {
  std::set<double> xs;
  for (const Measurement& m : all)
    if (m.what == what && m.series == series && m.row == row) xs.insert(m.x);
  return {xs.begin(), xs.end()};
}

std::string Results::parameters(const std::string& row, const std::string& series) const {
  for (const Measurement& m : all)
    if (m.series == series && m.row == row) return m.parameters;
  return "";
}

std::vector<std::string> Results::rows() const {
  std::vector<std::string> names;
  for (const Measurement& m : all) add_new(names, m.row);
  return names;
}

std::vector<std::string> Results::series(const std::string& row) const {
  std::vector<std::string> names;
  for (const Measurement& m : all)
    if (m.row == row) add_new(names, m.series);
  return names;
}

}  // namespace weir::lab
