// Marks what libmemoir_interpose.so exports; everything else is compiled hidden, and exports.map has the last word.
#ifndef INTERPOSE_EXPORT_H_
#define INTERPOSE_EXPORT_H_

#define MEMOIR_INTERPOSE_API __attribute__((visibility("default")))

#endif  // INTERPOSE_EXPORT_H_
