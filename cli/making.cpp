#include "making.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/params.hpp"
#include "sizes.hpp"

namespace weir::cli {
namespace {

HashKind hash_kind(const std::string& name) {
  return name == "siphash" ? HashKind::SipHash : HashKind::Xxh3;
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc{} || rest != end)
    throw Error(ErrorCode::Config,
                fmt::format("'{}' is not a seed; write a whole number from 0 to 2^64 - 1", text));
  return seed;
}

}  // namespace

void MakingFlags::define(CLI::App& app) {
  // As with the classic tools the last one counts; input files are not defined here.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
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
  shards_given = app.add_option("--shards", shards, "Independent parts; 1 is the paper's structure")
                     ->capture_default_str();
  hash_given =
      app.add_option("--hash", hash, "xxh3 (fast) or siphash (for keys chosen by adversaries)")
          ->check(CLI::IsMember({"xxh3", "siphash"}))
          ->capture_default_str();
  app.add_option("--seed", seed, "Makes the run reproducible; not for hostile keys");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

StructurePtr MakingFlags::make() const {
  Request request;
  request.fpr = fpr;
  if (!keys.empty()) request.keys = parse_size(keys);
  request.shards = shards;
  request.hash = hash_kind(hash);
  if (!seed.empty()) request.seed = parse_seed(seed);
  // The parameters or the keys may say the size; where they do not, the default budget does.
  if (memory_given->count() == 0) {
    try {
      return make_structure(filter, request);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Config) throw;
    }
  }
  request.memory = parse_size(memory);
  if (request.memory == 0) throw Error(ErrorCode::Config, "the memory must be above 0");
  return make_structure(filter, request);
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
    const auto colon = std::min(flags.filter.find(':'), flags.filter.size());
    if (flags.filter.substr(0, colon) != loaded.info().name) refuse("--filter " + flags.filter);
    Params::parse(std::string_view(flags.filter).substr(std::min(colon + 1, flags.filter.size())))
        .require_known(loaded.info());
    const std::string all = "," + loaded.parameters() + ",";
    for (std::size_t at = colon; at < flags.filter.size();) {
      const auto comma = std::min(flags.filter.find(',', at + 1), flags.filter.size());
      const std::string item = flags.filter.substr(at + 1, comma - at - 1);
      at = comma;
      // A parameter that only led to others, like an FPR that yields k, was not kept.
      const std::string name = item.substr(0, item.find('='));
      if (all.find("," + name + "=") == std::string::npos) continue;
      if (all.find("," + item + ",") == std::string::npos) refuse("--filter " + flags.filter);
    }
  }
  if (flags.memory_given->count() != 0 && loaded.memory() > parse_size(flags.memory))
    refuse("--memory " + flags.memory);
  if (flags.shards_given->count() != 0 && loaded.shards() != flags.shards)
    refuse("--shards " + std::to_string(flags.shards));
  if (flags.hash_given->count() != 0 && loaded.digester().kind() != hash_kind(flags.hash))
    refuse("--hash " + flags.hash);
  if (!flags.seed.empty() && loaded.seed() != parse_seed(flags.seed))
    refuse("--seed " + flags.seed);
}

}  // namespace weir::cli
