"""Calls of the logic by a worker. Its container has no credentials, and sees of the worker only the files of its calls.

A program is started anew for each call, by a shell in its container that reads from a pipe, one a line:

    begin                 there is a new worker: ends all calls
    run DIRECTORY KEY     starts the program; its output goes to the file output
    kill DIRECTORY        ends it with all that it has started
    stop                  ends the shell

and writes to another pipe: "DIRECTORY runs" when it has read the call, "DIRECTORY CODE" with the exit code of the program when
it has ended, and "started" when the container itself has. Both sides begin with an empty line, because the program can write to
the pipes, too. A hook is a server that the container runs all the time; a call is an HTTP request to it.
"""
import http.client
import os
import secrets
import shutil
import threading
import time

from api import Failed
from hook import RESPONSE_LIMIT
from report import last_output

OUTPUT_LIMIT = 64 << 10  # bytes of the output that are read, from its end
START_PAUSE = 0.2         # seconds before a hook that does not listen yet is called again
RESTARTED = "started"    # what the shell writes when its container has started


class Call:
    """A call whose program runs, or will."""

    def __init__(self):
        self.ended, self.runs, self.code = threading.Event(), False, None


class Programs:
    """Starts the program for each call."""

    def __init__(self, workspace, seconds):
        self.workspace, self.seconds, self.lock, self.open = workspace, seconds, threading.Lock(), {}
        self.calls = pipe(os.path.join(workspace, "calls"), os.O_NONBLOCK)
        self.ends = pipe(os.path.join(workspace, "ends"))
        threading.Thread(target=self._listen, daemon=True).start()
        self._tell("begin")

    def call(self, run):
        """Runs the program on the request of a reconcile. Returns why it failed, or ""."""
        directory = os.path.dirname(run.env["ARGOPERATOR_REQUEST"])
        return self._failure(directory, *self.start(os.path.basename(directory), run.key))

    def start(self, name, key):
        """Runs the program in a directory. Returns whether it ended in time, and its exit code, or None."""
        call = Call()
        with self.lock:
            self.open[name] = call
        try:
            in_time = self._tell(f"run {name} {key}") and call.ended.wait(self.seconds)
            if not in_time:
                self._tell(f"kill {name}")
                call.ended.wait(5 if call.runs else 0)
            return in_time, call.code
        finally:
            with self.lock:
                del self.open[name]

    def _failure(self, directory, in_time, code):
        if in_time and code == 0:
            return ""
        output = end_of(os.path.join(directory, "output"))
        if not in_time:
            return f"logic: stopped after {self.seconds:g} s" + (": " + last_output(f"): {output}")[3:] if output else "")
        if code is None:
            return "logic: its container was restarted, for example because it took more memory than logic.resources allows"
        return last_output(f"logic: Error (exit code {code}): {output}")

    def close(self):
        """Ends the container."""
        self._tell("stop")

    def _tell(self, line):
        """Writes a line. Returns whether there is room for it."""
        try:
            os.write(self.calls, f"\n{line}\n".encode())
            return True
        except BlockingIOError:
            return False

    def _listen(self):
        text = b""
        while True:
            *lines, text = (text + os.read(self.ends, 4096)).split(b"\n")
            text = text[-100:]
            for line in lines:
                self._note(line.decode("utf-8", "replace"))

    def _note(self, line):
        """Wakes a call that has ended; all that ran after a restart of the container."""
        name, _, code = line.partition(" ")
        with self.lock:
            call = self.open.get(name)
            if line == RESTARTED:
                for one in self.open.values():
                    if one.runs:
                        one.ended.set()
            elif call and code == "runs":
                call.runs = True
            elif call and code.isdecimal() and len(code) < 4:
                call.code = int(code)
                call.ended.set()


def pipe(path, flags=0):
    """Opens a named pipe, which is made if it is not there. Opened for both directions, it never ends."""
    try:
        os.mkfifo(path, 0o660)
    except FileExistsError:
        pass
    return os.open(path, os.O_RDWR | os.O_NOFOLLOW | flags)


