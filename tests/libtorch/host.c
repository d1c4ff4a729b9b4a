// libtorch_host LIBRARY [DEVICE]: loads the library, and calls its function `train`.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* library = count > 1 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
  if (dlsym(library, "no_such_function") != NULL || dlerror() == NULL) return 3;
  int (*train)(const char*) = (int (*)(const char*))dlsym(library, "train");
  if (train == NULL || dlerror() != NULL) return 4;
  const int failed = train(count > 2 ? arguments[2] : "cpu");
  printf("%s\n", failed ? "failed" : "trained");
  return failed;
}
