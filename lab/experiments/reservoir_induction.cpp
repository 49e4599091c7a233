// The slides' proof by induction that a reservoir is fair, measured: at several lengths N along the
// stream every record met so far is held with probability s/N, and of those held at one length the
// share N/N' is still held at the next. For the biased reservoir the law is exponential: a record
// that is a records old is held with probability (1 - 1/s)^a.
//
// Chi-square: over many samples, the counts of how often each position was held. Sampling s of N
// without replacement gives a count the variance p(1-p) a sample, and their sum is fixed; hence
// N - 1 degrees of freedom. Of the biased reservoir one slot a sample is looked at, so that ages
// are independent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chance.hpp"
#include "core/bits.hpp"
#include "experiment.hpp"
#include "weir/catalog.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr double full_samples = 4000;
constexpr std::uint64_t size = 50, lengths[] = {50, 51, 100, 200, 500, 1000, 2000, 5000};
constexpr std::uint64_t biased_size = 100, biased_length = 20 * biased_size, age_step = 20;
constexpr std::size_t ages = 20;  // steps that are looked at; what is older counts together
constexpr std::size_t parts_of_stream = 10;

std::string row_of(std::uint64_t length) { return fmt::format("N = {}", length); }
double biased_law(double age) { return std::pow(1 - 1.0 / biased_size, age); }

