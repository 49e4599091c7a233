#include "plan/stream_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "core/params.hpp"

namespace weir {
namespace {

constexpr double most_keys = 1e15, most_records = 1e15;

double take(Params& params, const char* name, double least, double most) {
  if (const auto value = params.take_real(name, least, most)) return *value;
  throw Error(ErrorCode::Config, std::string("the stream lacks its parameter ") + name);
}

// Classes of ranks, each up to 1.25 times the last: within one, rates hardly differ.
std::vector<Popularity> zipf(double universe, double s) {
  std::vector<Popularity> classes;
  double sum = 0;
  for (double first = 1; first <= universe;) {
    const double last = std::min(std::floor(first * 1.25), universe);
    double weight = 0;
    if (last - first < 100)
      for (double i = first; i <= last; ++i) weight += std::pow(i, -s);
    else if (std::abs(s - 1) < 1e-9)
      weight = std::log((last + 0.5) / (first - 0.5));
    else
      weight = (std::pow(last + 0.5, 1 - s) - std::pow(first - 0.5, 1 - s)) / (1 - s);
    classes.push_back({last - first + 1, weight / (last - first + 1)});
    sum += weight;
    first = last + 1;
  }
  for (Popularity& p : classes) p.rate /= sum;
  return classes;
}

// The law in slices of 4 % from `least` on, and what is beyond as one.
std::vector<Distance> by_law(double least, double again,
                             const std::function<double(double)>& within) {
  std::vector<Distance> distances;
  double before = within(least);
  if (before > 0) distances.push_back({std::max(1.0, least / 2), again * before});
  for (double d = least; d < most_records && before < 1 - 1e-7; d *= 1.04) {
    const double now = within(d * 1.04);
    if (now > before) distances.push_back({d * std::sqrt(1.04), again * (now - before)});
    before = now;
  }
  distances.push_back({most_records, again * (1 - before)});
  return distances;
}

}  // namespace

StreamModel parse_stream(std::string_view text) {
  const auto colon = text.find(':');
  const std::string law(text.substr(0, colon));
  Params params =
      Params::parse(colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1));
  StreamModel stream;
  const auto again = [&] { return take(params, "again", 1e-6, 0.999); };
  if (law == "uniform") {
    stream.universe = std::floor(take(params, "U", 1, most_keys));
  } else if (law == "zipf") {
    stream.universe = std::floor(take(params, "U", 1, most_keys));
    stream.popularity = zipf(stream.universe, take(params, "s", 0, 10));
  } else if (law == "fixed") {
    stream.distances = {{take(params, "d", 1, most_records), again()}};
  } else if (law == "geometric") {
    const double mean = take(params, "mean", 1, most_records);
    stream.distances =
        by_law(mean / 1000, again(), [&](double d) { return -std::expm1(-d / mean); });
  } else if (law == "pareto") {
    const double least = take(params, "least", 1, most_records);
    const double shape = take(params, "shape", 0.01, 100);
    stream.distances =
        by_law(least, again(), [&](double d) { return 1 - std::pow(least / d, shape); });
  } else {
    throw Error(ErrorCode::Config,
                "'" + law +
                    "' is not a stream; there are uniform:U=..., zipf:U=...,s=..., "
                    "fixed:d=...,again=..., geometric:mean=...,again=... and "
                    "pareto:least=...,shape=...,again=...");
  }
  if (const std::string rest = params.text(); !rest.empty())
    throw Error(ErrorCode::Config, "the stream " + law + " has no parameter " + rest);
  return stream;
}

StreamModel scaled_down(const StreamModel& stream, double s) {
  StreamModel part = stream;
  part.records = static_cast<std::uint64_t>(static_cast<double>(stream.records) / s);
  part.skip = static_cast<std::uint64_t>(static_cast<double>(stream.skip) / s);
  part.universe = stream.universe / s;
  // A key that is hotter than one record in `s` cannot be a part: it counts as one that is always
  // met, which it is.
  for (Popularity& p : part.popularity) p.keys /= s, p.rate *= s;
  for (Distance& d : part.distances) d.records /= s;
  return part;
}

}  // namespace weir
