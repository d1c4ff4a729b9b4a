# Where things lie in an installed tree. Everything is found relative to bin/memoir, so the tree can be moved.
#   bin/memoir   lib/memoir/*.so   libexec/memoir/memoir-drain   lib/memoir/python/memoir/
set(MEMOIR_LIB_DIR "lib/memoir")
set(MEMOIR_LIBEXEC_DIR "libexec/memoir")
set(MEMOIR_PYTHON_DIR "lib/memoir/python")
