// weir generate: streams of keys by a stated law, to try a filter on.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

#include "commands.hpp"
#include "sink/output.hpp"
#include "stream.hpp"

namespace weir::cli {
namespace {

enum class Form : std::uint8_t { Text, Binary };

struct GenerateFlags {
  std::string stream, records, importance;
  std::optional<std::uint64_t> most;
  std::uint64_t seed = 1;
  Form form = Form::Text;
};

constexpr std::size_t batch = 16384;
constexpr std::size_t longest = 20 + 1 + 10 + 1;  // a key, a tab, a weight, a newline

char* put(char* to, std::uint64_t number, char end) {
  to = std::to_chars(to, to + longest, number).ptr;
  *to = end;
  return to + 1;
}
template <class T>
char* put_bytes(char* to, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<char>(value >> 8 * i);
  return to + sizeof value;
}

// Writes the records of a batch, and returns where they end.
char* write_batch(char* to, std::span<const std::uint64_t> keys,
                  std::span<const std::uint32_t> weights, const GenerateFlags& flags,
                  bool weighted) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (flags.form == Form::Binary) {
      to = put_bytes(to, keys[i]);
      if (weighted) to = put_bytes(to, weights[i]);
    } else {
      to = put(to, keys[i], weighted ? '\t' : '\n');
      if (weighted) to = put(to, weights[i], '\n');
    }
  }
  return to;
}

// 0 where none was given: as many as there are.
std::uint64_t records_of(const std::string& text) {
  if (text.empty()) return 0;
  const Interval interval = parse_interval(text);
  if (interval.records == 0)
    throw Error(ErrorCode::Config,
                fmt::format("-n {} is a time; give records, as in -n 10M", text));
  return interval.records;
}

std::string spec_of(const GenerateFlags& flags) {
  std::string spec = flags.stream;
  const auto add = [&](const std::string& parameter) {
    spec += (spec.find(':') == std::string::npos ? ":" : ",") + parameter;
  };
  if (!flags.importance.empty()) add("importance=" + flags.importance);
  if (flags.most) add("imax=" + std::to_string(*flags.most));
  return spec;
}

void run_generate(const GenerateFlags& flags) {
  const std::uint64_t records = records_of(flags.records);
  const auto stream = lab::make_stream(spec_of(flags), flags.seed, records);
  std::vector<std::uint64_t> keys(batch);
  std::vector<std::uint32_t> weights(batch);
  std::vector<char> text(batch * longest);
  Output output(STDOUT_FILENO, "standard output");
  for (std::uint64_t left = records == 0 ? ~std::uint64_t{0} : records; left != 0;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, batch));
    const std::size_t n =
        stream->fill(std::span(keys).first(wanted), std::span(weights).first(wanted));
    const char* const end = write_batch(text.data(), std::span(keys).first(n),
                                        std::span(weights).first(n), flags, stream->weighted());
    output.write({text.data(), static_cast<std::size_t>(end - text.data())}, false, '\n');
    if (n < wanted) break;
    left -= n;
  }
}

}  // namespace

void add_generate(CommandLine& line) {
  auto flags = std::make_shared<GenerateFlags>();
  Command& command = line.command("generate", "Write a stream of keys by a stated law");
  command.description = {
      "Writes keys, a decimal number a line, as a law says that keys repeat: to try a filter on, "
      "or to size one. The same seed gives the same stream.",
      "Every law is among the examples. Those that `weir plan --stream` knows have the same "
      "parameters there. Keys are numbered from 0; those of a file are digests of its lines."};
  std::vector<std::string> names;
  for (const lab::StreamLaw& law : lab::stream_laws()) {
    names.push_back(std::string(law.name) + ":");
    command.examples.push_back({fmt::format("weir generate {}", law.example), law.meaning});
  }
  command.examples.push_back(
      {"weir generate uniform:share=0.3 -n 1M | weir dedup -S 1M --stats -o /dev/null",
       "How many of a million records, 300,000 distinct, pass a filter of 1 MiB?"});
  command.argument("STREAM", flags->stream, "Law and parameters, as in zipf:U=1e6,s=0.8")
      .suggest(names)
      .require();
  command.value("-n,--records", flags->records, "N", "Records; takes K, M and G of thousands")
      .shown_as("without end");
  command.value("--seed", flags->seed, "N", "Another seed, another stream of the same law");
  command
      .choice("--format", flags->form, "FORM", {{"text", Form::Text}, {"binary", Form::Binary}},
              "text, or binary")
      .more(
          "Binary is 8 bytes a key, the lowest first, and with importance 4 bytes more of weight; "
          "as `weir dedup --fixed` reads it.");
  command
      .value("--importance", flags->importance, "KIND",
             "Add a tab and a weight: uniform, proportional or inverse")
      .suggest({"uniform", "proportional", "inverse"})
      .more(
          "Every key has an importance of 1 to `--imax`, drawn once. `uniform`: keys come as "
          "often as the law says; `proportional`: more often the more important they are; "
          "`inverse`: less often.");
  command.value("--imax", flags->most, "N", "Highest importance")
      .shown_as("50")
      .between(1, 0xffffffff);
  command.see_also = "seq(1), shuf(1)";
  command.run([flags] { run_generate(*flags); });
}

}  // namespace weir::cli
