// weir sync with both sides here: the two talk over a socket, in one process.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "weir/error.hpp"
#include "weir/sync.hpp"

namespace weir {

SyncStats sync_files(const std::filesystem::path& source, const std::filesystem::path& destination,
                     const SyncOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::Io, std::string("cannot make a socket: ") + std::strerror(errno));
  const Channel::Settings patient{.timeout = 1e6};
  Channel here(ends[0], ends[0], "the source", patient);
  Channel there(ends[1], ends[1], "the destination", patient);
  // The sender in a thread of its own; the receiver, who does things, here.
  std::exception_ptr failed;
  SyncOptions quiet = options;
  quiet.note = nullptr, quiet.progress = nullptr;
  std::thread sender([&] {
    try {
      send_files(there, source, quiet);
    } catch (const std::exception& error) {
      failed = std::current_exception();
      there.fail(error.what());
    }
  });
  SyncStats stats;
  std::exception_ptr trouble;
  try {
    stats = receive_files(here, destination, options);
  } catch (const std::exception& error) {
    trouble = std::current_exception();
    here.fail(error.what());
  }
  sender.join();
  // Whose fault it was knows the one who did not hear of it from the other.
  for (const std::exception_ptr& one : {trouble, failed}) {
    if (!one) continue;
    try {
      std::rethrow_exception(one);
    } catch (const Error& error) {
      if (!std::string_view(error.what()).starts_with("the other side says")) throw;
    }
  }
  if (trouble) std::rethrow_exception(trouble);
  if (failed) std::rethrow_exception(failed);
  return stats;
}

}  // namespace weir
