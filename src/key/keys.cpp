#include "key/keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "key/fields.hpp"
#include "key/json_value.hpp"
#include "key/letters.hpp"
#include "key/time.hpp"
#include "source/row_ends.hpp"
#include "weir/error.hpp"

namespace weir {
namespace {

constexpr const char* too_long = "it is longer than --max-record";
constexpr const char* lacks_member = "it lacks a member of the key";

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::Config, why); }

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

void check_pointer(const std::string& pointer) {
  if (!pointer.empty() && pointer[0] != '/')
    refuse("'" + pointer + "' is not a JSON pointer; it begins with /, as in /user/id");
  for (std::size_t at = pointer.find('~'); at != std::string::npos; at = pointer.find('~', at + 1))
    if (at + 1 == pointer.size() || (pointer[at + 1] != '0' && pointer[at + 1] != '1'))
      refuse("'" + pointer + "' is not a JSON pointer; a ~ is written ~0, a / in a name ~1");
}

void append_unquoted(std::string_view value, std::string& out) {
  for (std::size_t from = 0;;) {
    const auto quote = value.find('"', from);
    out += value.substr(from, quote - from);
    if (quote == std::string_view::npos) return;
    out += '"';
    from = quote + 2;
  }
}

}  // namespace

Keys::Keys(const DedupOptions& options, const Digester& digester)
    : options_(options), digester_(digester), plain_(options.key.pointers) {
  const KeyOptions& key = options.key;
  const Records kind = options.format.kind;
  const bool csv = kind == Records::Csv, json = kind == Records::Json;
  if (!key.columns.empty() && !csv) refuse("columns need CSV records (--csv)");
  if (!key.pointers.empty() && !json) refuse("pointers need JSON records (--json)");
  if (!key.fields.empty() && json) refuse("JSON has no fields (-k); use --pointer");
  if (!key.fields.empty() && kind == Records::Fixed)
    refuse("records of fixed width have no fields (-k)");
  if (!key.fields.empty() && !key.columns.empty()) refuse("give either -k or --column");
  if (!key.importance.empty() && kind == Records::Fixed)
    refuse("records of fixed width have no importance");
  if (!key.time.empty() && kind == Records::Fixed)
    refuse("records of fixed width have no field for --time");
  importance_.given = !key.importance.empty();
  time_.given = !key.time.empty();
  const bool beside = importance_.given || time_.given;
  if (!key.fields.empty()) fields_ = parse_fields(key.fields);
  if (json) {
    way_ = Way::Json;
    for (const std::string& pointer : key.pointers) check_pointer(pointer);
    if (importance_.given) check_pointer(key.importance);
    if (time_.given) check_pointer(key.time);
    return;
  }
  if (csv) {
    // Rows are taken apart only when their fields matter.
    if (!fields_.empty() || !key.columns.empty() || beside) way_ = Way::Csv;
    if (!options.format.header) read_header({});
  } else if (!fields_.empty() || beside) {
    way_ = key.separator ? Way::Separated : Way::Blanks;
    if (importance_.given) importance_.field = column_number(key.importance, {});
    if (time_.given) time_.field = column_number(key.time, {});
  }
  settle_fields();
}

void Keys::settle_fields() {
  last_field_ = 0;
  for (const Wanted& wanted : {importance_, time_})
    if (wanted.given) last_field_ = std::max(last_field_, wanted.field);
  if (!fields_.empty()) last_field_ = std::max(last_field_, fields_.back().last);
  one_field_ = fields_.size() == 1 && fields_[0].first == fields_[0].last;
}

std::uint64_t Keys::column_number(const std::string& column,
                                  const std::vector<std::string>& names) const {
  const auto count = std::count(names.begin(), names.end(), column);
  if (count > 1)
    refuse("the header has several columns '" + column + "'; choose one by its number");
  if (count == 1)
    return static_cast<std::uint64_t>(std::find(names.begin(), names.end(), column) -
                                      names.begin());
  const auto number = is_number(column) ? parse_fields(column)[0].first : FieldRange::open_end;
  if (number < names.size() || (names.empty() && number != FieldRange::open_end)) return number;
  if (names.empty()) refuse("'" + column + "' is not the number of a field");
  std::string all;
  for (std::size_t i = 0; i < names.size() && i < 20; ++i) {
    if (i > 0) all += ", ";
    all += names[i];
  }
  if (names.size() > 20) all += ", ...";
  refuse("there is no column '" + column + "'; the header has: " + all);
}

