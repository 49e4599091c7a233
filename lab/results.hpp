// What the experiments measured: one row a measurement, and the means over the seeds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::lab {

struct Measurement {
  std::string row;         // the table's row or the figure's panel that it belongs to
  std::string series;      // the filter or rule, as a reader knows it
  std::string parameters;  // all that it was made with
  std::uint64_t seed = 0;
  double x = 0;      // records so far, bits a key, importance, ...; 0 where there is no axis
  std::string what;  // "fnr", "fpr", "ones", ...
  double value = 0;
};

struct Mean {
  double value = 0;
  double error = 0;  // standard error of the mean over the seeds; 0 with one seed
  unsigned seeds = 0;
};

class Results {
 public:
  std::vector<Measurement> all;  // in the order of the parts, whoever ran them

  // Of all measurements with these names, over their seeds; seeds = 0 where there is none.
  [[nodiscard]] Mean mean(const std::string& row, const std::string& series,
                          const std::string& what, double x = 0) const;
  // The axis' values of a series, ascending.
  [[nodiscard]] std::vector<double> xs(const std::string& row, const std::string& series,
                                       const std::string& what) const;
  // Parameters of the first measurement of a series.
  [[nodiscard]] std::string parameters(const std::string& row, const std::string& series) const;
  // In the order of their first measurement.
  [[nodiscard]] std::vector<std::string> rows() const;
  [[nodiscard]] std::vector<std::string> series(const std::string& row) const;
};

Mean mean_of(const std::vector<double>& values);

}  // namespace weir::lab
