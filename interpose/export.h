// Marks what libmemoir_interpose.so exports; everything else is compiled hidden, and exports.map has the last word.
#ifndef INTERPOSE_EXPORT_H_
#define INTERPOSE_EXPORT_H_

#define MEMOIR_INTERPOSE_API __attribute__((visibility("default")))

// A variable of each thread that hooks read: at a fixed offset, without a call or an initialisation check at each
// access.
#define MEMOIR_INTERPOSE_THREAD_LOCAL \
  MEMOIR_INTERPOSE_API __attribute__((tls_model("initial-exec"))) constinit thread_local

#endif  // INTERPOSE_EXPORT_H_
