#include "tools/read/damage.h"

namespace memoir {

std::string ToString(const Damage& damage) {
  return damage.file + ": " + damage.what + " at offset " + std::to_string(damage.offset);
}

}  // namespace memoir
