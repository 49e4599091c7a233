#include "exchange/key_set.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "pipeline/job.hpp"
#include "weir/error.hpp"

namespace weir {

ExchangeSecret random_secret() {
  ExchangeSecret secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

KeyDigest digest_key(std::string_view key, const ExchangeSecret& secret) noexcept {
  static_assert(sizeof(ExchangeSecret) == crypto_shorthash_siphashx24_KEYBYTES);
  static_assert(sizeof(KeyDigest) == crypto_shorthash_siphashx24_BYTES);
  unsigned char out[crypto_shorthash_siphashx24_BYTES];
  crypto_shorthash_siphashx24(out, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                              secret.data());
  KeyDigest digest;
  std::memcpy(&digest, out, sizeof digest);
  if (digest == KeyDigest{}) digest.low = 1;
  return digest;
}

KeySet::KeySet(const DedupOptions& options, const ExchangeSecret& secret, std::uint64_t memory,
               std::function<void()> breathe)
    : options_(options),
      shown_(options.inputs),
      secret_(secret),
      keys_of_(options_, unused_),
      breathe_(std::move(breathe)),
      memory_(memory) {
  check_reading(options_);
  require_readable(options_.inputs);
  keep_what_comes_once();
}

KeySet::~KeySet() {
  for (const int fd : kept_) ::close(fd);
}

void KeySet::keep_what_comes_once() {
  for (std::string& input : options_.inputs) {
    struct stat status {};
    if (input != "-" && ::stat(input.c_str(), &status) == 0 && S_ISREG(status.st_mode)) continue;
    const char* const folder = std::getenv("TMPDIR");
    const std::string where = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
    const auto check = [&](bool good) {
      if (!good)
        throw Error(ErrorCode::Io, "cannot keep " + shown_name(input) + " in " + where +
                                       ", for it can be read only once: " + std::strerror(errno));
    };
    // Without a name, so that it is gone with the process, whatever happens.
    int fd = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
      std::string name = where + "/weir-XXXXXX";
      fd = ::mkostemp(name.data(), O_CLOEXEC);
      if (fd >= 0) ::unlink(name.c_str());
    }
    check(fd >= 0);
    kept_.push_back(fd);
    const auto stream = open_bytes(input, false);
    std::vector<char> buffer(options_.chunk_bytes);
    std::size_t count = 0;
    while (stream->read(buffer.data(), buffer.size(), count, {.timeout_ms = 1000}) !=
           ByteStream::Got::End) {
      for (std::size_t done = 0; done < count;) {
        const ssize_t wrote = ::write(fd, buffer.data() + done, count - done);
        check(wrote > 0 || errno == EINTR);
        done += static_cast<std::size_t>(std::max<ssize_t>(wrote, 0));
      }
      count = 0;
      breathe_();
    }
    input = "/proc/self/fd/" + std::to_string(fd);
  }
}

void KeySet::walk(const std::function<void(Chunk& chunk, std::uint64_t before)>& take) {
  Source source(options_, [this](std::string_view row) { keys_of_.read_header(row); });
  Chunk chunk;
  std::uint64_t before = 0;
  constexpr std::size_t most_records = 16384;
  const auto changed = [&](std::uint32_t input) {
    throw Error(ErrorCode::Io, shown_name(shown_[std::min<std::size_t>(input, shown_.size() - 1)]) +
                                   " has changed while it was read");
  };
  while (source.fill(chunk, most_records, {}) == Source::Filled::Yes) {
    take(chunk, before);
    before += chunk.records();
    if (readings_ > 0 && before > places_) changed(chunk.input);
    breathe_();
  }
  if (readings_ > 0 && before != places_) changed(static_cast<std::uint32_t>(shown_.size()));
  places_ = before;
  ++readings_;
}

void KeySet::note_bad(const Chunk& chunk, std::uint64_t before) {
  if (chunk.bad.empty()) return;
  if (bad_ == 0)
    first_bad_ = shown_name(shown_[chunk.input]) + ", record " +
                 std::to_string(chunk.first_record + chunk.bad.front().record) + ": " +
                 chunk.bad.front().why;
  bad_ += chunk.bad.size();
  for (const Chunk::Bad& bad : chunk.bad) bad_ones_.set(before + bad.record);
  if (options_.on_bad == OnBad::Fail) throw Error(ErrorCode::BadInput, first_bad_);
}

namespace {
struct SetFull {};
}  // namespace

bool KeySet::mark_part(std::uint64_t prefix, unsigned bits,
                       const std::function<void(std::string_view, KeyDigest)>& met) {
  DigestSet seen(memory_);
  const bool first_reading = readings_ == 0;
  try {
    walk([&](Chunk& chunk, std::uint64_t before) {
      keys_of_.each(chunk, scratch_, [&](std::size_t i, std::string_view key) {
        const KeyDigest digest = digest_key(key, secret_);
        if (bits > 0 && digest.high >> (64 - bits) != prefix) return;
        const DigestSet::Put put = seen.put(digest);  // (1)
        if (put == DigestSet::Put::Full) throw SetFull{};
        if (put == DigestSet::Put::There || !first_.set(before + i)) return;
        ++keys_;
        key_bytes_ += key.size();
        longest_ = std::max<std::uint64_t>(longest_, key.size());
        met(key, digest);
      });
      if (!first_reading) return;
      note_bad(chunk, before);
      records_ += chunk.piece ? chunk.first_piece : chunk.records() - chunk.heads;
    });
  } catch (const SetFull&) {
    if (first_reading) bad_ = records_ = 0;
    return false;
  }
  return true;
}

void KeySet::read(const std::function<void(std::string_view key, KeyDigest digest)>& met) {
  struct Part {
    std::uint64_t prefix;
    unsigned bits;
  };
  std::vector<Part> parts{{0, 0}};
  while (!parts.empty()) {
    const Part part = parts.back();
    parts.pop_back();
    if (mark_part(part.prefix, part.bits, met)) continue;
    parts.push_back({part.prefix << 1 | 1, part.bits + 1});  // (2)
    parts.push_back({part.prefix << 1, part.bits + 1});
  }
}

}  // namespace weir
