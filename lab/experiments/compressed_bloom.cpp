// Compressed Bloom filters (Mitzenmacher 2002): what the same bytes on the wire buy, with a plain
// filter and with larger, sparser arrays; by formula, and asked for keys it never met.
#include "weir/compressed_bloom.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/bits.hpp"
#include "experiment.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr double full_keys = 100'000, asked_a_key = 20;
constexpr int wire_bits[] = {4, 6, 8, 10, 12, 16};
// Memory that the array may have, as times of what goes over the wire; 0: 64 MiB.
constexpr int rooms[] = {1, 2, 8, 0};

std::string row_of(int bits) { return fmt::format("{} bits a key", bits); }
std::string name_of(int room) {
  return room == 0 ? "64 MiB" : room == 1 ? "plain" : fmt::format("{} times the memory", room);
}
CompressedBloom shape_of(int bits, int room, double keys) {
  // 16 bytes go in front of the coded array.
  const double wire = bits * keys / 8 + 16;
  const double memory = room == 0 ? 1 << 26 : room * bits * keys / 8;
  return best_compressed_bloom(keys, wire, static_cast<std::uint64_t>(memory));
}

class Scales final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override { weight += bytes.size(); }
  std::uint64_t weight = 0;
};

std::vector<Measurement> measured(int bits, std::uint64_t keys, std::uint64_t seed) {
  std::vector<Measurement> all;
  for (const int room : rooms) {
    const CompressedBloom shape = shape_of(bits, room, static_cast<double>(keys));
    const FilterPtr filter = make_bloom(shape);
    std::uint64_t next = 0;
    while (next < keys) filter->observe(mix(next++, mix(seed, 17)));
    Scales scales;
    encode_bloom(*filter, scales);
    const auto asked = static_cast<std::uint64_t>(asked_a_key * static_cast<double>(keys));
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < asked; ++i) seen += filter->contains(mix(next++, mix(seed, 17)));
    const std::string spec = fmt::format("m={},k={}", shape.m, shape.k);
    const auto add = [&](const char* what, double value) {
      all.push_back({row_of(bits), name_of(room), spec, seed, 0, what, value});
    };
    add("fpr", static_cast<double>(seen) / static_cast<double>(asked));
    add("predicted", shape.fpr);
    add("wire", static_cast<double>(scales.weight) * 8 / static_cast<double>(keys));
    add("memory", static_cast<double>(shape.m) / static_cast<double>(keys));
    add("probes", shape.k);
  }
  return all;
}

std::vector<Part> parts(const Setting& setting) {
  if (setting.scale < 0.01)
    throw Error(ErrorCode::Config,
                fmt::format("--scale {} is too small to mean anything: some thousand keys must be "
                            "asked for; the least is 0.01",
                            setting.scale));
  const auto keys = static_cast<std::uint64_t>(std::round(full_keys * setting.scale / 1000)) * 1000;
  std::vector<Part> parts;
  for (const int bits : wire_bits)
    for (unsigned seed = 1; seed <= setting.repeat; ++seed)
      parts.push_back({fmt::format("{} {}", row_of(bits), seed), 0.3 * setting.scale, 80 << 20,
                       [=] { return measured(bits, keys, seed); }});
  return parts;
}

Section present(const Setting& setting, const Results& results) {
  Section section{"Compressed Bloom filters: the same bytes on the wire", {}, {}, {}};
  section.text = {
      fmt::format("{:.0f} keys in filters that are sent in 4 to 16 bits a key, and twenty times as "
                  "many others asked for. Plain: the array is sent as it is, half full. The "
                  "others may use more memory on both sides; the best number of probes and the "
                  "largest array that can be paid for were chosen by weir/compressed_bloom.hpp.",
                  full_keys * setting.scale),
      "What goes over the wire, and what comes of it, is as predicted. The more memory, the fewer "
      "probes and the lower the rate: twice the memory saves 5 to 30 %, 64 MiB a half at 8 bits a "
      "key and three quarters at 16, where one probe would be better still but wants a larger "
      "array."};
  Table table{"compressed-bloom",
              {"wire", "filter", "bits in memory", "probes", "bits on the wire", "FPR % predicted",
               "FPR % measured", "of plain"},
              {}};
  Chart chart{"compressed-bloom",
              "False positives by bits on the wire: predicted (lines), measured "
              "(points)",
              "bits a key on the wire",
              "FPR (%)",
              {}};
  chart.log_y = true;
  for (const int room : rooms) {
    Line line{name_of(room), {}};
    Line points{name_of(room) + ", measured", {}, Line::Style::Points};
    for (const int bits : wire_bits) {
      const Mean mean = results.mean(row_of(bits), name_of(room), "fpr");
      line.points.push_back({static_cast<double>(bits),
                             100 * results.mean(row_of(bits), name_of(room), "predicted").value});
      points.points.push_back({static_cast<double>(bits), 100 * mean.value, 100 * mean.error});
    }
    chart.lines.push_back(line), chart.lines.push_back(points);
  }
  for (const int bits : wire_bits)
    for (const int room : rooms) {
      const auto mean = [&](const char* what) {
        return results.mean(row_of(bits), name_of(room), what);
      };
      const double plain = results.mean(row_of(bits), name_of(1), "fpr").value;
      table.add({row_of(bits), name_of(room), number(mean("memory").value, 3),
                 number(mean("probes").value, 2), number(mean("wire").value),
                 number(100 * mean("predicted").value),
                 number(100 * mean("fpr").value) +
                     (mean("fpr").seeds > 1 ? " ± " + number(100 * mean("fpr").error, 1) : ""),
                 number(mean("fpr").value / plain, 2)});
    }
  section.tables = {table};
  section.charts = {chart};
  return section;
}

}  // namespace

std::vector<Experiment> compressed_bloom_filters() {
  return {{"compressed-bloom",
           "Mitzenmacher's filters for the wire against plain ones, equal bytes", parts, present}};
}

}  // namespace weir::lab
