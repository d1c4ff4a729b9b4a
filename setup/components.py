"""Components of other projects that a wheel or an installed tree may contain, with their licences (SPDX expressions): the table of setup/sbom.py.

A library that is linked or included and is not here fails the bill of materials, and a licence that is not in the allow-list of
tests/rules/licence_rules.py fails that rule; NOTICE has each by its name here.
"""

# Debian's source packages. Archives are linked statically; of those without an archive the headers are compiled in.
LIBRARIES = {
    "abseil": ("Abseil", "Apache-2.0"),
    "bzip2": ("bzip2", "bzip2-1.0.6"),
    "cli11": ("CLI11", "BSD-3-Clause"),
    "elfutils": ("elfutils", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "fmtlib": ("{fmt}", "MIT"),
    "libsodium": ("libsodium", "ISC"),
    "libstb": ("stb", "MIT OR Unlicense"),
    "libzstd": ("Zstandard", "BSD-3-Clause"),
    "nlohmann-json3": ("nlohmann/json", "MIT"),
    "protobuf": ("Protocol Buffers", "BSD-3-Clause"),
    "protozero": ("protozero", "BSD-2-Clause"),
    "sqlite3": ("SQLite", "blessing"),
    "xxhash": ("xxHash", "BSD-2-Clause"),
    "xz-utils": ("liblzma", "LicenseRef-public-domain"),
    "zlib": ("zlib", "Zlib"),
}

# Components in the repository: folder or file -> name, licence, and the file and pattern that contain the version.
VENDORED = {
    "third_party/nanoarrow/nanoarrow": ("nanoarrow", "Apache-2.0", "third_party/nanoarrow/nanoarrow/nanoarrow.h", r'NANOARROW_VERSION "([0-9.]+)"'),
    "third_party/nanoarrow/flatcc": ("flatcc", "Apache-2.0 AND MIT", None, None),  # the bundle does not contain its version
    "tools/view/picture/font/DejaVuSans.ttf": ("DejaVu Sans", "Bitstream-Vera", None, None),
}

# Headers of Python's packages, whose inline code is compiled in.
WHEEL_HEADERS = {
    "nvidia-nvtx": ("NVTX", "Apache-2.0 WITH LLVM-exception"),
    "torch": ("PyTorch", "BSD-3-Clause"),
}

# Files that the build makes of such ones.
GENERATED = {"font_file.cc": "tools/view/picture/font/DejaVuSans.ttf"}

# libstdc++: its templates are compiled in, and it is linked statically into the simulated device; the licence's exception allows any terms for that.
TOOLCHAIN = {f"gcc-{version}": ("GCC", "GPL-3.0-or-later WITH GCC-exception-3.1") for version in range(8, 17)}

# Declarations alone, to compile against: nothing of them is in what is built, or it is the system's where that runs.
DECLARATIONS = ("glibc", "linux", "nvidia-cublas", "nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-cupti", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime",
                "nvidia-cudnn-cu13", "nvidia-cufft", "nvidia-cufile", "nvidia-curand", "nvidia-cusolver", "nvidia-cusparse", "nvidia-cusparselt-cu13",
                "nvidia-nccl-cu13", "nvidia-nvjitlink", "nvidia-nvshmem-cu13")
