// An outside program: it knows only the installed headers and library.
#include <weir/catalog.hpp>

int main() {
  auto filter = weir::make_filter("blocked-bloom", weir::Request{.memory = 1 << 20});
  const weir::Verdict first = filter->observe(filter->digest("a"));
  const weir::Verdict other = filter->observe(filter->digest("b"));
  const weir::Verdict again = filter->observe(filter->digest("a"));
  const bool right =
      first == weir::Verdict::New && other == weir::Verdict::New && again == weir::Verdict::Seen;
  return right ? 0 : 1;
}
