// Macros that mark the functions and variables that libmemoir_interpose.so exports. All other symbols are compiled
// hidden; exports.map removes every symbol that it does not list.
#ifndef INTERPOSE_SYSTEM_EXPORT_H_
#define INTERPOSE_SYSTEM_EXPORT_H_

#define MEMOIR_INTERPOSE_API __attribute__((visibility("default")))

// A thread-local variable that hooks read at a fixed offset from the thread pointer, without a function call and
// without a check of its initialization.
#define MEMOIR_INTERPOSE_THREAD_LOCAL \
  MEMOIR_INTERPOSE_API __attribute__((tls_model("initial-exec"))) constinit thread_local

#endif  // INTERPOSE_SYSTEM_EXPORT_H_
