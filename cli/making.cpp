#include "making.hpp"

#include <fmt/format.h>

#include "core/params.hpp"
#include "sizes.hpp"

namespace weir::cli {

void MakingFlags::define(CLI::App& app) {
  filter_given =
      app.add_option("-f,--filter", filter,
                     "Structure, as NAME or NAME:parameter=value,...; see `weir filters`")
          ->capture_default_str();
  memory_given =
      app.add_option("-S,--memory", memory, "Memory in all, in bytes or with K, M, G (of 1024)")
          ->capture_default_str();
  app.add_option("--fpr", fpr, "False-positive rate to aim at: new records taken for repeats")
      ->capture_default_str();
  app.add_option("-n,--keys", keys, "Expected distinct keys, where known (with K, M, G of 1024)");
  app.add_option("--shards", shards, "Independent parts; 1 is the paper's structure")
      ->capture_default_str();
  app.add_option("--hash", hash, "xxh3 (fast) or siphash (for keys chosen by adversaries)")
      ->check(CLI::IsMember({"xxh3", "siphash"}))
      ->capture_default_str();
  app.add_option("--seed", seed, "Makes the run reproducible; not for hostile keys");
}

Request MakingFlags::request() const {
  Request request;
  // A size among the parameters replaces the default budget, not a given one.
  const bool sized = filter.find(":m=") != std::string::npos ||
                     filter.find(",m=") != std::string::npos ||
                     filter.find("M=") != std::string::npos;
  const bool own_size = memory_given->count() == 0 && (sized || !keys.empty());
  if (!own_size) {
    request.memory = parse_size(memory);
    if (request.memory == 0) throw Error(ErrorCode::Config, "the memory must be above 0");
  }
  request.fpr = fpr;
  if (!keys.empty()) request.keys = parse_size(keys);
  request.shards = shards;
  request.hash = hash == "siphash" ? HashKind::SipHash : HashKind::Xxh3;
  request.seed = seed;
  return request;
}

void require_agreement(const Structure& loaded, const MakingFlags& flags, const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw Error(
        ErrorCode::Config,
        fmt::format("{} holds {}:{}, which does not agree with {}; leave the option out, or "
                    "choose another state file",
                    file, loaded.info().name, loaded.parameters(), what));
  };
  if (flags.filter_given->count() != 0) {
    const auto colon = flags.filter.find(':');
    if (flags.filter.substr(0, colon) != loaded.info().name) refuse("--filter " + flags.filter);
    const std::string all = "," + loaded.parameters() + ",";
    for (std::size_t at = colon; at < flags.filter.size();) {
      const auto comma = std::min(flags.filter.find(',', at + 1), flags.filter.size());
      const std::string item = flags.filter.substr(at + 1, comma - at - 1);
      if (all.find("," + item + ",") == std::string::npos) refuse("--filter " + flags.filter);
      at = comma;
    }
  }
  if (flags.memory_given->count() != 0 && loaded.memory() > parse_size(flags.memory))
    refuse("--memory " + flags.memory);
}

}  // namespace weir::cli
