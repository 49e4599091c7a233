// Every filter on any stream, at equal memory and equal realised FPR, beside two things that no
// filter is: a store without waste that keeps the keys last met (the ideal LRU), and the
// information-theoretic floor n KL(1 - FNR || FPR).
//
//   (1) a stream is recorded once, with its exact answer: a file as it is, a law once a seed
//   (2) each filter is tuned until the mean FPR of the seeds is at most the target (compare.hpp)
//   (3) one row of results a stream and FPR; bits a distinct key are the axis
#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr const char* lru = "ideal LRU";
constexpr std::uint64_t usual_records = 1'000'000;
// So that a realised FPR is seen at all: at the target there are as many false ones.
constexpr double least_false_ones = 10;

std::vector<double> or_else(const std::vector<double>& given, std::vector<double> usual) {
  return given.empty() ? usual : given;
}
std::vector<double> fprs_of(const Setting& setting) { return or_else(setting.fprs, {0.01, 0.001}); }
std::vector<double> bits_of(const Setting& setting) {
  return or_else(setting.bits_a_key, {2, 4, 8});
}
std::uint64_t records_of(const Setting& setting) {
  return setting.records == 0 ? usual_records : setting.records;
}

// All of the catalogue, but for filters that go by importance alone where there is none: they take
// no FPR, and without importance each is a stable Bloom filter.
std::vector<std::string> specs_of(const Setting& setting, bool weighted) {
  std::vector<std::string> specs;
  for (const std::string& spec : setting.filters) {
    takes_fpr(spec);  // refuses what is no filter
    specs.push_back(spec);
  }
  if (specs.empty())
    for (const StructureInfo* info : catalog())
      if (info->kind == Kind::Filter && (weighted || !info->weighted || takes_fpr(info->name)))
        specs.emplace_back(info->name);
  return specs;
}

struct Source {
  std::string name;
  double records;  // about
  bool weighted;
  std::shared_ptr<SharedRecordings> recordings;
};

Source of_file(const std::string& path, std::uint64_t most) {
  constexpr double usual_line = 20;  // bytes
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto make = [path, most] {
    std::vector<Recording> all(1);
    all[0] = record(*file_stream(path), most == 0 ? ~std::uint64_t{0} : most);
    return all;
  };
  if (path != "-") file_stream(path);  // refuses what cannot be read
  return {path.substr(path.rfind('/') + 1), error ? 1e6 : static_cast<double>(size) / usual_line,
          false, std::make_shared<SharedRecordings>(make)};
}

Source of_law(const std::string& spec, const Setting& setting) {
  const std::uint64_t records = records_of(setting);
  const bool weighted = make_stream(spec, 1, records)->weighted();  // refuses what is no stream
  const auto make = [spec, records, seeds = setting.repeat] {
    std::vector<Recording> all;
    for (unsigned seed = 1; seed <= seeds; ++seed)
      all.push_back(record(*make_stream(spec, seed, records), records));
    return all;
  };
  return {spec, static_cast<double>(records), weighted, std::make_shared<SharedRecordings>(make)};
}

std::vector<Source> sources_of(const Setting& setting) {
  std::vector<Source> sources;
  for (const std::string& trace : setting.traces)
    sources.push_back(of_file(trace, setting.records));
  for (const std::string& spec : setting.streams) sources.push_back(of_law(spec, setting));
  if (sources.empty())
    for (const char* usual : {"zipf:U=1e6,s=0.9", "geometric:mean=1e5,again=0.3"})
      sources.push_back(of_law(usual, setting));
  return sources;
}

std::string row_of(const std::string& source, double fpr) {
  return fmt::format("{}, FPR at most {:.4g} %", source, 100 * fpr);
}

