#include "plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/catalog.hpp"
#include "plan/a2_model.hpp"
#include "plan/apbf_model.hpp"
#include "plan/stream_text.hpp"
#include "plan/uniform.hpp"

namespace weir {
namespace {

constexpr double usual_fpr = 0.001;
constexpr std::uint64_t most_predicted = 32 << 20;
constexpr std::uint64_t least_memory_tried = 16 << 10, most_memory = std::uint64_t{1} << 44;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

std::string short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}
std::string size_text(std::uint64_t bytes) {
  const char* const units[] = {"", "K", "M", "G"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 10240 && unit < 3; ++unit) value = std::ceil(value / 1024);
  char text[32];
  std::snprintf(text, sizeof text, "%.0f%s", value, units[unit]);
  return text;
}
// A size that is written with few digits, not below.
std::uint64_t round_up_size(double bytes) {
  double unit = 1;
  while (bytes / unit >= 10240) unit *= 1024;
  return static_cast<std::uint64_t>(std::ceil(bytes / unit) * unit);
}

bool forgets(const std::string& spec) {
  return find_structure(spec.substr(0, spec.find(':')))->forgets;
}

class Planner {
 public:
  explicit Planner(const Wish& wish) : wish_(wish) {
    if (wish.stream) stream_ = wish.stream;
    if (!stream_ && wish.sample == nullptr && wish.keys != 0) {
      stream_.emplace().universe = static_cast<double>(wish.keys);
      assumed_uniform_ = true;
    }
  }

  Plan plan() {
    check();
    Plan plan = wish_.window != 0 ? plan_window() : plan_stream();
    plan.distinct = distinct();
    add_notes(plan);
    return plan;
  }

  [[nodiscard]] Candidate candidate(const std::string& spec, std::uint64_t memory,
                                    double fpr) const {
    Candidate c;
    c.spec = spec;
    c.request = {.memory = memory, .fpr = fpr};
    try {
      expect(c);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Config && error.code() != ErrorCode::Unsupported) throw;
      c.trouble = error.what();
    }
    return c;
  }

  [[nodiscard]] std::vector<Candidate> all(std::uint64_t memory, double fpr) const {
    std::vector<Candidate> list;
    if (wish_.window != 0) {
      for (const char* name : {"apbf", "a2"}) list.push_back(candidate(name, memory, fpr));
      return list;
    }
    for (const char* name : {"weir", "blocked-bloom", "bloom", "qht", "stable", "rsbf", "rlbsbf"})
      if (stream_ || wish_.sample != nullptr || name == std::string("weir") || !forgets(name))
        list.push_back(candidate(name, memory, fpr));
    return list;
  }

 private:
  void check() const {
    const auto is_rate = [](const char* name, const std::optional<double>& rate, bool zero) {
      if (!rate || (*rate > 0 && *rate < 1) || (zero && *rate == 0)) return;
      refuse(std::string(name) + " " + short_number(*rate) + " is no rate; " +
             (zero ? "the nearest are 0 and 0.999" : "the nearest possible are 1e-9 and 0.999"));
    };
    is_rate("--fpr", wish_.fpr, false);
    is_rate("--fnr", wish_.fnr, true);
    if (wish_.fpr && *wish_.fpr < 1e-9)
      refuse("--fpr " + short_number(*wish_.fpr) +
             " is below what 64-bit digests of many keys allow; the lowest is 1e-9");
    if (wish_.memory != 0 && wish_.machine != 0 && wish_.memory > wish_.machine)
      refuse("-S " + size_text(wish_.memory) + " is more than the machine has; the most is " +
             size_text(wish_.machine) + ", or say --machine SIZE for another machine");
    const std::uint64_t least = size_structure("weir", {.memory = 1 << 20}).entry->overhead(1) +
                                budget_reserve + line_bytes;
    if (wish_.memory != 0 && wish_.memory < least)
      refuse("-S " + std::to_string(wish_.memory) + " is below one line of cells; the least is " +
             std::to_string(least) + " bytes");
    if (wish_.memory == 0 && wish_.keys == 0 && wish_.window == 0 && !wish_.stream &&
        wish_.sample == nullptr)
      refuse(
          "nothing to plan from: give two of -S, --keys, --window, --stream or --sample, "
          "--fpr and --fnr");
  }

