// The flags that say what a record is and which bytes of it count; every subcommand that reads
// records has the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flags.hpp"
#include "weir/dedup.hpp"

namespace weir::cli {

struct RecordFlags {
  std::vector<std::string> files;

  bool nul = false, csv = false, tsv = false, json = false, no_header = false, plain = false;
  std::optional<std::uint64_t> fixed, max_record;

  std::string fields, separator;
  std::vector<std::string> columns, pointers;
  bool ignore_case = false;
  std::string on_bad = "pass";

  std::optional<std::uint32_t> threads;
  std::uint64_t chunk = 256 << 10;  // for tests: the result does not depend on it
};

void declare_files(Command& command, RecordFlags& flags);
void declare_records(Command& command, RecordFlags& flags);
// `passing` is what becomes of records without a key, as in "writes them like first ones".
void declare_keys(Command& command, RecordFlags& flags, const std::string& passing);
void declare_speed(Command& command, RecordFlags& flags);
void declare_threads(Command& command, RecordFlags& flags);  // the same, in the group before

// Inputs, records, keys and threads. `more_fields`: options beside -k name fields, too.
// Throws Error(Config) for flags that contradict each other.
DedupOptions record_options(const RecordFlags& flags, bool more_fields = false);

}  // namespace weir::cli