std::vector<std::uint64_t> positions(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Measurement> run_uniform(std::uint64_t samples, std::uint64_t seed) {
  constexpr std::size_t stops = std::size(lengths);
  std::vector<std::vector<double>> held(stops);  // how often each position was
  std::vector<double> kept(stops);               // of those held at the stop before
  for (std::size_t i = 0; i < stops; ++i) held[i].resize(lengths[i]);
  const auto stream = positions(lengths[stops - 1]);
  const std::string spec = fmt::format("reservoir:s={}", size);
  for (std::uint64_t i = 0; i < samples; ++i) {
    const SamplePtr sample = make_sample(spec, {.seed = mix(seed, i)});
    std::uint64_t at = 0;
    for (std::size_t stop = 0; stop < stops; ++stop) {
      sample->offer(std::span(stream).subspan(at, lengths[stop] - at));
      for (const std::uint64_t position : sample->records()) {
        held[stop][position] += 1;
        kept[stop] += position < at ? 1 : 0;
      }
      // What is held now and came before the last stop was held then: nothing ever returns.
      at = lengths[stop];
    }
  }
  std::vector<Measurement> all;
  const auto draws = static_cast<double>(samples);
  for (std::size_t stop = 0; stop < stops; ++stop) {
    const auto n = static_cast<double>(lengths[stop]);
    const double p = size / n;
    const auto keep = [&](double x, const char* what, double value) {
      all.push_back({row_of(lengths[stop]), "reservoir", spec, seed, x, what, value});
    };
    double statistic = 0;
    for (const double count : held[stop]) statistic += (count - draws * p) * (count - draws * p);
    if (p < 1) keep(0, "chi-square", statistic / (draws * p * (1 - p) * n / (n - 1)));
    if (stop > 0) keep(0, "kept", kept[stop] / (draws * size));
    for (std::size_t part = 0; part < parts_of_stream; ++part) {
      const auto from = part * lengths[stop] / parts_of_stream;
      const auto to = (part + 1) * lengths[stop] / parts_of_stream;
      double sum = 0;
      for (std::size_t i = from; i < to; ++i) sum += held[stop][i];
      keep((static_cast<double>(part) + 0.5) / parts_of_stream, "held",
           sum / draws / static_cast<double>(to - from));
    }
  }
  return all;
}

std::vector<Measurement> run_biased(std::uint64_t samples, std::uint64_t seed) {
  const std::string spec = fmt::format("biased-reservoir:s={}", biased_size);
  const auto stream = positions(biased_length);
  std::vector<double> held(ages + 1), one_slot(ages + 1);
  for (std::uint64_t i = 0; i < samples; ++i) {
    const SamplePtr sample = make_sample(spec, {.seed = mix(seed, i)});
    sample->offer(stream);
    const auto records = sample->records();
    const auto step = [&](std::uint64_t position) {
      return std::min<std::uint64_t>((biased_length - 1 - position) / age_step, ages);
    };
    for (const std::uint64_t position : records) held[step(position)] += 1;
    one_slot[step(records[i % records.size()])] += 1;
  }
  std::vector<Measurement> all;
  const auto draws = static_cast<double>(samples);
  double statistic = 0;
  for (std::size_t i = 0; i <= ages; ++i) {
    const auto from = static_cast<double>(i * age_step), to = from + age_step;
    const double chance = biased_law(from) - (i < ages ? biased_law(to) : 0);  // of a slot's record
    statistic += (one_slot[i] - draws * chance) * (one_slot[i] - draws * chance) / (draws * chance);
    if (i < ages)
      all.push_back(
          {"biased", "biased-reservoir", spec, seed, from, "held", held[i] / draws / age_step});
  }
  all.push_back({"biased", "biased-reservoir", spec, seed, 0, "chi-square", statistic});
  return all;
}

// Mean of the law over the ages of a step.
double law_of_step(double from) {
  double sum = 0;
  for (std::uint64_t age = 0; age < age_step; ++age)
    sum += biased_law(from + static_cast<double>(age));
  return sum / age_step;
}

std::vector<Part> parts(const Setting& setting) {
  if (setting.scale < 0.05)
    throw Error(ErrorCode::Config,
                fmt::format("--scale {} is too small to mean anything: chi-square needs some "
                            "hundred samples; the least is 0.05",
                            setting.scale));
  const auto samples = static_cast<std::uint64_t>(full_samples * setting.scale);
  std::vector<Part> parts;
  for (unsigned seed = 1; seed <= setting.repeat; ++seed) {
    parts.push_back({fmt::format("uniform {}", seed), 0.1 * setting.scale, 4 << 20,
                     [=] { return run_uniform(samples, seed); }});
    parts.push_back({fmt::format("biased {}", seed), 0.1 * setting.scale, 4 << 20,
                     [=] { return run_biased(samples, seed); }});
  }
  return parts;
}

// Chi-square statistics of independent seeds add up, and so do their degrees of freedom.
double p_of(const Mean& statistic, double freedom) {
  return chi_square_p(statistic.value * statistic.seeds, freedom * statistic.seeds);
}

Section present(const Setting& setting, const Results& results) {
  Section section{"The slides: a reservoir's induction, measured", {}, {}, {}};
  section.text = {
      fmt::format(
          "{:.0f} reservoirs a seed, each of 50 records, looked at when N records have come; the "
          "induction says that every one of them is held with probability 50/N, and that one held "
          "at the length before is still held with probability N before / N. p is the chance that "
          "a fair reservoir shows counts as uneven as these, all positions taken one by one; below "
          "0.001 it would be no fair one.",
          full_samples * setting.scale),
      "The biased reservoir holds 100 records after 2,000 have come; there a record's chance falls "
      "by its age alone, as (1 - 1/s)^age. The chart lays what is held beside this law."};
  Table table{"reservoir",
              {"length", "s/N %", "held %, first tenth", "held %, last tenth",
               "kept since before %", "predicted %", "p"},
              {}};
  Chart fair{"reservoir",
             "Probability of being held, by position",
             "position in the stream, of 1",
             "held (%)",
             {}};
  fair.log_y = true;
  std::uint64_t before = 0;
  for (const std::uint64_t length : lengths) {
    const auto n = static_cast<double>(length);
    const auto mean = [&](const char* what, double x = 0) {
      return results.mean(row_of(length), "reservoir", what, x);
    };
    const auto shown = [](const Mean& m) {
      return percent(m.value, 2) + (m.seeds > 1 ? " ± " + percent(m.error, 2) : "");
    };
    const bool base = length == size;
    const double kept = static_cast<double>(before) / n;
    table.add({row_of(length), percent(size / n, 2), shown(mean("held", 0.05)),
               shown(mean("held", 0.95)), base ? "-" : shown(mean("kept")),
               base ? "-" : percent(kept, 2),
               base ? "-" : number(p_of(mean("chi-square"), n - 1), 2)});
    Line line{row_of(length), {}};
    for (const double x : results.xs(row_of(length), "reservoir", "held"))
      line.points.push_back({x, 100 * mean("held", x).value, 100 * mean("held", x).error});
    fair.lines.push_back(line);
    before = length;
  }
  Table law{"reservoir-biased", {"age", "held %", "(1 - 1/s)^age %"}, {}};
  Chart biased{"reservoir-biased",
               "Biased reservoir: probability of being held, by age",
               "age, records",
               "held (%)",
               {}};
  Line measured{"held", {}, Line::Style::Points},
      predicted{"(1 - 1/s)^age", {}, Line::Style::Dashed};
  for (const double age : results.xs("biased", "biased-reservoir", "held")) {
    const Mean mean = results.mean("biased", "biased-reservoir", "held", age);
    const double middle = age + (age_step - 1) / 2.0;
    measured.points.push_back({middle, 100 * mean.value, 100 * mean.error});
    predicted.points.push_back({middle, 100 * law_of_step(age)});
    law.add({fmt::format("{:.0f} to {:.0f}", age, age + age_step - 1),
             percent(mean.value, 2) + (mean.seeds > 1 ? " ± " + percent(mean.error, 2) : ""),
             percent(law_of_step(age), 2)});
  }
  biased.lines = {measured, predicted};
  law.add({"all, p",
           number(p_of(results.mean("biased", "biased-reservoir", "chi-square"), ages), 2), "-"});
  section.tables = {table, law};
  section.charts = {fair, biased};
  return section;
}

}  // namespace

std::vector<Experiment> reservoir_induction() {
  return {{"reservoir", "the slides' induction measured: every record held with probability s/N",
           parts, present}};
}

}  // namespace weir::lab
