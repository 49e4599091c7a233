// The few entry points of the server's module API that the module uses, in our own words.
//
// The server hands over a context that begins with a pointer to GetApi; every entry point is found
// through it by name ("RedisModule_" and the name). So the module needs no header of the server and
// runs with any that speaks the API: Redis from 7.0 on, Valkey. What an older server lacks is
// marked optional and stays null there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::redis {

// The server's own objects; never looked into.
struct Context;
struct String;
struct Key;
struct Type;
struct Io;
struct DigestIo;
struct InfoContext;
struct Command;

inline constexpr int ok = 0, err = 1;
inline constexpr int api_version = 1;

inline constexpr int open_read = 1, open_write = 2;
inline constexpr int key_empty = 0;
inline constexpr int flag_loading = 1 << 13, flag_replicated = 1 << 12, flag_resp3 = 1 << 22;
inline constexpr int event_module = 1 << 13;  // the class `d` of keyspace events
inline constexpr int option_handles_io_errors = 1 << 0;
inline constexpr unsigned config_memory = 1 << 7;

// What the type can do; the layout is version 3 of the server's table, which it takes from every
// module that was made for 6.2 or later.
struct TypeMethods {
  std::uint64_t version = 3;
  void* (*rdb_load)(Io*, int encoding) = nullptr;
  void (*rdb_save)(Io*, void* value) = nullptr;
  void (*aof_rewrite)(Io*, String* key, void* value) = nullptr;
  std::size_t (*mem_usage)(const void* value) = nullptr;
  void (*digest)(DigestIo*, void* value) = nullptr;
  void (*free)(void* value) = nullptr;
  int (*aux_load)(Io*, int, int) = nullptr;
  void (*aux_save)(Io*, int) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(String* key, const void* value) = nullptr;
  void (*unlink)(String* key, const void* value) = nullptr;
  void* (*copy)(String* from, String* to, const void* value) = nullptr;
  int (*defrag)(void*, String*, void**) = nullptr;
};

// How a command describes itself to COMMAND DOCS, to clusters and to access control.
struct KeySpec {
  const char* notes;
  std::uint64_t flags;
  int begin_type;  // 0 ends a list, 2: at a fixed position
  union {
    struct {
      int position;
    } index;
    struct {
      const char* keyword;
      int start;
    } keyword;
  } begin;
  int find_type;  // 2: a range, 3: as many as an argument says
  union {
    struct {
      int last, step, limit;
    } range;
    struct {
      int number, first, step;
    } number;
  } find;
};
inline constexpr std::uint64_t key_ro = 1, key_rw = 2, key_ow = 4, key_access = 16, key_update = 32,
                               key_insert = 64, key_delete = 128;

struct Argument {
  const char* name;
  int type;  // argument_*
  int key_spec;
  const char* token;
  const char* summary;
  const char* since;
  int flags;  // argument_optional, argument_multiple
  const char* deprecated_since;
  Argument* parts;
  const char* display;
};
inline constexpr int argument_string = 0, argument_integer = 1, argument_double = 2,
                     argument_key = 3, argument_word = 6, argument_one_of = 7, argument_block = 8;
inline constexpr int argument_optional = 1, argument_multiple = 2;

struct History {
  const char *since, *changes;
};
struct CommandInfoVersion {
  int version;
  std::size_t history_bytes, key_spec_bytes, argument_bytes;
};
struct CommandInfo {
  const CommandInfoVersion* version;
  const char *summary, *complexity, *since;
  History* history;
  const char* tips;
  int arity;
  KeySpec* key_specs;
  Argument* arguments;
};

using CommandFunction = int (*)(Context*, String**, int);

