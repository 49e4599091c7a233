#include "key/plain_json.hpp"

#include <algorithm>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir {
namespace {

constexpr unsigned most_deep = 64;
constexpr std::size_t most_paths = 64;
using Paths = std::uint64_t;  // a bit for each

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A newline is no blank here: it ends the line, and so nothing runs past it.
const char* behind_blanks(const char* at) {
  while (static_cast<unsigned char>(*at) <= ' ' && (*at == ' ' || *at == '\t' || *at == '\r')) ++at;
  return at;
}

const char* behind_digits(const char* at) {
  while (is_digit(*at)) ++at;
  return at;
}

// The next quote, backslash or control character.
const char* next_special(const char* at) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  for (;; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i special =
        _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto places = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (places != 0) return at + std::countr_zero(places);
  }
#else
  while (*at != '"' && *at != '\\' && static_cast<unsigned char>(*at) > 0x1f) ++at;
  return at;
#endif
}

// The four digits of an escape; above 0xffff if they are none.
unsigned hex_at(const char* at) {
  unsigned number = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i], letter = static_cast<char>(c | 0x20);
    if (is_digit(c))
      number = number << 4 | static_cast<unsigned>(c - '0');
    else if (letter >= 'a' && letter <= 'f')
      number = number << 4 | static_cast<unsigned>(letter - 'a' + 10);
    else
      return 0x10000;
  }
  return number;
}

// What stands behind the backslash `at`; nullptr if that is not plain. (2)
const char* behind_escape(const char* at) {
  switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return at + 2;
    case 'u':
      break;
    default:
      return nullptr;
  }
  const unsigned unit = hex_at(at + 2);
  if (unit < 0xd800 || (unit > 0xdfff && unit <= 0xffff)) return at + 6;
  if (unit > 0xdbff || at[6] != '\\' || at[7] != 'u') return nullptr;
  const unsigned second = hex_at(at + 8);  // of a pair of surrogates
  return second >= 0xdc00 && second <= 0xdfff ? at + 12 : nullptr;
}

// (3): 19 digits are less than 2^64, 18 less than 2^63, and no exponent of two digits leads a
// number of 19 digits out of the range of doubles.
const char* behind_number(const char* at) {
  const bool negative = *at == '-';
  const char* const whole = at + negative;
  at = behind_digits(whole);
  const auto digits = at - whole;
  if (digits == 0 || digits + negative > 19 || (*whole == '0' && digits > 1)) return nullptr;
  if (*at == '.') {
    const char* const part = at + 1;
    at = behind_digits(part);
    if (at == part || at - part > 19) return nullptr;
  }
  if (*at == 'e' || *at == 'E') {
    const char* const exponent = at + (at[1] == '+' || at[1] == '-' ? 2 : 1);
    at = behind_digits(exponent);
    if (at == exponent || at - exponent > 2) return nullptr;
  }
  return at;
}

const char* behind_word(const char* at, std::string_view word) {
  return std::string_view(at, word.size()) == word ? at + word.size() : nullptr;
}

// Each function returns what stands behind the thing that begins at `at`, or nullptr if that is
// not plain. `wanted` are the paths that have led here with their first `depth` names. Objects and
// arrays are calls, all else is inline: most values are neither, and a call for each took a tenth
// of the time.
class Reader {
 public:
  Reader(std::span<const std::vector<std::string>> paths, std::span<std::string_view> values)
      : paths_(paths), values_(values) {}

  [[gnu::always_inline]] inline const char* value(const char* at, Paths wanted, unsigned depth) {
    const char* const begin = at;
    switch (*at) {
      case '"':
        at = string(at + 1);
        break;
      case '{':
        at = object(at + 1, wanted, depth);
        break;
      case '[':
        at = array(at + 1, depth);
        break;
      case 't':
        at = behind_word(at, "true");
        break;
      case 'f':
        at = behind_word(at, "false");
        break;
      case 'n':
        at = behind_word(at, "null");
        break;
      default:
        at = behind_number(at);
    }
    if (wanted != 0 && at != nullptr) take({begin, at}, wanted, depth);
    return at;
  }
  [[nodiscard]] Paths found() const { return found_; }

