#include "tools/read/damage.h"

namespace memoir {

std::string ToString(const Damage& damage) {
  if (damage.whole_file) return damage.file + ": " + damage.what;
  return damage.file + ": " + damage.what + " at offset " + std::to_string(damage.offset);
}

}  // namespace memoir
