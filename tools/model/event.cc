#include "tools/model/event.h"

namespace memoir {

std::string_view ToString(RangeSource source) {
  switch (source) {
    case RangeSource::kFunction:
      return "function";
    case RangeSource::kBackward:
      return "backward";
    case RangeSource::kUser:
      return "user";
    case RangeSource::kDispatch:
      return "dispatch";
  }
  return "function";
}

}  // namespace memoir
