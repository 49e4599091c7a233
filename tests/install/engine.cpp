// An outside program around the engine: the first ones of a file, to standard output.
#include <weir/catalog.hpp>
#include <weir/dedup.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto filter = weir::make_filter("blocked-bloom", weir::Request{.memory = 1 << 20});
  weir::DedupOptions options;
  options.inputs = {argv[1]};
  options.threads = 2;
  return weir::dedup(*filter, options).repeats == 1 ? 0 : 1;
}
