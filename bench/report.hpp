// Where measurements go: a CSV file with one row a measurement, the machine in comment lines on
// top; and the few lines of statistics a table needs.
#pragma once

#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What follows `key` and a colon in a file of the system, e.g. the model in /proc/cpuinfo.
inline std::string system_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return line.substr(line.find_first_not_of("\t :", key.size()));
  return "unknown";
}

inline std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line = "unknown";
  std::getline(in, line);
  return line;
}

// Every line "name: value", as it stands on top of the CSV file and of the printed table.
inline std::vector<std::string> machine() {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  utsname system{};
  uname(&system);
  return {
    std::string("date: ") + date, "cpu: " + system_value("/proc/cpuinfo", "model name"),
        "kernel: " + std::string(system.sysname) + " " + system.release,
        "huge pages: " + first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
#if defined(__clang__)
        "compiler: Clang " __clang_version__,
#else
        "compiler: GCC " __VERSION__,
#endif
  };
}

class Csv {
 public:
  Csv(const std::string& path, const std::vector<std::string>& comments) {
    if (path.empty()) return;
    file_ = std::fopen(path.c_str(), "w");
    if (file_ == nullptr) throw std::runtime_error("cannot write " + path);
    for (const std::string& comment : comments) std::fprintf(file_, "# %s\n", comment.c_str());
    std::fprintf(file_, "bytes,structure,parameters,measure,round,records,value\n");
  }
  ~Csv() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Csv(const Csv&) = delete;
  Csv& operator=(const Csv&) = delete;

  void row(std::uint64_t bytes, const char* structure, const std::string& parameters,
           const char* measure, unsigned round, std::uint64_t records, double value) {
    if (file_ == nullptr) return;
    std::fprintf(file_, "%llu,%s,\"%s\",%s,%u,%llu,%.6g\n", static_cast<unsigned long long>(bytes),
                 structure, parameters.c_str(), measure, round,
                 static_cast<unsigned long long>(records), value);
    std::fflush(file_);
  }

 private:
  std::FILE* file_ = nullptr;
};

}  // namespace bench