void Keys::read_header(std::string_view row) {
  row = without_mark(row);
  std::vector<std::string> names;
  const char* const broken = walk_csv(
      row, options_.format.separator, [&](std::size_t, std::string_view name, bool quoted) {
        names.emplace_back();
        quoted ? append_unquoted(name, names.back()) : void(names.back() = name);
        return true;
      });
  if (broken != nullptr) refuse(std::string("the header cannot be read: ") + broken);
  if (!options_.key.columns.empty()) {
    std::string numbers;
    for (const std::string& column : options_.key.columns) {
      if (!numbers.empty()) numbers += ',';
      numbers += std::to_string(column_number(column, names) + 1);
    }
    fields_ = parse_fields(numbers);
  }
  if (importance_.given) importance_.field = column_number(options_.key.importance, names);
  if (time_.given) time_.field = column_number(options_.key.time, names);
  settle_fields();
}

std::uint32_t Keys::weight_of(double number) const {
  return static_cast<std::uint32_t>(
      std::clamp(std::floor(number), 1.0, static_cast<double>(options_.key.importance_max)));
}

void Keys::keep(Chunk& chunk, std::size_t i, const Beside& beside) const {
  if (importance_.given) chunk.weights[i] = beside.weight;
  if (time_.given) chunk.times[i] = beside.time;
}

// A row ends with CR LF or LF, and a byte order mark in front of the first one is not part of it.
std::string_view Keys::row_or_record(const Chunk& chunk, std::size_t i) const {
  std::string_view record = chunk.without_terminator(i);
  if (options_.format.kind != Records::Csv) return record;
  if (chunk.first_record + i == 1) record = without_mark(record);
  return without_return(record);
}

void Keys::digest(Chunk& chunk, Scratch& scratch) const {
  const std::size_t records = chunk.records();
  chunk.judged = records;
  chunk.bad.clear();
  chunk.digests.resize(records);
  chunk.weights.clear();
  chunk.times.clear();
  if (chunk.piece) {
    if (chunk.first_piece) chunk.bad.push_back({0, too_long});
    return;
  }
  if (importance_.given) chunk.weights.resize(records);
  if (time_.given) chunk.times.resize(records);
  if (way_ == Way::Whole && !options_.key.ignore_case) {
    digest_whole(chunk);
  } else if (way_ != Way::Json ||
             (!digest_plain_json(chunk, scratch) && !digest_json_together(chunk, scratch))) {
    chunk.bad.clear();
    for (std::size_t i = chunk.heads; i < records; ++i) {
      std::string_view key;
      Beside beside;
      const char* const bad = key_of(row_or_record(chunk, i), scratch, key, beside);
      if (bad != nullptr)
        chunk.bad.push_back({static_cast<std::uint32_t>(i), bad});
      else
        chunk.digests[i] = digester_(key);
      keep(chunk, i, beside);
    }
  }
  if (const char* const fault = records == 0 ? nullptr : fault_of(chunk, records - 1);
      fault != nullptr && (chunk.bad.empty() || chunk.bad.back().record + 1 != records))
    chunk.bad.push_back({static_cast<std::uint32_t>(records - 1), fault});
  if (options_.max_record > 0 && chunk.ends.back() > options_.max_record) mark_too_long(chunk);
}

const char* Keys::fault_of(const Chunk& chunk, std::size_t i) const noexcept {
  const bool last = i + 1 == chunk.records();
  if (chunk.piece ||
      (options_.max_record > 0 && chunk.without_terminator(i).size() > options_.max_record))
    return too_long;
  if (last && options_.format.kind == Records::Fixed && chunk.unterminated)
    return "it is shorter than --fixed";
  return last && chunk.open_quotes ? "its quotes are never closed" : nullptr;
}

