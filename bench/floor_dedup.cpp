// The floor of `weir dedup`: what the machine charges for the least that such a command must do.
//
//   bench-floor_dedup [--memory 512M] [--emit] FILE
//
//   (1) read() the file in blocks of 256 KiB
//   (2) find the newlines, 64 bytes at a time (AVX-512, AVX2, else memchr)
//   (3) hash each line with XXH3-64 under a secret, ask for the 64-byte line of a table it falls on
//   (4) 32 lines later, read and write one word there
// Nothing is written. With --emit it is a blocked Bloom filter of one probe: lines whose bit was
// not yet set go to stdout, neighbours in one piece.
//
// The table is on huge pages, and they are met for the first time while the clock runs: a command
// has to pay for them too. Lines and seconds go to stderr. FLOOR_KERNEL=avx512, avx2 or memchr in
// the environment chooses how newlines are searched.
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace {

using std::uint32_t;
using std::uint64_t;

constexpr size_t block_bytes = 256 << 10, step = 64, ahead = 32;

// (2) Positions of the newlines in data[0, size), where `step` zeros follow. Writes up to four
// positions more than it counts: so that no branch depends on how many of the first four there are.
using FindNewlines = size_t (*)(const char* data, size_t size, uint32_t* positions);

[[gnu::always_inline]] inline size_t put_positions(uint64_t mask, size_t base, uint32_t* out) {
  const auto count = static_cast<size_t>(std::popcount(mask));
  size_t done = 0;
  do {
    for (size_t i = 0; i < 4; ++i, mask &= mask - 1)
      out[done + i] = static_cast<uint32_t>(base) + static_cast<uint32_t>(std::countr_zero(mask));
    done += 4;
  } while (done < count);
  return count;
}

[[gnu::target("avx512bw,bmi")]] size_t newlines_avx512(const char* data, size_t size,
                                                       uint32_t* out) {
  const __m512i newline = _mm512_set1_epi8('\n');
  size_t found = 0;
  for (size_t at = 0; at < size; at += step) {
    const uint64_t mask = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(data + at), newline);
    found += put_positions(mask, at, out + found);
  }
  return found;
}

[[gnu::target("avx2,bmi")]] size_t newlines_avx2(const char* data, size_t size, uint32_t* out) {
  const __m256i newline = _mm256_set1_epi8('\n');
  size_t found = 0;
  for (size_t at = 0; at < size; at += step) {
    const auto* const parts = reinterpret_cast<const __m256i*>(data + at);
    const auto low = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(parts), newline)));
    const auto high = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_loadu_si256(parts + 1), newline)));
    found += put_positions(uint64_t{high} << 32 | low, at, out + found);
  }
  return found;
}

size_t newlines_memchr(const char* data, size_t size, uint32_t* out) {
  size_t found = 0;
  for (const char* at = data; (at = static_cast<const char*>(
                                   std::memchr(at, '\n', static_cast<size_t>(data + size - at))));)
    out[found++] = static_cast<uint32_t>(at++ - data);
  return found;
}

FindNewlines choose_kernel() {
  const char* const wanted = std::getenv("FLOOR_KERNEL");  // to compare them
  const auto may = [&](const char* name) {
    return wanted == nullptr || std::strcmp(wanted, name) == 0;
  };
  if (may("avx512") && __builtin_cpu_supports("avx512bw")) return newlines_avx512;
  if (may("avx2") && __builtin_cpu_supports("avx2")) return newlines_avx2;
  return newlines_memchr;
}

class Table {
 public:
  explicit Table(size_t bytes) : lines_(bytes / 64) {
    constexpr uintptr_t huge = 2 << 20;
    void* const block = mmap(nullptr, bytes + huge, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) throw std::runtime_error("no memory for the table");
    const auto start = (reinterpret_cast<uintptr_t>(block) + huge - 1) / huge * huge;
    words_ = reinterpret_cast<uint64_t*>(start);
    madvise(words_, bytes, MADV_HUGEPAGE);
  }

  void prefetch(uint64_t digest) const { __builtin_prefetch(word(digest), 1); }
  // Whether the digest's bit was set; sets it.
  bool exchange(uint64_t digest) {
    uint64_t& at = *word(digest);
    const uint64_t bit = uint64_t{1} << (digest & 63);
    const bool was = at & bit;
    at |= bit;
    return was;
  }

 private:
  // The line by the upper bits, the word in it and the bit by the lowest nine.
  [[nodiscard]] uint64_t* word(uint64_t digest) const {
    __extension__ using Uint128 = unsigned __int128;
    const auto line = static_cast<uint64_t>((static_cast<Uint128>(digest) * lines_) >> 64);
    return words_ + line * 8 + (digest >> 6 & 7);
  }
  uint64_t* words_;
  uint64_t lines_;
};

