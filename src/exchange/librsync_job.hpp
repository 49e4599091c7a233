// A job of librsync, run from a reader to a writer through two buffers.
#pragma once

#include <librsync.h>

#include <functional>
#include <memory>

#include "weir/sync.hpp"

namespace weir {

class LibrsyncJob {
 public:
  // Takes the job over; null is out of memory. `what` is named in errors: "the signature".
  LibrsyncJob(rs_job_t* job, const char* what);
  // To its end. `in_bytes` is how much it sees at once: several blocks, or it copies much.
  void run(const ReadSome& in, std::size_t in_bytes,
           const std::function<void(std::span<const std::byte>)>& out);
  [[nodiscard]] const rs_stats_t& stats() const { return *rs_job_statistics(job_.get()); }

 private:
  std::unique_ptr<rs_job_t, decltype(&rs_job_free)> job_;
  const char* what_;
};

}  // namespace weir
