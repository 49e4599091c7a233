// What subcommands that read records through the engine have in common, beside weir dedup: the
// flags around a run, and the run itself.
#pragma once

#include <optional>
#include <string>

#include "flags.hpp"
#include "weir/dedup.hpp"

namespace weir::cli {

struct RunFlags {
  std::string output;
  std::string stats;  // "", "text" or "json"
  bool quiet = false;
  std::string state, save_every;

  void declare_output(Command& command);                       // -o
  void declare_stats(Command& command, const char* contents);  // --stats, -q
  void declare_state(Command& command);                        // --state, --save-every
};

// The structure of a state file. Throws Error(Config) for one that belongs to a job of weir dedup
// which is not finished, or that has a window: its position would be lost.
StructurePtr load_finished(const std::string& file);
// The same, or null where there is no such file yet.
StructurePtr load_if_there(const std::string& file);

// Runs the engine with a progress line and, where a state is saved, with signals that stop it in
// order and then end the process.
DedupStats run_records(Structure& structure, DedupOptions options, const RunFlags& flags);

// What --stats says of a run that counts: of the structure, the records and the time, with what
// is the command's own between them, as lines or as members of the JSON object.
void print_counting_stats(const Structure& structure, const DedupStats& stats,
                          std::uint64_t occurrences, bool json, const std::string& own);

}  // namespace weir::cli
