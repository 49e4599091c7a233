#include "exchange/sync_script.hpp"

#include <algorithm>
#include <memory>

#include "weir/error.hpp"

namespace weir {
namespace {

constexpr std::size_t buffer_bytes = 64 << 10;
constexpr std::uint64_t longest = INT64_MAX;

[[noreturn]] void garbage(const char* what) {
  throw Error(ErrorCode::Io, std::string("the other side sends garbage: ") + what);
}

// A difference of either sign as a number that is small where it is.
std::uint64_t difference(std::uint64_t to, std::uint64_t from) {
  const std::uint64_t apart = to - from;
  return apart << 1 ^ (apart >> 63 != 0 ? UINT64_MAX : 0);
}
std::uint64_t moved(std::uint64_t from, std::uint64_t by) {
  return from + (by >> 1 ^ (0 - (by & 1)));
}

void send_step(Talk& talk, const Step& step, std::uint64_t& expected) {
  talk.number(step.length << 1 | (step.copy ? 1 : 0));
  if (!step.copy) return;
  talk.number(difference(step.at, expected));
  expected = step.at + step.length;
}

}  // namespace

void Parts::add(std::uint64_t at, std::uint64_t length) {
  if (length == 0) return;
  parts_.push_back({size_, at, length});
  size_ += length;
}

ReadAt Parts::of(const ReadAt& file) const {
  return [this, &file](std::uint64_t at, std::span<std::byte> bytes) -> std::size_t {
    auto part =
        std::upper_bound(parts_.begin(), parts_.end(), at,
                         [](std::uint64_t place, const Part& one) { return place < one.from; });
    if (part == parts_.begin()) return 0;
    --part;
    std::size_t done = 0;
    for (; part != parts_.end() && done < bytes.size(); ++part) {
      const std::uint64_t skipped = at + done - part->from;
      if (skipped >= part->length) break;
      const auto wanted = static_cast<std::size_t>(
          std::min<std::uint64_t>(part->length - skipped, bytes.size() - done));
      const std::size_t count = file(part->at + skipped, bytes.subspan(done, wanted));
      done += count;
      if (count < wanted) break;
    }
    return done;
  };
}

ReadSome from_start(ReadAt file) {
  return [read = std::move(file), at = std::uint64_t{0}](std::span<std::byte> bytes) mutable {
    const std::size_t count = read(at, bytes);
    at += count;
    return count;
  };
}

Parts literals_of(const Script& script) {
  Parts parts;
  for (const Step& step : script)
    if (!step.copy) parts.add(step.at, step.length);
  return parts;
}

Parts never_copied(const Script& script, std::uint64_t old_size) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> copied;
  for (const Step& step : script)
    if (step.copy) copied.emplace_back(step.at, step.at + step.length);
  std::sort(copied.begin(), copied.end());
  Parts parts;
  std::uint64_t end = 0;
  for (const auto& [from, to] : copied) {
    if (from > end) parts.add(end, from - end);
    end = std::max(end, to);
  }
  if (old_size > end) parts.add(end, old_size - end);
  return parts;
}

void send_plan(Talk& talk, const Script& script) {
  std::uint64_t expected = 0;
  for (const Step& step : script) send_step(talk, step, expected);
  talk.number(0);
}

Script receive_plan(Talk& talk, std::uint64_t old_size, std::uint64_t most) {
  Script script;
  std::uint64_t expected = 0, made = 0;
  while (const std::uint64_t coded = talk.number()) {
    Step step{.copy = (coded & 1) != 0, .at = made, .length = coded >> 1};
    if (step.length == 0 || step.length > most - made) garbage("a file longer than it has listed");
    made += step.length;
    if (step.copy) {
      step.at = moved(expected, talk.number());
      if (step.at > old_size || step.length > old_size - step.at)
        garbage("a copy from behind the end of a file");
      expected = step.at + step.length;
    }
    script.push_back(step);
  }
  return script;
}

void send_script(Talk& talk, const Script& script, const ReadAt& fresh) {
  std::vector<std::byte> buffer(buffer_bytes);
  std::uint64_t expected = 0;
  for (const Step& step : script) {
    send_step(talk, step, expected);
    if (step.copy) continue;
    for (std::uint64_t done = 0; done < step.length;) {
      const auto wanted =
          static_cast<std::size_t>(std::min<std::uint64_t>(step.length - done, buffer.size()));
      const auto some = std::span(buffer).first(wanted);
      // A file that became shorter meanwhile is filled up: its hash tells.
      if (const std::size_t count = fresh(step.at + done, some); count < wanted)
        std::fill(some.begin() + static_cast<std::ptrdiff_t>(count), some.end(), std::byte{0});
      talk.bytes(some);
      done += wanted;
    }
  }
  talk.number(0);
}

DeltaCommands::Kind ScriptCommands::next() {
  using What = DeltaCommands::Kind;
  if (literal_left_ == 0) {
    const std::uint64_t coded = talk_.number();
    if (coded == 0) return What::End;
    const std::uint64_t length = coded >> 1;
    if (length == 0 || length > longest) garbage("a step without length");
    if ((coded & 1) != 0) {
      copy_ = {moved(expected_, talk_.number()), length};
      expected_ = copy_.at + copy_.length;
      return What::Copy;
    }
    literal_left_ = length;
  }
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(literal_left_, buffer_.size()));
  talk_.read(std::span(buffer_).first(count));
  literal_left_ -= count;
  literal_ = std::span<const std::byte>(buffer_).first(count);
  return What::Literal;
}

std::uint32_t second_block_for(const Script& script, std::uint64_t old_size, std::uint32_t block) {
  double literal = 0, runs = 0;
  for (const Step& step : script)
    if (!step.copy) literal += static_cast<double>(step.length), ++runs;
  const auto unused = static_cast<double>(never_copied(script, old_size).size());
  if (literal == 0 || unused == 0) return 0;
  const double edits = std::max(runs, literal / (2.0 * block));
  const double best = std::sqrt(sums_guess * unused / (edits * shrink_guess));
  const double b = std::min(std::max(best, 24.0), block / 3.0);
  if (b < 24) return 0;
  constexpr double step_bytes = 4, round_bytes = 24;
  const double cost =
      sums_guess * unused / b + edits * (shrink_guess * b + step_bytes) + round_bytes;
  const double spared = shrink_guess * std::min(literal, unused);
  return cost < 0.8 * spared ? static_cast<std::uint32_t>(b) / 8 * 8 : 0;
}

}  // namespace weir
