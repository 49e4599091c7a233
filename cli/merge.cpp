// weir merge: several states to one, as if one run had seen all of their records.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "record_job.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct MergeFlags {
  std::vector<std::string> files;
  std::string output;
  bool quiet = false;
};

void run_merge(const MergeFlags& flags) {
  if (flags.files.size() < 2)
    throw Error(ErrorCode::Config, "there is nothing to merge; give two states or more");
  const StructurePtr merged = load_finished(flags.files[0]);
  for (std::size_t i = 1; i < flags.files.size(); ++i) {
    const StructurePtr other = load_finished(flags.files[i]);
    try {
      merged->merge(*other);
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{} and {}: {}", flags.files[0], flags.files[i], error.what()));
    }
  }
  save(*merged, flags.output);
  if (!flags.quiet)
    fmt::print(stderr, "weir: {} states, {} records in all, as {} in {}\n", flags.files.size(),
               show_count(merged->health().records), merged->info().name, flags.output);
}

}  // namespace

void add_merge(CommandLine& line) {
  auto flags = std::make_shared<MergeFlags>();
  Command& command = line.command("merge", "Join states of the same shape to one");
  command.description = {
      "Loads two states or more, joins them, and saves the result, as if one run had read all of "
      "their records: counts of sketches add up, keys of Bloom filters are all in it, lists of the "
      "most frequent keys keep their bounds.",
      "The states must be made alike: the same structure, parameters and shards, and the same "
      "secret, so give all of them the same `--seed`. What cannot be merged is refused with the "
      "reason, and nothing is written. Filters that forget cannot: which of two keys is older is "
      "not known. To look records up in several such states, ask each of them: `weir dedup "
      "--read-only`. Nor can the samples that `weir sample` saves."};
  command.argument("FILE", flags->files, "State files").require().hint = Hint::File;
  command.file("-o,--output", flags->output, "Save the joined state in FILE")
      .require()
      .more("It may be one of the inputs; it is replaced as a whole, when all are joined.");
  command.toggle("-q,--quiet", flags->quiet, "Say nothing about it");
  command.examples = {
      {"weir merge -o week.weir monday.weir tuesday.weir", "Join the states of two days"}};
  command.run([flags] { run_merge(*flags); });
}

}  // namespace weir::cli