std::vector<Measurement> run(const Source& source, const std::string& spec, double bits_a_key,
                             double fpr, unsigned seeds) {
  const std::span<const Recording> recordings = source.recordings->get();
  const std::string row = row_of(source.name, fpr);
  const auto distinct = static_cast<double>(recordings[0].distinct);
  if (distinct * fpr < least_false_ones)
    throw Error(
        ErrorCode::Config,
        fmt::format("{} has {} different keys, too few to see an FPR of {:.4g} %; it takes "
                    "at least {:.0f}, or a higher --fpr",
                    source.name, recordings[0].distinct, 100 * fpr, least_false_ones / fpr));
  const auto bits = static_cast<std::uint64_t>(bits_a_key * distinct);
  std::vector<Measurement> all;
  if (spec == lru) {
    const std::uint64_t keys = ideal_keys(bits, fpr);
    for (std::size_t i = 0; i < recordings.size(); ++i)
      all.push_back({row, spec, fmt::format("keys={}", keys), i + 1, bits_a_key, "fnr",
                     ideal_lru(recordings[i], keys).value()});
    return all;
  }
  const Contest contest{.bits = bits, .fpr = fpr, .seeds = seeds};
  const auto entry = enter(spec, contest, recordings);
  if (!entry) return {{row, spec, "", 0, bits_a_key, "cannot", 1}};
  for (const Run& r : entry->runs) {
    const auto keep = [&](const char* what, double value) {
      all.push_back({row, spec, entry->parameters, r.seed, bits_a_key, what, value});
    };
    keep("fnr", r.fnr), keep("fpr", r.fpr), keep("ns", r.ns);
    keep("bits a key", static_cast<double>(entry->bits) / distinct);
  }
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  for (const double fpr : fprs_of(setting))
    if (!(fpr > 0 && fpr < 1))
      throw Error(ErrorCode::Config, "an FPR must be above 0 and below 1, as in 0.01");
  for (const double bits : bits_of(setting))
    if (!(bits >= 0.1 && bits <= 1000))
      throw Error(ErrorCode::Config, "bits a key must be between 0.1 and 1000");
  std::vector<Part> parts;
  for (const Source& source : sources_of(setting)) {
    std::vector<std::string> specs = specs_of(setting, source.weighted);
    specs.insert(specs.begin(), lru);
    // About 16 settings of a filter are tried, on every seed, at 60 ns a record.
    const double seconds = source.records * 60e-9 * 16 * setting.repeat;
    const auto bytes =
        static_cast<std::uint64_t>(source.records * (source.weighted ? 9 : 5) * setting.repeat);
    for (const double fpr : fprs_of(setting))
      for (const double bits : bits_of(setting))
        for (const std::string& spec : specs)
          parts.push_back(
              {fmt::format("{}, {} bits a key, {}", row_of(source.name, fpr), bits, spec),
               spec == lru ? seconds / 16 : seconds, bytes + (1 << 20),
               [=, seeds = setting.repeat] { return run(source, spec, bits, fpr, seeds); }});
  }
  return parts;
}

std::string with_error(const Mean& mean, int digits = 3) {
  return percent(mean.value, digits) + " ± " + percent(mean.error, digits);
}

// A name that is a good one for a file.
std::string file_name(const std::string& row) {
  std::string name = "compare-";
  for (const char c : row)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.')
      name += c;
    else if (name.back() != '-')
      name += '-';
  while (name.back() == '-') name.pop_back();
  return name;
}

// The filters of one row at some bits a key, the fewest misses first; what cannot comes last.
std::vector<std::string> in_order(const Results& results, const std::string& row, double bits) {
  std::vector<std::string> specs;
  for (const std::string& spec : results.series(row))
    if (spec != lru) specs.push_back(spec);
  const auto fnr = [&](const std::string& spec) {
    const Mean mean = results.mean(row, spec, "fnr", bits);
    return mean.seeds == 0 ? 2 : mean.value;
  };
  std::stable_sort(specs.begin(), specs.end(),
                   [&](const auto& a, const auto& b) { return fnr(a) < fnr(b); });
  return specs;
}

std::string over_floor(double bits_a_key, double fnr, double fpr) {
  const double least = floor_bits(fnr, fpr);
  return least < 0.01 ? "" : number(bits_a_key / least, 3);
}

