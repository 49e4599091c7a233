// An outside program around the exchange: the second file made of the first and a delta.
#include <weir/sync.hpp>

#include <cstring>
#include <vector>

namespace {

using Bytes = std::vector<std::byte>;

struct Collecting final : weir::ByteSink {
  void write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  Bytes bytes;
};

weir::ReadSome reading(const Bytes& bytes) {
  return [&bytes, at = std::size_t{0}](std::span<std::byte> to) mutable {
    const std::size_t count = std::min(to.size(), bytes.size() - at);
    std::memcpy(to.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
}

}  // namespace

int main() {
  const Bytes old(10'000, std::byte{1});
  Bytes fresh = old;
  fresh[5'000] = std::byte{2};

  Collecting signature, delta, result;
  weir::write_signature(reading(old), signature, {.old_size = old.size()});
  weir::write_delta(weir::Signature::read(reading(signature.bytes)), reading(fresh), delta);
  const auto from_old = [&](std::uint64_t at, std::span<std::byte> to) {
    const std::size_t count = std::min<std::size_t>(to.size(), old.size() - at);
    std::memcpy(to.data(), old.data() + at, count);
    return count;
  };
  weir::apply_delta(from_old, old.size(), reading(delta.bytes), result);
  return result.bytes == fresh && delta.bytes.size() < 1000 ? 0 : 1;
}
