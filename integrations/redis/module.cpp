// weir.so: the server finds RedisModule_OnLoad by its name.
//
//   loadmodule weir.so [max-bytes-per-key BYTES] [noaliases] [cms-seed HEX]
#include <charconv>
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

bool aliases = true;  // the BF.* and CMS.* commands

bool read_argument(std::string_view name, String* value) {
  if (value == nullptr) return false;
  if (name == "max-bytes-per-key") {
    long long bytes = 0;
    if (api::StringToLongLong(value, &bytes) != ok) return false;
    max_bytes_per_key = bytes;
    return bytes >= least_limit && bytes <= most_limit;
  }
  std::size_t size;
  const char* const hex = api::StringPtrLen(value, &size);
  const auto [end, error] = std::from_chars(hex, hex + size, count_min_seed, 16);
  return name == "cms-seed" && error == std::errc() && end == hex + size;
}

bool read_arguments(Context* context, String** arguments, int count) {
  for (int i = 0; i < count; ++i) {
    std::size_t bytes;
    const char* const begin = api::StringPtrLen(arguments[i], &bytes);
    const std::string_view name(begin, bytes);
    if (name == "noaliases") {
      aliases = false;
      continue;
    }
    ++i;
    if (!read_argument(name, i < count ? arguments[i] : nullptr)) {
      api::Log(context, "warning",
               "weir: the module takes max-bytes-per-key BYTES, from %lld to %lld; noaliases; "
               "cms-seed HEX, 1 to 16 hexadecimal digits",
               least_limit, most_limit);
      return false;
    }
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
    if (!register_commands(context, table, "another module has that name?")) return err;
  for (const auto table : {bloom_commands(), bloom_chunk_commands(), count_min_commands()})
    if (aliases && !register_commands(context, table,
                                      "another module has that name; load this one with "
                                      "`noaliases` to leave BF.* and CMS.* to it"))
      return err;
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