  // Distinct keys in all; 0: without end or not known.
  [[nodiscard]] double distinct() const {
    if (wish_.sample != nullptr) return wish_.sample->distinct_after(length());
    if (wish_.keys != 0) return static_cast<double>(wish_.keys);
    if (!stream_) return static_cast<double>(wish_.records);
    if (wish_.records != 0) return distinct_keys(*stream_, static_cast<double>(wish_.records));
    return stream_->distances.empty() ? stream_->universe : 0;
  }
  [[nodiscard]] std::uint64_t length() const {
    return wish_.sample != nullptr ? std::max(wish_.records, wish_.sample->records())
                                   : wish_.records;
  }

  void expect(Candidate& c) const {
    const double keys = distinct();
    if (!forgets(c.spec)) {
      if (keys == 0) refuse("fills up on a stream without end");
      c.request.keys = static_cast<std::uint64_t>(std::ceil(keys));
    }
    if (wish_.window != 0) return expect_window(c);
    const Sized sized = size_structure(c.spec, c.request);
    c.parameters = sized.params.text();
    c.bytes = sized.bytes;
    if (wish_.sample != nullptr) {
      const Prediction p = wish_.sample->expect(c.spec, c.request, length());
      c.fpr = p.fpr;
      c.fnr = p.fnr;
      c.source = "the sample, run through it in small";
    } else if (stream_) {
      const Prediction p = predict(c, sized);
      c.fpr = p.fpr;
      c.fnr = p.fnr;
      c.source = forgets(c.spec) ? std::string("its model (src/plan), ") + model_name()
                                 : "Bloom's formula (1970), keys as they come";
    } else if (!forgets(c.spec)) {
      c.fpr = predict_all_new(c, sized, keys).fpr;
      c.fnr = 0;
      c.source = "Bloom's formula (1970), all records different";
    } else {
      c.fpr = c.request.fpr;
      c.source = "its promise: the FPR asked for is the most";
    }
  }

  void expect_window(Candidate& c) const {
    c.spec = c.spec.substr(0, c.spec.find(':')) + ":window=" + std::to_string(wish_.window);
    const Sized sized = size_structure(c.spec, c.request);
    c.parameters = sized.params.text();
    c.bytes = sized.bytes;
    const auto whole = [&](const char* name) {
      return static_cast<double>(sized.params.whole(name, 0, ~std::uint64_t{0}));
    };
    const auto k = static_cast<unsigned>(whole("k"));
    const bool apbf = sized.entry->name == std::string("apbf");
    c.fpr = apbf ? apbf_full_fpr(k, static_cast<unsigned>(whole("l")), whole("m"), whole("g"))
                 : a2_full_fpr(k, whole("m"), whole("g"));
    c.fnr = 0;
    c.source = apbf ? "Shtul, Baquero, Almeida 2020: recursion over the fills, all slices full"
                    : "Yoon 2010: both buffers full";
  }

  // What 99 % of the distances do not exceed.
  [[nodiscard]] static double longest_of_most(std::vector<Distance> distances) {
    std::sort(distances.begin(), distances.end(),
              [](const Distance& a, const Distance& b) { return a.records < b.records; });
    double sum = 0, share = 0;
    for (const Distance& d : distances) sum += d.share;
    for (const Distance& d : distances)
      if ((share += d.share) >= 0.99 * sum) return d.records;
    return 0;
  }

  [[nodiscard]] const char* model_name() const {
    return !stream_->distances.empty()   ? "keys by repeat distance"
           : stream_->popularity.empty() ? "keys equally likely"
                                         : "keys by popularity";
  }

