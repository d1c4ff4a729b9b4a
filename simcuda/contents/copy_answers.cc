#include "simcuda/contents/copy_answers.h"

#include <cstring>

namespace memoir::simcuda {
namespace {

thread_local CopyAnswers current{};

}  // namespace

CopyAnswers ExchangeAnswers(const CopyAnswers& answers) {
  const CopyAnswers before = current;
  current = answers;
  return before;
}

bool TakeAnswer(void* to, std::size_t bytes) {
  const bool integer = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (current.count == 0 || !integer) return false;
  const std::uint64_t value = current.values[current.next];
  if (current.next + 1 < current.count) ++current.next;
  std::memcpy(to, &value, bytes);  // the low bytes: NVIDIA's hosts are little-endian
  return true;
}

}  // namespace memoir::simcuda
