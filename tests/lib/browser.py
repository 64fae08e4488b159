# SPDX-License-Identifier: GPL-2.0-only
"""Chromium without a window, for tests of pages.

It is driven by the DevTools protocol over two pipes: JSON messages that end with NUL.
"""

import base64
import json
import os
import subprocess

KEYS = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


class Browser:
    def __init__(self, directory):
        command_read, self._commands = os.pipe()
        self._answers, answer_write = os.pipe()
        # Chromium reads its commands from descriptor 3 and writes to 4.
        self._process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (command_read, answer_write), "sh", "chromium",
             "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(directory, "profile"), "about:blank"],
            pass_fds=(command_read, answer_write), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self._stream = os.fdopen(self._answers, "rb")
        self._number, self._rest, self.messages = 0, b"", []
        target = next(each for each in self._call("Target.getTargets", None)["targetInfos"]
                      if each["type"] == "page")
        self._session = self._call("Target.attachToTarget", None, targetId=target["targetId"],
                                   flatten=True)["sessionId"]
        for domain in "Page", "Runtime":
            self.call(domain + ".enable")

    def close(self):
        self._call("Browser.close", None)
        self._process.wait()
        os.close(self._commands)
        self._stream.close()

    def _receive(self):
        while b"\0" not in self._rest:
            part = self._stream.read1(1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
            self.messages.append(message["params"])
        return message

    def _call(self, method, session, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._commands, data):]
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def call(self, method, **parameters):
        return self._call(method, self._session, **parameters)

    def open_page(self, path, width=1280, height=900, mode="light", script=True):
        """Open a page in a window of this size; the console's messages are in self.messages."""
        self.messages = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": mode}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.call("Page.navigate", url="file://" + path)
        while self._receive().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def press_key(self, key, count=1, **parameters):
        """Press a key: its name, or a character."""
        for _ in range(count):
            for kind in "keyDown", "keyUp":
                self.call("Input.dispatchKeyEvent", type=kind, key=key,
                          windowsVirtualKeyCode=KEYS.get(key, ord(key[0])),
                          **({"text": "\r"} if key == "Enter" else
                             {} if key in KEYS else {"text": key}), **parameters)

    def centre_of(self, expression):
        return self.evaluate(
            "(() => { const e = %s; e.scrollIntoView({block: 'center'}); "
            "const r = e.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
            % expression)

    def send_mouse_event(self, kind, at, **parameters):
        self.call("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], **parameters)

    def hover(self, expression):
        self.send_mouse_event("mouseMoved", self.centre_of(expression))

    def click(self, expression):
        at = self.centre_of(expression)
        for kind in "mousePressed", "mouseReleased":
            self.send_mouse_event(kind, at, button="left", clickCount=1)

    def drag(self, begin, end):
        self.send_mouse_event("mousePressed", begin, button="left", clickCount=1)
        self.send_mouse_event("mouseMoved", end, button="left", buttons=1)
        self.send_mouse_event("mouseReleased", end, button="left", clickCount=1)

    def save_screenshot(self, path, whole=True):
        parameters = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters = {"captureBeyondViewport": True,
                          "clip": {**size, "height": min(size["height"], 12000), "scale": 1}}
        picture = self.call("Page.captureScreenshot", **parameters)["data"]
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(picture))
