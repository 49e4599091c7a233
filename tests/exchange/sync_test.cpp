// weir sync between two threads: what arrives, and what a peer that lies can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "delta_testing.hpp"
#include "exchange/file_hash.hpp"
#include "exchange/sync_script.hpp"
#include "exchange/sync_wire.hpp"
#include "weir/error.hpp"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
constexpr Channel::Settings patience{.timeout = 30};

class Syncing : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    top_ = fs::temp_directory_path() /
           ("weir-sync-" + std::to_string(::getpid()) + "-" + info->name());
    fs::remove_all(top_);
    fs::create_directories(top_);
    source_ = top_ / "source", destination_ = top_ / "destination";
    fs::create_directory(source_);
    fs::create_directory(destination_);
  }
  void TearDown() override { fs::remove_all(top_); }

  void write(const fs::path& path, const Bytes& bytes) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    // Two files of one size, written in one tick of the clock, would be taken for equal.
    if (path.string().starts_with(destination_.string()))
      fs::last_write_time(path, fs::file_time_type{});
  }
  static Bytes contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto* const first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
  }

  // All below a folder: kind, mode, time, contents.
  static std::string described(const fs::path& folder) {
    std::vector<std::string> lines;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      struct stat status {};
      ::lstat(entry.path().c_str(), &status);
      std::string line =
          entry.path().lexically_relative(folder).string() + " " + std::to_string(status.st_mode);
      if (!S_ISLNK(status.st_mode)) line += " " + std::to_string(status.st_mtim.tv_nsec);
      if (S_ISLNK(status.st_mode)) line += " -> " + fs::read_symlink(entry.path()).string();
      if (S_ISREG(status.st_mode)) {
        FileHash hash;
        hash.add(contents(entry.path()));
        for (const std::byte byte : hash.sum().hash)
          line += std::to_string(std::to_integer<int>(byte)) + ".";
      }
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }

  struct Outcome {
    SyncStats sent, received;
    std::string sender, receiver;  // what went wrong
  };
  using Side = std::function<SyncStats(Channel&)>;
  static Outcome both(const Side& sender, const Side& receiver) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    Outcome outcome;
    const auto run = [](int fd, const Side& side, SyncStats& stats, std::string& trouble) {
      Channel channel(fd, fd, "the peer", patience);
      try {
        stats = side(channel);
        channel.flush();
      } catch (const Error& error) {
        trouble = error.what();
        channel.fail(error.what());
      }
    };
    std::thread other([&] { run(ends[0], sender, outcome.sent, outcome.sender); });
    run(ends[1], receiver, outcome.received, outcome.receiver);
    other.join();
    return outcome;
  }
  Outcome sync(const SyncOptions& options = {}) {
    const Outcome outcome =
        both([&](Channel& channel) { return send_files(channel, source_, options); },
             [&](Channel& channel) { return receive_files(channel, destination_, options); });
    EXPECT_EQ(outcome.sender, "");
    EXPECT_EQ(outcome.receiver, "");
    return outcome;
  }

  // A sender that says what the test wants, after a list of its own.
  Outcome lie(const SyncList& list, const std::function<void(Talk&)>& answers = {}) {
    return both(
        [&](Channel& channel) {
          agree(channel, {.role = SyncRole::Sender});
          Talk talk(channel, 3);
          send_list(talk, list);
          talk.end_turn();
          if (answers) answers(talk);
          while (talk.number() != static_cast<std::uint64_t>(SyncRequest::Done)) {
          }
          return receive_figures(talk);
        },
        [&](Channel& channel) { return receive_files(channel, destination_, {.durable = false}); });
  }
  static SyncEntry file(const std::string& name, std::uint64_t size) {
    SyncEntry entry;
    entry.name = name, entry.mode = 0644, entry.size = size;
    return entry;
  }
  static SyncEntry folder(const std::string& name) {
    SyncEntry entry;
    entry.kind = EntryKind::Folder, entry.name = name, entry.mode = 0755;
    return entry;
  }
  static void expect(Talk& talk, SyncRequest request, std::uint64_t entry) {
    ASSERT_EQ(talk.number(), static_cast<std::uint64_t>(request));
    ASSERT_EQ(talk.number(), entry);
  }
  static void say(Talk& talk, SyncAnswer answer) {
    talk.number(static_cast<std::uint64_t>(answer));
  }

  fs::path top_, source_, destination_;
};

