"""The output of generate_stubs.py for declarations as in headers."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "simcuda"))
import generate_stubs as stubs  # noqa: E402

HEADER = '''
typedef struct thing_st { int a; void (*call)(int); } thing_t;
typedef int (*xCallback)(void* data);
enum xKind { xOne = 1, xTwo };
static inline int xInline(int a) { return a; }
extern __attribute__((visibility("default"))) int xPlain(void);
int xTwoLines(const float *a,
              unsigned count, thing_t *out);
extern "C" {
int xArray(int n, const int sizes[], size_t dims[3]);
const char* xName(int);
int xUnnamed(const float*, unsigned int, struct thing_st *);
int xTakes(void (*fn)(void* user, int), void* user);
}
'''


def found():
    return stubs.prototypes(HEADER, r"x[A-Z]\w*")


def test_every_declared_function_and_nothing_else():
    assert sorted(found()) == ["xArray", "xName", "xPlain", "xTakes", "xTwoLines", "xUnnamed"]


def test_parameters():
    assert found()["xPlain"] == ("int", [])
    assert found()["xTwoLines"] == ("int", ["const float *a", "unsigned count", "thing_t *out"])
    assert found()["xName"] == ("const char*", ["int"])
    assert found()["xTakes"][1] == ["void (*fn)(void* user, int)", "void* user"]


def test_names_are_kept_or_given():
    assert stubs.named("unsigned count", 1) == ("unsigned", "count", "unsigned count")
    assert stubs.named("unsigned int", 1) == ("unsigned int", "p1", "unsigned int p1")
    assert stubs.named("struct thing_st *", 2) == ("struct thing_st *", "p2", "struct thing_st * p2")
    assert stubs.named("const float *a", 0) == ("const float *", "a", "const float *a")
    assert stubs.named("size_t dims[3]", 0)[2] == "size_t dims[3]"


def body(name, result, parameters, statuses):
    return stubs.body(0, name, result, [stubs.named(p, i) for i, p in enumerate(parameters)], statuses)


def test_the_driver_answers_not_supported_where_a_result_is_asked_for():
    statuses = {"CUresult": ("CUDA_SUCCESS", "CUDA_ERROR_NOT_SUPPORTED")}
    assert body("cuDo", "CUresult", ["CUstream s", "const int *values", "void *data"], statuses).endswith("return CUDA_SUCCESS;")
    assert body("cuAsk", "CUresult", ["int *value"], statuses).endswith("return CUDA_ERROR_NOT_SUPPORTED;")
    assert body("cuMemPoolGetAttribute", "CUresult", ["void *value"], statuses).endswith("return CUDA_ERROR_NOT_SUPPORTED;")


def test_other_libraries_create_free_and_want_no_workspace():
    assert "OutHandle(h)" in body("cublasCreate_v2", "cublasStatus_t", ["cublasHandle_t *h"], {})
    assert "FreeHandle(h)" in body("cublasDestroy_v2", "cublasStatus_t", ["cublasHandle_t h"], {})
    assert "*lwork = 0" in body("cusolverDnSgeqrf_bufferSize", "cusolverStatus_t", ["int m", "int *lwork"], {})
    assert "info" not in body("cusolverDnSgeqrf", "cusolverStatus_t", ["int m", "int *info"], {})


def test_what_computes_is_work_on_its_stream():
    gemm = body("cublasSgemm_v2", "cublasStatus_t", ["cublasHandle_t handle", "int n", "float *C"], {})
    assert "QueueWorkOf(handle);" in gemm
    assert "QueueWorkOf(handle);" in body("cusolverDnSgetrf", "cusolverStatus_t", ["cusolverDnHandle_t handle", "int m"], {}), "getrf gets nothing"
    assert "QueueWorkOn(stream);" in body("cublasLtMatmul", "cublasStatus_t", ["cublasLtHandle_t h", "void *C", "cudaStream_t stream"], {})
    assert "SetStreamOf(h, s);" in body("cusparseSetStream", "cusparseStatus_t", ["cusparseHandle_t h", "cudaStream_t s"], {})
    for name in ("cublasSetPointerMode_v2", "cublasGetVersion_v2", "cusolverDnSgetrf_bufferSize", "cublasDestroy_v2"):
        assert "Work" not in body(name, "cublasStatus_t", ["cublasHandle_t handle", "int *out"], {}), name
    assert "Work" not in body("cudaLaunch", "cudaError_t", ["int n", "cudaStream_t stream"], {"cudaError_t": ("cudaSuccess", "cudaErrorNotSupported")})


def test_every_stand_in_counts_itself():
    assert body("cublasGemm", "cublasStatus_t", [], {}).startswith("calls[0].Count();")
