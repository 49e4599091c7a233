#include "ibf_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "follow.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr std::size_t classes = most_important, fifths = 5;

std::uint64_t scaled(double size, double scale) {
  return static_cast<std::uint64_t>(std::llround(size * scale));
}

struct Counts {
  double records = 0, first = 0, fp = 0, fn = 0;
  void add(const Counts& other, double weight = 1) {
    records += weight * other.records, first += weight * other.first;
    fp += weight * other.fp, fn += weight * other.fn;
  }
};
double share(double part, double of) { return of > 0 ? part / of : 0; }

using ByImportance = std::array<Counts, classes>;

std::vector<Measurement> measured(const std::string& row, const std::string& series,
                                  const std::string& parameters, std::uint64_t seed,
                                  const ByImportance& counts) {
  std::vector<Measurement> all;
  const auto keep = [&](double x, const std::string& what, double value) {
    all.push_back({row, series, parameters, seed, x, what, value});
  };
  Counts sum, weighted;
  std::array<Counts, fifths> fifth{};
  for (std::size_t c = 0; c < classes; ++c) {
    sum.add(counts[c]);
    weighted.add(counts[c], static_cast<double>(c + 1));
    fifth[c * fifths / classes].add(counts[c]);
  }
  keep(0, "FP", share(sum.fp, sum.records));
  keep(0, "FN", share(sum.fn, sum.records));
  keep(0, "wFP", share(weighted.fp, weighted.records));
  keep(0, "wFN", share(weighted.fn, weighted.records));
  keep(0, "FPR", share(sum.fp, sum.first));
  keep(0, "FNR", share(sum.fn, sum.records - sum.first));
  for (std::size_t f = 0; f < fifths; ++f) {
    const auto x = static_cast<double>(f + 1);
    const Counts& c = fifth[f];
    keep(x, "FP in fifth", share(c.fp, c.records));
    keep(x, "FN in fifth", share(c.fn, c.records));
    keep(x, "FPR in fifth", share(c.fp, c.first));
    keep(x, "FNR in fifth", share(c.fn, c.records - c.first));
    keep(x, "records in fifth", share(c.records, sum.records));
    keep(x, "first in fifth", share(c.first, sum.first));
    keep(x, "repeats in fifth", share(c.records - c.first, c.records));
  }
  for (std::size_t i = 0; i < classes; ++i) {
    const Counts& c = counts[i];
    if (c.records == 0) continue;
    const auto x = static_cast<double>(i + 1);
    keep(x, "records", share(c.records, sum.records));
    keep(x, "fp", share(c.fp, c.records));
    keep(x, "fn", share(c.fn, c.records));
    if (c.records > c.first) keep(x, "fnr", share(c.fn, c.records - c.first));
  }
  return all;
}

// One stream and seed, through as many filters as wanted.
class Trial {
 public:
  Trial(const IbfStream& what, double scale, std::uint64_t seed)
      : what_(what), scale_(scale), seed_(seed), records_(scaled(ibf_records, scale)) {
    if (what.trace.empty()) {
      universe_ = universe_for(what.favour, what.repeats, records_);
      return;
    }
    trace_ =
        with_importance(read_trace(what.trace, {.key_field = 1, .weight_field = 2}), what.ranking);
    records_ = trace_.keys.size();
  }

  ByImportance count(const std::string& spec, std::string& parameters) const {
    const FilterPtr filter = made(spec);
    parameters = filter->parameters();
    const auto stream =
        what_.trace.empty() ? importance_stream(what_.favour, universe_, seed_) : recorded(trace_);
    const auto oracle = numbered_oracle(stream->universe());
    ByImportance counts{};
    follow(*filter, *stream, *oracle, records_, seed_, [&](const Batch& batch) {
      for (std::size_t i = 0; i < batch.keys.size(); ++i) {
        Counts& c = counts[batch.weights[i] - 1];
        const bool first = batch.first[i] != 0, seen = batch.verdicts[i] == Verdict::Seen;
        c.records += 1;
        c.first += first ? 1 : 0;
        c.fp += first && seen ? 1 : 0;
        c.fn += !first && !seen ? 1 : 0;
      }
    });
    return counts;
  }

