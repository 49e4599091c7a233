// The handle of a sketch that holds keys. On top of sketch_handle.hpp such a class S provides
//   add(target, times, entered)  entered: the key was not held before
//   name(digest, text)           keeps the text of a key that is held and has none
//   min()                        a key that is not held came at most so often
//   append_entries(out)          what it holds
//   Shape::text                  bytes that are kept of a text
#pragma once

#include "sketch/sketch_handle.hpp"
#include "weir/top.hpp"

namespace weir {

template <class S>
class TopHandle final : public SketchCalls<S, TopHandle<S>, Top> {
  using Target = typename S::Target;

 public:
  std::size_t meet(std::span<const Digest> digests,
                   std::span<std::uint32_t> entered) noexcept override {
    std::size_t count = 0;
    const auto use = [&](S& shard, std::size_t i, const Target& target) {
      bool is_new;
      shard.add(target, 1, is_new);
      entered[count] = static_cast<std::uint32_t>(i);
      count += is_new;
    };
    this->each(
        digests, [this](Digest d) -> S& { return this->shard(this->index_of(d)); }, use);
    return count;
  }
  void name(std::span<const Digest> digests,
            std::span<const std::string_view> texts) noexcept override {
    for (std::size_t i = 0; i < digests.size(); ++i)
      this->shard(this->index_of(digests[i])).name(digests[i], texts[i]);
  }
  [[nodiscard]] std::uint64_t text_room() const noexcept override { return this->shape().text; }

  [[nodiscard]] std::vector<Top::Entry> entries() const override {
    std::vector<Top::Entry> all;
    for (const S& shard : this->all()) shard.append_entries(all);
    std::ranges::sort(all, [](const Top::Entry& a, const Top::Entry& b) {
      if (a.most != b.most) return a.most > b.most;
      return a.least != b.least ? a.least > b.least : a.digest < b.digest;
    });
    return all;
  }
  [[nodiscard]] std::uint64_t rest() const noexcept override {
    std::uint64_t most = 0;
    for (const S& shard : this->all()) most = std::max(most, shard.min());
    return most;
  }

 private:
  friend Sharded<S, TopHandle<S>, Top>;
  TopHandle() = default;
  ~TopHandle() override = default;
};

}  // namespace weir