TEST_F(Syncing, MakesAnyTreeAnyOther) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 25; ++round) {
    for (const fs::path& top : {source_, destination_}) {
      if (top == source_) fs::remove_all(source_);
      fs::create_directories(top);
    }
    for (int i = 0; i < 40; ++i) {
      const std::string name = "d" + std::to_string(random() % 4) +
                               (random() % 2 == 0 ? "/e" : "") + "/f" + std::to_string(i);
      const Bytes old = random_bytes(random, random() % (round % 2 == 0 ? 30'000 : 1500), 40);
      write(source_ / name, edited(random, old, static_cast<int>(random() % 4)));
      fs::permissions(source_ / name, fs::perms(0600 | random() % 0200));
      if (random() % 3 == 0) continue;
      if (fs::is_directory(destination_ / name)) continue;
      write(destination_ / name, random() % 4 == 0 ? contents(source_ / name) : old);
    }
    fs::create_directory(source_ / "empty");
    fs::create_symlink("nowhere/at all", source_ / "link");
    for (const char* name : {"d0", "link"}) fs::remove_all(destination_ / name);
    write(destination_ / "d0", {});               // a file in the place of a folder
    write(destination_ / "link/inside", {});      // a folder in the place of a link
    write(destination_ / "surplus/one/two", {});  // to be removed
    SyncOptions options;
    options.remove = true;
    options.durable = round % 5 == 0;
    options.level = round % 3;
    options.whole = round % 7 == 6;
    options.block = round % 4 == 1 ? 64 : 0;
    const Outcome outcome = sync(options);
    EXPECT_EQ(described(destination_), described(source_)) << "round " << round;
    EXPECT_EQ(outcome.sent.updated, outcome.received.updated);
    EXPECT_EQ(outcome.sent.sent, outcome.received.received);
    EXPECT_EQ(outcome.sent.troubles.size(), 0U);
    const Outcome again = sync(options);
    EXPECT_EQ(again.received.made + again.received.updated + again.received.removed, 0U);
  }
}

TEST_F(Syncing, SendsLittleMoreThanTheEdits) {
  std::mt19937_64 random(12);
  Bytes bytes = random_bytes(random, 4'000'000);
  write(destination_ / "large", bytes);
  for (int i = 0; i < 30; ++i) bytes[random() % bytes.size()] ^= std::byte{1};
  write(source_ / "large", bytes);
  const Outcome outcome = sync({.durable = false});
  EXPECT_EQ(contents(destination_ / "large"), bytes);
  // One round costs 2 sqrt(6 n e) = 53,000 bytes at the best block size.
  EXPECT_LT(outcome.sent.sent + outcome.sent.received, 30'000U);
  EXPECT_LT(outcome.received.literal, 30U * 800);
}

TEST_F(Syncing, PassesOverEqualSizeAndTimeUnlessToldOtherwise) {
  write(source_ / "file", Bytes(1000, std::byte{1}));
  write(destination_ / "file", Bytes(1000, std::byte{2}));
  fs::last_write_time(destination_ / "file", fs::last_write_time(source_ / "file"));
  EXPECT_EQ(sync().received.alike, 1U);
  EXPECT_EQ(contents(destination_ / "file")[0], std::byte{2});
  EXPECT_EQ(sync({.checksum = true}).received.updated, 1U);
  EXPECT_EQ(contents(destination_ / "file")[0], std::byte{1});
}

TEST_F(Syncing, OfATouchedFileCostsAHash) {
  std::mt19937_64 random(13);
  write(source_ / "file", random_bytes(random, 500'000));
  fs::copy(source_ / "file", destination_ / "file");
  fs::last_write_time(destination_ / "file", fs::file_time_type{});
  const Outcome outcome = sync();
  EXPECT_EQ(outcome.received.alike, 1U);
  EXPECT_LT(outcome.sent.sent + outcome.sent.received, 400U);
  EXPECT_EQ(described(destination_), described(source_));
}

TEST_F(Syncing, DryRunChangesNothing) {
  write(source_ / "new/deep/file", Bytes(10));
  write(source_ / "other", Bytes(20));
  write(destination_ / "other", Bytes(10));
  write(destination_ / "surplus/file", Bytes(1));
  const std::string before = described(destination_);
  const SyncStats stats = sync({.remove = true, .dry_run = true}).received;
  EXPECT_EQ(described(destination_), before);
  EXPECT_EQ(stats.made, 3U);
  EXPECT_EQ(stats.updated, 1U);
  EXPECT_EQ(stats.removed, 2U);
}

TEST_F(Syncing, RefusesNamesThatLeadOut) {
  for (const char* name : {"../x", "/etc/x", "a/../../x", "a//x", "./x", "", "a/", ".."}) {
    const Outcome outcome = lie({.entries = {folder("a"), file(name, 1)}, .troubles = {}});
    EXPECT_THAT(outcome.receiver, HasSubstr("leads out of the folder")) << name;
    EXPECT_THAT(outcome.sender, HasSubstr("the other side says")) << name;
  }
  EXPECT_THAT(lie({.entries = {file("a/x", 1)}, .troubles = {}}).receiver,
              HasSubstr("without its folder"));
  EXPECT_THAT(lie({.entries = {file("a", 1), file("a/x", 1)}, .troubles = {}}).receiver,
              HasSubstr("without its folder"));
  EXPECT_THAT(lie({.entries = {file("a", 1), file("a", 1)}, .troubles = {}}).receiver,
              HasSubstr("twice"));
  EXPECT_TRUE(fs::is_empty(destination_));
}

// A link that the sender makes, or that is there, is never a way out.
TEST_F(Syncing, FollowsNoLinkOutOfTheFolder) {
  const fs::path outside = top_ / "outside";
  fs::create_directory(outside);
  write(outside / "keep", Bytes(3));
  fs::create_symlink(outside, destination_ / "way");
  write(source_ / "way/file", Bytes(5));
  sync({.remove = true});
  EXPECT_FALSE(fs::is_symlink(destination_ / "way"));
  EXPECT_TRUE(fs::exists(destination_ / "way/file"));
  EXPECT_TRUE(fs::exists(outside / "keep"));
  EXPECT_FALSE(fs::exists(outside / "file"));

  SyncEntry link;
  link.kind = EntryKind::Link, link.name = "out", link.target = outside.string();
  EXPECT_THAT(lie({.entries = {link, file("out/x", 1)}, .troubles = {}}).receiver,
              HasSubstr("without its folder"));
}

TEST_F(Syncing, RefusesMoreThanWasListed) {
  const Outcome outcome = lie({.entries = {file("a", 10)}, .troubles = {}}, [](Talk& talk) {
    expect(talk, SyncRequest::Whole, 0);
    ASSERT_EQ(talk.number(), 0U);
    say(talk, SyncAnswer::Contents);
    talk.piece(Bytes(11));
    talk.piece({});
    talk.text("");
    talk.bytes(ShortHash{});
    talk.end_turn();
  });
  EXPECT_THAT(outcome.receiver, HasSubstr("writes too much"));
  EXPECT_TRUE(fs::is_empty(destination_));
}

TEST_F(Syncing, RefusesContentsThatAreNotWhatTheirHashSays) {
  const Bytes old(5000, std::byte{1});
  write(destination_ / "a", old);
  const Outcome outcome = lie({.entries = {file("a", 6000)}, .troubles = {}}, [](Talk& talk) {
    // Short sums, full sums, all of it: never what was promised.
    for (const SyncRequest request : {SyncRequest::Sums, SyncRequest::Sums, SyncRequest::Whole}) {
      expect(talk, request, 0);
      if (request == SyncRequest::Sums) {
        ASSERT_EQ(talk.number(), 5000U);
        Pieces(talk).pass_over();
      }
      ASSERT_EQ(talk.number(), 0U);
      say(talk, SyncAnswer::Contents);
      talk.number(0);  // no step, no piece: an empty file
      talk.text("");
      talk.bytes(ShortHash{});
      talk.end_turn();
    }
  });
  EXPECT_THAT(outcome.receiver, HasSubstr("another file than it says"));
  EXPECT_EQ(contents(destination_ / "a"), old);
  EXPECT_EQ(std::distance(fs::directory_iterator(destination_), {}), 1);
}

TEST_F(Syncing, RefusesStepsThatReachBeyondTheFile) {
  write(destination_ / "a", Bytes(5000));
  for (const SyncAnswer answer : {SyncAnswer::Contents, SyncAnswer::Plan}) {
    const Outcome outcome = lie({.entries = {file("a", 6000)}, .troubles = {}}, [&](Talk& talk) {
      expect(talk, SyncRequest::Sums, 0);
      talk.number();
      Pieces(talk).pass_over();
      ASSERT_EQ(talk.number(), 0U);
      say(talk, answer);
      if (answer == SyncAnswer::Plan) talk.number(64);
      talk.number(200 << 1 | 1);
      talk.number(4900 << 1);  // from 4900 on 200
      talk.number(0);
      talk.end_turn();
    });
    EXPECT_THAT(outcome.receiver, HasSubstr("a copy from behind the end of a file"));
  }
}

TEST_F(Syncing, AnswersNoRequestOutsideTheList) {
  write(source_ / "a/b", Bytes(5));
  for (const std::uint64_t entry : {0ULL, 2ULL, 1ULL << 60}) {  // a folder; behind the end
    const Outcome outcome = both([&](Channel& channel) { return send_files(channel, source_, {}); },
                                 [&](Channel& channel) {
                                   agree(channel, {.role = SyncRole::Receiver});
                                   Talk talk(channel, 3);
                                   receive_list(talk);
                                   talk.number(static_cast<std::uint64_t>(SyncRequest::Whole));
                                   talk.number(entry);
                                   talk.number(0);
                                   talk.end_turn();
                                   talk.number();
                                   return SyncStats{};
                                 });
    EXPECT_THAT(outcome.sender, HasSubstr("not in the list"));
  }
}

TEST_F(Syncing, TellsWhatCannotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write(source_ / "secret", Bytes(5));
  write(source_ / "open", Bytes(5));
  write(destination_ / "surplus", Bytes(5));
  fs::permissions(source_ / "secret", fs::perms::none);
  const SyncStats stats = sync({.remove = true}).received;
  EXPECT_EQ(stats.troubles.size(), 1U);
  EXPECT_TRUE(fs::exists(destination_ / "open"));
}

TEST_F(Syncing, KeepsWhatIsThereWhenTheConnectionBreaks) {
  const Bytes old(5000, std::byte{1});
  write(destination_ / "a", old);
  const Outcome outcome = both(
      [&](Channel& channel) {
        agree(channel, {.role = SyncRole::Sender});
        Talk talk(channel, 3);
        send_list(talk, {.entries = {file("a", 6000), file("b", 9)}, .troubles = {}});
        talk.end_turn();
        talk.number();
        return SyncStats{};  // and gone
      },
      [&](Channel& channel) { return receive_files(channel, destination_, {}); });
  EXPECT_THAT(outcome.receiver, HasSubstr("has ended the conversation"));
  EXPECT_EQ(contents(destination_ / "a"), old);
  EXPECT_EQ(std::distance(fs::directory_iterator(destination_), {}), 1);
}

TEST(SyncScript, PartsAreReadAcrossTheirBorders) {
  Bytes bytes(100);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i);
  Parts parts;
  parts.add(10, 5);
  parts.add(50, 1);
  parts.add(90, 10);
  const ReadAt file = reading_at(bytes), all = parts.of(file);
  Bytes got(20);
  EXPECT_EQ(all(0, got), 16U);
  EXPECT_EQ(got[4], std::byte{14});
  EXPECT_EQ(got[5], std::byte{50});
  EXPECT_EQ(got[6], std::byte{90});
  EXPECT_EQ(all(5, std::span(got).first(2)), 2U);
  EXPECT_EQ(got[0], std::byte{50});
  EXPECT_EQ(all(16, got), 0U);
}

TEST(SyncScript, WhatIsNeverCopiedIsTheRest) {
  const Script script{{true, 20, 10}, {false, 10, 5}, {true, 25, 15}, {true, 0, 5}};
  EXPECT_EQ(never_copied(script, 100).size(), 15U + 60);
  EXPECT_EQ(literals_of(script).size(), 5U);
  EXPECT_EQ(never_copied({}, 7).size(), 7U);
}

}  // namespace
}  // namespace weir::test
