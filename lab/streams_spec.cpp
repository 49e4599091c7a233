// From "zipf:U=1e6,s=0.8,importance=inverse" to a stream.
#include <cmath>

#include "core/params.hpp"
#include "nearest.hpp"
#include "stream_laws.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

constexpr double most_keys = 1e15, most_records = 1e15;  // as in `weir plan`

// Takes the value of a text parameter out of "a=b,c=d"; a comma ends it.
std::string take_text(std::string& text, const std::string& name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (text.compare(at, name.size() + 1, name + "=") == 0) {
      std::string value = text.substr(at + name.size() + 1, end - at - name.size() - 1);
      text.erase(at, end - at + 1);
      if (!text.empty() && text.back() == ',') text.pop_back();
      return value;
    }
    at = end + 1;
  }
  return {};
}

struct Spec {
  std::string law, example, file;
  Params params;
  std::uint64_t seed, records;

  [[nodiscard]] Error lacks(const std::string& name) const {
    return {ErrorCode::Config,
            "the stream " + law + " lacks its parameter " + name + "; it is written " + example};
  }
  double real(const char* name, double least, double most) {
    if (const auto value = params.take_real(name, least, most)) return *value;
    throw lacks(name);
  }
  std::uint64_t count(const char* name, double most) {
    return static_cast<std::uint64_t>(std::floor(real(name, 1, most)));
  }
  double again() { return real("again", 1e-6, 0.999); }
};

std::unique_ptr<Stream> make_uniform(Spec& s) {
  if (const auto share = s.params.take_real("share", 1e-6, 0.999999)) {
    const auto given = s.params.take_real("N", 1, most_records);
    const std::uint64_t records = given ? static_cast<std::uint64_t>(*given) : s.records;
    if (records == 0) throw s.lacks("N (of all N records the share is distinct)");
    return uniform(universe_of_share(*share, records), s.seed);
  }
  if (!s.params.has("U")) throw s.lacks("U or share");
  return uniform(s.count("U", most_keys), s.seed);
}

std::unique_ptr<Stream> make_zipf(Spec& s) {
  const std::uint64_t keys = s.count("U", most_keys);
  return zipf(keys, s.real("s", 0, 10), s.seed);
}

std::unique_ptr<Stream> make_working_set(Spec& s) {
  const std::uint64_t keys = s.count("W", most_keys);
  return working_set(keys, s.real("new", 1e-9, 1), s.seed);
}

std::unique_ptr<Stream> make_drift(Spec& s) {
  const std::uint64_t keys = s.count("U", most_keys);
  const double power = s.real("s", 0, 10);
  return drift(keys, power, s.real("rate", 0, 1000), s.seed);
}

std::unique_ptr<Stream> make_bursts(Spec& s) {
  const std::uint64_t keys = s.count("U", most_keys);
  const double length = s.real("length", 1, most_records);
  return bursts(keys, length, s.count("open", 1e8), s.seed);
}

std::unique_ptr<Stream> make_fixed(Spec& s) {
  const double d = s.real("d", 1, most_records);
  return fixed_distance(d, s.again(), s.seed);
}

std::unique_ptr<Stream> make_geometric(Spec& s) {
  const double mean = s.real("mean", 1, most_records);
  return geometric_distances(mean, s.again(), s.seed);
}

std::unique_ptr<Stream> make_pareto(Spec& s) {
  const double least = s.real("least", 1, most_records), shape = s.real("shape", 0.01, 100);
  return pareto_distances(least, shape, s.again(), s.seed);
}

