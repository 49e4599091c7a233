// One function a subcommand: it declares its flags, once, and what to run.
#pragma once

#include "flags.hpp"

namespace weir::cli {

void add_dedup(CommandLine& line);
void add_count(CommandLine& line);
void add_top(CommandLine& line);
void add_sample(CommandLine& line);
void add_intersect(CommandLine& line);
void add_merge(CommandLine& line);
void add_shrink(CommandLine& line);
void add_signature(CommandLine& line);
void add_delta(CommandLine& line);
void add_patch(CommandLine& line);
void add_sync(CommandLine& line);
void add_plan(CommandLine& line);
void add_filters(CommandLine& line);
void add_inspect(CommandLine& line);
void add_demo(CommandLine& line);
void add_lab(CommandLine& line);
void add_generate(CommandLine& line);
void add_completions(CommandLine& line);
void add_man(CommandLine& line);  // the last one: it offers the names of all

// The whole command line.
void define(CommandLine& line);

// Parses and runs it; returns the exit code: 0 done, 1 run error, 2 usage.
int run(int argc, const char* const* argv) noexcept;

}  // namespace weir::cli
