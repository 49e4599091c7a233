// The other side: counts its keys, and sends those that are in the filter.
#include <algorithm>
#include <chrono>

#include "exchange/intersect_words.hpp"
#include "exchange/message.hpp"

namespace weir {
namespace {

constexpr std::uint32_t most_parts = 1 << 16;
constexpr std::uint32_t most_probes = 32;

// What a key costs on the wire, from a sample: keys are sent compressed, and few of many, so that
// neighbours of a sorted file do not stand side by side.
class WireCost {
 public:
  void offer(std::string_view key, const KeyDigest& digest) {
    bytes_ += key.size() + 1, ++keys_;
    if (digest.low % 16 != 0 || sampled_bytes_ >= most_sampled || key.size() > most_sampled) return;
    writer_.put(key);
    sampled_bytes_ += key.size() + 1;
    ++sampled_;
  }
  double a_key() {
    if (keys_ == 0) return 0;
    writer_.end();
    if (sampled_ < 16) return static_cast<double>(bytes_) / static_cast<double>(keys_);
    return static_cast<double>(pressed_) / static_cast<double>(sampled_);
  }

 private:
  static constexpr std::uint64_t most_sampled = 1 << 20;
  std::uint64_t bytes_ = 0, keys_ = 0, sampled_ = 0, sampled_bytes_ = 0, pressed_ = 0;
  words::KeyWriter writer_{[this](std::span<const std::byte> piece) { pressed_ += piece.size(); }};
};

[[noreturn]] void nonsense() {
  throw Error(ErrorCode::Io, "the other side asks for something that makes no sense");
}

// The coded array out of messages.
class ArraySource final : public ByteSource {
 public:
  ArraySource(Channel& channel, std::uint64_t size) : channel_(channel), size_(size) {}
  void read(std::span<std::byte> bytes) override {
    while (!bytes.empty()) {
      if (rest_.empty()) rest_ = channel_.receive(words::Array);
      if (rest_.empty()) nonsense();
      const std::size_t count = std::min(bytes.size(), rest_.size());
      std::copy_n(rest_.begin(), count, bytes.begin());
      rest_ = rest_.subspan(count), bytes = bytes.subspan(count);
    }
  }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  Channel& channel_;
  std::uint64_t size_;
  std::span<const std::byte> rest_;
};

struct Asked {
  std::uint32_t part, parts;
  std::uint64_t m;
  std::uint32_t k;
  std::uint64_t coded, longest, batch;
};
Asked read_part(std::span<const std::byte> contents, std::uint32_t due, std::uint64_t memory) {
  MessageReader message(contents);
  Asked asked{};
  asked.part = message.get<std::uint32_t>();
  asked.parts = message.get<std::uint32_t>();
  asked.m = message.get<std::uint64_t>();
  asked.k = message.get<std::uint32_t>();
  asked.coded = message.get<std::uint64_t>();
  asked.longest = message.get<std::uint64_t>();
  asked.batch = message.get<std::uint64_t>();
  message.end();
  const bool sound = asked.part == due && asked.parts > asked.part && asked.parts <= most_parts &&
                     asked.batch > 0 &&
                     (asked.m == 0 || (asked.m >= 64 && asked.m / 8 <= memory && asked.k > 0 &&
                                       asked.k <= most_probes));
  if (!sound) nonsense();
  return asked;
}

// (4)
std::uint64_t send_part(Channel& channel, KeySet& set, const Asked& asked, const Filter* filter) {
  words::KeyWriter writer(
      [&](std::span<const std::byte> piece) { channel.send(words::Keys, piece); });
  std::uint64_t sent = 0, in_batch = 0;
  set.each_first([&](std::uint64_t, std::string_view key, const KeyDigest& digest) {
    if (words::part_of(digest, asked.parts) != asked.part || key.size() > asked.longest) return;
    if (filter != nullptr && !filter->contains(digest.low)) return;
    if (in_batch == asked.batch) {
      writer.flush();
      channel.send(words::Pause, {});
      channel.receive(words::Next);
      in_batch = 0;
    }
    writer.put(key);
    ++sent, ++in_batch;
  });
  writer.end();
  MessageWriter end;
  end.put(sent);
  channel.send(words::End, end.bytes());
  channel.flush();
  return sent;
}

}  // namespace

IntersectStats serve_intersect(Channel& channel, const IntersectOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  IntersectStats stats;
  channel.greet("intersect", words::version);
  ExchangeSecret secret;
  MessageReader first(channel.receive(words::Begin));
  const auto bytes = first.raw(secret.size());
  first.end();
  std::memcpy(secret.data(), bytes.data(), secret.size());

  KeySet set(options.records, secret, words::set_memory(options.memory),
             [&] { channel.still_here(); });
  WireCost cost;
  set.read([&](std::string_view key, const KeyDigest& digest) { cost.offer(key, digest); });  // (1)
  stats.here = set.keys();
  stats.key_bytes_here = set.key_bytes();
  stats.wire_bytes_a_key = cost.a_key();
  const std::uint64_t memory = words::filter_memory(options.memory);
  MessageWriter count;
  count.put(stats.here).put(stats.key_bytes_here).put(stats.wire_bytes_a_key).put(memory);
  channel.send(words::Count, count.bytes());  // (2)

  for (std::uint32_t due = 0;; ++due) {
    const Channel::Message message = channel.receive();
    if (message.kind == words::Done && message.contents.empty()) break;
    if (message.kind != words::Part) nonsense();
    const Asked asked = read_part(message.contents, due, memory);
    FilterPtr filter;
    if (asked.m != 0) {
      filter = make_bloom({.m = asked.m, .k = asked.k});
      ArraySource source(channel, asked.coded);
      decode_bloom(*filter, source);  // (3)
      if (!source.at_end()) nonsense();
    }
    stats.keys_sent += send_part(channel, set, asked, filter.get());
  }
  words::put_own(set, channel, begin, stats);
  return stats;
}

}  // namespace weir
