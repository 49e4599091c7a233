#include "runner.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "core/bits.hpp"
#include "weir/catalog.hpp"
#include "weir/digest.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

using Clock = std::chrono::steady_clock;

// A file is the same while its size and time are.
std::string identity(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{} {}", size, time);
}

// All that a part's result depends on beside its name: the setting, and the program itself.
std::string fingerprint(const Setting& setting, const Part& part) {
  static const std::string program = identity("/proc/self/exe");
  std::string text = fmt::format("# {}; repeat {}; scale {:.17g}; program {}", part.name,
                                 setting.repeat, setting.scale, program);
  for (const std::string& filter : setting.filters) text += "; filter " + filter;
  for (const std::string& trace : setting.traces)
    text += "; trace " + trace + " " + identity(trace);
  for (const std::string& stream : setting.streams) text += "; stream " + stream;
  if (setting.records != 0) text += fmt::format("; records {}", setting.records);
  return text;
}

std::string file_of(const std::string& folder, const std::string& experiment, const Part& part) {
  std::string name = part.name;
  for (char& c : name)
    if (std::string_view(" /:,%=").find(c) != std::string_view::npos) c = '-';
  if (name.size() > 150)  // a file's name has 255 bytes at most
    name = fmt::format("{}-{:016x}", name.substr(0, 120),
                       Digester::from_seed(HashKind::Xxh3, 1)(part.name));
  return fmt::format("{}/parts/{}/{}.csv", folder, experiment, name);
}

// Names may hold a file's name, and so anything; a line's end or a tab would part the row.
void smooth(std::vector<Measurement>& all) {
  for (Measurement& m : all)
    for (std::string* name : {&m.row, &m.series, &m.parameters, &m.what})
      std::ranges::replace_if(
          *name, [](char c) { return c == '\t' || c == '\n'; }, ' ');
}

// One measurement a line, fields separated by tabs.
std::optional<std::vector<Measurement>> read_part(const std::string& path,
                                                  const std::string& head) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line) || line != head) return std::nullopt;
  std::vector<Measurement> all;
  bool whole = false;
  while (std::getline(in, line)) {
    if (line == "# end") {
      whole = true;
      break;
    }
    std::istringstream fields(line);
    Measurement m;
    std::string seed, x, value;
    for (std::string* field : {&m.row, &m.series, &m.parameters, &seed, &x, &m.what, &value})
      if (!std::getline(fields, *field, '\t')) return std::nullopt;
    try {
      m.seed = std::stoull(seed), m.x = std::stod(x), m.value = std::stod(value);
    } catch (const std::logic_error&) {  // somebody else has written here
      return std::nullopt;
    }
    all.push_back(std::move(m));
  }
  if (!whole) return std::nullopt;
  return all;
}

void write_part(const std::string& path, const std::string& head,
                const std::vector<Measurement>& all) {
  const std::string temporary = path + ".new";
  std::ofstream out(temporary);
  out << head << '\n';
  for (const Measurement& m : all)
    out << fmt::format("{}\t{}\t{}\t{}\t{:.17g}\t{}\t{:.17g}\n", m.row, m.series, m.parameters,
                       m.seed, m.x, m.what, m.value);
  out << "# end\n";
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) throw Error(ErrorCode::Io, "cannot write " + path);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::Io, "cannot make the folder " + folder + ": " + error.message());
}

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

