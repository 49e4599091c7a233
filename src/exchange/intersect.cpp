// This side: asks, sends the filter, drops what came through it wrongly, writes.
#include "weir/intersect.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "exchange/intersect_words.hpp"
#include "exchange/key_set.hpp"
#include "exchange/message.hpp"
#include "sink/output.hpp"

namespace weir {
namespace {

using words::part_of;

[[noreturn]] void lies(const std::string& how) {
  throw Error(ErrorCode::Io, "the other side contradicts itself: " + how);
}

class ChannelSink final : public ByteSink {
 public:
  explicit ChannelSink(Channel& channel) : channel_(channel) {}
  void write(std::span<const std::byte> bytes) override {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), words::piece_bytes)))
      channel_.send(words::Array, bytes.first(std::min(bytes.size(), words::piece_bytes)));
  }

 private:
  Channel& channel_;
};

// Counts what encode_bloom() would send.
class Scales final : public ByteSink {
 public:
  void write(std::span<const std::byte> bytes) override { weight += bytes.size(); }
  std::uint64_t weight = 0;
};

// Everything of step (3) to (5) on this side.
class Asking {
 public:
  Asking(Channel& channel, KeySet& set, const ExchangeSecret& secret, std::uint64_t memory,
         IntersectStats& stats)
      : channel_(channel), set_(set), secret_(secret), stats_(stats), candidates_(memory) {}

  void ask_part(std::uint32_t part) {
    FilterPtr filter = filter_of(part);
    Scales scales;
    if (filter) encode_bloom(*filter, scales);
    const CompressedBloom& shape = stats_.plan.filter;
    MessageWriter message;
    message.put(part).put(stats_.plan.parts).put(filter ? shape.m : 0).put(shape.k);
    message.put(scales.weight).put(set_.longest()).put(candidates_.room());
    channel_.send(words::Part, message.bytes());
    ChannelSink sink(channel_);
    if (filter) encode_bloom(*filter, sink);
    hear_part(part, filter.get());
  }

  // Marks of the records whose key is there, too.
  [[nodiscard]] const Marks& common() const noexcept { return common_; }

 private:
  FilterPtr filter_of(std::uint32_t part) {
    if (stats_.plan.filter.m == 0) return nullptr;
    FilterPtr filter = make_bloom(stats_.plan.filter);
    constexpr std::size_t batch = 256;
    std::vector<Digest> digests;
    std::vector<Verdict> verdicts(batch);
    const auto observe = [&] {
      filter->observe(digests, std::span(verdicts).first(digests.size()));
      digests.clear();
    };
    set_.each_first([&](std::uint64_t, std::string_view, const KeyDigest& digest) {
      if (part_of(digest, stats_.plan.parts) != part) return;
      digests.push_back(digest.low);
      if (digests.size() == batch) observe();
    });
    observe();
    return filter;
  }

  void hear_part(std::uint32_t part, const Filter* filter) {
    std::uint64_t fresh = 0;
    words::KeyReader reader(set_.longest(), [&](std::string_view key) {
      const KeyDigest digest = digest_key(key, secret_);
      if (part_of(digest, stats_.plan.parts) != part ||
          (filter != nullptr && !filter->contains(digest.low)))
        lies("it sends a key that was not asked for");
      const auto put = candidates_.put(digest);
      if (put == DigestSet::Put::Full) lies("it sends more keys than a batch has");
      fresh += put == DigestSet::Put::New;
    });
    for (;;) {
      const Channel::Message message = channel_.receive();
      switch (message.kind) {
        case words::Keys:
          reader.feed(message.contents);
          if (stats_.keys_sent + reader.keys() > stats_.there)
            lies("it sends more keys than it has");
          continue;
        case words::Pause:
          if (!reader.between_keys()) lies("a batch ends within a key");
          // A side that pauses without having sent anything would keep us reading for ever.
          if (fresh == 0) lies("it pauses without having sent anything");
          fresh = 0;
          mark();
          channel_.send(words::Next, {});
          channel_.flush();
          continue;
        case words::End: {
          MessageReader contents(message.contents);
          if (contents.get<std::uint64_t>() != reader.keys() || !reader.between_keys())
            lies("it miscounts what it sends");
          contents.end();
          stats_.keys_sent += reader.keys();
          if (candidates_.size() > 0) mark();
          return;
        }
        default:
          lies("a word out of turn (" + std::to_string(message.kind) + ")");
      }
    }
  }