std::string_view Keys::text(const Chunk& chunk, std::size_t record, Scratch& scratch) const {
  std::string_view key;
  Beside beside;
  key_of(row_or_record(chunk, record), scratch, key, beside);
  if (way_ != Way::Csv || fields_.empty() || one_field_) return key;
  scratch.shown.clear();
  for (bool first = true; !key.empty(); first = false) {
    std::uint64_t length;
    std::memcpy(&length, key.data(), sizeof length);
    if (!first) scratch.shown += options_.format.separator;
    scratch.shown += key.substr(sizeof length, length);
    key.remove_prefix(sizeof length + length);
  }
  return scratch.shown;
}

// Of a record that is too long this is what is told: in pieces nothing else is known of it.
void Keys::mark_too_long(Chunk& chunk) const {
  for (std::size_t i = chunk.heads; i < chunk.records(); ++i) {
    if (chunk.without_terminator(i).size() <= options_.max_record) continue;
    const auto at = std::lower_bound(
        chunk.bad.begin(), chunk.bad.end(), i,
        [](const Chunk::Bad& bad, std::size_t record) { return bad.record < record; });
    if (at != chunk.bad.end() && at->record == i)
      at->why = too_long;
    else
      chunk.bad.insert(at, {static_cast<std::uint32_t>(i), too_long});
  }
}

void Keys::digest_whole(Chunk& chunk) const {
  constexpr std::size_t batch = 128;
  std::array<std::string_view, batch> keys;
  const char* const data = chunk.buffer.data();
  const bool rows = options_.format.kind == Records::Csv;
  std::uint64_t begin = 0;
  for (std::size_t from = 0; from < chunk.records(); from += batch) {
    const std::size_t count = std::min(batch, chunk.records() - from);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t end = chunk.ends[from + i];
      keys[i] = {data + begin, end - begin - chunk.terminator};
      begin = end;
    }
    if (from + count == chunk.records())
      keys[count - 1] = chunk.without_terminator(chunk.records() - 1);
    if (rows)
      for (std::size_t i = 0; i < count; ++i) keys[i] = row_or_record(chunk, from + i);
    digester_(std::span(keys).first(count), chunk.digests.all().subspan(from, count));
  }
}

const char* Keys::key_of(std::string_view record, Scratch& scratch, std::string_view& key,
                         Beside& beside) const {
  const char* bad = nullptr;
  switch (way_) {
    case Way::Whole:
      key = record;
      break;
    case Way::Separated:
      bad = key_of_fields(
          record,
          [&](std::string_view r, auto found) {
            return walk_separated(r, *options_.key.separator, found);
          },
          scratch, key, beside);
      break;
    case Way::Blanks:
      bad = key_of_fields(
          record, [](std::string_view r, auto found) { return walk_blanks(r, found); }, scratch,
          key, beside);
      break;
    case Way::Csv:
      bad = key_of_fields(
          record,
          [&](std::string_view r, auto found) {
            return walk_csv(r, options_.format.separator, found);
          },
          scratch, key, beside);
      break;
    case Way::Json:
      bad = key_of_json(record, scratch, beside);
      key = scratch.key;
      break;
  }
  // Several columns and JSON know themselves what of the key are letters.
  const bool lowered = way_ == Way::Json || (way_ == Way::Csv && !fields_.empty() && !one_field_);
  if (bad == nullptr && options_.key.ignore_case && !lowered) {
    if (key.data() != scratch.key.data()) scratch.key = key;
    lower(scratch.key);
    key = scratch.key;
  }
  return bad;
}