  // The filter at a size that is quickly made, for as small a part of the stream.
  [[nodiscard]] static Prediction predict_small(const Candidate& c, const Sized& sized,
                                                const StreamModel& stream) {
    const double s =
        std::max(1.0, static_cast<double>(sized.payload) / static_cast<double>(most_predicted));
    Request small = c.request;
    const auto cells = static_cast<std::uint64_t>(static_cast<double>(sized.payload) / s);
    small.memory = round_up(cells, line_bytes) + sized.entry->overhead(1) + budget_reserve;
    small.keys = static_cast<std::uint64_t>(std::ceil(static_cast<double>(c.request.keys) / s));
    small.seed = 1;
    return make_filter(c.spec, small)->predict(scaled_down(stream, s));
  }
  [[nodiscard]] Prediction predict(const Candidate& c, const Sized& sized) const {
    StreamModel stream = *stream_;
    stream.records = wish_.records;
    // Of 256 keys a byte hardly any is held, of more hardly any less: within 1 % it is the same.
    const double most_keys = 256.0 * static_cast<double>(sized.payload);
    if (forgets(c.spec) && is_uniform(stream) && stream.universe > most_keys)
      stream.universe = most_keys;
    if (stream.records == 0) {
      // Long enough that all keys came, and the filter was renewed many times.
      const double bits = static_cast<double>(sized.payload) * 8;
      const double all =
          std::max({stream.universe, bits / 4, longest_of_most(stream.distances)}) * 24;
      stream.records = static_cast<std::uint64_t>(std::min(all, 1e18));
      stream.skip = stream.records / 2;
    }
    Prediction p = predict_small(c, sized, stream);
    if (stream.skip != 0 && p.fpr == 0) {
      // All keys have come, and no new record is left to be wrong about: then those of the way.
      stream.skip = 0;
      p.fpr = predict_small(c, sized, stream).fpr;
    }
    return p;
  }
  [[nodiscard]] static Prediction predict_all_new(const Candidate& c, const Sized& sized,
                                                  double keys) {
    StreamModel stream;
    stream.records = static_cast<std::uint64_t>(keys);
    stream.universe = keys * 1e6;
    return predict_small(c, sized, stream);
  }

  Plan plan_window() const {
    Plan plan;
    const auto sized = [&](std::uint64_t memory, double fpr) {
      Candidate c;
      c.spec = "apbf";
      c.request = {.memory = memory, .fpr = fpr};
      expect_window(c);  // refuses, with the longest window
      return c;
    };
    if (wish_.fnr && *wish_.fnr > 0)
      refuse("a window misses no repeat within it: leave out --fnr, or leave out --window");
    if (wish_.memory != 0) {
      // The least FPR that the memory allows comes by itself.
      plan.best = sized(wish_.memory, wish_.fpr.value_or(0.5));
      plan.best.request.fpr = wish_.fpr.value_or(rounded_fpr(plan.best.fpr));
    } else {
      plan.best = sized(0, wish_.fpr.value_or(usual_fpr));
      // The slices share whole lines, so that a little more may be needed.
      auto memory = static_cast<double>(plan.best.bytes + budget_reserve);
      while (!candidate("apbf", round_up_size(memory), plan.best.request.fpr).trouble.empty())
        memory *= 1.001;
      plan.best = sized(round_up_size(memory), plan.best.request.fpr);
    }
    plan.why = "a window is asked for, and apbf misses no repeat within it";
    plan.others = all(plan.best.request.memory, plan.best.request.fpr);
    return plan;
  }
  static double rounded_fpr(double fpr) {
    const double unit = std::pow(10, std::floor(std::log10(fpr)) - 1);
    return std::clamp(std::ceil(fpr / unit) * unit, 1e-9, 0.999);
  }

  Plan plan_stream() {
    Plan plan;
    if (keeps_all(plan)) {
      plan.others = all(plan.best.request.memory, plan.best.request.fpr);
      return plan;
    }
    plan.best = wish_.memory != 0 ? within_memory() : least_memory_for();
    plan.others = all(plan.best.request.memory, plan.best.request.fpr);
    plan.why = "the stream goes on without end or does not fit, and weir misses the least";
    for (const Candidate& c : plan.others)
      if (c.spec == "qht" && c.trouble.empty() && wish_.stream && is_uniform(*wish_.stream) &&
          c.fnr < plan.best.fnr) {
        plan.best = c;
        plan.why = "keys come in no order at all, and there qht, without any order, misses less";
      }
    return plan;
  }