// WEIR_ENTRY(result, name, arguments): must be there; WEIR_OPTIONAL: may be null.
#define WEIR_REDIS_API(WEIR_ENTRY, WEIR_OPTIONAL)                                                  \
  WEIR_ENTRY(void, SetModuleAttribs, (Context*, const char* name, int version, int api))           \
  WEIR_ENTRY(int, IsModuleNameBusy, (const char* name))                                            \
  WEIR_ENTRY(void, SetModuleOptions, (Context*, int options))                                      \
  WEIR_ENTRY(int, CreateCommand,                                                                   \
             (Context*, const char* name, CommandFunction, const char* flags, int first, int last, \
              int step))                                                                           \
  WEIR_OPTIONAL(Command*, GetCommand, (Context*, const char* name))                                \
  WEIR_OPTIONAL(int, SetCommandInfo, (Command*, const CommandInfo*))                               \
  WEIR_OPTIONAL(int, AddACLCategory, (Context*, const char* name))                                 \
  WEIR_OPTIONAL(int, SetCommandACLCategories, (Command*, const char* categories))                  \
  WEIR_ENTRY(int, WrongArity, (Context*))                                                          \
  WEIR_ENTRY(int, GetContextFlags, (Context*))                                                     \
  WEIR_ENTRY(long long, Milliseconds, ())                                                          \
  WEIR_ENTRY(void*, Calloc, (std::size_t count, std::size_t bytes))                                \
  WEIR_OPTIONAL(void*, TryCalloc, (std::size_t count, std::size_t bytes))                          \
  WEIR_OPTIONAL(void*, TryAlloc, (std::size_t bytes))                                              \
  WEIR_ENTRY(void, Free, (void*))                                                                  \
  WEIR_ENTRY(const char*, StringPtrLen, (const String*, std::size_t* bytes))                       \
  WEIR_ENTRY(int, StringToLongLong, (const String*, long long*))                                   \
  WEIR_ENTRY(int, StringToDouble, (const String*, double*))                                        \
  WEIR_ENTRY(String*, CreateString, (Context*, const char*, std::size_t))                          \
  WEIR_ENTRY(void, FreeString, (Context*, String*))                                                \
  WEIR_ENTRY(int, ReplyWithError, (Context*, const char*))                                         \
  WEIR_ENTRY(int, ReplyWithSimpleString, (Context*, const char*))                                  \
  WEIR_ENTRY(int, ReplyWithStringBuffer, (Context*, const char*, std::size_t))                     \
  WEIR_ENTRY(int, ReplyWithLongLong, (Context*, long long))                                        \
  WEIR_ENTRY(int, ReplyWithDouble, (Context*, double))                                             \
  WEIR_ENTRY(int, ReplyWithNull, (Context*))                                                       \
  WEIR_ENTRY(int, ReplyWithArray, (Context*, long count))                                          \
  WEIR_ENTRY(int, ReplyWithMap, (Context*, long pairs))                                            \
  WEIR_OPTIONAL(int, ReplyWithBool, (Context*, int))                                               \
  WEIR_ENTRY(int, Replicate, (Context*, const char* command, const char* format, ...))             \
  WEIR_ENTRY(int, ReplicateVerbatim, (Context*))                                                   \
  WEIR_ENTRY(int, NotifyKeyspaceEvent, (Context*, int type, const char* event, String* key))       \
  WEIR_ENTRY(Key*, OpenKey, (Context*, String*, int mode))                                         \
  WEIR_ENTRY(void, CloseKey, (Key*))                                                               \
  WEIR_ENTRY(int, KeyType, (Key*))                                                                 \
  WEIR_ENTRY(int, DeleteKey, (Key*))                                                               \
  WEIR_ENTRY(Type*, ModuleTypeGetType, (Key*))                                                     \
  WEIR_ENTRY(void*, ModuleTypeGetValue, (Key*))                                                    \
  WEIR_ENTRY(int, ModuleTypeSetValue, (Key*, Type*, void*))                                        \
  WEIR_ENTRY(Type*, CreateDataType, (Context*, const char* name, int encoding, TypeMethods*))      \
  WEIR_ENTRY(void, SaveUnsigned, (Io*, std::uint64_t))                                             \
  WEIR_ENTRY(std::uint64_t, LoadUnsigned, (Io*))                                                   \
  WEIR_ENTRY(void, SaveStringBuffer, (Io*, const char*, std::size_t))                              \
  WEIR_ENTRY(char*, LoadStringBuffer, (Io*, std::size_t*))                                         \
  WEIR_ENTRY(int, IsIOError, (Io*))                                                                \
  WEIR_ENTRY(void, LogIOError, (Io*, const char* level, const char* format, ...))                  \
  WEIR_ENTRY(void, EmitAOF, (Io*, const char* command, const char* format, ...))                   \
  WEIR_ENTRY(void, DigestAddStringBuffer, (DigestIo*, const char*, std::size_t))                   \
  WEIR_ENTRY(void, DigestEndSequence, (DigestIo*))                                                 \
  WEIR_ENTRY(void, Log, (Context*, const char* level, const char* format, ...))                    \
  WEIR_ENTRY(int, RegisterInfoFunc, (Context*, void (*)(InfoContext*, int crash)))                 \
  WEIR_ENTRY(int, InfoAddSection, (InfoContext*, const char* name))                                \
  WEIR_ENTRY(int, InfoAddFieldCString, (InfoContext*, const char* name, const char* value))        \
  WEIR_ENTRY(int, InfoAddFieldULongLong, (InfoContext*, const char* name, unsigned long long))     \
  WEIR_OPTIONAL(std::size_t, MallocSize, (void*))                                                  \
  WEIR_OPTIONAL(int, RegisterNumericConfig,                                                        \
                (Context*, const char* name, long long standard, unsigned flags, long long least,  \
                 long long most, long long (*get)(const char*, void*),                             \
                 int (*set)(const char*, long long, void*, String**),                              \
                 int (*apply)(Context*, void*, String**), void* data))                             \
  WEIR_OPTIONAL(int, LoadConfigs, (Context*))

namespace api {
#define WEIR_DECLARE(result, name, arguments) extern result(*name) arguments;
WEIR_REDIS_API(WEIR_DECLARE, WEIR_DECLARE)
#undef WEIR_DECLARE
}  // namespace api

// Finds all of them. Null, or the name of the first one that the server lacks.
const char* resolve_api(Context* context);

}  // namespace weir::redis
