// Streams that are files: a line a record, of which a field may be the key and another the weight.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "source/byte_stream.hpp"
#include "stream.hpp"
#include "weir/digest.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

class Lines {
 public:
  explicit Lines(const std::string& path)
      : name_(shown_name(path)), bytes_(open_bytes(path, true)), buffer_(1 << 20) {}

  // False at the end. The line stays valid until the next call.
  bool next(std::string_view& line) {
    for (std::size_t searched = 0;;) {
      const char* const from = buffer_.data() + begin_;
      const void* const end = std::memchr(from + searched, '\n', end_ - begin_ - searched);
      if (end != nullptr) {
        line = {from, static_cast<std::size_t>(static_cast<const char*>(end) - from)};
        begin_ += line.size() + 1, ++number_;
        return true;
      }
      searched = end_ - begin_;
      if (read_more()) continue;
      if (begin_ == end_) return false;
      line = {buffer_.data() + begin_, end_ - begin_};  // the last one, without its end
      begin_ = end_, ++number_;
      return true;
    }
  }
  [[nodiscard]] std::string where() const { return name_ + ": line " + std::to_string(number_); }

 private:
  bool read_more() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
    end_ -= begin_, begin_ = 0;
    if (end_ == buffer_.size()) buffer_.resize(2 * end_);
    std::size_t count = 0;
    if (bytes_->read(buffer_.data() + end_, buffer_.size() - end_, count, {}) ==
        ByteStream::Got::End)
      return false;
    end_ += count;
    return true;
  }

  std::string name_;
  std::unique_ptr<ByteStream> bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t number_ = 0;
};

// The n-th field of a line, counted from 1.
std::string_view field_of(std::string_view line, char separator, unsigned n, const Lines& lines) {
  for (; n > 1; --n) {
    const auto at = line.find(separator);
    if (at == std::string_view::npos)
      throw Error(ErrorCode::BadInput, lines.where() + " has too few fields");
    line.remove_prefix(at + 1);
  }
  return line.substr(0, line.find(separator));
}

std::string_view key_of(std::string_view line, const TraceFormat& format, const Lines& lines) {
  return format.key_field == 0 ? line : field_of(line, format.separator, format.key_field, lines);
}

std::uint32_t weight_of(std::string_view line, const TraceFormat& format, const Lines& lines) {
  const std::string_view text = field_of(line, format.separator, format.weight_field, lines);
  std::uint32_t weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorCode::BadInput,
                lines.where() + " has the weight '" + std::string(text) + "', not a whole number");
  return weight;
}

class FileStream final : public Stream {
 public:
  FileStream(const std::string& path, const TraceFormat& format) : lines_(path), format_(format) {}
  std::size_t fill(std::span<std::uint64_t> keys, std::span<std::uint32_t> weights) override {
    std::string_view line;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!lines_.next(line)) return i;
      keys[i] = digester_(key_of(line, format_, lines_));
      if (!weights.empty())
        weights[i] = format_.weight_field == 0 ? 1 : weight_of(line, format_, lines_);
    }
    return keys.size();
  }
  [[nodiscard]] bool weighted() const override { return format_.weight_field != 0; }

 private:
  Lines lines_;
  TraceFormat format_;
  Digester digester_ = Digester::from_seed(HashKind::Xxh3, 1);
};

}  // namespace

Trace read_trace(const std::string& path, const TraceFormat& format) {
  Lines lines(path);
  Trace trace;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (std::string_view line; lines.next(line);) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    if (next == ~std::uint32_t{0})
      throw Error(ErrorCode::BadInput,
                  lines.where() + " has more than 4,294,967,295 keys before it");
    trace.keys.push_back(numbers.emplace(key_of(line, format, lines), next).first->second);
    if (format.weight_field != 0) trace.weights.push_back(weight_of(line, format, lines));
  }
  trace.distinct = static_cast<std::uint32_t>(numbers.size());
  return trace;
}

std::unique_ptr<Stream> file_stream(const std::string& path, const TraceFormat& format) {
  return std::make_unique<FileStream>(path, format);
}

}  // namespace weir::lab
