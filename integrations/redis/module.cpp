// weir.so: the server finds RedisModule_OnLoad by its name.
//
//   loadmodule weir.so [max-bytes-per-key BYTES]
#include <cstdlib>
#include <string_view>

#include "commands.hpp"
#include "weir_version.hpp"

namespace weir::redis {
namespace {

constexpr long long least_limit = 1 << 12, most_limit = 1LL << 48;

// "1.2.3" as 10203.
int version_number() {
  int number = 0, part = 0;
  for (const char* c = version;; ++c) {
    if (*c >= '0' && *c <= '9') {
      part = part * 10 + (*c - '0');
    } else {
      number = number * 100 + part;
      part = 0;
      if (*c == '\0') return number;
    }
  }
}

long long get_limit(const char*, void*) { return max_bytes_per_key; }
int set_limit(const char*, long long value, void*, String**) {
  max_bytes_per_key = value;
  return ok;
}

// INFO weir
void tell(InfoContext* context, int /*crash*/) {
  const Value::Totals totals = Value::totals();
  api::InfoAddSection(context, "");
  api::InfoAddFieldCString(context, "version", version);
  api::InfoAddFieldULongLong(context, "keys", totals.values);
  api::InfoAddFieldULongLong(context, "bytes", totals.bytes);
  api::InfoAddFieldULongLong(context, "max_bytes_per_key",
                             static_cast<unsigned long long>(max_bytes_per_key));
}

bool read_arguments(Context* context, String** arguments, int count) {
  for (int i = 0; i < count; i += 2) {
    std::size_t bytes;
    const char* const begin = api::StringPtrLen(arguments[i], &bytes);
    const std::string_view name(begin, bytes);
    long long value = 0;
    if (name != "max-bytes-per-key" || i + 1 == count ||
        api::StringToLongLong(arguments[i + 1], &value) != ok || value < least_limit ||
        value > most_limit) {
      api::Log(context, "warning",
               "weir: the module takes max-bytes-per-key BYTES, from %lld to %lld", least_limit,
               most_limit);
      return false;
    }
    max_bytes_per_key = value;
  }
  return true;
}

bool register_limit(Context* context) {
  if (api::RegisterNumericConfig == nullptr || api::LoadConfigs == nullptr) return true;
  return api::RegisterNumericConfig(context, "max-bytes-per-key", max_bytes_per_key, config_memory,
                                    least_limit, most_limit, get_limit, set_limit, nullptr,
                                    nullptr) == ok &&
         api::LoadConfigs(context) == ok;
}

int load(Context* context, String** arguments, int count) {
  if (const char* const missing = resolve_api(context)) {
    if (api::Log != nullptr)
      api::Log(context, "warning", "weir: this server lacks %s; Redis 7.0 or later is needed",
               missing);
    return err;
  }
  if (api::IsModuleNameBusy("weir") != 0) return err;
  api::SetModuleAttribs(context, "weir", version_number(), api_version);
  api::SetModuleOptions(context, option_handles_io_errors);
  use_server_memory();
  if (!read_arguments(context, arguments, count) || !create_type(context) || !add_category(context))
    return err;
  for (const auto table : {filter_commands(), sketch_commands(), state_commands()})
    if (!register_commands(context, table)) return err;
  api::RegisterInfoFunc(context, tell);
  return register_limit(context) ? ok : err;
}

}  // namespace
}  // namespace weir::redis

#define WEIR_VISIBLE extern "C" __attribute__((visibility("default")))

WEIR_VISIBLE int RedisModule_OnLoad(weir::redis::Context* context, weir::redis::String** arguments,
                                    int count) {
  try {
    return weir::redis::load(context, arguments, count);
  } catch (const std::exception& error) {
    weir::redis::api::Log(context, "warning", "weir: %s", error.what());
    return weir::redis::err;
  }
}
