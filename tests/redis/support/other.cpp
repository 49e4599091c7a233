// Another module that has taken a name already: BF.ADD.
#include "api.hpp"

using namespace weir::redis;

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(Context* context, String**,
                                                                         int) {
  if (resolve_api(context) != nullptr) return err;
  api::SetModuleAttribs(context, "other", 1, api_version);
  const auto answer = [](Context* c, String**, int) { return api::ReplyWithNull(c); };
  return api::CreateCommand(context, "BF.ADD", answer, "readonly", 1, 1, 1);
}