 private:
  // The paper's filters name their size; what does not has its cells in 16 KB, whatever its handle
  // takes beside them.
  [[nodiscard]] FilterPtr made(const std::string& spec) const {
    const std::uint64_t bytes = scaled(ibf_bits / 8, scale_);
    std::uint64_t memory = bytes + 2 * budget_reserve;
    FilterPtr filter = make_filter(spec, {.memory = memory, .seed = seed_});
    if (const std::uint64_t cells = filter->payload().size(); cells > bytes)
      filter = make_filter(spec, {.memory = memory - (cells - bytes), .seed = seed_});
    return filter;
  }

  const IbfStream& what_;
  double scale_;
  std::uint64_t seed_, records_, universe_ = 0;
  Trace trace_;
};

double false_positives(const ByImportance& counts) {
  double sum = 0;
  for (const Counts& c : counts) sum += c.fp;
  return sum;
}

std::string sbf(double scale, unsigned P) {
  return fmt::format("stable:m={},K=5,P={},Max=7", scaled(ibf_cells, scale), P);
}
std::string ibf(const char* name, double scale) {
  return fmt::format("{}:m={},K=5,P=10,M=7,imax={}", name, scaled(ibf_cells, scale),
                     most_important);
}

// FP falls as P rises: the two neighbours between which it passes MC's, mixed so that it is MC's.
ByImportance count_sbf_like_mc(const Trial& trial, double scale, std::string& parameters) {
  const double wanted = false_positives(trial.count(ibf("ibf-mc", scale), parameters));
  unsigned low = 10, high = 20;
  ByImportance above = trial.count(sbf(scale, low), parameters);
  ByImportance below = trial.count(sbf(scale, high), parameters);
  while (false_positives(below) > wanted && high < 2560) {
    low = high, above = below;
    below = trial.count(sbf(scale, high *= 2), parameters);
  }
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    const ByImportance counts = trial.count(sbf(scale, middle), parameters);
    if (false_positives(counts) > wanted)
      low = middle, above = counts;
    else
      high = middle, below = counts;
  }
  const double gap = false_positives(above) - false_positives(below);
  const double part = gap > 0 ? (wanted - false_positives(below)) / gap : 0;
  ByImportance mixed{};
  for (std::size_t c = 0; c < classes; ++c)
    mixed[c].add(above[c], part), mixed[c].add(below[c], 1 - part);
  parameters = fmt::format("K=5,Max=7,P={} or {}", low, high);
  return mixed;
}

std::vector<Measurement> run(const IbfStream& what, const IbfFilter& which, double scale,
                             std::uint64_t seed) {
  const Trial trial(what, scale, seed);
  std::string parameters;
  const ByImportance counts = which.name == sbf_like_mc
                                  ? count_sbf_like_mc(trial, scale, parameters)
                                  : trial.count(which.spec, parameters);
  return measured(what.name, which.name, parameters, seed, counts);
}

}  // namespace

std::vector<IbfFilter> ibf_filters(const Setting& setting, double scale) {
  std::vector<IbfFilter> given;
  for (const std::string& spec : setting.filters) given.push_back({spec, spec});
  if (!given.empty()) return given;
  const auto bf = [scale](double bits) {
    return fmt::format("bloom:m={},k=5", scaled(bits, scale));
  };
  return {{"BF", bf(ibf_cells)},
          {"BF 16 KB", bf(ibf_bits)},
          {"SBF", sbf(scale, 10)},
          {"IBF-2C", ibf("ibf-2c", scale)},
          {"IBF-MC", ibf("ibf-mc", scale)},
          {"IBF-H", ibf("ibf-h", scale)},
          {sbf_like_mc, ""}};
}

std::vector<IbfStream> synthetic_streams(Favour favour) {
  const char* keys = favour == Favour::None        ? "all keys equally likely"
                     : favour == Favour::Important ? "important keys likelier"
                                                   : "important keys less likely";
  std::vector<IbfStream> streams;
  for (const double repeats : {0.1, 0.3, 0.5})
    streams.push_back({fmt::format("{}, {:.0f} % repeats", keys, 100 * repeats), favour, repeats,
                       "", Ranking::Proportion});
  return streams;
}

