#include "api.hpp"

#include <cstring>

namespace weir::redis {
namespace api {
#define WEIR_DEFINE(result, name, arguments) result(*name) arguments = nullptr;
WEIR_REDIS_API(WEIR_DEFINE, WEIR_DEFINE)
#undef WEIR_DEFINE
}  // namespace api

const char* resolve_api(Context* context) {
  using GetApi = int (*)(const char* name, void* where);
  void* first;
  std::memcpy(&first, context, sizeof first);
  const auto get = reinterpret_cast<GetApi>(first);
  const char* missing = nullptr;
#define WEIR_RESOLVE(result, name, arguments) \
  if (get("RedisModule_" #name, static_cast<void*>(&api::name)) != ok) missing = #name;
#define WEIR_TRY(result, name, arguments) \
  static_cast<void>(get("RedisModule_" #name, static_cast<void*>(&api::name)));
  WEIR_REDIS_API(WEIR_RESOLVE, WEIR_TRY)
#undef WEIR_RESOLVE
#undef WEIR_TRY
  return missing;
}

}  // namespace weir::redis
