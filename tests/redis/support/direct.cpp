// The library called directly, for comparison with the module: a command a line, a reply a line.
//
//   make KEY SPEC HASH SEED STEP KIND    SPEC with all its parameters; STEP 0: no window
//   add KEY WEIGHT ITEM...   exists KEY ITEM...   reset KEY
//   incr KEY TIMES ITEM      count KEY ITEM...
#include <cstdint>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "weir/catalog.hpp"

namespace {

struct Held {
  weir::StructurePtr structure;
  std::uint64_t step = 0, records = 0;
  bool landmark = false;
};

bool observe(Held& held, weir::Filter& filter, const std::string& item, std::uint32_t weight) {
  if (held.step != 0 && held.records != 0 && held.records % held.step == 0) {
    if (held.landmark)
      filter.clear_shard(0);
    else
      filter.advance(1);
  }
  ++held.records;
  return filter.observe(filter.digest(item), weight) == weir::Verdict::New;
}

}  // namespace

int main() {
  std::map<std::string, Held> all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string verb, key, item;
    in >> verb >> key;
    Held& held = all[key];
    auto* const filter = dynamic_cast<weir::Filter*>(held.structure.get());
    auto* const sketch = dynamic_cast<weir::Sketch*>(held.structure.get());
    if (verb == "make") {
      std::string spec, hash, kind;
      std::uint64_t seed;
      in >> spec >> hash >> seed >> held.step >> kind;
      held.landmark = kind == "landmark";
      held.records = 0;
      held.structure = weir::make_structure(
          spec,
          {.hash = hash == "xxh3" ? weir::HashKind::Xxh3 : weir::HashKind::SipHash, .seed = seed});
    } else if (verb == "add") {
      std::uint32_t weight;
      in >> weight;
      while (in >> item) std::cout << observe(held, *filter, item, weight) << ' ';
    } else if (verb == "exists") {
      while (in >> item) std::cout << filter->contains(filter->digest(item)) << ' ';
    } else if (verb == "reset") {
      filter->clear_shard(0);
      held.records = 0;
    } else if (verb == "incr") {
      std::uint64_t times;
      in >> times >> item;
      std::cout << sketch->add(sketch->digest(item), times);
    } else if (verb == "count") {
      while (in >> item) std::cout << sketch->estimate(sketch->digest(item)) << ' ';
    }
    std::cout << std::endl;
  }
}
