#include "exchange_flags.hpp"

#include <fmt/format.h>

#include <csignal>

#include "weir/error.hpp"

namespace weir::cli {

void ExchangeFlags::declare(Command& command, const char* serving) {
  command.group("The other machine");
  const Flag& command_flag =
      command.value("--with", with, "CMD", "Start the other side with CMD, as through ssh")
          .more(
              "CMD is a line for the shell. It speaks on its standard input and output; its "
              "standard error is shown. It should start the same weir, with `--serve`.");
  const Flag& connect_flag =
      command.value("--connect", connect, "HOST:PORT", "Connect to a side that listens")
          .not_with(command_flag)
          .more(
              "Nothing is encrypted, and nobody is asked who he is: for machines that trust "
              "each other and their network. Otherwise take `--with` and ssh.");
  command.value("--listen", listen, "[HOST:]PORT", "Wait for the other side on a port")
      .not_with(command_flag)
      .not_with(connect_flag)
      .more(
          "Without a host on 127.0.0.1, which other machines cannot reach; with port 0 on a free "
          "one, which is told on stderr. One conversation, then the command ends.");
  command.toggle("--serve", serve, serving)
      .more("Over standard input and output, or the port of `--listen` or `--connect`.")
      .not_with(command_flag);
  command
      .value("--timeout", timeout, "SECONDS", "Give up when the other side is silent for so long")
      .more(
          "A side that is at work says so, however long it takes. Waiting for it to connect is "
          "not limited.");
}

Channel ExchangeFlags::open() const {
  if (!(timeout >= 0.1 && timeout <= 1e6))
    throw Error(ErrorCode::Config, "--timeout must be between 0.1 and 1000000 seconds");
  const Channel::Settings settings{.timeout = timeout};
  if (!with.empty()) return Channel::start(with, settings);
  if (!connect.empty()) return Channel::connect(connect, settings);
  if (!listen.empty()) {
    Listener listener(listen);
    if (!quiet) fmt::print(stderr, "weir: waiting for the other side on {}\n", listener.address());
    return listener.accept(settings);
  }
  if (serve) return Channel::standard(settings);
  throw Error(ErrorCode::Config,
              "where is the other side? Say --with CMD, --connect HOST:PORT or --listen PORT");
}

void converse(const ExchangeFlags& flags, const std::function<void(Channel&)>& talk) {
  // Words to a side that is gone are an error with a sentence, not a quiet end. Sockets know
  // without this.
  if (flags.serve) std::signal(SIGPIPE, SIG_IGN);
  Channel channel = flags.open();
  try {
    talk(channel);
  } catch (const std::exception& error) {
    channel.fail(error.what());
    throw;
  }
}

}  // namespace weir::cli
