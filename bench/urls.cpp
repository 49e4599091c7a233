// Records with a known number of distinct URLs, for comparing whole commands.
//
//   bench-urls [--lines 20000000] [--repeats 0.3] [--seed 1] [--format lines|csv|json]
//              [--answer FILE] > FILE
//
//   lines  the URL alone, 61 bytes on average
//   csv    a header and rows of about 125 bytes; the URL in column `url`
//   json   JSON lines of about 210 bytes; the URL at /request/url, another `url` beside it
//
// A share --repeats of the lines repeats the URL of a line drawn uniformly from all earlier ones;
// everything else in a CSV or JSON record differs. The URLs are the same in all three formats. One
// in eight holds a comma, so that CSV has to quote it; another one in eight is spelt with \/ in
// JSON. The spelling depends on the URL alone: comparing raw or decoded fields is all the same.
//
// Nothing is remembered: line i is new or not, and which line it repeats, by a hash of i; so any
// number of lines takes the same memory. How many are distinct is counted, not estimated: a new
// URL carries the number of its line, scrambled one to one.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using std::string_view;
using std::uint64_t;

struct Options {
  uint64_t lines = 20'000'000;
  double repeats = 0.3;
  uint64_t seed = 1;
  std::string format = "lines";
  std::string answer;
};

// The finalizer of SplitMix64.
uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

__extension__ using Uint128 = unsigned __int128;
uint64_t reduce(uint64_t uniform, uint64_t n) {
  return static_cast<uint64_t>((static_cast<Uint128>(uniform) * n) >> 64);
}

class Output {
 public:
  Output() : buffer_(size + longest_record) {}