// The threads' work: each takes the next part that fits the memory beside those that run.
class Pool {
 public:
  Pool(const Experiment& experiment, const Setting& setting, const Running& running)
      : running_(running), parts_(experiment.parts(setting)), found_(parts_.size()) {
    for (const Part& part : parts_)
      if (running.memory != 0 && part.bytes > running.memory)
        throw Error(
            ErrorCode::NoMemory,
            fmt::format("{}: '{}' needs {} MiB of memory, and this machine has {}", experiment.name,
                        part.name, part.bytes >> 20, running.memory >> 20));
    heads_.reserve(parts_.size()), files_.reserve(parts_.size());
    if (!running.folder.empty()) make_folder(running.folder + "/parts/" + experiment.name);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      heads_.push_back(fingerprint(setting, parts_[i]));
      files_.push_back(
          running.folder.empty() ? "" : file_of(running.folder, experiment.name, parts_[i]));
      if (!files_[i].empty()) found_[i] = read_part(files_[i], heads_[i]);
      found_[i] ? void(++done_) : waiting_.push_back(i);
      if (!found_[i]) to_do_ += parts_[i].seconds;
    }
  }

  Results run() {
    report();
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < std::max(1u, running_.threads); ++i)
        threads.emplace_back([this] { work(); });
    }
    if (failure_) std::rethrow_exception(failure_);
    Results results;
    for (auto& part : found_)
      for (Measurement& m : *part) results.all.push_back(std::move(m));
    return results;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      std::size_t chosen = 0;
      while (!failure_ && !waiting_.empty() && !(chosen = choose())) freed_.wait(lock);
      if (failure_ || waiting_.empty()) return;
      const std::size_t i = waiting_[chosen - 1];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen - 1));
      held_ += parts_[i].bytes, ++active_;
      lock.unlock();
      std::exception_ptr failure;
      try {
        found_[i] = parts_[i].run();
        smooth(*found_[i]);
        if (!files_[i].empty()) write_part(files_[i], heads_[i], *found_[i]);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      held_ -= parts_[i].bytes, --active_;
      finished_ += parts_[i].seconds, ++done_;
      if (failure && !failure_) failure_ = failure;
      freed_.notify_all();
      report();
    }
  }
  // One more than the place of a waiting part that fits; 0 where none does.
  std::size_t choose() const {
    for (std::size_t w = 0; w < waiting_.size(); ++w)
      if (active_ == 0 || running_.memory == 0 ||
          held_ + parts_[waiting_[w]].bytes <= running_.memory)
        return w + 1;
    return 0;
  }
  void report() const {
    if (!running_.progress) return;
    const double took = std::chrono::duration<double>(Clock::now() - begin_).count();
    const double left = finished_ > 0 ? took / finished_ * (to_do_ - finished_)
                                      : to_do_ / std::max(1u, running_.threads);
    running_.progress({done_, parts_.size(), left});
  }

  const Running& running_;
  std::vector<Part> parts_;
  std::vector<std::optional<std::vector<Measurement>>> found_;
  std::vector<std::string> heads_, files_;
  std::vector<std::size_t> waiting_;
  const Clock::time_point begin_ = Clock::now();
  double to_do_ = 0, finished_ = 0;  // estimated seconds
  std::size_t done_ = 0;
  std::uint64_t held_ = 0;
  unsigned active_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::exception_ptr failure_;
};

// How slow this machine is beside that of the parts' estimates: a Bloom filter in the caches.
double slowness() {
  constexpr std::size_t batch = 4096;
  constexpr double usual_ns = 30;
  const FilterPtr filter = make_filter("bloom", {.memory = 1 << 20, .fpr = 0.01, .seed = 1});
  std::vector<Digest> digests(batch);
  std::vector<Verdict> verdicts(batch);
  double best = 1e9;
  for (std::uint64_t round = 0; round < 64; ++round) {
    for (std::size_t i = 0; i < batch; ++i) digests[i] = mix(i, round);
    const auto before = Clock::now();
    filter->observe(digests, verdicts);
    const std::chrono::duration<double, std::nano> took = Clock::now() - before;
    best = std::min(best, took.count() / batch);
  }
  return best / usual_ns;
}

}  // namespace

Results run_parts(const Experiment& experiment, const Setting& setting, const Running& running) {
  Pool pool(experiment, setting, running);
  Results results = pool.run();
  if (!running.folder.empty())
    write_raw(running.folder + "/" + experiment.name + ".csv", experiment.name, results);
  return results;
}

double seconds_here(const Experiment& experiment, const Setting& setting) {
  static const double factor = slowness();
  double sum = 0;
  for (const Part& part : experiment.parts(setting)) sum += part.seconds;
  return sum * factor;
}

void write_raw(const std::string& path, const std::string& experiment, const Results& results) {
  std::ofstream out(path);
  const std::string where = quoted(machine());
  out << "experiment,row,series,parameters,seed,x,what,value,machine\n";
  for (const Measurement& m : results.all)
    out << fmt::format("{},{},{},{},{},{:.17g},{},{:.17g},{}\n", experiment, quoted(m.row),
                       quoted(m.series), quoted(m.parameters), m.seed, m.x, quoted(m.what), m.value,
                       where);
  out.close();
  if (!out) throw Error(ErrorCode::Io, "cannot write " + path);
}

std::string machine() {
  std::string model = "unknown processor";
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("model name", 0) == 0) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  utsname system{};
  ::uname(&system);
  return fmt::format("{}, {} threads, {} {}", model, std::thread::hardware_concurrency(),
                     system.sysname, system.release);
}

}  // namespace weir::lab
