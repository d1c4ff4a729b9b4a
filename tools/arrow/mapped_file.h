// A file that is mapped into memory. The mapping ends when the last buffer that shares a part of it is released.
#ifndef TOOLS_ARROW_MAPPED_FILE_H_
#define TOOLS_ARROW_MAPPED_FILE_H_

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nanoarrow/nanoarrow.h"

namespace memoir {

class MappedFile {
 public:
  // Maps the file. nullptr on failure; errno contains the reason.
  static std::shared_ptr<const MappedFile> MapDescriptor(int fd) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return nullptr;
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (size == 0) {
      errno = ENODATA;
      return nullptr;
    }
    void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    return data == MAP_FAILED ? nullptr : std::make_shared<const MappedFile>(static_cast<std::uint8_t*>(data), size);
  }

  MappedFile(std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  ~MappedFile() { munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::uint8_t* data() const { return data_; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  // Returns a part as a buffer, which nanoarrow may keep and release on any thread.
  static ArrowBuffer ShareBuffer(const std::shared_ptr<const MappedFile>& file, std::int64_t begin, std::int64_t size) {
    ArrowBuffer buffer;
    ArrowBufferInit(&buffer);
    buffer.data = file->data_ + begin;
    buffer.size_bytes = buffer.capacity_bytes = size;
    buffer.allocator = ArrowBufferDeallocator(
        [](ArrowBufferAllocator* allocator, std::uint8_t*, std::int64_t) {
          delete static_cast<std::shared_ptr<const MappedFile>*>(allocator->private_data);
          allocator->private_data = nullptr;
        },
        new std::shared_ptr<const MappedFile>(file));
    return buffer;
  }

 private:
  std::uint8_t* data_;
  std::size_t size_;
};

}  // namespace memoir

#endif  // TOOLS_ARROW_MAPPED_FILE_H_