// One walk over the record finds the key's fields, the importance and the time. A single field
// without doubled quotes is the key as it stands; everything else is put together in the scratch.
template <class Walk>
const char* Keys::key_of_fields(std::string_view record, Walk walk, Scratch& scratch,
                                std::string_view& key, Beside& beside) const {
  const bool rows = way_ == Way::Csv;
  const char joint = way_ == Way::Separated ? *options_.key.separator : ' ';
  std::size_t range = 0;  // of fields_, the one we are in or before
  std::size_t count = 0;  // fields walked over
  bool weighed = !importance_.given, not_a_number = false;
  bool timed = !time_.given, not_a_time = false;
  scratch.key.clear();
  const char* const broken =
      walk(record, [&](std::size_t index, std::string_view value, bool quoted) {
        count = index + 1;
        if (range < fields_.size() && index >= fields_[range].first) {
          const bool doubled = quoted && value.find('"') != std::string_view::npos;
          if (one_field_ && !doubled) {
            key = value;
          } else {
            if (rows && !one_field_) {
              // Where the length stands is known only when the value is there.
              const std::size_t at = scratch.key.size();
              scratch.key.append(8, '\0');
              doubled ? append_unquoted(value, scratch.key) : void(scratch.key += value);
              const std::uint64_t length = scratch.key.size() - at - 8;
              if (options_.key.ignore_case) lower(std::span(scratch.key).subspan(at + 8));
              std::memcpy(scratch.key.data() + at, &length, 8);
            } else {
              if (index > fields_[0].first) scratch.key += joint;
              doubled ? append_unquoted(value, scratch.key) : void(scratch.key += value);
            }
            key = scratch.key;
          }
          if (index == fields_[range].last) ++range;
        }
        if (time_.given && index == time_.field) {
          const auto time = parse_time(value);
          timed = true;
          not_a_time = !time;
          beside.time = time.value_or(0);
        }
        if (importance_.given && index == importance_.field) {
          double number = 0;
          const char* const end = value.data() + value.size();
          const auto [rest, error] = std::from_chars(value.data(), end, number);
          weighed = error == std::errc{} && rest == end && !std::isnan(number);
          not_a_number = !weighed;
          if (weighed) beside.weight = weight_of(number);
        }
        return index < last_field_;
      });
  if (broken != nullptr) return broken;
  if (not_a_number) return "its importance is not a number";
  if (!weighed) return "it has no importance";
  if (!timed) return "it has no time";
  if (not_a_time) return "its time cannot be read";
  if (fields_.empty()) {
    key = record;
    return nullptr;
  }
  if (count <= fields_.back().needed)
    return rows ? "it lacks a column of the key" : "it lacks a field of the key";
  return nullptr;
}

// Plain lines by the quick reader, the others one by one. False: too many are others.
bool Keys::digest_plain_json(Chunk& chunk, Scratch& scratch) const {
  if (!plain_.can() || importance_.given || time_.given) return false;
  if (!simdjson::validate_utf8(chunk.buffer.data(), chunk.ends.back())) return false;
  scratch.values.resize(options_.key.pointers.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < chunk.records(); ++i) {
    std::string_view key;
    const char* bad = nullptr;
    auto found = PlainJson::Found::NotPlain;
    if (chunk.terminated(i))
      found = plain_.find(chunk.buffer.data() + chunk.begin_of(i), scratch.values);
    if (found == PlainJson::Found::NotAll) {
      bad = lacks_member;
    } else if (found == PlainJson::Found::NotPlain || !key_of_values(scratch, key)) {
      if (++others > chunk.records() / 16) return false;
      Beside beside;
      bad = key_of_json(chunk.without_terminator(i), scratch, beside);
      key = scratch.key;
    }
    if (bad != nullptr)
      chunk.bad.push_back({static_cast<std::uint32_t>(i), bad});
    else
      chunk.digests[i] = digester_(key);
  }
  return true;
}

// The texts of valid values to the key. One that is written canonically is the key as it stands.
bool Keys::key_of_values(Scratch& scratch, std::string_view& key) const {
  const bool ignore_case = options_.key.ignore_case;
  if (scratch.values.size() == 1 && !ignore_case && is_canonical(scratch.values[0])) {
    key = scratch.values[0];
    return true;
  }
  scratch.key.clear();
  for (const std::string_view text : scratch.values) {
    if (!scratch.key.empty()) scratch.key += ',';
    if (is_canonical(text)) {
      scratch.key += text;
      if (ignore_case) lower(std::span(scratch.key).last(text.size()));
      continue;
    }
    simdjson::dom::element value;
    if (scratch.json.parse(text.data(), text.size(), false).get(value) != simdjson::SUCCESS)
      return false;
    append_canonical(value, ignore_case, scratch.key);
  }
  key = scratch.key;
  return true;
}