 private:
  const char* string(const char* at) {
    for (;;) {
      at = next_special(at);
      if (*at == '"') return at + 1;
      if (*at != '\\') return nullptr;
      escaped_ = true;
      at = behind_escape(at);
      if (at == nullptr) return nullptr;
    }
  }

  [[gnu::noinline]] const char* object(const char* at, Paths wanted, unsigned depth) {
    at = behind_blanks(at);
    if (*at == '}') return at + 1;
    if (depth == most_deep) return nullptr;
    for (;;) {
      if (*at != '"') return nullptr;
      const char* const name = at + 1;
      escaped_ = false;
      at = string(name);
      if (at == nullptr || (escaped_ && wanted != 0)) return nullptr;
      const Paths here = wanted == 0 ? 0 : named({name, at - 1}, wanted, depth);
      wanted &= ~here;  // (4)
      at = behind_blanks(at);
      if (*at != ':') return nullptr;
      at = value(behind_blanks(at + 1), here, depth + 1);
      if (at == nullptr) return nullptr;
      at = behind_blanks(at);
      if (*at == '}') return at + 1;
      if (*at != ',') return nullptr;
      at = behind_blanks(at + 1);
    }
  }

  [[gnu::noinline]] const char* array(const char* at, unsigned depth) {
    at = behind_blanks(at);
    if (*at == ']') return at + 1;
    if (depth == most_deep) return nullptr;
    for (;;) {
      at = value(at, 0, depth + 1);
      if (at == nullptr) return nullptr;
      at = behind_blanks(at);
      if (*at == ']') return at + 1;
      if (*at != ',') return nullptr;
      at = behind_blanks(at + 1);
    }
  }

  // Those of `wanted` that go on with this name.
  [[nodiscard]] Paths named(std::string_view name, Paths wanted, unsigned depth) const {
    Paths here = 0;
    for (Paths left = wanted; left != 0; left &= left - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(left));
      if (paths_[i].size() > depth && paths_[i][depth] == name) here |= Paths{1} << i;
    }
    return here;
  }

  void take(std::string_view text, Paths wanted, unsigned depth) {
    for (; wanted != 0; wanted &= wanted - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(wanted));
      if (paths_[i].size() != depth) continue;
      values_[i] = text;
      found_ |= Paths{1} << i;
    }
  }

  std::span<const std::vector<std::string>> paths_;
  std::span<std::string_view> values_;
  Paths found_ = 0;
  bool escaped_ = false;  // the name at hand
};

}  // namespace

PlainJson::PlainJson(const std::vector<std::string>& pointers) {
  for (const std::string& pointer : pointers) {
    Path path;
    for (std::size_t slash = 0; slash < pointer.size();) {
      const std::size_t end = std::min(pointer.find('/', slash + 1), pointer.size());
      path.push_back(pointer.substr(slash + 1, end - slash - 1));
      if (!path.back().empty() && std::all_of(path.back().begin(), path.back().end(), is_digit))
        return;
      slash = end;
    }
    if (path.empty() || pointer.find('~') != std::string::npos) return;
    paths_.push_back(std::move(path));
  }
  can_ = !paths_.empty() && paths_.size() <= most_paths;
}

PlainJson::Found PlainJson::find(const char* line,
                                 std::span<std::string_view> values) const noexcept {
  const Paths all = ~Paths{0} >> (most_paths - paths_.size());
  Reader reader(paths_, values);
  const char* at = behind_blanks(line);
  if (*at != '{' && *at != '[') return Found::NotPlain;  // (1)
  at = reader.value(at, all, 0);
  if (at == nullptr || *behind_blanks(at) != '\n') return Found::NotPlain;  // (5)
  return reader.found() == all ? Found::All : Found::NotAll;
}

}  // namespace weir
