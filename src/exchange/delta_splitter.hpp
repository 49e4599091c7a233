// What librsync writes as a delta, taken apart while it is written: copies that go on where the
// last one ended become one (librsync begins a new one every 32 KiB), literals go on as they come.
#pragma once

#include <functional>

#include "exchange/delta_commands.hpp"

namespace weir {

class DeltaSplitter final : public ByteSink {
 public:
  using OnCopy = std::function<void(const DeltaCommands::Copy&)>;
  using OnLiteral = std::function<void(std::span<const std::byte>)>;
  DeltaSplitter(OnCopy copy, OnLiteral literal)
      : on_copy_(std::move(copy)), on_literal_(std::move(literal)) {}

  void write(std::span<const std::byte> bytes) override;
  // Behind the last byte.
  void end() { give_copy(); }

 private:
  void give_copy();
  [[nodiscard]] std::size_t command_bytes() const;
  void command();

  OnCopy on_copy_;
  OnLiteral on_literal_;
  std::array<std::byte, 17> head_{};  // a command and its numbers, as far as they came
  std::size_t held_ = 0;
  bool begun_ = false;
  std::uint64_t literal_left_ = 0;
  DeltaCommands::Copy copy_;
};

}  // namespace weir
