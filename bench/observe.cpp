// What a record costs in every structure of the catalogue, beside the floor of the machine.
//
//   bench-observe [--sizes 1M,64M,1G] [--structures a,b] [--rounds 7] [--load-seconds 15]
//                 [--fpr 0.01] [--seed 1] [--csv FILE]
//
// For each size and structure:
//   (1) size it for --fpr. A filter or sketch that never forgets gets the number of keys n for
//       which it keeps this FPR; one that forgets is loaded until its fill is steady.
//   (2) load it to n/2 keys, or to the steady state, or for --load-seconds
//   (3) --rounds times, with fresh keys every time: the floor, a batch, single calls; the order
//       turns with the round. A ratio is taken within its round. Digests are made beforehand.
//   (4) load up to n keys
//   (5) ask for 2^20 keys never met: the realised FPR; and for 2^20 of those met, of any age: how
//       many it holds, hence the bits a key. predict() says which FPR was to be expected.
// All keys are new; where importance counts it is uniform in 1..7.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "floor.hpp"
#include "report.hpp"
#include "weir/catalog.hpp"
#include "weir/top.hpp"

namespace bench {
namespace {

using namespace weir;

struct Options {
  std::vector<std::uint64_t> sizes = {1 << 20, 64 << 20, 1 << 30};
  std::vector<std::string> structures;
  unsigned rounds = 7;
  double load_seconds = 15;
  double fpr = 0.01;
  std::uint64_t seed = 1;
  std::string csv;
};

std::vector<std::string> split(const std::string& list, char at) {
  std::vector<std::string> parts;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

template <class F>
double seconds(F&& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The random lines that one record touches, as a sum of numbers, parameters and their ratios. For
// rsbf, bsbf and rlbsbf a bit of the key and a bit to reset in each filter; for ibf-h the trials
// that fail are not counted; for apbf the k youngest slices, and two tests for k of the others.
constexpr const char* lines_touched[][2] = {
    {"weir", "1"},          {"bloom", "k"},
    {"blocked-bloom", "1"}, {"counting", "k"},
    {"stable", "K+P"},      {"rsbf", "k+k"},
    {"ibf-2c", "K+P"},      {"ibf-mc", "K+P"},
    {"ibf-h", "K+P"},       {"spectral", "k"},
    {"count-min", "d"},     {"space-saving", "3"},
    {"reservoir", "0"},     {"biased-reservoir", "1"},
    {"bsbf", "k+k"},        {"bsbfsd", "k+1"},
    {"rlbsbf", "k+k"},      {"qht", "1"},
    {"apbf", "k+l/k+l/k"},  {"a2", "k"},
};

unsigned lines_of(const Structure& structure) {
  const char* sum = "1";
  for (const auto& [name, terms] : lines_touched)
    if (std::strcmp(name, structure.info().name) == 0) sum = terms;
  unsigned lines = 0;
  const auto value_of = [&](const std::string& term) {
    std::string value = term;
    for (const std::string& parameter : split(structure.parameters(), ','))
      if (parameter.starts_with(term + '=')) value = parameter.substr(term.size() + 1);
    return static_cast<unsigned>(std::atoi(value.c_str()));
  };
  for (const std::string& term : split(sum, '+')) {
    const auto ratio = split(term, '/');
    lines += ratio.size() == 2 ? value_of(ratio[0]) / value_of(ratio[1]) : value_of(term);
  }
  return lines;
}

// Key number i of the stream; the numbers from `never_met` on are never observed.
constexpr std::uint64_t never_met = std::uint64_t{1} << 60;
Digest key(std::uint64_t seed, std::uint64_t i) { return mix(seed, i); }

// One structure of any kind behind the three calls a measurement needs.
class Subject {
 public:
  Subject(StructurePtr structure, std::uint64_t seed)
      : structure_(std::move(structure)),
        filter_(dynamic_cast<Filter*>(structure_.get())),
        sketch_(dynamic_cast<Sketch*>(structure_.get())),
        sample_(dynamic_cast<Sample*>(structure_.get())),
        weighted_(structure_->info().weighted),
        seed_(seed) {
    // Written back as it is, so that no page is met for the first time while the clock runs.
    const auto cells = structure_->payload();
    for (std::size_t i = 0; i < cells.size(); i += page_bytes)
      const_cast<volatile std::byte&>(cells[i]) = const_cast<volatile std::byte&>(cells[i]);
  }

  [[nodiscard]] const Structure& structure() const { return *structure_; }
  [[nodiscard]] std::uint64_t records() const { return next_; }

  // Makes the digests of the next records.
  void prepare(std::uint64_t count) {
    digests_.resize(count);
    verdicts_.resize(count);
    for (Digest& digest : digests_) digest = key(seed_, next_++);
    if (weighted_) {
      weights_.resize(count);
      for (std::size_t i = 0; i < count; ++i)
        weights_[i] = 1 + static_cast<std::uint32_t>(reduce(mix(digests_[i], 1), 7));
    }
  }
  // Those made last; the floor takes them too.
  [[nodiscard]] std::span<const Digest> digests() const { return digests_; }
  void batch() {
    if (weighted_)
      filter_->observe(digests_, weights_, verdicts_);
    else if (filter_ != nullptr)
      filter_->observe(digests_, verdicts_);
    else if (sketch_ != nullptr)
      sketch_->add(digests_, {});
    else
      sample_->offer(digests_);
  }
  void single_calls() {
    if (weighted_)
      for (std::size_t i = 0; i < digests_.size(); ++i)
        verdicts_[i] = filter_->observe(digests_[i], weights_[i]);
    else if (filter_ != nullptr)
      for (std::size_t i = 0; i < digests_.size(); ++i)
        verdicts_[i] = filter_->observe(digests_[i]);
    else if (sketch_ != nullptr)
      for (const Digest digest : digests_) sketch_->add(digest);
    else
      for (const Digest digest : digests_) sample_->offer(digest);
  }

  // Of 2^20 keys, evenly spread over [first, first + of): the share that is held for known.
  [[nodiscard]] double share_known(std::uint64_t first, std::uint64_t of) const {
    constexpr std::uint64_t asked = 1 << 20;
    std::uint64_t known = 0;
    for (std::uint64_t i = 0; i < asked; ++i) {
      const Digest digest = key(seed_, first + multiply_high(i << 44, of));
      known += filter_ != nullptr ? filter_->contains(digest) : sketch_->estimate(digest) != 0;
    }
    return static_cast<double>(known) / asked;
  }
  [[nodiscard]] double predicted_fpr() const {
    if (filter_ == nullptr) return structure_->health().fpr;
    StreamModel stream{.records = next_, .universe = 0x1p60, .skip = next_ - next_ / 4096 - 1};
    if (weighted_) stream.importance.assign(7, 1.0);
    return filter_->predict(stream).fpr;
  }
  // Keys held: those met less the forgotten, the false positives among them not counted.
  [[nodiscard]] double held(double fpr) const {
    if (sample_ != nullptr) return static_cast<double>(sample_->records().size());
    if (const Top* const top = as_top(*structure_))
      return static_cast<double>(top->entries().size());
    return static_cast<double>(next_) * (share_known(0, next_) - fpr) / (1 - fpr);
  }

 private:
  StructurePtr structure_;
  Filter* filter_;
  Sketch* sketch_;
  Sample* sample_;
  bool weighted_;
  std::uint64_t seed_, next_ = 0;
  std::vector<Digest> digests_;
  std::vector<std::uint32_t> weights_;
  std::vector<Verdict> verdicts_;
};

// How many keys a structure that never forgets holds at the wanted FPR; 0 for the others.
std::uint64_t keys_for(const StructureInfo& info, std::uint64_t bytes, const Options& options) {
  if (info.forgets || info.kind == Kind::Sample) return 0;
  constexpr std::uint64_t few = 100'000;
  const StructurePtr small = make_structure(info.name, {.fpr = options.fpr, .keys = few});
  const double bits_a_key = 8.0 * static_cast<double>(small->payload().size()) / few;
  return static_cast<std::uint64_t>(8.0 * static_cast<double>(bytes) / bits_a_key);
}

// Goes on to `keys` keys; without such a number until the fill has grown by less than 0.5 % in
// the last fifth of the stream. Or until the time is over.
void load(Subject& subject, std::uint64_t keys, double time_left) {
  constexpr std::uint64_t step = 1 << 16;
  double fill = 0;
  std::uint64_t next_look = step;
  while (time_left > 0 && (keys == 0 || subject.records() < keys)) {
    subject.prepare(keys == 0 ? step : std::min(step, keys - subject.records()));
    time_left -= seconds([&] { subject.batch(); });
    if (keys != 0 || subject.records() < next_look) continue;
    const double now = subject.structure().health().fill;
    if (now < fill * 1.005) return;
    fill = now;
    next_look = subject.records() * 5 / 4;
  }
}

struct Row {
  double floor, batch, single, ratio;
};

// A small structure that never forgets would be full before the rounds are over; then `renew` is
// set, and each measurement starts from a new one loaded to half.
Row time_rounds(Subject& subject, const std::function<void()>& renew, std::uint64_t count,
                Floor& floor, const Options& options, Csv& csv) {
  const unsigned lines = lines_of(subject.structure());
  std::vector<double> taken[3], ratios;
  for (unsigned round = 0; round < options.rounds; ++round) {
    double ns[3] = {};
    for (unsigned turn = 0; turn < 3; ++turn) {
      const unsigned which = (round + turn) % 3;
      if (which != 0) {
        if (renew) renew();
        subject.prepare(count);
      } else if (renew) {
        floor.touch(subject.digests(), lines);  // as warm as a structure just loaded
      }
      const double all = seconds([&] {
        if (which == 0) floor.touch(subject.digests(), lines);
        if (which == 1) subject.batch();
        if (which == 2) subject.single_calls();
      });
      ns[which] = all * 1e9 / static_cast<double>(subject.digests().size());
      taken[which].push_back(ns[which]);
      constexpr const char* measures[] = {"floor_ns", "batch_ns", "scalar_ns"};
      csv.row(floor.bytes(), subject.structure().info().name, subject.structure().parameters(),
              measures[which], round, subject.digests().size(), ns[which]);
    }
    if (lines != 0) ratios.push_back(ns[1] / ns[0]);
  }
  return {median(taken[0]), median(taken[1]), median(taken[2]), median(ratios)};
}

std::string number(double value, const char* format, bool known = true) {
  char text[32] = "-";
  if (known) std::snprintf(text, sizeof text, format, value);
  return text;
}

void measure(const StructureInfo& info, Floor& floor, const Options& options, Csv& csv) {
  const std::uint64_t bytes = floor.bytes(), keys = keys_for(info, bytes, options);
  const Request request{.memory = bytes, .fpr = options.fpr, .keys = keys, .seed = options.seed};
  Subject subject(make_structure(info.name, request), options.seed);
  const std::string parameters = subject.structure().parameters();
  const unsigned lines = lines_of(subject.structure());

  // About four million lines a measurement.
  std::uint64_t count = (4 << 20) / std::max(lines, 4u);
  std::function<void()> renew;
  if (keys != 0 && 2 * options.rounds * count > keys / 2) {
    count = std::min(count, keys / 4);
    renew = [&] {
      subject = Subject(make_structure(info.name, request), options.seed);
      load(subject, keys / 2, options.load_seconds);
    };
  }
  load(subject, keys / 2, options.load_seconds);
  subject.prepare(count);
  subject.batch();
  const Row row = time_rounds(subject, renew, count, floor, options, csv);
  if (keys != 0) load(subject, keys, options.load_seconds);

  const bool sample = info.kind == Kind::Sample;
  const double fpr = sample ? 0 : subject.share_known(never_met, 1 << 20);
  const double predicted = sample ? 0 : subject.predicted_fpr();
  const double held = subject.held(fpr);
  const double bits_a_key = 8.0 * static_cast<double>(subject.structure().memory()) / held;
  const auto put = [&](const char* measure, double value) {
    csv.row(bytes, info.name, parameters, measure, 0, subject.records(), value);
  };
  put("ratio", row.ratio), put("fpr", fpr), put("predicted_fpr", predicted);
  put("fill", subject.structure().health().fill), put("bits_a_key", bits_a_key);

  std::printf("%-17s %5u %8.1f %8.1f %8.1f %6s %9.1f %9s %9s %9.1f %6.3f  %s\n", info.name, lines,
              row.floor, row.single, row.batch, number(row.ratio, "%.2f", lines != 0).c_str(),
              bits_a_key, number(100 * fpr, "%.3f", !sample).c_str(),
              number(100 * predicted, "%.3f", !sample).c_str(),
              static_cast<double>(subject.records()) * 1e-6, subject.structure().health().fill,
              parameters.c_str());
  std::fflush(stdout);
}

// What the pages are worth: the floor of one line on huge and on small ones.
void measure_pages(Floor& huge, const Options& options, Csv& csv) {
  Floor small(huge.bytes(), Pages::Small);
  std::vector<Digest> digests(1 << 20);
  std::vector<double> ns[2], ratios;
  for (unsigned round = 0; round < options.rounds; ++round) {
    for (unsigned which = 0; which < 2; ++which) {
      for (std::size_t i = 0; i < digests.size(); ++i)
        digests[i] = key(options.seed, never_met + (2 * round + which) * digests.size() + i);
      const double all = seconds([&] { (which == 0 ? huge : small).touch(digests, 1); });
      ns[which].push_back(all * 1e9 / static_cast<double>(digests.size()));
      csv.row(huge.bytes(), "floor", "", which == 0 ? "huge_pages_ns" : "small_pages_ns", round,
              digests.size(), ns[which].back());
    }
    ratios.push_back(ns[1].back() / ns[0].back());
  }
  std::printf("one line: %.1f ns on 2 MiB pages, %.1f ns on 4 KiB pages, ratio %.2f\n",
              median(ns[0]), median(ns[1]), median(ratios));
}

std::uint64_t read_size(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  const char* const suffixes = "KMG";
  const char* const suffix = *end == 0 ? nullptr : std::strchr(suffixes, *end);
  if (number == 0 || (*end != 0 && suffix == nullptr))
    throw std::runtime_error("not a size: " + text);
  return suffix == nullptr ? number : number << (10 * (suffix - suffixes + 1));
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--sizes") {
      options.sizes.clear();
      for (const std::string& size : split(value, ',')) options.sizes.push_back(read_size(size));
    } else if (name == "--structures") {
      options.structures = split(value, ',');
    } else if (name == "--rounds") {
      options.rounds = static_cast<unsigned>(std::max(1, std::atoi(value.c_str())));
    } else if (name == "--load-seconds") {
      options.load_seconds = std::atof(value.c_str());
    } else if (name == "--fpr") {
      options.fpr = std::atof(value.c_str());
    } else if (name == "--seed") {
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--csv") {
      options.csv = value;
    } else {
      throw std::runtime_error("unknown option " + name);
    }
  }
  return options;
}

void run(const Options& options) {
  std::vector<std::string> head = machine();
  head.push_back("seed " + std::to_string(options.seed) + ", " + std::to_string(options.rounds) +
                 " rounds, FPR aimed at " + number(options.fpr, "%g") + ", loading at most " +
                 number(options.load_seconds, "%g s"));
  Csv csv(options.csv, head);
  for (const std::string& line : head) std::printf("%s\n", line.c_str());
  for (const std::uint64_t bytes : options.sizes) {
    Floor floor(bytes);
    std::printf("\n%llu KiB; ", static_cast<unsigned long long>(bytes >> 10));
    measure_pages(floor, options, csv);
    std::printf("%-17s %5s %8s %8s %8s %6s %9s %9s %9s %9s %6s\n", "structure", "lines", "floor ns",
                "single", "batch", "ratio", "bits/key", "FPR %", "predicted", "10^6 met", "fill");
    for (const StructureInfo* info : catalog()) {
      const auto& wanted = options.structures;
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), info->name) != wanted.end())
        measure(*info, floor, options, csv);
    }
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    bench::run(bench::read_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-observe: %s\n", error.what());
    return 1;
  }
}
