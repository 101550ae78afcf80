import argparse
import hashlib
import sys
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from datafusion import SessionConfig, SessionContext, udaf, udf
from pathlib import Path

# --- the steps ---


def check(path, source):
    """Stops where an input is another file than the one that the result was made from."""
    if not path.is_file():
        sys.exit(f"{path} is missing; name the lake's folder with --lake")
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    if digest.hexdigest() != source["sha256"]:
        sys.exit(f"{path} is not the file that the result was made from: its SHA-256 is {digest.hexdigest()}, not {source['sha256']}")


def put(context, name, table):
    """Makes `table` known to queries as `name`."""
    context.register_record_batches(name, [table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]])


def register(context):
    """Gives DataFusion Lakeward's functions of cells; those called `…_as` also take how a column writes."""
    for name, of, result in FUNCTIONS:

        def of_arrays(cells, how=None, of=of, result=result):
            how = how[0].as_py() if how is not None and len(how) else ""
            return pa.array(of(cells.to_pylist(), how), result)

        for called, arguments in ((name, 1), (f"{name}_as", 2)):
            context.register_udf(udf(of_arrays, [pa.string()] * arguments, result, "immutable", name=called))
    for name, of, state in AGGREGATES:
        number = pa.float64()
        context.register_udaf(udaf(of, [number, number], number, [state], "immutable", name=name))


def run(lake):
    """The result as an Arrow table."""
    for source in SOURCES:
        check(lake / source["file"], source)
    settings = {"datafusion.execution.skip_physical_aggregate_schema_check": "true"}
    context = SessionContext(SessionConfig(settings).with_target_partitions(1))
    context.sql("CREATE SCHEMA session").collect()
    register(context)
    for source in SOURCES:
        if source["format"] == "parquet":
            context.register_parquet(source["table"], str(lake / source["file"]))
        else:
            put(context, source["table"], read_delimited(lake / source["file"], source))
    for name, query in STEPS:
        put(context, name, context.sql(query).to_arrow_table())
    return context.sql(RESULT).to_arrow_table()


def main():
    parser = argparse.ArgumentParser(description="Makes a table again from the files that it was made from.")
    parser.add_argument("--lake", type=Path, default=Path(LAKE), help="the folder of the files, by default %(default)s")
    parser.add_argument("--out", type=Path, help="a file that ends with .csv or .parquet; without one the rows are printed as CSV")
    arguments = parser.parse_args()
    table = run(arguments.lake)
    if arguments.out and arguments.out.suffix == ".parquet":
        pyarrow.parquet.write_table(table, arguments.out)
    elif arguments.out:
        pyarrow.csv.write_csv(table, arguments.out)
    else:
        pyarrow.csv.write_csv(table, sys.stdout.buffer)


if __name__ == "__main__":
    main()
