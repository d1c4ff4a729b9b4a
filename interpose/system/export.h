// Macros that mark the functions and variables that libmemoir_interpose.so exports. The compiler hides all other
// symbols. The linker also hides each symbol that exports.map does not list.
#ifndef INTERPOSE_SYSTEM_EXPORT_H_
#define INTERPOSE_SYSTEM_EXPORT_H_

#define MEMOIR_INTERPOSE_API __attribute__((visibility("default")))

// Marks an exported thread-local variable. Hooks read the variable at a fixed offset from the thread pointer, without a
// function call and without a check whether it is initialized.
#define MEMOIR_INTERPOSE_THREAD_LOCAL \
  MEMOIR_INTERPOSE_API __attribute__((tls_model("initial-exec"))) constinit thread_local

#endif  // INTERPOSE_SYSTEM_EXPORT_H_
