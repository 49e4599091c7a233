// weir shrink: a Bloom filter of half the size, as often as asked.
#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "record_job.hpp"
#include "sizes.hpp"
#include "weir/error.hpp"

namespace weir::cli {
namespace {

struct ShrinkFlags {
  std::string file, output;
  std::uint64_t times = 1;
  std::optional<std::uint64_t> memory;
  bool quiet = false;
};

void run_shrink(const ShrinkFlags& flags) {
  StructurePtr structure = load_finished(flags.file);
  if (structure->info().kind != Kind::Filter)
    throw Error(ErrorCode::Unsupported,
                fmt::format("{} holds a {}, which cannot be halved; the bloom filter can",
                            flags.file, structure->info().name));
  const std::uint64_t before = structure->memory();
  const double fpr = structure->health().fpr;
  std::uint64_t done = 0;
  while (flags.memory ? structure->memory() > *flags.memory : done < flags.times) {
    try {
      structure = StructurePtr(static_cast<Filter&>(*structure).halved().release());
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{}, halved {} times: {}", flags.file, done, error.what()));
    }
    ++done;
  }
  save(*structure, flags.output);
  if (!flags.quiet)
    fmt::print(stderr, "weir: halved {} times, from {} to {}; the live FPR was {} and is {}\n",
               done, show_bytes(before), show_bytes(structure->memory()), show_percent(fpr),
               show_percent(structure->health().fpr));
}

}  // namespace

void add_shrink(CommandLine& line) {
  auto flags = std::make_shared<ShrinkFlags>();
  Command& command = line.command("shrink", "Halve a Bloom filter, as often as asked");
  command.description = {
      "Loads the state of a `bloom` filter, folds its upper half onto the lower one, and saves the "
      "result. All keys stay known; more of the others are taken for known, as is told on stderr. "
      "For filters that were made large and filled little, before they are kept or sent.",
      "Other filters cannot be halved. One that was made by its memory or its keys can be halved "
      "often; one of `-f bloom:m=BITS` while the bits are a multiple of 128. Instead of shrinking "
      "a filter that forgets, make a new one of the size that is wanted (`weir plan`)."};
  command.argument("FILE", flags->file, "State file").require().hint = Hint::File;
  command.file("-o,--output", flags->output, "Save the smaller state in FILE")
      .require()
      .more("It may be the input; it is replaced as a whole.");
  const Flag& times =
      command.value("-n,--times", flags->times, "N", "Halve N times").between(1, 64);
  command.size("-S,--memory", flags->memory, "Or: until it takes SIZE of memory at most")
      .not_with(times);
  command.toggle("-q,--quiet", flags->quiet, "Say nothing about it");
  command.examples = {{"weir shrink -n 3 -o small.weir large.weir", "An eighth of the size"}};
  command.run([flags] { run_shrink(*flags); });
}

}  // namespace weir::cli
