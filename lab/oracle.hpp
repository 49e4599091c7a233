// The exact answer: did this key come before?
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace weir::lab {

class Oracle {
 public:
  virtual ~Oracle() = default;
  // Takes the next records of the stream; first[i] becomes 1 where key i did not come before.
  virtual void observe(std::span<const std::uint64_t> keys, std::span<std::uint8_t> first) = 0;
};

// For keys below `universe`: a bit each. Throws Error(NoMemory) where the machine has too little,
// and says how much is needed.
std::unique_ptr<Oracle> numbered_oracle(std::uint64_t universe);

}  // namespace weir::lab