// The parser's first pass over a whole chunk costs a fraction of as many passes over lines. True
// only if every line turned out to be one object or array and nothing else, which is what lines
// one by one would have shown; anything else is left to that.
bool Keys::digest_json_together(Chunk& chunk, Scratch& scratch) const {
  constexpr std::uint64_t worth_it = 1 << 20;
  const std::uint64_t bytes = chunk.ends.back();
  if (bytes > worth_it || chunk.records() < 2) return false;
  chunk.bad.clear();
  scratch.json.threaded = false;
  simdjson::dom::document_stream documents;
  if (scratch.json.parse_many(chunk.buffer.data(), bytes, bytes).get(documents) !=
      simdjson::SUCCESS)
    return false;
  std::size_t i = 0;
  for (auto at = documents.begin(); at != documents.end(); ++at, ++i) {
    simdjson::dom::element document;
    if (i == chunk.records() || (*at).get(document) != simdjson::SUCCESS) return false;
    const char first = chunk.buffer.data()[at.current_index()];
    if (first != '{' && first != '[') return false;
    if (at.current_index() < chunk.begin_of(i) ||
        at.current_index() + at.source().size() > chunk.ends[i])
      return false;
    Beside beside;
    const char* const bad = key_of_document(document, scratch, beside);
    if (bad != nullptr)
      chunk.bad.push_back({static_cast<std::uint32_t>(i), bad});
    else
      chunk.digests[i] = digester_(scratch.key);
    keep(chunk, i, beside);
  }
  return i == chunk.records();
}

const char* Keys::key_of_json(std::string_view record, Scratch& scratch, Beside& beside) const {
  simdjson::dom::element document;
  // Behind every record there are 64 bytes that may be read.
  switch (scratch.json.parse(record.data(), record.size(), false).get(document)) {
    case simdjson::SUCCESS:
      break;
    case simdjson::MEMALLOC:
      throw std::bad_alloc();
    case simdjson::CAPACITY:
      return "it is too long for JSON (4 GiB)";
    case simdjson::NUMBER_ERROR:
      return "it has a number that 64 bits cannot hold";
    default:
      return "it is not valid JSON";
  }
  return key_of_document(document, scratch, beside);
}

const char* Keys::key_of_document(simdjson::dom::element document, Scratch& scratch,
                                  Beside& beside) const {
  scratch.key.clear();
  if (options_.key.pointers.empty())
    append_canonical(document, options_.key.ignore_case, scratch.key);
  for (const std::string& pointer : options_.key.pointers) {
    simdjson::dom::element value;
    if (document.at_pointer(pointer).get(value) != simdjson::SUCCESS) return lacks_member;
    if (!scratch.key.empty()) scratch.key += ',';
    append_canonical(value, options_.key.ignore_case, scratch.key);
  }
  if (importance_.given) {
    simdjson::dom::element value;
    if (document.at_pointer(options_.key.importance).get(value) != simdjson::SUCCESS)
      return "it has no importance";
    const auto number = number_of(value);
    if (!number || std::isnan(*number)) return "its importance is not a number";
    beside.weight = weight_of(*number);
  }
  if (time_.given) {
    simdjson::dom::element value;
    if (document.at_pointer(options_.key.time).get(value) != simdjson::SUCCESS)
      return "it has no time";
    std::string_view text;
    double number = 0;
    std::int64_t whole = 0;
    const auto time = value.get(text) == simdjson::SUCCESS     ? parse_time(text)
                      : value.get(whole) == simdjson::SUCCESS  ? time_of(whole)
                      : value.get(number) == simdjson::SUCCESS ? time_of(number)
                                                               : std::nullopt;
    if (!time) return "its time cannot be read";
    beside.time = *time;
  }
  return nullptr;
}

}  // namespace weir