  void add(string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void add(char c) { *at_++ = c; }
  void add_hex(uint64_t number, int digits) {
    for (int i = digits - 1; i >= 0; --i) add("0123456789abcdef"[number >> (4 * i) & 15]);
  }
  void add_decimal(uint64_t number, int digits = 1) {
    char text[20];
    int length = 0;
    do text[length++] = static_cast<char>('0' + number % 10), number /= 10;
    while (number != 0 || length < digits);
    while (length != 0) add(text[--length]);
  }
  void end_record() {
    add('\n');
    if (at_ >= buffer_.data() + size) flush();
  }
  void flush() {
    for (const char* from = buffer_.data(); from < at_;) {
      const ssize_t written = write(STDOUT_FILENO, from, static_cast<size_t>(at_ - from));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw std::runtime_error(std::string("write: ") + std::strerror(errno));
      from += written;
      bytes_ += static_cast<uint64_t>(written);
    }
    at_ = buffer_.data();
  }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  static constexpr size_t size = 256 << 10, longest_record = 1024;
  std::vector<char> buffer_;
  char* at_ = buffer_.data();
  uint64_t bytes_ = 0;
};

// Takes one of a table, and uses up four bits of `random`.
string_view pick(const string_view (&table)[16], uint64_t& random) {
  const string_view picked = table[random & 15];
  random >>= 4;
  return picked;
}

constexpr string_view hosts[16] = {
    "www.example.com",   "shop.example.org",  "news.example.net", "blog.example.com",
    "img.example.org",   "forum.example.net", "docs.example.com", "api.example.org",
    "video.example.net", "maps.example.com",  "m.example.org",    "cdn7.static.example.net",
    "en.example.com",    "de.example.org",    "mail.example.net", "www.weather.example.com"};
constexpr string_view sections[16] = {
    "news",   "products", "archive", "users", "images", "questions", "articles", "category",
    "events", "tags",     "wiki",    "2026",  "pages",  "downloads", "reviews",  "search"};
constexpr string_view words[16] = {"red",    "garden", "river", "stone",  "lamp",  "winter",
                                   "bridge", "paper",  "coat",  "music",  "green", "kitchen",
                                   "train",  "cloud",  "salt",  "harbour"};
// A name and an agent as CSV spells it, and as JSON does.
constexpr string_view names[16][2] = {{"Ada", "Ada"},
                                      {"\"Doe, Jane\"", "Doe, Jane"},
                                      {"\"Joe \"\"Jay\"\" Roe\"", "Joe \\\"Jay\\\" Roe"},
                                      {"Li Wei", "Li Wei"},
                                      {"\"Sur, Åke\"", "Sur, \\u00c5ke"},
                                      {"Grace", "Grace"},
                                      {"Olu", "Olu"},
                                      {"\"King, M. L., Jr.\"", "King, M. L., Jr."},
                                      {"", ""},
                                      {"\"\"\"X\"\"\"", "\\\"X\\\""},
                                      {"Maria Sol", "Maria Sol"},
                                      {"\"Tab, the\"", "Tab,\\tthe"},
                                      {"Noor", "Noor"},
                                      {"Ivan", "Ivan"},
                                      {"\"Ng, A\"", "Ng, A"},
                                      {"Zoë", "Zoë"}};
constexpr string_view agents[4][2] = {
    {"curl/8.5.0", "curl/8.5.0"},
    {"\"Browser/5.0 (X11, x86_64)\"", "Browser/5.0 (X11, x86_64)"},
    {"\"bot \"\"fetch\"\", v2\"", "bot \\\"fetch\\\", v2"},
    {"Agent C:\\tmp", "Agent C:\\\\tmp"}};
constexpr string_view statuses[4] = {"200", "200", "404", "301"};

// All of a new URL but its number is drawn from here.
uint64_t url_random(uint64_t line, uint64_t seed) {
  return scramble(line + seed * 0x9e3779b97f4a7c15);
}
enum class UrlKind : uint64_t {
  Comma = 0,
  Page = 1,
  EscapedInJson = 2
};  // of eight; the others plain
UrlKind url_kind(uint64_t line, uint64_t seed) {
  return static_cast<UrlKind>(url_random(line, seed) >> 61);
}

void add_url(Output& out, uint64_t line, uint64_t seed, string_view slash = "/") {
  uint64_t random = url_random(line, seed);
  out.add("https:"), out.add(slash), out.add(slash);
  out.add(pick(hosts, random)), out.add(slash);
  out.add(pick(sections, random)), out.add(slash);
  out.add(pick(words, random)), out.add('-'), out.add(pick(words, random)), out.add(slash);
  // An odd factor and a shifted xor, both one to one on 48 bits.
  constexpr uint64_t low48 = (uint64_t{1} << 48) - 1;
  const uint64_t product = line * 0x5851f42d4c957f2d & low48;
  out.add_hex(product ^ product >> 24, 12);
  const UrlKind kind = url_kind(line, seed);
  if (kind == UrlKind::Comma) out.add("?at=48.1,11."), out.add_decimal(random & 63);
  if (kind == UrlKind::Page) out.add("?page="), out.add_decimal(random & 255);
}

void add_time(Output& out, uint64_t line) {
  const uint64_t second = line / 256 % 86'400;
  out.add("2026-11-15T");
  out.add_decimal(second / 3600, 2), out.add(':');
  out.add_decimal(second / 60 % 60, 2), out.add(':');
  out.add_decimal(second % 60, 2), out.add('Z');
}

// Record number `line`, which carries the URL of line `first`.
void add_csv(Output& out, uint64_t line, uint64_t first, uint64_t seed) {
  const uint64_t random = scramble(~line ^ seed);
  const string_view quote = url_kind(first, seed) == UrlKind::Comma ? "\"" : "";
  out.add_decimal(line), out.add(','), add_time(out, line), out.add(',');
  out.add(names[random & 15][0]), out.add(',');
  out.add(quote), add_url(out, first, seed), out.add(quote), out.add(',');
  out.add(statuses[random >> 4 & 3]), out.add(',');
  out.add_decimal(random >> 6 & 0xffff), out.add(',');
  out.add(agents[random >> 22 & 3][0]);
}

void add_json(Output& out, uint64_t line, uint64_t first, uint64_t seed) {
  const uint64_t random = scramble(~line ^ seed);
  const bool escaped = url_kind(first, seed) == UrlKind::EscapedInJson;
  out.add("{\"id\":"), out.add_decimal(line);
  out.add(",\"time\":"), out.add_decimal(1'794'700'800 + line / 256);
  out.add(",\"user\":{\"name\":\""), out.add(names[random & 15][1]);
  out.add("\",\"tags\":[\"a\",{\"url\":\"/\"},[1,2.5e3]]},\"request\":{\"agent\":\"");
  out.add(agents[random >> 22 & 3][1]);
  out.add("\",\"url\":\""), add_url(out, first, seed, escaped ? "\\/" : "/");
  out.add("\"},\"status\":"), out.add(statuses[random >> 4 & 3]), out.add('}');
}

// Which line every line repeats in the end; itself, if it is new.
class Lines {
 public:
  explicit Lines(const Options& options)
      : seed_(scramble(options.seed)), share_(static_cast<uint64_t>(options.repeats * 0x1p63)) {}

  [[nodiscard]] uint64_t first_of(uint64_t line) const {
    for (;;) {
      const uint64_t random = scramble(seed_ + line * 0x9e3779b97f4a7c15);
      if (line == 0 || random >> 1 >= share_) return line;
      line = reduce(scramble(random), line);
    }
  }

 private:
  uint64_t seed_, share_;
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::runtime_error(name + " needs a value");
    const char* const value = argv[i + 1];
    if (name == "--lines")
      options.lines = std::strtoull(value, nullptr, 10);
    else if (name == "--repeats")
      options.repeats = std::atof(value);
    else if (name == "--seed")
      options.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--format")
      options.format = value;
    else if (name == "--answer")
      options.answer = value;
    else
      throw std::runtime_error("unknown option " + name);
  }
  if (!(options.repeats >= 0 && options.repeats < 1))
    throw std::runtime_error("--repeats is a share from 0 to below 1");
  if (options.format != "lines" && options.format != "csv" && options.format != "json")
    throw std::runtime_error("--format is lines, csv or json");
  return options;
}

void run(const Options& options) {
  const Lines lines(options);
  const char format = options.format[0];
  const uint64_t seed = options.seed;
  Output out;
  uint64_t distinct = 0;
  if (format == 'c') out.add("id,time,name,url,status,bytes,agent"), out.end_record();
  for (uint64_t line = 0; line < options.lines; ++line) {
    const uint64_t first = lines.first_of(line);
    distinct += first == line;
    if (format == 'l')
      add_url(out, first, seed);
    else if (format == 'c')
      add_csv(out, line, first, seed);
    else
      add_json(out, line, first, seed);
    out.end_record();
  }
  out.flush();

  char answer[128];
  std::snprintf(answer, sizeof answer, "{\"lines\": %llu, \"distinct\": %llu, \"bytes\": %llu}\n",
                static_cast<unsigned long long>(options.lines),
                static_cast<unsigned long long>(distinct),
                static_cast<unsigned long long>(out.bytes()));
  std::fputs(answer, stderr);
  if (options.answer.empty()) return;
  std::FILE* const file = std::fopen(options.answer.c_str(), "w");
  if (file == nullptr || std::fputs(answer, file) < 0 || std::fclose(file) != 0)
    throw std::runtime_error("cannot write " + options.answer);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(read_options(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-urls: %s\n", error.what());
    return 1;
  }
}
