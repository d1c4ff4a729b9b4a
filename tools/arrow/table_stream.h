// libmemoir_arrow.so reads a table that `memoir export arrow` wrote as a stream, and returns the structs of Arrow's C
// interface, which pandas, polars, DuckDB and pyarrow accept. python/_torch_memoir/captures/_tables.py loads the
// library.
//
// The file is mapped and never copied. Arrays point into the mapping, which exists until the last of them is released.
// Every function may be called on any thread.
#ifndef TOOLS_ARROW_TABLE_STREAM_H_
#define TOOLS_ARROW_TABLE_STREAM_H_

#include <cstddef>
#include <cstdint>

struct ArrowArrayStream;
struct ArrowSchema;

#define MEMOIR_ARROW_API extern "C" __attribute__((visibility("default")))

// Opens a stream of the file `fd`, which the caller closes. Returns 0, or an errno with a line in `message`.
MEMOIR_ARROW_API int memoir_arrow_stream(int fd, ArrowArrayStream* stream, char* message, std::size_t size);
MEMOIR_ARROW_API int memoir_arrow_schema(int fd, ArrowSchema* schema, char* message, std::size_t size);
// Returns the number of rows in all batches. -1 with a line in `message` on failure.
MEMOIR_ARROW_API std::int64_t memoir_arrow_rows(int fd, char* message, std::size_t size);

// Allocate a struct for a Python capsule, and release it when the capsule ends.
MEMOIR_ARROW_API void* memoir_arrow_allocate(int is_schema);
MEMOIR_ARROW_API void memoir_arrow_release(void* allocated, int is_schema);
// Returns the name that Arrow's PyCapsule interface defines. Valid as long as the process.
MEMOIR_ARROW_API const char* memoir_arrow_capsule_name(int is_schema);
// `get_pointer` is PyCapsule_GetPointer, passed at run time so that this library does not link with Python.
MEMOIR_ARROW_API void memoir_arrow_setup(void* (*get_pointer)(void*, const char*));
MEMOIR_ARROW_API void memoir_arrow_release_stream_capsule(void* capsule);
MEMOIR_ARROW_API void memoir_arrow_release_schema_capsule(void* capsule);

#endif  // TOOLS_ARROW_TABLE_STREAM_H_
