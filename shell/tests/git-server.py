"""A git remote over https for the tests: files of a folder for whoever has the token, and each request on standard output.

Usage: git-server.py FOLDER CERTIFICATE KEY [ELSEWHERE]. The token is in GIT_SERVER_TOKEN; without one everybody may read.
What lies below /moved/ is said to be at ELSEWHERE, to whoever has the token. Prints its port first.
"""

import base64
import http.server
import os
import ssl
import sys

folder, certificate, key = sys.argv[1:4]
elsewhere = sys.argv[4] if len(sys.argv) > 4 else ""
token = os.environ.get("GIT_SERVER_TOKEN", "")
wanted = "Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode()


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=folder)

    def do_GET(self):
        said = self.headers.get("Authorization")
        print(self.path, "with credentials" if said else "without", flush=True)
        if token and said != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", elsewhere + self.path[len("/moved") :])
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
