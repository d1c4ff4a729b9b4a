"""The Python part of `memoir query`: runs an SQL file on the tables of `memoir export parquet`, with DuckDB or Spark (docs/queries.md).

The program `memoir` finds a Python that has the engine, and calls main. Nothing else imports this package, and it imports no other package of Memoir.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from _torch_memoir.queries import _data, _engines, _sql, _text


def main(arguments: dict[str, Any]) -> int:
    """`arguments`: "data", "sql" (a file), "views" (a folder), "engine", "json", "top" and "program" (memoir). Returns the exit code."""
    try:
        with tempfile.TemporaryDirectory(prefix="memoir-query-", ignore_cleanup_errors=True) as scratch:
            document = run(arguments, scratch)
            _write(document, arguments)
    except (_data.DataError, _engines.EngineError, _sql.QueryError) as problem:
        _say(str(problem))
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # otherwise Python would report the error again when it exits
        return 141
    return 0


def run(arguments: dict[str, Any], scratch: str, engine: _engines.Engine | None = None) -> dict[str, Any]:
    """The answer, as --json writes it. Several queries can share one `engine`: Spark takes seconds to start."""
    query = _sql.read(arguments["sql"], arguments["views"])
    folder = _data.folder_of(arguments["data"], query.tables, arguments["program"], scratch, _say)
    engine = engine or _engines.start(arguments["engine"], scratch)
    tables = _data.find(folder, query.tables, engine.read_text)
    for line in tables.remarks:
        _say(line)
    for name, files in tables.files.items():
        engine.add_table(name, files, tables)
    columns, rows = engine.run([*query.views, query.text], arguments["sql"])
    return {
        "version": 1,
        "view": "query",
        "query": os.path.splitext(os.path.basename(arguments["sql"]))[0],
        "engine": engine.name,
        "missing_ranks": tables.missing_ranks,
        "left_out_ranks": tables.left_out_ranks,
        "columns": columns,
        "rows": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def _write(document: dict[str, Any], arguments: dict[str, Any]) -> None:
    if arguments["json"]:
        json.dump(document, sys.stdout, indent=1, ensure_ascii=True)
        print()
    else:
        print(_text.table(document["columns"], document["rows"], arguments["top"]), end="")
    sys.stdout.flush()


def _say(line: str) -> None:
    sys.stdout.flush()
    print("\n".join(f"memoir: {_text.escaped(one)}" for one in line.splitlines()), file=sys.stderr)
