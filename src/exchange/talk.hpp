// A channel as two streams of bytes, one in each direction, compressed as they go: many small
// things, such as names and sums, cost little, and what one file has in common with the next is
// sent once. Still by turns: who has ended its turn listens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/zstd_stream.hpp"
#include "weir/exchange.hpp"

namespace weir {

class Talk {
 public:
  // Level 0: not compressed. Both sides must agree whether it is.
  Talk(Channel& channel, int level);

  void bytes(std::span<const std::byte> some);
  void number(std::uint64_t value);  // seven bits a byte, the lowest first
  void text(std::string_view value);
  // A piece of a stream of unknown length; an empty one ends it.
  void piece(std::span<const std::byte> some);
  void end_turn();

  void read(std::span<std::byte> all);
  std::uint64_t number();
  std::string text(std::size_t most);
  // Pieces, one after the other; 0 at their end.
  std::size_t read_piece(std::span<std::byte> some);

  // During long work, now and then.
  void still_here() { channel_.still_here(); }

 private:
  class Messages final : public ByteSink {
   public:
    explicit Messages(Channel& channel) : channel_(channel) {}
    void write(std::span<const std::byte> bytes) override;

   private:
    Channel& channel_;
  };
  void push();
  std::size_t receive(std::span<std::byte> some);
  void fill();

  Channel& channel_;
  Messages messages_;
  std::optional<ZstdWriter> packing_;
  std::optional<ZstdReader> unpacking_;
  std::vector<std::byte> outgoing_, incoming_;
  std::size_t from_ = 0, to_ = 0;       // of incoming_
  std::span<const std::byte> message_;  // what is left of the last one
  std::uint64_t piece_left_ = 0;
};

}  // namespace weir
