#include "filter/ibf_policy.hpp"

namespace weir {

void IbfShape::check() const {
  if (K >= m)
    throw Error(ErrorCode::Config,
                "an importance-aware filter needs more cells than probes: m > K");
}

void complete_ibf(const char* name, Params& params, std::uint64_t bytes, bool with_index) {
  if (const auto d = params.take_whole("d", 1, 8)) params.fill("M", (std::uint64_t{1} << *d) - 1);
  params.fill("M", std::uint64_t{7});
  const std::uint64_t top = params.whole("M", 1, 255);
  if (!params.has("m")) {
    if (bytes == 0)
      throw Error(ErrorCode::Config, std::string(name) + " needs a size: give the memory or m");
    const auto bits = static_cast<unsigned>(std::bit_width(top));
    std::uint64_t room = bytes;
    if (with_index)
      while (room > line_bytes &&
             room + MarkedIndex::bytes(Cells::fit(room, bits), fading_index_cluster) > bytes)
        room -= line_bytes;
    params.fill("m", std::max<std::uint64_t>(2, Cells::fit(room, bits)));
  }
  params.fill("K", std::uint64_t{5});
  params.fill("P", std::uint64_t{10});
  params.fill("imax", top);
}

}  // namespace weir
