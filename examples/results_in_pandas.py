#!/usr/bin/env python3
"""Reads results of Cornerstone with pandas: a line for each case, and which launches lie far off.

    examples/results_in_pandas.py results/RUN.jsonl
"""

import sys

import pandas


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # This one line is all that it takes to read a results file.
    records = pandas.read_json(sys.argv[1], lines=True).query("kind == 'measurement'")

    # The first launch of a case is not numbered.
    if "launch" not in records:
        records["launch"] = 0
    records["launch"] = records["launch"].fillna(0).astype(int)
    # Cases of one benchmark and size differ in their parameters: as text they can be grouped by.
    records["parameters"] = [
        " ".join(f"{name}={value}" for name, value in sorted(parameters.items()))
        for parameters in records["parameters"]
    ]
    # Lines of other kinds have no number there, so pandas reads all of a column as floating-point.
    records = records.astype({"ranks": int, "size_bytes": int})
    times = records[records["unit"] == "us"]
    case = ["benchmark", "ranks", "size_bytes", "parameters", "metric"]
    cases = times.groupby(case)["median"].agg(["median", "min", "max", "count"])
    cases["spread"] = cases["max"] / cases["min"]
    print(cases.reset_index().to_string(index=False, float_format=lambda value: f"{value:.3g}"))

    middle = times.groupby(case)["median"].transform("median")
    off = times[(times["median"] > 1.5 * middle)]
    if not off.empty:
        print("\nlaunches that took half as long again as the case's median:")
        print(off[[*case, "launch", "median"]].to_string(index=False))


if __name__ == "__main__":
    main()
