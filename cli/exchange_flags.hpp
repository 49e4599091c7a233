// The flags that say where the other machine is; every subcommand between two machines has the
// same.
#pragma once

#include <functional>
#include <string>

#include "flags.hpp"
#include "weir/exchange.hpp"

namespace weir::cli {

struct ExchangeFlags {
  std::string with, listen, connect;
  bool serve = false;
  double timeout = 60;
  bool quiet = false;

  // `serving` is what this side does with --serve, as in "Answer the other side, write nothing".
  void declare(Command& command, const char* serving);
  // No way to the other machine is named.
  [[nodiscard]] bool alone() const {
    return with.empty() && listen.empty() && connect.empty() && !serve;
  }
  // Waits for the other side, where it has to. Throws Error(Config) where no way or no sensible one
  // is named.
  [[nodiscard]] Channel open() const;
};

// Runs one side of a conversation; what goes wrong here is told to the other side, too.
void converse(const ExchangeFlags& flags, const std::function<void(Channel&)>& talk);

}  // namespace weir::cli