  // (5) The candidates that are here, too.
  void mark() {
    set_.each([&](std::uint64_t record, std::string_view, const KeyDigest& digest) {
      if (!candidates_.contains(digest) || !common_.set(record)) return;
      stats_.both += set_.is_first(record);
    });
    candidates_.clear();
  }

  Channel& channel_;
  KeySet& set_;
  const ExchangeSecret& secret_;
  IntersectStats& stats_;
  DigestSet candidates_;
  Marks common_;
};

void write_records(KeySet& set, const Marks& common, const IntersectOptions& options) {
  const DedupOptions& records = options.records;
  Output output = records.output.empty() ? Output(records.output_fd, "the output")
                                         : Output::create(records.output);
  const char terminator = records.format.kind == Records::Nul ? '\0' : '\n';
  const bool wanted = options.write == IntersectOptions::Write::Common;
  std::string text;
  set.walk([&](Chunk& chunk, std::uint64_t before) {
    if (chunk.piece) return;
    text.clear();
    bool unterminated = false;
    std::size_t i = chunk.new_header ? 0 : chunk.heads;
    for (; i < chunk.records(); ++i) {
      const std::uint64_t record = before + i;
      if (i >= chunk.heads) {
        if (common.get(record) != wanted) continue;
        if (!set.is_first(record) && !(options.every_record && set.has_key(record))) continue;
      }
      text += chunk.record(i);
      unterminated = !chunk.terminated(i) && chunk.terminator > 0;
    }
    if (!text.empty()) output.write(text, unterminated, terminator);
  });
  output.close();
}

}  // namespace

IntersectStats intersect(Channel& channel, const IntersectOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  IntersectStats stats;
  channel.greet("intersect", words::version);
  const ExchangeSecret secret = random_secret();
  channel.send(words::Begin, std::as_bytes(std::span(secret)));
  channel.flush();
  KeySet set(options.records, secret, words::set_memory(options.memory),
             [&] { channel.still_here(); });
  set.read([](std::string_view, const KeyDigest&) {});  // (1)

  MessageReader count(channel.receive(words::Count));  // (2)
  stats.there = count.get<std::uint64_t>();
  stats.key_bytes_there = count.get<std::uint64_t>();
  stats.wire_bytes_a_key = count.get<double>();
  const auto their_memory = count.get<std::uint64_t>();
  count.end();
  if (!(stats.wire_bytes_a_key >= 0 && stats.wire_bytes_a_key < 1e15) ||
      stats.there > std::uint64_t{1} << 56)
    lies("it has impossibly many keys");
  stats.here = set.keys();
  stats.key_bytes_here = set.key_bytes();
  stats.plan = plan_intersection(static_cast<double>(stats.here), static_cast<double>(stats.there),
                                 stats.wire_bytes_a_key,
                                 std::min(words::filter_memory(options.memory), their_memory));

  Asking asking(channel, set, secret, words::set_memory(options.memory), stats);
  for (std::uint32_t part = 0; part < stats.plan.parts; ++part) asking.ask_part(part);
  channel.send(words::Done, {});
  channel.close();
  stats.expected =
      stats.plan.filter_bytes +
      (static_cast<double>(stats.both) + stats.plan.fpr * static_cast<double>(stats.only_there())) *
          stats.wire_bytes_a_key;
  if (options.write != IntersectOptions::Write::Nothing)
    write_records(set, asking.common(), options);
  words::put_own(set, channel, begin, stats);
  return stats;
}

}  // namespace weir
