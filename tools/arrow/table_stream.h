// libmemoir_arrow.so: a table that `memoir export arrow` wrote as a stream, as the structs of Arrow's C interface that
// pandas, polars, DuckDB and pyarrow take. python/memoir/_tables.py loads it.
//
// The file is mapped and never copied: what a reader gets points into the mapping, which stays as long as anything
// does. Every function may be called on any thread.
#ifndef TOOLS_ARROW_TABLE_STREAM_H_
#define TOOLS_ARROW_TABLE_STREAM_H_

#include <cstddef>
#include <cstdint>

struct ArrowArrayStream;
struct ArrowSchema;

#define MEMOIR_ARROW_API extern "C" __attribute__((visibility("default")))

// Of the file that `fd` is open for, which stays the caller's. 0, or an errno with a line in `message`.
MEMOIR_ARROW_API int memoir_arrow_stream(int fd, ArrowArrayStream* stream, char* message, std::size_t size);
MEMOIR_ARROW_API int memoir_arrow_schema(int fd, ArrowSchema* schema, char* message, std::size_t size);
// Rows of all its batches; -1 with a line in `message`.
MEMOIR_ARROW_API std::int64_t memoir_arrow_rows(int fd, char* message, std::size_t size);

// Memory for a struct in a capsule of Python's, and what the capsule calls at its end. `get_pointer` is
// PyCapsule_GetPointer, by which this library needs no Python to be linked with.
MEMOIR_ARROW_API void* memoir_arrow_allocate(int is_schema);
MEMOIR_ARROW_API void memoir_arrow_release(void* allocated, int is_schema);
// As Arrow's PyCapsule interface has it; lives as long as the process.
MEMOIR_ARROW_API const char* memoir_arrow_capsule_name(int is_schema);
MEMOIR_ARROW_API void memoir_arrow_setup(void* (*get_pointer)(void*, const char*));
MEMOIR_ARROW_API void memoir_arrow_release_stream_capsule(void* capsule);
MEMOIR_ARROW_API void memoir_arrow_release_schema_capsule(void* capsule);

#endif  // TOOLS_ARROW_TABLE_STREAM_H_
