#include "commands.hpp"

#include <algorithm>
#include <cctype>
#include <deque>

namespace weir::redis {
namespace {

constexpr const char* category = "weir";  // of servers from 7.4 on

// A command's arguments, as COMMAND DOCS tells them.
class Syntax {
 public:
  explicit Syntax(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const bool optional = text[at] == '[';
      auto end = std::min(text.find(optional ? ']' : ' ', at), text.size());
      if (!optional && std::isupper(static_cast<unsigned char>(text[at])) != 0) {
        end = std::min(text.find(' ', end + 1), text.size());  // with the argument behind it
        ++least_;
      }
      add(text.substr(at + optional, end - at - optional), optional);
      at = std::min(text.find(' ', end), text.size());
      if (at < text.size()) ++at;
    }
    arguments_.push_back({});  // the end
  }
  [[nodiscard]] Argument* arguments() { return arguments_.data(); }
  [[nodiscard]] int arity() const { return open_ ? -least_ : least_; }

 private:
  void add(std::string_view word, bool optional) {
    Argument argument{};
    argument.key_spec = -1;
    if (const auto space = word.find(' '); space != std::string_view::npos) {
      argument.token = keep(word.substr(0, space));
      word.remove_prefix(space + 1);
    }
    const bool repeats = word.ends_with("...");
    if (repeats) word.remove_suffix(3);
    const bool bare = argument.token == nullptr && std::ranges::all_of(word, [](unsigned char c) {
                        return std::isupper(c) != 0;
                      });
    if (bare) argument.token = keep(word);
    argument.type = bare                  ? argument_word
                    : word.ends_with('#') ? argument_integer
                    : word.ends_with('%') ? argument_double
                    : word == "key"       ? argument_key
                                          : argument_string;
    if (argument.type == argument_integer || argument.type == argument_double)
      word.remove_suffix(1);
    if (argument.type == argument_key) argument.key_spec = 0;
    argument.name = keep(word);
    argument.flags = (optional ? argument_optional : 0) | (repeats ? argument_multiple : 0);
    least_ += !optional;
    open_ |= optional || repeats;
    arguments_.push_back(argument);
  }
  const char* keep(std::string_view text) { return texts_.emplace_back(text).c_str(); }

  std::deque<std::string> texts_;
  std::vector<Argument> arguments_;
  int least_ = 1;
  bool open_ = false;
};

KeySpec range(std::uint64_t flags, int position, int last) {
  KeySpec spec{};
  spec.flags = flags;
  spec.begin_type = 2;
  spec.begin.index.position = position;
  spec.find_type = 2;
  spec.find.range = {last, 1, 0};
  return spec;
}

std::vector<KeySpec> key_specs(Access access) {
  switch (access) {
    case Access::Read:
      return {range(key_ro | key_access, 1, 0), {}};
    case Access::Update:
      return {range(key_rw | key_update | key_access, 1, 0), {}};
    case Access::Create:
      return {range(key_rw | key_update, 1, 0), {}};
    case Access::Merge:
      return {range(key_rw | key_update, 1, 0), range(key_ro | key_access, 2, -1), {}};
    case Access::Sum: {
      KeySpec counted{};
      counted.flags = key_ro | key_access;
      counted.begin_type = 2;
      counted.begin.index.position = 2;
      counted.find_type = 3;
      counted.find.number = {0, 1, 1};
      return {range(key_rw | key_update, 1, 0), counted, {}};
    }
  }
  return {{}};
}

bool register_command(Context* context, const Entry& entry) {
  const bool writes = entry.access != Access::Read;
  std::string flags = writes ? "write deny-oom" : "readonly";
  if (*entry.flags != '\0') flags.append(" ").append(entry.flags);
  const int last = entry.access == Access::Merge ? -1 : 1;
  if (api::CreateCommand(context, entry.name, entry.function, flags.c_str(), 1, last, 1) != ok)
    return false;
  if (api::GetCommand == nullptr || api::SetCommandInfo == nullptr) return true;
  Command* const command = api::GetCommand(context, entry.name);
  Syntax syntax(entry.syntax);
  std::vector<KeySpec> keys = key_specs(entry.access);
  constexpr CommandInfoVersion version{1, sizeof(History), sizeof(KeySpec), sizeof(Argument)};
  CommandInfo info{};
  info.version = &version;
  info.summary = entry.summary;
  info.complexity = entry.complexity;
  info.since = "0.1.0";
  info.arity = syntax.arity();
  info.key_specs = keys.data();
  info.arguments = syntax.arguments();
  if (api::SetCommandInfo(command, &info) != ok) return false;
  if (api::SetCommandACLCategories == nullptr) return true;  // before 7.2: by name only
  std::string categories = writes ? "write" : "read";
  categories +=
      std::string_view(entry.flags).find("fast") == std::string_view::npos ? " slow" : " fast";
  if (api::AddACLCategory != nullptr) categories.append(" ").append(category);
  return api::SetCommandACLCategories(command, categories.c_str()) == ok;
}

}  // namespace