  // (2) True where a filter that forgets nothing does it.
  bool keeps_all(Plan& plan) const {
    const double keys = distinct();
    if (keys == 0) {
      if (wish_.fnr == 0.0)
        refuse(
            "no filter has an FNR of 0 on a stream without end: give the number of --keys or "
            "--records, or a --window within which none is missed");
      return false;
    }
    const bool free = wish_.memory == 0;
    if (free && wish_.fnr.value_or(0) > 0) return false;  // the least memory with some misses
    Candidate least;
    least.fpr = 1;
    for (const char* name : {"blocked-bloom", "bloom"}) {
      Candidate c;
      c.spec = name;
      c.request.memory = wish_.memory;
      c.request.fpr = wish_.fpr.value_or(usual_fpr);
      c.request.keys = static_cast<std::uint64_t>(std::ceil(keys));
      const Sized sized = size_structure(c.spec, c.request);
      if (free)
        c.request.memory =
            round_up_size(static_cast<double>(sized.bytes) + static_cast<double>(budget_reserve));
      c = candidate(name, c.request.memory, c.request.fpr);
      const bool fits = free || full_fpr(c, keys) <= c.request.fpr * 1.0001;
      if (fits) {
        plan.best = c;
        plan.why = std::string(
            "all keys fit at the FPR, and a filter that keeps them all misses "
            "no repeat");
        if (name == std::string("bloom")) plan.why += "; blocked-bloom, faster, does not fit";
        return true;
      }
      if (full_fpr(c, keys) < least.fpr) least = c, least.fpr = full_fpr(c, keys);
    }
    if (wish_.fnr == 0.0) {
      Candidate enough = sized_for(keys);
      refuse("an FNR of 0 needs a filter that keeps all " + short_number(keys) + " keys: in " +
             size_text(wish_.memory) + " the lowest FPR is " + short_number(least.fpr) +
             ", and an FPR of " + short_number(wish_.fpr.value_or(usual_fpr)) + " needs " +
             size_text(enough.request.memory));
    }
    if (!wish_.fpr && !wish_.fnr && wish_.stream == std::nullopt && wish_.sample == nullptr) {
      plan.best = least;  // memory and keys: the FPR follows
      plan.best = candidate(least.spec, wish_.memory, rounded_fpr(std::min(0.5, least.fpr)));
      if (least.fpr > 0.1) return false;
      plan.why = "all keys are kept, at the FPR that the memory allows";
      return true;
    }
    return false;
  }
  Candidate sized_for(double keys) const {
    Candidate c;
    c.spec = "bloom";
    c.request = {.fpr = wish_.fpr.value_or(usual_fpr),
                 .keys = static_cast<std::uint64_t>(std::ceil(keys))};
    c.request.memory = round_up_size(
        static_cast<double>(size_structure(c.spec, c.request).bytes + budget_reserve));
    return c;
  }
  // The FPR when all keys have come.
  [[nodiscard]] double full_fpr(const Candidate& c, double keys) const {
    Candidate full = c;
    StreamModel end;
    end.records = static_cast<std::uint64_t>(keys);
    end.universe = keys * 1e6;
    end.skip = end.records - end.records / 1000 - 1;
    return predict_small(full, size_structure(c.spec, c.request), end).fpr;
  }

  // (3) with the memory given.
  Candidate within_memory() const {
    const double fpr = wish_.fpr.value_or(usual_fpr);
    Candidate best = must("weir", wish_.memory, fpr);
    if (!wish_.fnr) return best;
    if (!best.fnr) refuse("--fnr needs to know the stream: give --stream, --sample or --keys");
    if (wish_.fpr) {
      if (*best.fnr <= *wish_.fnr) return best;
      std::string nearest = "with more memory it falls";
      try {
        Wish more = wish_;
        more.memory = 0;
        nearest = size_text(Planner(more).least_memory_for().request.memory) + " would do";
      } catch (const Error&) {
      }
      refuse("an FNR of " + short_number(*wish_.fnr) + " is not reached in " +
             size_text(wish_.memory) + " at an FPR of " + short_number(fpr) + ": the lowest is " +
             short_number(*best.fnr) + "; " + nearest);
    }
    // The FPR follows: the lowest at which no more is missed.
    double low = std::log(1e-9), high = std::log(0.3);
    best = must("weir", wish_.memory, std::exp(high));
    if (*best.fnr > *wish_.fnr)
      refuse("an FNR of " + short_number(*wish_.fnr) + " is not reached in " +
             size_text(wish_.memory) + " at any FPR up to 0.3: the lowest is " +
             short_number(*best.fnr));
    while (high - low > 0.1) {
      const double middle = (low + high) / 2;
      const Candidate c = must("weir", wish_.memory, rounded_fpr(std::exp(middle)));
      if (*c.fnr <= *wish_.fnr)
        best = c, high = middle;
      else
        low = middle;
    }
    return best;
  }

