// The exact answer: did this key come before, ever or within a window?
//
//   numbered keys   a bit each; with a window the time of each, 4 bytes (8 from 2^31 records on)
//   any keys        a table of 8 bytes a slot, with a window 16; at most 0.8 full
// The smaller of the two answers a stream; nothing is estimated, whatever the length. What does
// not fit the machine is refused before it is asked of the system.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/memory.hpp"
#include "stream.hpp"

namespace weir::lab {

class Oracle {
 public:
  virtual ~Oracle() = default;
  // Takes the next records of the stream; first[i] becomes 1 where key i did not come before.
  // Throws Error(NoMemory) where a table would outgrow the machine.
  virtual void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;  // held now
};

// A key came before if it did so at most `records` records ago (0: at any time). Where repeats do
// not renew it, only its occurrences that were no repeats themselves count, as for one who passes
// on a key again when its time is over.
struct Window {
  std::uint64_t records = 0;
  bool renewed = true;
};

// For keys below `universe`. Throws Error(NoMemory) where `memory` (0: no limit) is too little, and
// says how much is needed.
std::unique_ptr<Oracle> numbered_oracle(std::uint64_t universe, Window window = {},
                                        std::uint64_t memory = memory_of_this_machine());
// For any keys. Grows as they come, in steps of a quarter; keys out of the window make room.
std::unique_ptr<Oracle> table_oracle(Window window = {},
                                     std::uint64_t memory = memory_of_this_machine());

// The smaller one for so many records of the stream, and its bytes at most.
std::unique_ptr<Oracle> oracle_for(const Stream& stream, std::uint64_t records, Window window = {},
                                   std::uint64_t memory = memory_of_this_machine());
std::uint64_t oracle_bytes(const Stream& stream, std::uint64_t records, Window window = {});

// Of a numbered oracle, and at most of a table of so many keys.
std::uint64_t numbered_bytes(std::uint64_t universe, Window window);
std::uint64_t table_bytes(std::uint64_t keys, Window window);

// Throws Error(NoMemory), naming both, where the exact answer needs more than there is.
void require_memory(std::uint64_t needed, std::uint64_t memory, const std::string& for_what);

}  // namespace weir::lab
