// Law 3: memory at most the budget, at every moment, counted at the allocator: operator new and
// writable mappings are replaced by ones that count.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "checkpoint/forger.hpp"
#include "laws/every_structure.hpp"

namespace {

std::atomic<std::int64_t> in_use{0}, peak{0};

void count(std::int64_t bytes) {
  const std::int64_t now = in_use += bytes;
  for (std::int64_t seen = peak; now > seen && !peak.compare_exchange_weak(seen, now);) {
  }
}

// A header before each allocation holds its size.
constexpr std::size_t header = 64;

void* allocate(std::size_t size, std::size_t alignment) {
  const std::size_t step = std::max(alignment, header);
  void* const raw = std::aligned_alloc(step, (size + step + step - 1) / step * step);
  if (raw == nullptr) return nullptr;
  auto* const given = static_cast<char*>(raw) + step;
  reinterpret_cast<std::size_t*>(given)[-1] = size;
  reinterpret_cast<std::size_t*>(given)[-2] = step;
  count(static_cast<std::int64_t>(size));
  return given;
}
void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* const given = allocate(size, alignment);
  if (given == nullptr) throw std::bad_alloc();
  return given;
}
void release(void* given) noexcept {
  if (given == nullptr) return;
  const std::size_t size = static_cast<std::size_t*>(given)[-1];
  const std::size_t step = static_cast<std::size_t*>(given)[-2];
  count(-static_cast<std::int64_t>(size));
  std::free(static_cast<char*>(given) - step);
}

}  // namespace

// NOLINTBEGIN
void* operator new(std::size_t n) { return allocate_or_throw(n, header); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, header); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, header); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, header); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }

namespace {
// Writable mappings we made, few and large.
struct Mapping {
  void* at;
  std::size_t bytes;
};
Mapping mappings[64];
}  // namespace

extern "C" void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  auto* const made =
      reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
  if (made != MAP_FAILED && (protection & PROT_WRITE) != 0 && (flags & MAP_ANONYMOUS) != 0)
    for (Mapping& m : mappings)
      if (m.at == nullptr) {
        m = {made, bytes};
        count(static_cast<std::int64_t>(bytes));
        break;
      }
  return made;
}
extern "C" int munmap(void* at, size_t bytes) {
  for (Mapping& m : mappings)
    if (m.at != nullptr && m.at == at) {
      count(-static_cast<std::int64_t>(m.bytes));
      m = {};
    }
  return static_cast<int>(syscall(SYS_munmap, at, bytes));
}
// NOLINTEND

namespace weir::laws {
namespace {

class Budget : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Every, Budget, testing::ValuesIn(every_structure()), test_name);

// Highest use above the level at construction.
class Watch {
 public:
  Watch() : before_(in_use) { peak = in_use.load(); }
  [[nodiscard]] std::int64_t highest() const { return peak - before_; }

 private:
  std::int64_t before_;
};

TEST_P(Budget, IsNeverExceededWhileMakingUsingSavingAndLoading) {
  const auto digests = stream(1, 200'000, 100'000);
  const auto file = std::filesystem::temp_directory_path() /
                    ("weir-budget-" + std::to_string(::getpid()) + ".weir");
  const std::string path = file.string();
  for (const std::uint64_t budget :
       {std::uint64_t{64} << 10, std::uint64_t{100'000}, std::uint64_t{1} << 20,
        (std::uint64_t{3} << 20) + 123, std::uint64_t{64} << 20}) {
    SCOPED_TRACE(budget);
    std::vector<Verdict> verdicts(digests.size());
    const Watch making;
    auto structure = make_structure(GetParam(), {.memory = budget, .seed = 1});
    EXPECT_LE(making.highest(), static_cast<std::int64_t>(budget));
    EXPECT_GT(making.highest(), static_cast<std::int64_t>(budget * 8 / 10)) << "the budget is used";
    if (structure->info().kind == Kind::Filter) {
      const Watch using_it;
      static_cast<Filter&>(*structure).observe(digests, verdicts);
      EXPECT_EQ(using_it.highest(), 0) << "nothing is allocated on the way of a record";
    } else {
      answers(*structure, digests, 1024);
    }
    const Watch saving;
    save(*structure, file);
    structure->health();
    const std::uint64_t own = structure->memory();
    EXPECT_LE(saving.highest() + static_cast<std::int64_t>(own), static_cast<std::int64_t>(budget));
    structure.reset();
    const Watch loading;
    structure = load(file);
    EXPECT_LE(loading.highest(), static_cast<std::int64_t>(budget));
  }
  std::filesystem::remove(file);
}

TEST_P(Budget, WithShardsIsKeptToo) {
  if (!takes_shards(GetParam())) return;
  for (const std::uint32_t shards : {2u, 16u}) {
    const Watch making;
    const auto structure = make_structure(GetParam(), {.memory = 1 << 20, .shards = shards});
    EXPECT_LE(making.highest(), 1 << 20);
  }
}

TEST_P(Budget, TooSmallIsRefusedWithTheSizeThatWouldDo) {
  try {
    make_structure(GetParam(), {.memory = 1000});
    FAIL() << "1000 bytes cannot hold it";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
    EXPECT_NE(std::string(error.what()).find("at least"), std::string::npos);
  }
}

// Sizes that a forger wrote into a small file, checksums correct.
std::vector<test::Bytes> hostile_files(const std::string& name) {
  const auto structure = make_structure(name, {.memory = 32 << 10, .seed = 1});
  answers(*structure, stream(2, 3'000, 2'000), 100);
  const test::Forgery good(*structure);
  std::vector<test::Bytes> files = {good.sealed()};
  const auto forge = [&](auto change) {
    test::Forgery forged = good;
    change(forged);
    files.push_back(forged.sealed());
    files.push_back(forged.fit().sealed());
  };
  for (const std::uint64_t size :
       {1ull << 20, 1ull << 31, 1ull << 32, 1ull << 40, 1ull << 47, ~0ull}) {
    forge([&](test::Forgery& f) { f.header.payload_bytes = size; });
    forge([&](test::Forgery& f) { f.header.total_bytes = size; });
    forge([&](test::Forgery& f) { f.header.shards = static_cast<std::uint32_t>(size >> 4); });
    forge([&](test::Forgery& f) { f.header.registers = static_cast<std::uint32_t>(size >> 4); });
    for (std::size_t at = 0; (at = good.parameters.find('=', at)) != std::string::npos; ++at)
      forge([&](test::Forgery& f) {
        const std::size_t end = std::min(f.parameters.find(',', at), f.parameters.size());
        f.parameters.replace(at + 1, end - at - 1, std::to_string(size));
      });
  }
  return files;
}

TEST_P(Budget, AHostileFileAllocatesNoMoreThanTwiceItsSizeAndALittle) {
  constexpr std::int64_t a_little = 16 << 10;
  for (const test::Bytes& file : hostile_files(GetParam())) {
    const Watch loading;
    try {
      SpanSource source(file);
      read_snapshot(source);
    } catch (const Error&) {  // refused or loaded: what counts here is the memory
    }
    ASSERT_LE(loading.highest(), 2 * std::ssize(file) + a_little);
  }
}

TEST(BudgetHook, CountsWhatIsAllocatedAndMapped) {  // the test of the test
  const Watch watch;
  { const std::vector<char> bytes(5000); }
  EXPECT_GE(watch.highest(), 5000);
  const Watch mapped;
  make_structure("bloom", {.memory = 8 << 20});
  EXPECT_GE(mapped.highest(), 7 << 20);
  EXPECT_LT(in_use, 7 << 20) << "and what is given back";
}

}  // namespace
}  // namespace weir::laws
