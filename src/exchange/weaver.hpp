// The second round of weir sync puts together what the first one could not find.
#pragma once

#include <algorithm>

#include "exchange/patcher.hpp"
#include "exchange/sync_script.hpp"

namespace weir {

// The second round's result goes where the first round's plan has its literals.
class Weaver final : public ByteSink {
 public:
  Weaver(Patcher& out, const Script& plan) : out_(out), plan_(plan) { copy_next(); }
  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (next_ == plan_.size())
        throw Error(ErrorCode::Io, "the other side sends garbage: more than its plan says");
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(bytes.size(), plan_[next_].length - done_));
      out_.literal(bytes.first(count));
      bytes = bytes.subspan(count);
      done_ += count;
      if (done_ < plan_[next_].length) return;
      ++next_, done_ = 0;
      copy_next();
    }
  }

 private:
  void copy_next() {
    for (; next_ < plan_.size() && plan_[next_].copy; ++next_)
      out_.copy(plan_[next_].at, plan_[next_].length);
  }
  Patcher& out_;
  const Script& plan_;
  std::size_t next_ = 0;
  std::uint64_t done_ = 0;  // of the literal that is next
};

}  // namespace weir
