// State files: what is not a file is refused, and saving replaces all or nothing.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "snapshot_testing.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;

class StateFile : public testing::Test {
 protected:
  StateFile() {
    std::string pattern = (fs::temp_directory_path() / "weir-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    path = folder / "state.weir";
  }
  ~StateFile() override {
    fs::permissions(folder, fs::perms::owner_all);
    fs::remove_all(folder);
  }

  static StructurePtr filter(std::uint64_t seed) {
    StructurePtr made = make_structure("bloom", {.memory = 65536, .seed = seed});
    drive(*made, repeating_stream(1000, 1000, seed));
    return made;
  }
  static Bytes content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
    Bytes bytes(chars.size());
    std::memcpy(bytes.data(), chars.data(), chars.size());
    return bytes;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder))
      all.push_back(entry.path().filename().string());
    std::ranges::sort(all);
    return all;
  }
  static unsigned mode(const fs::path& file) {
    struct stat status {};
    EXPECT_EQ(::stat(file.c_str(), &status), 0);
    return status.st_mode & 07777;
  }
  static ErrorCode code_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      EXPECT_STRNE(error.what(), "");
      return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::Config;
  }
  // True when the call throws Error(Io) in a process of its own, prepared by `prepare`.
  static bool fails_in_child(const std::function<void()>& prepare,
                             const std::function<void()>& call) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        prepare();
        call();
      } catch (const Error& error) {
        ::_exit(error.code() == ErrorCode::Io ? 42 : 1);
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 42;
  }

  fs::path folder, path;
};

TEST_F(StateFile, LoadsWhatWasSaved) {
  const StructurePtr saved = filter(1);
  save(*saved, path);
  SnapshotInfo about;
  const FilterPtr loaded = load_filter(path, &about);
  EXPECT_EQ(loaded->parameters(), saved->parameters());
  EXPECT_TRUE(std::ranges::equal(loaded->payload(), saved->payload()));
  EXPECT_EQ(about.bytes, fs::file_size(path));
  EXPECT_NEAR(static_cast<double>(about.saved_at), static_cast<double>(std::time(nullptr)), 60);
}

TEST_F(StateFile, EveryKindOfStructureIsRefusedAsAFilterUnlessItIsOne) {
  for (const StructureInfo* info : catalog()) {
    save(*make_used(*info, 8192), path);
    if (info->kind == Kind::Filter)
      EXPECT_NO_THROW(load_filter(path)) << info->name;
    else
      EXPECT_EQ(refusal_fault([&] { load_filter(path); }), "") << info->name;
  }
}

TEST_F(StateFile, AMissingFileIsAnInputError) {
  EXPECT_EQ(code_of([&] { load(path); }), ErrorCode::Io);
  EXPECT_EQ(code_of([&] { load(""); }), ErrorCode::Io);
}

TEST_F(StateFile, WhatIsNotAFileIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const fs::path& odd : {folder, folder / "pipe", fs::path("/dev/null"), fs::path("/dev/zero"),
                              fs::path("/dev/full")})
    EXPECT_EQ(refusal_fault([&] { load(odd); }), "") << odd;
}

TEST_F(StateFile, AnEmptyFileIsRefused) {
  std::ofstream(path).close();
  EXPECT_EQ(refusal_fault([&] { load(path); }), "");
}

TEST_F(StateFile, ARefusalNamesTheFile) {
  std::ofstream(path) << "not a state file\n";
  try {
    load(path);
    FAIL() << "it was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(path.string() + ": "), 0u) << error.what();
  }
}

TEST_F(StateFile, AFileWithAHoleOfManyGigabytesIsRefusedAtOnce) {
  save(*filter(1), path);
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 36), 0);
  EXPECT_EQ(refusal_fault([&] { load(path); }), "");
}

