// The public call: what is asked for is looked at, then the engine runs.
#include "weir/dedup.hpp"

#include "pipeline/engine.hpp"

namespace weir {

bool inputs_changed(const JobState& job, const DedupOptions& options) {
  require_readable(options.inputs);
  return job.complete && fingerprint_of(options.inputs).hash != job.fingerprint.hash;
}

DedupStats dedup(Structure& structure, const DedupOptions& options) {
  check_options(structure, options);
  require_readable(options.inputs);
  if (const auto& from = options.position) {
    if (from->job != describe_job(options) || from->input > options.inputs.size())
      throw Error(ErrorCode::Config, "the saved position is of another job");
    if (from->input < options.inputs.size() &&
        !has_fingerprint(options.inputs[from->input], from->fingerprint))
      throw Error(ErrorCode::Io, options.inputs[from->input] +
                                     " is not the file that was read before the interruption");
  }
  return Engine(structure, options).run();
}

}  // namespace weir
