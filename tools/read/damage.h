// What a reader could not use, and where it stands. Damage never stops a reader: it uses what comes before.
#ifndef TOOLS_READ_DAMAGE_H_
#define TOOLS_READ_DAMAGE_H_

#include <cstdint>
#include <string>

namespace memoir {

struct Damage {
  std::string file;
  std::uint64_t offset = 0;  // in the file, of the chunk (or of the byte where it was cut)
  std::string what;          // "cut in the middle of a chunk", "checksum does not match", ...
  bool whole_file = false;   // nothing of the file is used: `offset` says nothing
  bool operator==(const Damage&) const = default;
};

// "FILE: WHAT at offset N"; without the offset where it is about the whole file
std::string ToString(const Damage& damage);

}  // namespace memoir

#endif  // TOOLS_READ_DAMAGE_H_