std::vector<IbfStream> trace_streams(const Setting& setting, Ranking ranking) {
  std::vector<IbfStream> streams;
  for (const std::string& path : setting.traces)
    if (has_weights(path))
      streams.push_back({path.substr(path.rfind('/') + 1) + (ranking == Ranking::Proportion
                                                                 ? ", importance by weight"
                                                                 : ", importance by percentile"),
                         Favour::None, 0, path, ranking});
  return streams;
}

std::vector<Part> ibf_parts(const std::vector<IbfStream>& streams, const Setting& setting,
                            IbfSeries series) {
  if (setting.scale < ibf_least_scale)
    throw Error(ErrorCode::Config,
                fmt::format("--scale {} is too small to mean anything: 50 importances need some "
                            "records each; the least is {}",
                            setting.scale, ibf_least_scale));
  std::vector<Part> parts;
  for (const IbfStream& stream : streams) {
    // A trace comes as it is, and so do the filters on it.
    const double scale = stream.trace.empty() ? setting.scale : 1;
    std::vector<IbfFilter> filters = ibf_filters(setting, scale);
    unsigned seeds = setting.repeat;
    if (series == IbfSeries::StreamOnly) {
      filters = {{"stream", "bloom:m=64,k=1"}};  // any will do
      if (!stream.trace.empty()) seeds = 1;      // the same for all
    }
    for (const IbfFilter& filter : filters)
      for (unsigned seed = 1; seed <= seeds; ++seed)
        parts.push_back({stream.name + " " + filter.name + " " + std::to_string(seed),
                         (filter.name == "IBF-H"       ? 0.2
                          : filter.name == sbf_like_mc ? 0.25
                                                       : 0.03) *
                             scale,
                         8 << 20, [=] { return run(stream, filter, scale, seed); }});
  }
  return parts;
}

std::string whole(double value) {
  std::string digits = std::to_string(std::llround(value));
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string percent_with_error(const Mean& mean, int digits) {
  return percent(mean.value, digits) +
         (mean.seeds > 1 ? " ± " + percent(mean.error, digits) : std::string());
}

namespace {

std::string judged(const std::vector<Mean>& means, double sign) {
  std::string seen = "yes";
  for (std::size_t i = 1; i < means.size(); ++i) {
    const double step = sign * (means[i].value - means[i - 1].value);
    const double error = 3 * std::hypot(means[i].error, means[i - 1].error);
    if (step < -error) return "no";
    if (step <= error) seen = "undecided";
  }
  return seen;
}

std::string listed(const std::vector<Mean>& means) {
  std::string text;
  for (const Mean& mean : means) text += (text.empty() ? "" : ", ") + number(100 * mean.value, 3);
  return text;
}

}  // namespace

void Claims::falls(const std::string& claim, const std::string& stream,
                   const std::vector<Mean>& means) {
  add(claim, stream, judged(means, -1), listed(means));
}
void Claims::rises(const std::string& claim, const std::string& stream,
                   const std::vector<Mean>& means) {
  add(claim, stream, judged(means, 1), listed(means));
}

void Claims::add(const std::string& claim, const std::string& stream, const std::string& seen,
                 const std::string& figures) {
  const std::string family =
      stream.ends_with(" repeats") ? stream.substr(0, stream.rfind(", ")) : stream;
  for (auto& row : rows_)
    if (row[0] == claim && row[1] == family) {
      row[2] += "; " + seen;
      row[3] += "; " + figures;
      return;
    }
  rows_.push_back({claim, family, seen, figures});
}

Table Claims::table(const std::string& name) const {
  Table table{name, {"claim of the paper", "stream", "seen", "figures in %"}, {}};
  for (const auto& first : rows_) {  // claim by claim
    if (&first != &*std::find_if(rows_.begin(), rows_.end(),
                                 [&](const auto& row) { return row[0] == first[0]; }))
      continue;
    for (const auto& row : rows_) {
      if (row[0] != first[0]) continue;
      table.add(row);
      std::string& seen = table.rows.back()[2];
      for (const char* one : {"yes", "no", "undecided"})  // said once where all agree
        if (seen == fmt::format("{0}; {0}; {0}", one)) seen = one;
    }
  }
  return table;
}

}  // namespace weir::lab
