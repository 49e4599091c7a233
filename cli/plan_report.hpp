// weir plan: what a plan says, as text, as JSON and as a figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/planner.hpp"

namespace weir::cli {

struct PlanReport {
  Plan plan;
  std::optional<Rate> rate;
  const StreamSample* sample = nullptr;
  std::uint64_t machine = 0;  // memory of one
};

// The command that runs it.
std::string dedup_line(const Candidate& candidate);
void print_text(const PlanReport& report);
void print_json(const PlanReport& report);

// FNR and FPR against memory, one curve a filter. points[i] are the candidates at one memory.
// Throws Error(Io).
void write_plot(const std::string& file, const std::vector<std::vector<Candidate>>& points,
                const Candidate& chosen);

}  // namespace weir::cli
