// The keys that came most often, with what is certain of each.
//
//   auto top = weir::make_top("space-saving", {.memory = 1 << 20});
//   top->add(digests, {});                      // or meet() and name(), to keep the keys' texts
//   for (const auto& entry : top->entries()) ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/catalog.hpp"

namespace weir {

class Top : public Sketch {
 public:
  struct Entry {
    Digest digest = 0;
    std::uint64_t least = 0, most = 0;  // it came at least and at most so often
    bool named = false;                 // the text was given
    std::uint64_t text_bytes = 0;       // of the whole text, up to 65534
    std::string text;                   // what is kept of it
  };

  // Counts each digest once; writes down the numbers of those that were not held before, in
  // ascending order, and returns how many. `entered` must be as long as `digests`.
  virtual std::size_t meet(std::span<const Digest> digests,
                           std::span<std::uint32_t> entered) noexcept = 0;
  // Gives texts to keys that are held and have none; the others are passed over.
  virtual void name(std::span<const Digest> digests,
                    std::span<const std::string_view> texts) noexcept = 0;
  // Bytes that are kept of a text.
  [[nodiscard]] virtual std::uint64_t text_room() const noexcept = 0;

  // All that are held, by falling `most`.
  [[nodiscard]] virtual std::vector<Entry> entries() const = 0;
  // A key that is not held came at most so often.
  [[nodiscard]] virtual std::uint64_t rest() const noexcept = 0;
};
using TopPtr = std::unique_ptr<Top, Release>;

// As make_structure(); throws Error(Config) where it makes something else.
TopPtr make_top(std::string_view spec, const Request& request = {});
// The same object, or null where it is something else.
Top* as_top(Structure& structure) noexcept;

}  // namespace weir
