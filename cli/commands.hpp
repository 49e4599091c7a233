// One function a subcommand: it defines its flags once, on the parser, and what to run. Help, man
// page and completions all come from these definitions.
#pragma once

#include <CLI/CLI.hpp>

namespace weir::cli {

void add_dedup(CLI::App& app);
void add_filters(CLI::App& app);
void add_inspect(CLI::App& app);
void add_demo(CLI::App& app);

// The whole command line's parser.
void define(CLI::App& app);

// The whole command line; returns the exit code: 0 done, 1 run error, 2 usage.
int run(int argc, const char* const* argv) noexcept;

}  // namespace weir::cli
