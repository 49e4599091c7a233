// What the two sides of weir sync say to each other, turn by turn (numbers as in talk.hpp):
//
//   both       role and wishes, in a message of their own (Wishes)
//   sender     (1) the list: folder or single file; each entry with its kind, name, mode, time,
//              and size or link target; then names that it cannot send
//   receiver   (2) requests, at most some megabytes of them, then the end of its turn:
//                    Hash       entry; 16 bytes: is the file this one?   (same size, other time)
//                    Sums       entry; its size, signature in pieces     (something to build on)
//                    Finer      entry; signature in pieces               (after Plan)
//                    Whole      entry                                    (nothing, or too little)
//   sender     (3) an answer to each, in their order:
//                    Same       for Hash: it is
//                    Different  for Hash: it is not; the receiver asks again, with Sums
//                    Plan       for Sums: bytes of a block, steps without literals; the receiver
//                               asks again, with Finer sums of what no step copies
//                    Contents   steps (sync_script.hpp), or for Whole the file in pieces; then
//                               what went wrong, or nothing and 16 bytes of hash
//                    Gone       a sentence: it can no longer be read
//   ... (2) and (3) as often as needed ...
//   receiver   (4) notes of what it has done, where the sender wants to know; Done, with figures
//
// A hash is the first half of BLAKE2b-256. A file whose hash is wrong when it is put together, as
// short sums make it once in 4,000 files at most, is asked for again with full ones.
//
// The receiver believes no name that leads out of its folder, no file longer than listed, and no
// entry twice; the sender sends nothing that is not in its list. So a peer can fill the folder it
// was given, and no more.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "exchange/talk.hpp"
#include "weir/sync.hpp"

namespace weir {

inline constexpr const char* sync_purpose = "sync";
inline constexpr std::uint32_t sync_version = 1;

enum class SyncRole : std::uint8_t { Sender = 0, Receiver = 1 };
enum class EntryKind : std::uint8_t { End = 0, File = 1, Folder = 2, Link = 3 };
enum class SyncRequest : std::uint8_t { EndOfTurn = 0, Hash, Sums, Finer, Whole, Note, Done };
enum class SyncAnswer : std::uint8_t { Same = 1, Different, Plan, Contents, Gone };

struct SyncEntry {
  EntryKind kind = EntryKind::File;
  std::string name;  // from the folder on; of a single file its own
  std::uint32_t mode = 0;
  std::int64_t time = 0;  // nanoseconds since 1970
  std::uint64_t size = 0;
  std::string target;  // of a link
};

struct SyncList {
  bool folder = true;
  std::vector<SyncEntry> entries;     // sorted, each folder before what is in it
  std::vector<std::string> troubles;  // what could not be looked at, with the reason
};

using ShortHash = std::array<std::byte, 16>;
ShortHash short_hash(const FileSum& sum);

// What one side wants; the other's are added to it.
struct Wishes {
  SyncRole role = SyncRole::Sender;
  bool remove = false, dry_run = false, checksum = false, whole = false, notes = false;
  bool plain = false;  // not compressed
};
// Greets, says ours, hears theirs. Throws Error(Io) where both are on the same side.
Wishes agree(Channel& channel, const Wishes& ours);

void send_list(Talk& talk, const SyncList& list);
// Throws Error(Io) for names that lead out, come twice or lack their folder.
SyncList receive_list(Talk& talk);

// The last figures of the receiver.
void send_figures(Talk& talk, const SyncStats& stats);
SyncStats receive_figures(Talk& talk);

// What came in pieces, as a reader.
class Pieces {
 public:
  explicit Pieces(Talk& talk) : talk_(talk) {}
  std::size_t operator()(std::span<std::byte> some) {
    if (ended_) return 0;
    const std::size_t count = talk_.read_piece(some);
    ended_ = count == 0;
    return count;
  }
  // To their end.
  void pass_over();

 private:
  Talk& talk_;
  bool ended_ = false;
};
// The other way: a sink whose bytes go out in pieces.
class PieceSink final : public ByteSink {
 public:
  explicit PieceSink(Talk& talk) : talk_(talk) {}
  void write(std::span<const std::byte> bytes) override {
    if (!bytes.empty()) talk_.piece(bytes);
  }
  void end() { talk_.piece({}); }

 private:
  Talk& talk_;
};

}  // namespace weir