void add_rows(Table& table, const Results& results, const std::string& row,
              const std::vector<double>& bits, double fpr) {
  for (const double x : bits) {
    const std::string place = fmt::format("{}, {} bits a key", row, x);
    const Mean ideal = results.mean(row, lru, "fnr", x);
    table.add({place, lru, with_error(ideal), "1", "", "", number(x),
               over_floor(x, ideal.value, fpr), ""});
    for (const std::string& spec : in_order(results, row, x)) {
      const auto mean = [&](const char* what) { return results.mean(row, spec, what, x); };
      const Mean fnr = mean("fnr");
      if (fnr.seeds == 0) {
        table.add({place, spec, "", "", "cannot", "", "", "", ""});
        continue;
      }
      const double used = mean("bits a key").value;
      std::string parameters;
      for (const Measurement& m : results.all)
        if (m.row == row && m.series == spec && m.x == x) parameters = m.parameters;
      table.add({place, spec, with_error(fnr),
                 ideal.value == 0 ? "" : number(fnr.value / ideal.value, 3),
                 percent(mean("fpr").value), number(mean("ns").value, 3), number(used, 4),
                 over_floor(used, fnr.value, mean("fpr").value), parameters});
    }
  }
}

Chart chart_of(const Results& results, const std::string& row, const std::vector<double>& bits,
               double fpr) {
  Chart chart{file_name(row), row, "bits a distinct key", "repeats missed (%)", {}};
  for (const std::string& spec : results.series(row)) {
    Line line{spec, {}, spec == lru ? Line::Style::Dashed : Line::Style::Line};
    for (const double x : results.xs(row, spec, "fnr")) {
      const Mean mean = results.mean(row, spec, "fnr", x);
      line.points.push_back({x, 100 * mean.value, 100 * mean.error});
    }
    if (!line.points.empty()) chart.lines.push_back(line);
  }
  Line least{"floor", {}, Line::Style::Dashed};
  const auto [from, to] = std::minmax_element(bits.begin(), bits.end());
  constexpr int steps = 40;
  for (int i = 0; i <= steps; ++i) {
    const double x = *from + (*to - *from) * i / steps;
    least.points.push_back({x, 100 * floor_fnr(x, fpr)});
  }
  chart.lines.push_back(least);
  return chart;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"Every filter at equal memory and equal realised FPR", {}, {}, {}};
  section.text = {
      "Each filter has the same bits and is tuned until what the stream really shows stays at or "
      "below the FPR, mean of the seeds; \"cannot\" where no setting does. So what is left to "
      "compare is the FNR, the repeats that it lets through. The ideal LRU keeps the keys last "
      "met, as many as a store without waste holds: bits / (log2(1/FPR) + 1.44). Times are "
      "of the processor a record; parts that run beside each other share its caches.",
      "The floor is what a set of all different keys needs, asked for each equally often, at the "
      "same two errors: n KL(1 - FNR || FPR) bits. \"Times the floor\" is the filter's memory "
      "over it; what is above 1 is waste. It can be below 1: a filter that keeps the keys which "
      "come "
      "often, or those which come again soon, misses fewer repeats than a set that cannot know "
      "them."};
  Table table{"compare",
              {"stream", "filter", "FNR %", "of LRU's", "FPR %", "ns", "bits used",
               "times the floor", "parameters"},
              {}};
  for (const Source& source : sources_of(setting))
    for (const double fpr : fprs_of(setting)) {
      const std::string row = row_of(source.name, fpr);
      add_rows(table, results, row, bits_of(setting), fpr);
      section.charts.push_back(chart_of(results, row, bits_of(setting), fpr));
    }
  section.tables = {table};
  return section;
}

}  // namespace

std::vector<Experiment> compare_filters() {
  return {{"compare", "every filter on any stream at equal memory and equal realised FPR", parts,
           present}};
}

}  // namespace weir::lab
