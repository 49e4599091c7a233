#include "making.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/params.hpp"

namespace weir::cli {

void MakingFlags::declare(Command& command) {
  command.group("Filter");
  std::vector<std::string> names = structure_names(Kind::Filter);
  names.insert(names.begin(), "auto");
  filter_flag =
      &command.value("-f,--filter", filter, "SPEC", "Structure: NAME or NAME:parameter=value,...")
           .suggest(names)
           .more(
               "`weir filters` lists the names, `weir filters NAME` the parameters of "
               "one. Parameters that are not given follow from the memory, the "
               "false-positive rate and the number of keys.")
           .more(
               "`auto` takes `weir`, which forgets nothing before it is full, and then first what "
               "never came again; with a window the filter that this needs, with `-c` "
               "`count-min`; with a state the one that is there.");
  memory_flag = &command.size("-S,--memory", memory, "Memory of the filter; takes K, M, G")
                     .more(
                         "The filter never takes more, whatever the stream brings; the command "
                         "itself needs up to 64 MiB and the longest record beside it. Where the "
                         "parameters or `--keys` say the size, the default does not count.");
  command.value("--fpr", fpr, "RATE", "Share of new records taken for repeats")
      .more(
          "The false-positive rate, above 0 and below 1. `weir`, `stable`, `bsbf`, `rlbsbf` and "
          "`qht` hold it for ever, `apbf` and `a2` within their window, `rsbf` aims at it, "
          "`bloom`, `blocked-bloom` and `counting` hold it up to "
          "`--keys` keys. For `bsbfsd`, `ibf-2c`, `ibf-mc` and `ibf-h` it is only the rate to warn "
          "at: theirs follows from their parameters.");
  command.size("-n,--keys", keys, "Expected distinct keys, where known", "COUNT")
      .more(
          "With it `weir`, `bloom`, `blocked-bloom`, `counting` and the sketches are as large as "
          "COUNT and `--fpr` need, so that `weir` forgets next to nothing; or, with `-S`, at "
          "their best for COUNT in that memory. With a window of time it is how many records to "
          "expect within one. The other filters that forget make no use of it. Takes K, M and G "
          "(of 1024) as well.");
  shards_flag = &command.value("--shards", shards, "N", "Independent parts of the filter")
                     .more(
                         "1 is the structure as its paper describes it; at most 65536. The output "
                         "depends on it, where the filter errs.");
  declare_hashing(command);
}

void MakingFlags::declare_hashing(Command& command) {
  hash_flag = &command
                   .choice("--hash", hash, "NAME",
                           {{"xxh3", HashKind::Xxh3}, {"siphash", HashKind::SipHash}},
                           "xxh3 (fast), or siphash for hostile keys")
                   .more(
                       "Both are keyed with a random secret. Use siphash where an adversary may "
                       "choose the keys.");
  seed_flag = &command.value("--seed", seed, "N", "Make the run reproducible; not for hostile keys")
                   .more("A whole number from 0 to 2^64 - 1. Without it the secret is random.");
}

StructurePtr MakingFlags::make() const {
  const std::string spec = is_auto() ? "weir" : filter;
  Request request;
  request.fpr = fpr;
  request.keys = keys.value_or(0);
  request.shards = shards;
  request.hash = hash;
  request.seed = seed;
  // The parameters or the keys may say the size; where they do not, the default budget does.
  if (!memory_flag->given()) {
    try {
      return make_structure(spec, request);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Config) throw;
    }
  }
  request.memory = memory;
  if (request.memory == 0) throw Error(ErrorCode::Config, "the memory must be above 0");
  return make_structure(spec, request);
}

void require_agreement(const Structure& loaded, const MakingFlags& flags, const std::string& file) {
  const auto refuse = [&](const std::string& what) {
    throw Error(
        ErrorCode::Config,
        fmt::format("{} holds {}:{}, which does not agree with {}; leave the option out, or "
                    "choose another state file",
                    file, loaded.info().name, loaded.parameters(), what));
  };
  if (flags.filter_flag != nullptr && flags.filter_flag->given() && !flags.is_auto()) {
    const auto colon = std::min(flags.filter.find(':'), flags.filter.size());
    if (flags.filter.substr(0, colon) != loaded.info().name)
      refuse(flags.filter_flag->name + " " + flags.filter);
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
      if (all.find("," + item + ",") == std::string::npos)
        refuse(flags.filter_flag->name + " " + flags.filter);
    }
  }
  const auto require = [&](bool agrees, const Flag* flag) {
    if (flag != nullptr && flag->given() && !agrees) refuse(flag->name + " " + flag->text());
  };
  require(loaded.memory() <= flags.memory, flags.memory_flag);
  require(loaded.shards() == flags.shards, flags.shards_flag);
  require(loaded.digester().kind() == flags.hash, flags.hash_flag);
  require(loaded.seed() == flags.seed, flags.seed_flag);
}

}  // namespace weir::cli
