// Text for pages and terminals.
#pragma once

#include <string>
#include <string_view>

namespace weir::lab {

// For HTML and XML, in text and in attributes.
std::string escaped(std::string_view text);
// How many characters a reader sees, not bytes.
std::size_t letters(std::string_view text);
// As one word of a command line.
std::string shell_quoted(const std::string& word);
// Replaces the file as a whole. Throws Error(Io).
void write_file(const std::string& path, const std::string& content);

}  // namespace weir::lab
