"""DuckDB and Spark, each with the tables as views of the same names and columns, so that one SQL file runs on both.

Differences between the two are handled here: names of files, unsigned numbers, which Spark does not have, and errors. The columns `step` and `peak_step` become
signed; `rank` comes from the folder's name, and is -1 for processes without a rank.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _torch_memoir.queries import _data

_SIGNED = ("step", "peak_step")
_WITHOUT_RANK = -1
_OF_ALL_RANKS = ("ranks", "summary")  # these have the column `rank` in the file


class EngineError(Exception):
    """The engine failed. The message names the fix."""


class Engine(Protocol):
    name: str

    def read_text(self, path: str) -> str: ...
    def add_table(self, name: str, files: list[str], tables: _data.Tables) -> None: ...
    def run(self, statements: list[str], file: str) -> tuple[list[str], list[tuple[Any, ...]]]: ...


def start(name: str, scratch: str) -> Engine:
    """`scratch`: a folder for data that does not fit into memory."""
    return Spark(scratch) if name == "spark" else DuckDb(scratch)


class DuckDb:
    name = "duckdb"

    def __init__(self, scratch: str) -> None:
        import duckdb

        self._errors = duckdb.Error
        self._of_text = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)  # errors in the query
        self._files: list[str] = []
        self._connection = duckdb.connect(config={"temp_directory": os.path.join(scratch, "duckdb"), "preserve_insertion_order": False})
        # DuckDB takes `python -c` for an interactive session, and after two seconds draws a progress bar into the answer. This setting is not a key of `config`.
        self._connection.execute("SET enable_progress_bar = false")

    def read_text(self, path: str) -> str:
        if "://" not in path:
            return _read_here(path)
        try:
            row = self._connection.execute("SELECT content FROM read_text(?)", [path]).fetchone()
        except self._errors as problem:
            raise EngineError(_first_line(problem)) from None
        if row is None:
            raise FileNotFoundError(path)
        return str(row[0])

    def add_table(self, name: str, files: list[str], tables: _data.Tables) -> None:
        self._files += files
        listed = ", ".join(_quoted(_without_patterns(file)) for file in files)
        is_partition = tables.is_partitioned and name not in _OF_ALL_RANKS
        hive = f"hive_partitioning = {str(is_partition).lower()}"
        source = f"read_parquet([{listed}], {hive}{', hive_types = {rank: BIGINT}' if is_partition else ''})"
        try:
            columns = [str(row[0]) for row in self._connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()]
            shown = ", ".join(f'TRY_CAST("{column}" AS BIGINT) AS "{column}"' if column in _SIGNED else f'"{column}"' for column in columns if column != "rank")
            self._connection.execute(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {_with_rank(name, shown, source, tables)}")
        except self._errors as problem:
            raise EngineError(_first_line(problem)) from None

    def run(self, statements: list[str], file: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        try:
            for statement in statements:
                self._connection.execute(statement)
            return [str(column[0]) for column in self._connection.description], self._connection.fetchall()
        except self._errors as problem:
            damaged = "" if isinstance(problem, self._of_text) else self._damaged_file()
            raise EngineError(f"{damaged or os.path.basename(file)}: {_first_line(problem)}{'; export it again' if damaged else ''}") from None

    def _damaged_file(self) -> str:
        """The first file that cannot be read to its end: DuckDB's errors do not name it."""
        for file in self._files:
            try:
                self._connection.execute(f"SELECT count(COLUMNS(*)) FROM read_parquet({_quoted(_without_patterns(file))})").fetchall()
            except self._errors:
                return file
        return ""


