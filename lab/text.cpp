#include "text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "weir/error.hpp"

namespace weir::lab {

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else if (c == '\'') {
      safe += "&#39;";
    } else {
      safe += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return safe;
}

std::size_t letters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  return count;
}

std::string shell_quoted(const std::string& word) {
  const char* const harmless =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".new";
  std::FILE* const out = std::fopen(temporary.c_str(), "w");
  const bool written =
      out != nullptr && std::fwrite(content.data(), 1, content.size(), out) == content.size();
  const bool closed = out != nullptr && std::fclose(out) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0)
    throw Error(ErrorCode::Io, "cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace weir::lab