def end_of(path):
    """The last part of a file that the logic may have replaced."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(handle, "rb") as file:
        try:
            file.seek(max(0, os.fstat(handle).st_size - OUTPUT_LIMIT))
            return file.read(OUTPUT_LIMIT).decode("utf-8", "replace")
        except OSError:
            return ""


class Stopped(Failed):
    """The pod ends, and so does the logic: another worker reconciles again."""


class Hook:
    """Sends the request to a server in the logic's container."""

    def __init__(self, logic):
        self.port, self.seconds, self.kept = logic["port"], logic["seconds"], threading.local()
        self.paths = logic["path"], logic["finalizePath"]
        self.stopping = False  # the server ends at the same time, maybe earlier

    def call(self, run):
        """Sends the request of a reconcile. Returns why it failed, or ""."""
        with open(run.env["ARGOPERATOR_REQUEST"], "rb") as file:
            request = file.read()
        try:
            status, text = self._answer(self.paths[run.finalizing], request, time.monotonic() + self.seconds)
        except TimeoutError:
            return f"logic: no answer on port {self.port} after {self.seconds:g} s"
        except (OSError, http.client.HTTPException) as error:
            return f"logic: no answer on port {self.port}: {str(error) or repr(error)}"
        if status != 200:
            return last_output(f"logic: Error (status {status}): {text[-OUTPUT_LIMIT:].decode('utf-8', 'replace')}")
        with open(run.env["ARGOPERATOR_RESPONSE"], "wb") as file:
            file.write(text)
        return ""

    def _answer(self, path, request, until):
        """The status and the body. Tries again while the server starts, where it has closed the connection of an earlier call,
        and once where it closes a new one."""
        again = True
        while True:
            connection = getattr(self.kept, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self.kept.connection = http.client.HTTPConnection("127.0.0.1", self.port)
            try:
                return self._once(connection, path, request, until)
            except (OSError, http.client.HTTPException) as error:
                self._drop()
                if isinstance(error, TimeoutError):
                    raise
                if fresh:
                    refused = isinstance(error, ConnectionRefusedError)
                    if not (again or refused) or time.monotonic() + START_PAUSE > until:
                        raise
                    again = again and refused
                    time.sleep(START_PAUSE)
                if self.stopping:
                    raise Stopped("the logic stops with its pod") from None

    def _once(self, connection, path, request, until):
        connection.timeout = max(until - time.monotonic(), 0.001)
        if connection.sock:
            connection.sock.settimeout(connection.timeout)
        connection.request("POST", path, request, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = b""
        while len(text) <= RESPONSE_LIMIT:
            if time.monotonic() > until:
                raise TimeoutError
            part = answer.read1(RESPONSE_LIMIT + 1 - len(text))
            if not part:
                break
            text += part
        whole = answer.isclosed() or answer.length == 0
        answer.close()
        if answer.will_close or not whole:
            self._drop()
        return answer.status, text

    def _drop(self):
        if getattr(self.kept, "connection", None):
            self.kept.connection.close()
        self.kept.connection = None

    def close(self):
        """Closes the connection of this thread. The server ends by the signal that all containers get."""
        self._drop()


class Exchange:
    """The directory of one call, and one that the logic does not see: the environment of a run with these files."""

    def __init__(self, workspace, state):
        name = secrets.token_hex(8)
        self.directory, self.state = os.path.join(workspace, name), os.path.join(state, name)

    def __enter__(self):
        os.makedirs(self.directory, 0o770)
        os.makedirs(self.state, 0o700)
        return {"ARGOPERATOR_WORKSPACE": self.directory, "ARGOPERATOR_STATE": self.state,
                "ARGOPERATOR_REQUEST": os.path.join(self.directory, "request.json"),
                "ARGOPERATOR_RESPONSE": os.path.join(self.directory, "response.json")}

    @staticmethod
    def clear(*places):
        """Removes the directories of an earlier process from workspaces and the state."""
        for place in places:
            for entry in os.scandir(place):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.state, ignore_errors=True)