bool add_category(Context* context) {
  return api::AddACLCategory == nullptr || api::AddACLCategory(context, category) == ok;
}

bool register_commands(Context* context, std::span<const Entry> entries, const char* hint) {
  for (const Entry& entry : entries)
    if (!register_command(context, entry)) {
      api::Log(context, "warning", "weir: the server does not take the command %s; %s", entry.name,
               hint);
      return false;
    }
  return true;
}

void wrong_type() {
  throw KnownError("WRONGTYPE Operation against a key holding the wrong kind of value");
}

void require_allowed(Context* context, std::uint64_t bytes) {
  const std::uint64_t allowed = allowed_bytes(context);
  if (bytes > allowed)
    throw Error(ErrorCode::Config,
                "a key may take " + std::to_string(allowed) +
                    " bytes here; ask for less, or raise weir.max-bytes-per-key");
}

Value* OpenKey::find() const {
  if (empty()) return nullptr;
  if (api::ModuleTypeGetType(key_) != value_type) wrong_type();
  return static_cast<Value*>(api::ModuleTypeGetValue(key_));
}

Value& OpenKey::get() const {
  if (Value* const value = find()) return *value;
  throw Error(ErrorCode::Config,
              "there is no such key; make one first: WEIR.RESERVE key MEMORY bytes");
}

void OpenKey::set(std::unique_ptr<Value> value) {
  if (api::ModuleTypeSetValue(key_, value_type, value.get()) == ok) value.release();
}

bool Call::is(std::size_t i, std::string_view word) const {
  const std::string_view given = text(i);
  return std::ranges::equal(
      given, word, [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; });
}

long long Call::number(std::size_t i, const char* name) const {
  long long value;
  if (api::StringToLongLong(argv_[i], &value) != weir::redis::ok)
    throw Error(ErrorCode::Config, std::string(name) + " must be a whole number");
  return value;
}

std::uint64_t Call::whole(std::size_t i, const char* name, std::uint64_t least,
                          std::uint64_t most) const {
  long long value;
  if (api::StringToLongLong(argv_[i], &value) != weir::redis::ok || value < 0 ||
      static_cast<std::uint64_t>(value) < least || static_cast<std::uint64_t>(value) > most)
    throw Error(ErrorCode::Config, std::string(name) + " must be a whole number from " +
                                       std::to_string(least) + " to " + std::to_string(most));
  return static_cast<std::uint64_t>(value);
}

double Call::real(std::size_t i, const char* name) const {
  double value;
  if (api::StringToDouble(argv_[i], &value) != weir::redis::ok)
    throw Error(ErrorCode::Config, std::string(name) + " must be a number");
  return value;
}

int answer(Context* context, String** arguments, int count, void (*body)(Call&)) {
  try {
    Call call(context, arguments, count);
    body(call);
  } catch (const WrongArity&) {
    return api::WrongArity(context);
  } catch (const KnownError& error) {
    api::ReplyWithError(context, error.what());
  } catch (const std::exception& error) {
    api::ReplyWithError(context, ("ERR " + std::string(error.what())).c_str());
  }
  return ok;
}

}  // namespace weir::redis