std::unique_ptr<Stream> make_trace(Spec& s) {
  constexpr const char* separators[] = {"tab", "comma", "semicolon", "blank"};
  if (s.file.empty()) throw s.lacks("file");
  TraceFormat format;
  format.key_field = static_cast<unsigned>(s.params.take_whole("key", 1, 10'000).value_or(0));
  format.weight_field = static_cast<unsigned>(s.params.take_whole("weight", 1, 10'000).value_or(0));
  format.separator = "\t,; "[s.params.take_choice("separator", separators).value_or(0)];
  return file_stream(s.file, format);
}

struct Law : StreamLaw {
  std::unique_ptr<Stream> (*make)(Spec&);
  bool by_popularity;  // leaving out records changes how often a key comes, and nothing else
};
constexpr Law laws[] = {
    {{"uniform", "uniform:U=1e6",
      "Each record one of U keys; with share=0.3, 30 % of records are distinct"},
     make_uniform,
     true},
    {{"zipf", "zipf:U=1e6,s=0.8", "The key of rank i with a probability as 1/i^s"},
     make_zipf,
     true},
    {{"working-set", "working-set:W=1e4,new=0.1",
      "A share `new` of new keys, the others from the last W new ones"},
     make_working_set,
     true},
    {{"drift", "drift:U=1e6,s=0.8,rate=0.1",
      "Zipf by age: so often a record a new key takes rank 1, and the others fall"},
     make_drift,
     true},
    {{"bursts", "bursts:U=1e6,length=10,open=100",
      "So many keys at a time, each for about so many records, then another"},
     make_bursts,
     true},
    {{"fixed", "fixed:d=5000,again=0.3",
      "A share `again` of records has its key come again, d records later"},
     make_fixed,
     false},
    {{"geometric", "geometric:mean=5000,again=0.3", "So too, at geometric distances of this mean"},
     make_geometric,
     false},
    {{"pareto", "pareto:least=100,shape=1.1,again=0.3",
      "So too, further away than d with probability (least/d)^shape"},
     make_pareto,
     false},
    {{"trace", "trace:file=F,key=1,weight=2",
      "The lines of a file, or of each a field and a weight (separator=comma)"},
     make_trace,
     false},
};

const Law& find_law(const std::string& name) {
  std::vector<std::string> names;
  for (const Law& law : laws) {
    if (name == law.name) return law;
    names.emplace_back(law.name);
  }
  std::string all;
  for (const Law& law : laws) all += std::string(all.empty() ? "" : ", ") + law.name;
  throw Error(ErrorCode::Config, "'" + name + "' is not a stream; the nearest is " +
                                     nearest(name, names) + " (there are " + all + ")");
}

// Takes what belongs to importance out of the parameters.
std::unique_ptr<Stream> add_importance(std::unique_ptr<Stream> stream, const Law& law, Spec& s) {
  constexpr const char* kinds[] = {"uniform", "proportional", "inverse"};
  const auto kind = s.params.take_choice("importance", kinds);
  const auto most = s.params.take_whole("imax", 1, 0xffffffff);
  if (!kind) {
    if (most) throw Error(ErrorCode::Config, "imax needs importance=uniform, say");
    return stream;
  }
  const auto importance = static_cast<Importance>(*kind);
  if (stream->weighted())
    throw Error(ErrorCode::Config, "the trace has weights of its own; leave out importance");
  if (importance != Importance::Uniform && !law.by_popularity)
    throw Error(ErrorCode::Config,
                std::string("how often a key of the stream ") + law.name +
                    " comes is given by it already; only importance=uniform fits");
  return with_importance(std::move(stream), importance,
                         static_cast<std::uint32_t>(most.value_or(50)), s.seed);
}

}  // namespace

std::span<const StreamLaw> stream_laws() {
  static const std::vector<StreamLaw> all(std::begin(laws), std::end(laws));
  return all;
}

std::unique_ptr<Stream> make_stream(const std::string& spec, std::uint64_t seed,
                                    std::uint64_t records) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const Law& law = find_law(spec.substr(0, colon));
  std::string rest = colon < spec.size() ? spec.substr(colon + 1) : "";
  std::string file = law.make == make_trace ? take_text(rest, "file") : "";
  Spec s{law.name, law.example, std::move(file), Params::parse(rest), seed, records};
  std::unique_ptr<Stream> stream = add_importance(law.make(s), law, s);
  if (const std::string left = s.params.text(); !left.empty())
    throw Error(ErrorCode::Config, std::string("the stream ") + law.name + " has no parameter " +
                                       left + "; it is written " + law.example);
  return stream;
}

}  // namespace weir::lab