class Output {
 public:
  void add(const char* data, size_t size) {
    if (size > buffer_.size() - used_) flush();
    if (size > buffer_.size()) return put(data, size);
    std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
  }
  void flush() { put(buffer_.data(), used_), used_ = 0; }

 private:
  static void put(const char* data, size_t size) {
    while (size != 0) {
      const ssize_t written = write(STDOUT_FILENO, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw std::runtime_error(std::string("write: ") + std::strerror(errno));
      data += written, size -= static_cast<size_t>(written);
    }
  }
  std::vector<char> buffer_ = std::vector<char>(block_bytes);
  size_t used_ = 0;
};

struct Counts {
  uint64_t lines = 0, repeats = 0;
};

template <bool Emit>
class Floor {
 public:
  explicit Floor(size_t table_bytes) : table_(table_bytes), find_(choose_kernel()) {
    uint64_t random = 1;  // any secret will do
    for (unsigned char& byte : secret_) {
      random = random * 6364136223846793005 + 1442695040888963407;
      byte = static_cast<unsigned char>(random >> 56);
    }
  }

  Counts run(int file) {
    size_t kept = 0;  // the start of a line whose end is not read yet
    for (;;) {
      buffer_.resize(std::max(buffer_.size(), kept + block_bytes + step));
      const ssize_t got = read(file, buffer_.data() + kept, block_bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw std::runtime_error(std::string("read: ") + std::strerror(errno));
      size_t size = kept + static_cast<size_t>(got);
      if (got == 0 && kept != 0) buffer_[size++] = '\n';
      std::memset(buffer_.data() + size, 0, step);
      kept = size - take_lines(kept, size);
      std::memmove(buffer_.data(), buffer_.data() + size - kept, kept);
      if (got == 0) break;
    }
    if (Emit) output_.flush();
    return counts_;
  }

 private:
  // Takes all whole lines of the buffer, where the first newline is not before `searched`; returns
  // how many bytes they are.
  size_t take_lines(size_t searched, size_t size) {
    ends_.resize(std::max(ends_.size(), size - searched + 8));
    digests_.resize(ends_.size());
    const size_t count = find_(buffer_.data() + searched, size - searched, ends_.data());
    const char* start = buffer_.data();
    const char* run = start;  // lines to emit begin here
    const char* done = start;
    const auto finish = [&](size_t line) {
      const bool repeat = table_.exchange(digests_[line]);
      counts_.repeats += repeat;
      if (!Emit) return;
      const char* const end = buffer_.data() + searched + ends_[line] + 1;
      if (repeat) {
        if (run != done) output_.add(run, static_cast<size_t>(done - run));
        run = end;
      }
      done = end;
    };
    for (size_t i = 0; i < count; ++i) {
      const char* const end = buffer_.data() + searched + ends_[i];
      digests_[i] = XXH3_64bits_withSecret(start, static_cast<size_t>(end - start), secret_,
                                           sizeof secret_);  // (3)
      table_.prefetch(digests_[i]);
      start = end + 1;
      if (i >= ahead) finish(i - ahead);  // (4)
    }
    for (size_t i = count - std::min(count, ahead); i < count; ++i) finish(i);
    if (Emit && run != done) output_.add(run, static_cast<size_t>(done - run));
    counts_.lines += count;
    return static_cast<size_t>(start - buffer_.data());
  }

  Table table_;
  FindNewlines find_;
  unsigned char secret_[192];
  std::vector<char> buffer_;
  std::vector<uint32_t> ends_;
  std::vector<uint64_t> digests_;
  Output output_;
  Counts counts_;
};

size_t read_size(const char* text) {
  char* end = nullptr;
  const uint64_t number = std::strtoull(text, &end, 10);
  const char* const suffixes = "KMG";
  const char* const suffix = *end == 0 ? nullptr : std::strchr(suffixes, *end);
  if (number == 0 || (*end != 0 && suffix == nullptr))
    throw std::runtime_error(std::string("not a size: ") + text);
  return suffix == nullptr ? number : number << (10 * (suffix - suffixes + 1));
}

void run(int argc, char** argv) {
  size_t memory = 512 << 20;
  bool emit = false;
  const char* path = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--memory") == 0 && i + 1 < argc)
      memory = read_size(argv[++i]);
    else if (std::strcmp(argv[i], "--emit") == 0)
      emit = true;
    else
      path = argv[i];
  }
  if (path == nullptr) throw std::runtime_error("which file?");
  const auto start = std::chrono::steady_clock::now();
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(std::string(path) + ": " + std::strerror(errno));
  const Counts counts = emit ? Floor<true>(memory).run(file) : Floor<false>(memory).run(file);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "%llu lines, %llu repeats, %.4f s\n",
               static_cast<unsigned long long>(counts.lines),
               static_cast<unsigned long long>(counts.repeats), taken.count());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-floor_dedup: %s\n", error.what());
    return 1;
  }
}
