// The module's data type, as the server sees it.
#pragma once

#include <functional>

#include "api.hpp"
#include "value.hpp"

namespace weir::redis {

inline constexpr int type_encoding = 1;
extern Type* value_type;

// False when the server refuses it.
bool create_type(Context* context);

// Bytes that one key may take; replicas and servers that load take what the primary had.
extern long long max_bytes_per_key;
std::uint64_t allowed_bytes(Context* context);

// Gathers what comes in pieces of any size and passes it on in chunks of a bounded one.
class Chunks final : public ByteSink {
 public:
  static constexpr std::size_t most = 1 << 20;
  using Use = std::function<void(std::string_view chunk)>;
  explicit Chunks(Use use) : use_(std::move(use)) {}
  void write(std::span<const std::byte> bytes) override;
  void flush();

 private:
  Use use_;
  std::string held_;
};

}  // namespace weir::redis
