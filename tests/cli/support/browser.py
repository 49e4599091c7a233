"""Chromium without a window, spoken to over a pipe (the DevTools protocol)."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time

COMMAND = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
           "--no-first-run", "--hide-scrollbars", "--disable-background-networking", "--disable-extensions",
           "--remote-debugging-pipe"]


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.to = os.pipe()
        self.answers, theirs_out = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash", *COMMAND,
             f"--user-data-dir={self.profile.name}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        page = next(target for target in self.call("Target.getTargets")["targetInfos"]
                    if target["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.answers)
        self.profile.cleanup()

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message(60)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message(60))

    def show(self, address, width, height=800, phone=False, media=""):
        """Loads a page as it looks on a screen of this width, or on paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", media=media)
        self.events = []
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def run(self, script):
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                         awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"])
        return done["result"].get("value")

    def complaints(self):
        """Errors on the console, and addresses asked for beside the page itself."""
        self.run("new Promise(done => setTimeout(done, 50))")
        found, pages = [], 0
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(what["exceptionDetails"].get("text", "exception"))
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
                found.append(f"console: {what['args']}")
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                pages += what.get("type") == "Document"
                address = what["request"]["url"]
                if not address.startswith("data:") and (what.get("type") != "Document" or pages > 1):
                    found.append(f"asks for {address}")
        return found

    def picture(self, path):
        height = self.run("document.documentElement.scrollHeight")
        width = self.run("document.documentElement.clientWidth")
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def paper(self):
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True,
                                          paperWidth=8.27, paperHeight=11.69)["data"])
