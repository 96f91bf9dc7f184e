"""Runs Python programs for tests, each in a fork of this process. Nothing of a program gets into this process, and so
into another program: it keeps the code of modules it has seen, by their source, and nothing else."""
import gc
import glob
import importlib.machinery
import os
import select
import signal
import socket
import sys
import types

# What the programs of pods import. None of it does anything when imported.
import argparse, base64, copy, datetime, decimal, functools, hashlib, http.client  # noqa: E401, F401
import json, math, re, shlex, ssl, stat, threading, time, urllib.parse  # noqa: E401, F401

compiled = {}  # source: code
usual_path = sys.path[1:]
sys.modules.pop("sitecustomize", None)  # PYTHONPATH may have another one


def source_to_code(loader, data, path, *, _optimization=-1):
    return compiled.get(bytes(data)) or compile(data, path, "exec", dont_inherit=True, optimize=_optimization)


importlib.machinery.SourceFileLoader.source_to_code = source_to_code


class Request:
    """One start of Python: the client's process group, directory, arguments, environment and standard streams."""

    def __init__(self, connection):
        data, self.files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        while more := connection.recv(1 << 20):
            data += more
        group, self.directory, count, *words = data.split(b"\0")
        self.group, self.arguments = int(group), [os.fsdecode(word) for word in words[: int(count)]]
        self.environment = dict(word.split(b"=", 1) for word in words[int(count) :] if b"=" in word)

    def script(self):
        """The path of the program; None for `-c`, and where python3 itself has to run."""
        words = self.arguments[1:] if self.arguments[:1] == ["-B"] else self.arguments
        return words[0] if words and not words[0].startswith("-") else None

    def compile(self):
        """Compiles the program and the modules beside it, for this start and those to come."""
        path = self.script()
        if path is None:
            return
        path = os.path.join(os.fsdecode(self.directory), path)
        for file in [path, *glob.glob(glob.escape(os.path.dirname(path)) + "/*.py")]:
            try:
                with open(file, "rb") as opened:
                    source = opened.read()
                if source not in compiled:
                    compiled[source] = compile(source, file, "exec", dont_inherit=True)
            except (OSError, SyntaxError, ValueError):
                pass  # the program finds out itself

    def run(self):
        """Makes this process, a fork, the program."""
        os.setpgid(0, self.group)
        for stream, file in enumerate(self.files):
            os.dup2(file, stream)
            os.close(file)
        os.chdir(self.directory)
        os.environb.clear()
        os.environb.update(self.environment)
        words, script = list(self.arguments), self.script()
        sys.dont_write_bytecode = words[:1] == ["-B"]
        if sys.dont_write_bytecode:
            words.pop(0)
        if script is None and words[:1] != ["-c"] or any(name.startswith("PYTHON") and name != "PYTHONPATH" for name in os.environ):
            os.execv(sys.executable, ["python3", *self.arguments])
        beside = os.environ.get("PYTHONPATH")
        sys.path[:] = [*(beside.split(os.pathsep) if beside else []), *usual_path]
        if beside:
            try:
                import sitecustomize  # noqa: F401
            except ImportError:
                pass
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        if script is None:
            code = compile(words[1], "<string>", "exec", dont_inherit=True)
            sys.argv, first = ["-c", *words[2:]], ""
        else:
            with open(script, "rb") as opened:
                source = opened.read()
            code = compiled.get(source) or compile(source, script, "exec", dont_inherit=True)
            sys.argv, first, main.__file__ = words, os.path.dirname(os.path.realpath(script)), script
        sys.path.insert(0, first)
        exec(code, main.__dict__)


def without_server(kind, error, trace):
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    sys.__excepthook__(kind, error.with_traceback(trace), trace)


def serve(address):
    """Answers clients. Returns the request in its fork, None at the end."""
    waiting = {}  # process: its client
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen(64)
    ended, end = socket.socketpair()
    end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end.fileno())
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([0, ended, listener], [], [])
        if 0 in ready:
            return None
        if ended in ready:
            ended.recv(4096)
            reap(waiting)
        if listener in ready:
            connection, _ = listener.accept()
            request = Request(connection)
            request.compile()
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for one in [listener, ended, end, connection, *waiting.values()]:
                    one.close()
                return request
            for file in request.files:
                os.close(file)
            waiting[process] = connection


def reap(waiting):
    """Tells the clients of programs that have ended the exit code; it is negative for a signal."""
    while waiting:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            return
        connection = waiting.pop(process)
        try:
            connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
        except OSError:
            pass  # somebody killed it
        connection.close()


gc.collect()
gc.freeze()  # so that a fork copies less
request = serve(sys.argv[1])
if request is not None:
    sys.excepthook = without_server
    request.run()
