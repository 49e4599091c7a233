#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "chart.hpp"
#include "text.hpp"
#include "weir/error.hpp"

namespace weir::lab {
namespace {

// Wide things scroll inside their own box, so that the page never does.
constexpr const char* style = R"(
:root { color-scheme: light; --ink: #1a1a1a; --soft: #5c5c5c; --rule: #d9d9d9; --wash: #f5f5f3; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; color: var(--ink);
  background: #fff; font: 1rem/1.55 Charter, "Bitstream Charter", Georgia, serif;
  overflow-wrap: break-word; }
h1, h2, nav, table, figcaption, dl, svg text {
  font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; line-height: 1.25; margin: 0 0 .6rem; }
h2 a { color: inherit; text-decoration: none; }
p { margin: 0 0 .8rem; max-width: 40rem; }
a { color: #00558a; }
section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
nav ol { margin: 1rem 0 0; padding-left: 1.6rem; font-size: .95rem; }
nav li { margin: .25rem 0; }
figure { margin: 1.4rem 0; }
.charts { display: grid; gap: 1.6rem 2rem; margin: 1.4rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
.charts figure { margin: 0; min-width: 0; max-width: 42rem; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .85rem; font-weight: 600; margin-bottom: .35rem; }
/* A shadow at the side where more of the table is. */
.scroll { overflow-x: auto; background:
    linear-gradient(to right, #fff, #fff0) 0 0 / 2rem 100% no-repeat local,
    linear-gradient(to left, #fff, #fff0) 100% 0 / 2rem 100% no-repeat local,
    linear-gradient(to right, #0003, #0000) 0 0 / .7rem 100% no-repeat scroll,
    linear-gradient(to left, #0003, #0000) 100% 0 / .7rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: .85rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: baseline; padding: .28rem .9rem .28rem 0; }
th { font-weight: 600; border-bottom: 1.5px solid var(--ink); vertical-align: bottom; }
td { border-bottom: 1px solid var(--rule); }
th.number, td.number { text-align: right; white-space: nowrap; }
td.name { min-width: 9rem; }
td.long { min-width: 14rem; max-width: 24rem; overflow-wrap: anywhere; color: var(--soft); }
tr > :last-child { padding-right: 0; }
pre { margin: 0; padding: .6rem .8rem; overflow-x: auto; background: var(--wash);
  border-radius: 4px; font-size: .85rem; user-select: all; }
code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace; font-size: .9em; }
pre code { font-size: 1em; }
.origin { margin-top: 1.4rem; font-size: .85rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .7rem 0 0;
  color: var(--soft); }
dt, dd { margin: 0; min-width: 0; }
@media screen and (max-width: 40rem) { td.long { white-space: nowrap; max-width: none; } }
@media print {
  @page { margin: 16mm 14mm; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  p { max-width: none; }
  section { break-before: page; border: 0; margin: 0; padding: 0; }
  h2, figcaption { break-after: avoid; }
  figure.chart, tr, .origin { break-inside: avoid; }
  .charts { display: block; }
  .charts figure { max-width: 140mm; margin: 0 0 6mm; }
  .scroll, pre { overflow: visible; background: none; }
  pre { white-space: pre-wrap; border: 1px solid var(--rule); }
  table { font-size: 7pt; }
  thead { display: table-header-group; }
  td, th, th.number, td.number { padding-right: 1.8mm; white-space: normal; }
  td.name { min-width: 9rem; }
td.long, td.name { min-width: 0; }
  a { color: inherit; text-decoration: none; }
}
)";

// `code` between backticks, as in the text for terminals.
std::string paragraph(const std::string& text) {
  std::string html;
  bool code = false;
  std::istringstream pieces(text);
  for (std::string piece; std::getline(pieces, piece, '`'); code = !code)
    html += code ? "<code>" + escaped(piece) + "</code>" : escaped(piece);
  return "<p>" + html + "</p>\n";
}

std::string cell(const char* tag, const char* kind, const std::string& text) {
  std::string html;
  for (const char c : text) {
    html += escaped({&c, 1});
    if (c == ',' && std::string_view(kind) == "long") html += "<wbr>";  // parameters break here
  }
  return fmt::format("<{}{}>{}</{}>", tag, *kind == 0 ? "" : fmt::format(" class=\"{}\"", kind),
                     html, tag);
}

std::string table_html(const Table& table, bool named) {
  const std::vector<bool> numbers = table.number_columns();
  std::vector<const char*> kinds;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    std::size_t longest = 0;
    for (const auto& row : table.rows)
      if (i < row.size()) longest = std::max(longest, letters(row[i]));
    kinds.push_back(numbers[i] ? "number" : longest > 40 ? "long" : longest > 14 ? "name" : "");
  }
  std::string html = "<figure class=\"table\">\n";
  if (named) html += "<figcaption>" + escaped(table.name) + "</figcaption>\n";
  html += "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    html += cell("th", numbers[i] ? "number" : "", table.columns[i]);
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      html += cell("td", i < kinds.size() ? kinds[i] : "", row[i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n</figure>\n";
}

std::string origin_html(const Origin& origin) {
  std::string html =
      fmt::format("<div class=\"origin\">\n<pre tabindex=\"0\"><code>{}</code></pre>\n<dl>\n",
                  escaped(origin.command));
  for (const auto& [name, value] : origin.facts)
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  return html + "</dl>\n</div>\n";
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error(ErrorCode::Io, "cannot read " + path);
  return text.str();
}

// Names of the sections in the folder: as in `order`, then the others by name.
std::vector<std::string> kept_sections(const std::string& folder,
                                       const std::vector<std::string>& order) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/sections", error))
    if (entry.path().extension() == ".html") names.push_back(entry.path().stem());
  if (error) throw Error(ErrorCode::Io, "cannot read " + folder + "/sections: " + error.message());
  const auto place = [&](const std::string& name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(place(a), a) < std::pair(place(b), b);
  });
  return names;
}

}  // namespace

void keep_section(const std::string& folder, const Origin& origin, const Section& section) {
  std::error_code error;
  std::filesystem::create_directories(folder + "/sections", error);
  if (error)
    throw Error(ErrorCode::Io, "cannot make the folder " + folder + ": " + error.message());
  const std::string id = escaped(origin.name);
  // write_report takes the title from the first line.
  std::string html = fmt::format("<section id=\"{0}\"><h2><a href=\"#{0}\">{1}</a></h2>\n", id,
                                 escaped(section.title));
  for (const std::string& text : section.text) html += paragraph(text);
  for (const Table& table : section.tables) html += table_html(table, section.tables.size() > 1);
  if (!section.charts.empty()) html += "<div class=\"charts\">\n";
  for (const Chart& chart : section.charts) {
    const std::string svg = draw(chart);
    write_file(folder + "/" + chart.name + ".svg", svg);
    html += "<figure class=\"chart\">\n" + svg + "</figure>\n";
  }
  if (!section.charts.empty()) html += "</div>\n";
  html += origin_html(origin) + "</section>\n";
  write_file(folder + "/sections/" + origin.name + ".html", html);
}

std::string write_report(const std::string& folder, const std::vector<std::string>& order) {
  std::string contents, body;
  for (const std::string& name : kept_sections(folder, order)) {
    const std::string section = read_file(folder + "/sections/" + name + ".html");
    const std::string first = section.substr(0, section.find('\n'));
    const std::size_t from = first.find("<a "), to = first.find("</a>");
    if (from == std::string::npos || to == std::string::npos)
      throw Error(ErrorCode::Io, folder + "/sections/" + name +
                                     ".html is not a section that this program wrote; remove it");
    contents += "<li>" + first.substr(from, to + 4 - from) + "</li>\n";
    body += section;
  }
  const std::string path = folder + "/report.html";
  write_file(path, fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                               "<meta charset=\"utf-8\">\n"
                               "<meta name=\"viewport\" content=\"width=device-width, "
                               "initial-scale=1\">\n<title>Weir: experiments</title>\n"
                               // An empty icon: a browser would ask for one.
                               "<link rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n"
                               "<body>\n<header>\n<h1>Weir: experiments</h1>\n"
                               "<p>Filters that forget, measured against the exact answer. Figures "
                               "are means over the seeds, with the standard error of the mean; "
                               "bands in charts are one standard error to both sides. The command "
                               "under each experiment makes it again.</p>\n"
                               "<nav><ol>\n{}</ol></nav>\n</header>\n<main>\n{}</main>\n"
                               "</body>\n</html>\n",
                               style, contents, body));
  return path;
}

}  // namespace weir::lab
