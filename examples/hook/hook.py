"""A Candy becomes one ConfigMap for each of its flavors: the function of a controller, in Python, behind HTTP."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


def sync(parent, children):
    name = parent["metadata"]["name"]
    wrapper = lambda flavor: {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-{flavor}"},
        "data": {"flavor": flavor},
    }
    return {
        "children": [wrapper(flavor) for flavor in parent["spec"]["flavors"]],
        "status": {"wrappers": len(children["ConfigMap.v1"])},
    }


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = json.dumps(sync(request["parent"], request["children"])).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Hook)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
