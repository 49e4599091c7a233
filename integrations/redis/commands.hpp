// A command is one function and one line of a table.
//
//   void add(Call& call) { ... }                            // throws Error: the reply is its
//   sentence
//   {"WEIR.ADD", run<add>, Access::Update, "fast", "key item [IMPORTANCE weight#]", "Adds ...",
//   "O(1)"}
//
// Arity, key specification, what COMMAND DOCS says of the arguments, and the access control
// category come from that line. In the syntax a word in small letters is an argument, one in
// capitals a word to be written as it is, [...] may be left out, ... may be repeated; # is a whole
// number, % a number, and the first `key` is a key.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "type.hpp"

namespace weir::redis {

enum class Access : std::uint8_t {
  Read,    // looks at the key
  Update,  // changes what is there
  Create,  // makes the key
  Merge,   // makes or changes the first key from all that follow it
  Sum,     // changes the first key from as many as the second argument says
};

struct Entry {
  const char* name;
  CommandFunction function;
  Access access;
  const char* flags;  // beyond those that follow from `access`
  const char* syntax;
  const char* summary;
  const char* complexity;
};

// The tables, one a family.
std::span<const Entry> filter_commands();
std::span<const Entry> sketch_commands();
std::span<const Entry> state_commands();
std::span<const Entry> bloom_commands();  // BF.*
std::span<const Entry> bloom_chunk_commands();
std::span<const Entry> count_min_commands();  // CMS.*

// Of the secret of CMS.* keys: all of a server have the same, or CMS.MERGE could not add them.
extern std::uint64_t count_min_seed;

// False when the server refuses; the category comes first.
bool add_category(Context* context);
// `hint` is said with the name that the server does not take.
bool register_commands(Context* context, std::span<const Entry> entries, const char* hint);

// A key that is open; closed at the end of the scope.
class OpenKey {
 public:
  OpenKey(Context* context, String* name, int mode)
      : key_(api::OpenKey(context, name, mode)), context_(context), name_(name) {}
  OpenKey(const OpenKey&) = delete;
  OpenKey& operator=(const OpenKey&) = delete;
  ~OpenKey() {
    if (key_ != nullptr) api::CloseKey(key_);
  }
  [[nodiscard]] bool empty() const { return key_ == nullptr || api::KeyType(key_) == key_empty; }
  // Null when there is none. Throws when the key holds something else: WRONGTYPE.
  [[nodiscard]] Value* find() const;
  // Throws when there is none, with the sentence that names WEIR.RESERVE.
  [[nodiscard]] Value& get() const;
  void set(std::unique_ptr<Value> value);
  void remove() { api::DeleteKey(key_); }

 private:
  Key* key_;
  Context* context_;
  String* name_;
};

// One call of a command.
class Call {
 public:
  Call(Context* ctx, String** arguments, int number)
      : context(ctx), argv_(arguments), count_(static_cast<std::size_t>(number)) {}

  Context* const context;
  // Argument 0 is the command's own name.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] String* raw(std::size_t i) const { return argv_[i]; }
  [[nodiscard]] String** from(std::size_t i) const { return argv_ + i; }
  [[nodiscard]] std::string_view text(std::size_t i) const {
    std::size_t bytes;
    const char* const begin = api::StringPtrLen(argv_[i], &bytes);
    return {begin, bytes};
  }
  [[nodiscard]] bool is(std::size_t i, std::string_view word) const;  // in any case
  // Throw Error(Config) with the argument's name.
  [[nodiscard]] std::uint64_t whole(std::size_t i, const char* name, std::uint64_t least,
                                    std::uint64_t most) const;
  [[nodiscard]] long long number(std::size_t i, const char* name) const;
  [[nodiscard]] double real(std::size_t i, const char* name) const;

  [[nodiscard]] OpenKey open(int mode, std::size_t i = 1) const {
    return {context, argv_[i], mode};
  }

  // The command goes to replicas and to the append-only file as it came, and `event` to who
  // listens.
  void changed(const char* event, std::size_t key = 1) const {
    api::ReplicateVerbatim(context);
    api::NotifyKeyspaceEvent(context, event_module, event, argv_[key]);
  }
  void reply(long long number) const { api::ReplyWithLongLong(context, number); }
  void reply(std::string_view text) const {
    api::ReplyWithStringBuffer(context, text.data(), text.size());
  }
  void ok() const { api::ReplyWithSimpleString(context, "OK"); }

 private:
  String** argv_;
  std::size_t count_;
};

// Thrown for a wrong number of arguments that the arity does not cover.
struct WrongArity {};
// Thrown for an error reply that is whole as it is: one that clients know, word for word.
struct KnownError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void wrong_type();

// Throws Error(Config) when a key may not take so much.
void require_allowed(Context* context, std::uint64_t bytes);
// Has replicas make the value that this call made, with the secret that it drew.
void replicate_made(const Call& call, const Value& value);

int answer(Context* context, String** arguments, int count, void (*body)(Call&));

template <void (*body)(Call&)>
int run(Context* context, String** arguments, int count) {
  return answer(context, arguments, count, body);
}

}  // namespace weir::redis
