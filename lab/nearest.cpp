#include "nearest.hpp"

#include <algorithm>

namespace weir::lab {
namespace {

std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(const std::string& written, const std::vector<std::string>& names) {
  std::vector<const std::string*> found;
  std::size_t least = ~std::size_t{0};
  for (const std::string& name : names) {
    const std::size_t distance = edits(written, name);
    if (distance < least) least = distance, found.clear();
    if (distance == least && found.size() < 3) found.push_back(&name);
  }
  std::string text;
  for (const std::string* name : found) text += (text.empty() ? "" : " or ") + *name;
  return text;
}

}  // namespace weir::lab