TEST_F(StateFile, IsForItsOwnerOnlyAlsoWhenItReplacesAnOpenOne) {
  const mode_t umask_before = ::umask(0);
  save(*filter(1), path);
  EXPECT_EQ(mode(path), 0600u);
  fs::permissions(path, fs::perms(0644));
  save(*filter(2), path);
  EXPECT_EQ(mode(path), 0600u);
  ::umask(0777);
  save(*filter(3), path);
  EXPECT_EQ(mode(path), 0600u);
  ::umask(umask_before);
}

TEST_F(StateFile, LeavesNothingElseInTheFolder) {
  save(*filter(1), path);
  save(*filter(2), path);
  EXPECT_EQ(names(), std::vector<std::string>{"state.weir"});
}

TEST_F(StateFile, AFailedSaveLeavesTheOldStateWhenTheFolderCannotBeWritten) {
  save(*filter(1), path);
  const Bytes before = content(path);
  const StructurePtr newer = filter(2);
  fs::permissions(folder, fs::perms(0555));
  EXPECT_TRUE(fails_in_child(
      [] {  // root may write anywhere
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
      },
      [&] { save(*newer, path); }));
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(names(), std::vector<std::string>{"state.weir"});
}

TEST_F(StateFile, AFailedSaveLeavesTheOldStateWhenTheDiskIsFull) {
  save(*filter(1), path);
  const Bytes before = content(path);
  const StructurePtr newer = filter(2);
  // Full before the first byte, within the header, the cells and the registers, and before the
  // last byte.
  for (const std::size_t room :
       {std::size_t{0}, std::size_t{100}, std::size_t{4096}, before.size() - 20, before.size() - 1})
    EXPECT_TRUE(fails_in_child(
        [room] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{room, room};
          if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(1);
        },
        [&] { save(*newer, path); }))
        << room;
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(names(), std::vector<std::string>{"state.weir"});
}

TEST_F(StateFile, SavingIntoAMissingFolderOrOntoAFolderFails) {
  EXPECT_EQ(code_of([&] { save(*filter(1), folder / "missing" / "state.weir"); }), ErrorCode::Io);
  EXPECT_EQ(code_of([&] { save(*filter(1), folder); }), ErrorCode::Io);
  EXPECT_EQ(names(), std::vector<std::string>{});
}

TEST_F(StateFile, NothingButAFileIsReplaced) {
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { save(*filter(1), pipe); }), ErrorCode::Io);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(StateFile, AStaleTemporaryFileIsNoObstacle) {
  std::ofstream(path.string() + ".tmp." + std::to_string(::getpid())) << std::string(100000, 'x');
  save(*filter(1), path);
  EXPECT_NO_THROW(load(path));
  EXPECT_EQ(mode(path), 0600u);
  EXPECT_EQ(names(), std::vector<std::string>{"state.weir"});
}

TEST_F(StateFile, ALinkKeepsPointingToTheState) {
  const fs::path other = folder / "elsewhere";
  fs::create_directory(other);
  fs::create_symlink("elsewhere/real.weir", path);
  for (const std::uint64_t seed : {1u, 2u}) {  // first there is nothing behind the link
    save(*filter(seed), path);
    EXPECT_TRUE(fs::is_symlink(path));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(other / "real.weir")));
    EXPECT_EQ(load(path)->seed(), seed);
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"elsewhere", "state.weir"}));
}

TEST_F(StateFile, ALinkThatPointsToItselfIsAnError) {
  fs::create_symlink("state.weir", path);
  EXPECT_EQ(code_of([&] { load(path); }), ErrorCode::Io);
}

TEST_F(StateFile, APathWithoutFolderIsInTheCurrentOne) {
  const fs::path here = fs::current_path();
  fs::current_path(folder);
  save(*filter(1), "plain.weir");
  EXPECT_NO_THROW(load("plain.weir"));
  fs::current_path(here);
  EXPECT_EQ(names(), std::vector<std::string>{"plain.weir"});
}

}  // namespace
}  // namespace weir::test
