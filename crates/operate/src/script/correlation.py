import math
import sys
import pyarrow as pa
from datafusion import Accumulator

# --- the correlation, from deviations of a running mean: DataFusion's subtracts sums of squares where it computes groups ---


class Correlation(Accumulator):
    def __init__(self):
        self.pairs = []

    def update(self, y, x):
        self.pairs += [pair for pair in zip(y.to_pylist(), x.to_pylist()) if None not in pair]

    def state(self):
        return [pa.scalar([v for pair in self.pairs for v in pair], pa.list_(pa.float64()))]

    def merge(self, states):
        states = states[0] if isinstance(states, list) else states
        for flat in states.to_pylist():
            self.pairs += zip(flat[::2], flat[1::2])

    def evaluate(self):
        many = len(self.pairs)
        means = [math.fsum(side) / many for side in zip(*self.pairs)]
        deviations = [[value - mean for value in side] for side, mean in zip(zip(*self.pairs), means)]
        squares = [math.fsum(d * d for d in side) for side in deviations]
        varies = all(s > many * (m * sys.float_info.epsilon) ** 2 for s, m in zip(squares, means))
        if many < 2 or not varies:
            return pa.scalar(None, pa.float64())
        products = math.fsum(y * x for y, x in zip(*deviations))
        return pa.scalar(products / math.sqrt(squares[0]) / math.sqrt(squares[1]), pa.float64())