class Spark:
    name = "spark"

    def __init__(self, scratch: str) -> None:
        from pyspark.errors import PySparkException

        self._errors = (PySparkException,)
        logging.disable()  # PySpark's own messages, which repeat each error as JSON
        if not (os.environ.get("JAVA_HOME") or shutil.which("java") or os.environ.get("SPARK_REMOTE")):
            raise EngineError("Spark needs Java 17 or later, which is not here: install openjdk-17-jre-headless (Debian, Ubuntu), or set JAVA_HOME")
        with _kept_quiet(scratch) as said:
            try:
                self._session = _session(scratch)
            except Exception as problem:  # errors of py4j and of Spark's launcher
                last = [line for line in said() if line.strip()][-3:]
                raise EngineError("\n".join(["cannot start Spark:", _first_line(problem), *last])) from None

    def read_text(self, path: str) -> str:
        if "://" not in path:
            return _read_here(path)
        context, jvm = self._session.sparkContext, self._session._jvm  # Spark's readers skip names that begin with _
        place = jvm.org.apache.hadoop.fs.Path(path)
        files = place.getFileSystem(context._jsc.hadoopConfiguration())
        if not files.exists(place):
            raise FileNotFoundError(path)
        stream = files.open(place)
        try:
            return str(jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def add_table(self, name: str, files: list[str], tables: _data.Tables) -> None:
        is_partition = tables.is_partitioned and name not in _OF_ALL_RANKS
        reader = self._session.read
        if is_partition:
            reader = reader.option("basePath", _for_spark(re.sub(r"/rank=[^/]*/[^/]*$", "", files[0]), is_pattern=False))
        try:
            frame = reader.parquet(*map(_for_spark, files))
            for column in frame.columns:
                if column in _SIGNED:
                    frame = frame.withColumn(column, frame[column].try_cast("bigint"))
            frame.createOrReplaceTempView(f"read_{name}")
            shown = ", ".join(f"`{column}`" for column in frame.columns if column != "rank")
            self._session.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {_with_rank(name, shown, f'read_{name}', tables)}")
        except self._errors as problem:
            raise EngineError(_first_line(problem)) from None

    def run(self, statements: list[str], file: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        try:
            for statement in statements[:-1]:
                self._session.sql(statement)
            frame = self._session.sql(statements[-1])
            return list(frame.columns), [tuple(row) for row in frame.collect()]
        except self._errors as problem:
            raise EngineError(f"{os.path.basename(file)}: {_first_line(problem)}") from None


def _with_rank(name: str, columns: str, source: str, tables: _data.Tables) -> str:
    """Adds the column `rank` of each row's process to a table that is not divided by ranks. Modules are the same for all ranks."""
    if name in _OF_ALL_RANKS:
        rank = f"coalesce(rank, {_WITHOUT_RANK})"
        whole = f" WHERE {rank} NOT IN ({', '.join(map(str, tables.left_out_ranks))})" if tables.left_out_ranks else ""
        return f"SELECT {rank} AS rank, {columns} FROM {source}{whole}"
    if tables.is_partitioned:
        return f"SELECT CAST(rank AS BIGINT) AS rank, {columns} FROM {source}"
    if name == "modules":
        return f"SELECT known.rank AS rank, {columns} FROM {source} CROSS JOIN (SELECT DISTINCT rank FROM ranks) AS known"
    known = "(SELECT process AS number, rank FROM ranks) AS known ON known.number = of_process.process"
    return f"SELECT known.rank AS rank, of_process.* FROM (SELECT {columns} FROM {source}) AS of_process LEFT JOIN {known}"


def _session(scratch: str) -> Any:
    """Uses a master that the user configured (spark-defaults.conf, PYSPARK_SUBMIT_ARGS, SPARK_REMOTE), else this machine."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("memoir query")
    if os.environ.get("SPARK_REMOTE"):
        return builder.getOrCreate()
    SparkContext._ensure_initialized()
    configured = SparkConf()
    if not configured.contains("spark.master"):
        here = {"spark.ui.enabled": "false", "spark.local.dir": scratch, "spark.sql.warehouse.dir": scratch, "spark.sql.shuffle.partitions": "8"}
        builder = builder.master("local[*]")
        for name, value in here.items():
            if not configured.contains(name):
                builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextlib.contextmanager
def _kept_quiet(scratch: str) -> Iterator[Any]:
    """Redirects what Java and Spark log during their start to a file; `said()` reads it."""
    with tempfile.TemporaryFile(dir=scratch) as log:
        kept = os.dup(2)

        def said() -> list[str]:
            log.seek(0)
            return log.read().decode("utf-8", "replace").splitlines()

        os.dup2(log.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _read_here(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _without_patterns(path: str) -> str:
    """Escapes a path, because DuckDB reads it as a pattern."""
    return path if "://" in path else re.sub(r"([*?\[])", r"[\1]", path)


def _for_spark(path: str, is_pattern: bool = True) -> str:
    """Escapes a path for Spark; basePath is not a pattern. Adds the scheme "file:", because Spark's default file system may not be local."""
    if "://" in path:
        return path
    whole = os.path.abspath(path)
    return "file:" + (re.sub(r"([*?{}\[\]\\])", r"\\\1", whole) if is_pattern else whole)


def _first_line(problem: BaseException) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return lines[0] if lines else type(problem).__name__