  // (3) with the memory free: the least for the FNR.
  Candidate least_memory_for() const {
    const double fpr = wish_.fpr.value_or(usual_fpr);
    if (!wish_.fnr)
      refuse(
          "the memory follows from an FNR (--fnr), from --keys or from a --window: give one, or "
          "give the memory (-S)");
    if (!stream_ && wish_.sample == nullptr)
      refuse("--fnr needs to know the stream: give --stream, --sample or --keys");
    double low = std::log2(1.0 * least_memory_tried);
    double high = std::log2(static_cast<double>(wish_.machine != 0 ? wish_.machine : most_memory));
    const auto at = [&](double x) { return must("weir", round_up_size(std::exp2(x)), fpr); };
    Candidate best = must("weir", static_cast<std::uint64_t>(std::exp2(high)), fpr);
    if (*best.fnr > *wish_.fnr)
      refuse("an FNR of " + short_number(*wish_.fnr) + " is not reached at an FPR of " +
             short_number(fpr) + " in the " + size_text(best.request.memory) +
             " of the machine: the lowest is " + short_number(*best.fnr));
    // First by doubling: small ones are quickly predicted.
    for (double x = low; x < high; x += 1) {
      const Candidate c = at(x);
      if (*c.fnr <= *wish_.fnr) {
        best = c;
        high = x;
        break;
      }
      low = x;
    }
    while (high - low > 0.02) {
      const double middle = (low + high) / 2;
      const Candidate c = at(middle);
      if (*c.fnr <= *wish_.fnr)
        best = c, high = middle;
      else
        low = middle;
    }
    return best;
  }

  [[nodiscard]] Candidate must(const std::string& spec, std::uint64_t memory, double fpr) const {
    Candidate c = candidate(spec, memory, fpr);
    if (!c.trouble.empty()) refuse(c.trouble);
    return c;
  }

  void add_notes(Plan& plan) const {
    plan.notes.clear();
    if (wish_.window != 0) return;
    if (assumed_uniform_ && forgets(plan.best.spec))
      plan.notes.push_back(
          "how the keys repeat is not known; each was taken to be equally likely at any time "
          "(--stream or --sample says better)");
    if (wish_.sample == nullptr && !stream_)
      plan.notes.push_back(
          "nothing is known of the stream, so the FNR is not: give --stream, --sample or --keys");
    if (!forgets(plan.best.spec))
      plan.notes.push_back("the FPR is the mean over the run; with all keys in it is " +
                           short_number(100 * full_fpr(plan.best, distinct())) + " %");
    if (wish_.records == 0 && wish_.sample == nullptr && stream_ && forgets(plan.best.spec))
      plan.notes.push_back("without --records: the rates of the steady state");
    if (wish_.sample != nullptr) add_sample_notes(plan);
  }
  void add_sample_notes(Plan& plan) const {
    plan.notes.push_back(
        "a sample does not tell the future: other keys, bursts and seasons are not in it");
    if (wish_.records > wish_.sample->records())
      plan.notes.push_back("what follows on the sample was taken to be like its second half");
    if (forgets(plan.best.spec) &&
        wish_.sample->miniature(plan.best.spec, plan.best.request) < 32 * line_bytes)
      plan.notes.push_back(
          "the filter in small had fewer than 32 lines: take the FNR as a rough figure");
  }

  const Wish& wish_;
  std::optional<StreamModel> stream_;
  bool assumed_uniform_ = false;
};

}  // namespace

Plan make_plan(const Wish& wish) { return Planner(wish).plan(); }

std::vector<Candidate> at_memory(const Wish& wish, std::uint64_t memory, double fpr) {
  return Planner(wish).all(memory, fpr);
}

}  // namespace weir
