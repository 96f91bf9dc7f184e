"""Calls of programs through the shell loop $LOOP in the shell $LOOP_SHELL, by the program of the worker."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

sys.path.insert(0, sys.argv.pop(1))

from calls import Exchange, Programs  # noqa: E402

SHELL = os.environ["LOOP_SHELL"].split()
SHELL[0] = shutil.which(SHELL[0])
UNSHARE = ["unshare", "--pid", "--fork", "--kill-child"]
RESPOND = 'cp "$ARGOPERATOR_REQUEST" "$ARGOPERATOR_RESPONSE"'


def may_unshare():
    return shutil.which("unshare") and not subprocess.run([*UNSHARE, "true"], stderr=subprocess.DEVNULL, check=False).returncode


class LoopTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        for name in ("workspace", "state", "logic", "tmp"):
            os.mkdir(self.path(name))

    def path(self, *names):
        return os.path.join(self.base, *names)

    def start(self, program, seconds=20, before=(), **env):
        """Starts the container of a program and the worker's side."""
        self.put("main.sh", program)
        self.container(before, **env)
        self.programs = Programs(self.path("workspace"), seconds)

    def put(self, name, text=""):
        with open(self.path("logic", name), "w", encoding="utf-8") as file:
            file.write(text)

    def container(self, before=(), **env):
        command = [*before, *SHELL, "-c", os.environ["LOOP"], "logic", "/bin/sh", "main.sh"]
        with open(self.path("log"), "ab") as log:
            self.shell = subprocess.Popen(  # pylint: disable=consider-using-with
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=dict(os.environ, BASE=self.base, **env))
        self.addCleanup(self.kill)

    def kill(self):
        """Kills the container, as far as its processes are in the session of its shell."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()

    def call(self, key="team.one", look=None):
        """Calls the program: why it failed, and what it responded."""
        with Exchange(self.path("workspace"), self.path("state")) as files:
            with open(files["ARGOPERATOR_REQUEST"], "w", encoding="utf-8") as file:
                json.dump({"key": key}, file)
            failure = self.programs.call(types.SimpleNamespace(env=files, key=key))
            if look:
                look(files)
            if not os.path.isfile(files["ARGOPERATOR_RESPONSE"]):
                return failure, None
            with open(files["ARGOPERATOR_RESPONSE"], encoding="utf-8") as file:
                return failure, file.read()

    def later(self, key="team.one"):
        """Calls the program in another thread; the result is appended to the list."""
        found = []
        thread = threading.Thread(target=lambda: found.append(self.call(key)), daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        return found

    def until(self, found, seconds=10):
        end = time.monotonic() + seconds
        while not found():
            self.assertLess(time.monotonic(), end, "it takes too long")
            time.sleep(0.02)

    def read(self, name):
        try:
            with open(self.path(name), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    @staticmethod
    def command(process):
        """What a process runs; nothing of one that has ended."""
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", encoding="utf-8") as file:
            return file.read()
        return ""

    def is_alive(self, name):
        """Whether the process whose id is in a file is alive."""
        try:
            with open(f"/proc/{int(self.read(name))}/stat", encoding="utf-8") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False

    # Programs that behave

    def test_success(self):
        self.start(RESPOND + '; echo "hello from $ARGOPERATOR_KEY in $PWD"; cat')  # nothing to read
        self.assertEqual(self.call("team.two"), ("", '{"key": "team.two"}'))
        self.until(lambda: "--- team.two\nhello from team.two in " + self.path("logic") in self.read("log"))

    def test_exit_code(self):
        self.start("echo first; echo last >&2; exit 3")
        self.assertEqual(self.call(), ("logic: Error (exit code 3): last", None))

    def test_environment(self):
        self.start('env > "$ARGOPERATOR_RESPONSE"; touch "$TMPDIR/file"', GIVEN="by the definition")
        _, text = self.call()
        got = dict(line.partition("=")[::2] for line in text.splitlines())
        self.assertEqual(got["GIVEN"], "by the definition")
        self.assertEqual(os.path.dirname(got["TMPDIR"]), self.path("tmp"))
        self.assertEqual({name for name in got if name.startswith("ARGOPERATOR_")},
                         {"ARGOPERATOR_KEY", "ARGOPERATOR_REQUEST", "ARGOPERATOR_RESPONSE"})
        self.assertEqual(got.get("HOME"), os.environ.get("HOME"))
        self.assertEqual(os.listdir(self.path("tmp")), [], "the temporary files of a call end with it")

    def test_files_stay_between_calls(self):
        self.start(f'cat {self.path("tmp")}/cache > "$ARGOPERATOR_RESPONSE" 2>/dev/null || echo built > {self.path("tmp")}/cache')
        self.call()
        self.assertEqual(self.call(), ("", "built\n"))

    def test_calls_side_by_side(self):
        self.start(f'echo $ARGOPERATOR_KEY >> {self.path("running")}; until test -e go; do sleep 0.05; done; {RESPOND}')
        one, two = self.later("team.one"), self.later("team.two")
        self.until(lambda: sorted(self.read("running").split()) == ["team.one", "team.two"])
        self.put("go")
        self.until(lambda: one and two)
        self.assertEqual((one, two), ([("", '{"key": "team.one"}')], [("", '{"key": "team.two"}')]))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_no_process_remains_of_many_calls(self):
        self.start(RESPOND)
        for _ in range(100):
            self.assertEqual(self.call()[0], "")
        time.sleep(0.2)
        with open(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children", encoding="ascii") as file:
            children = file.read()
        self.assertLess(len(children.split()), 4, children)

    # Programs that misbehave

    def test_a_hanging_program(self):
        self.start(f'echo waits; sleep 100 & echo $! > {self.path("forked")}; echo $$ > {self.path("main")}; wait', seconds=1)
        began = time.monotonic()
        self.assertEqual(self.call(), ("logic: stopped after 1 s: waits", None))
        self.assertLess(time.monotonic() - began, 4)
        self.until(lambda: not self.is_alive("forked") and not self.is_alive("main"))

    def test_a_program_that_forks(self):
        self.start(f'for n in $(seq 150); do (sleep 100 & echo $! >> {self.path("forked")}; exec sleep 100) & done; echo $$ > {self.path("main")}; '
                   'while :; do :; done', seconds=3)
        self.assertEqual(self.call()[0], "logic: stopped after 3 s")
        forked = self.read("forked").split()
        self.assertGreater(len(forked), 20)
        self.until(lambda: not any(map(self.command, forked + [self.read("main").strip()])))
        self.put("main.sh", RESPOND)
        self.assertEqual(self.call()[0], "")

    def test_a_program_that_writes_without_end(self):
        self.start('echo begins; while :; do echo x >> "${ARGOPERATOR_REQUEST%/*}/more"; echo x >> "$TMPDIR/more"; done', seconds=1)
        self.assertEqual(self.call()[0], "logic: stopped after 1 s: begins")
        self.assertEqual(sorted(os.listdir(self.path("workspace"))), ["calls", "ends"], "its files end with the call")
        self.assertEqual(os.listdir(self.path("tmp")) + os.listdir(self.path("state")), [])

    def test_a_program_that_leaves_another(self):
        self.start(f'sleep 100 & echo $! > {self.path("forked")}; {RESPOND}')
        self.assertEqual(self.call()[0], "")
        self.until(lambda: not self.is_alive("forked"))

    @unittest.skipUnless(may_unshare(), "no right to a namespace")
    def test_a_daemon_in_a_container(self):
        beat = f'while :; do echo >> {self.path("beats")}; sleep 0.05; done'
        self.start(f"setsid /bin/sh -c '{beat}' > /dev/null 2>&1 & sleep 0.5; {RESPOND}", before=UNSHARE)
        self.assertEqual(self.call()[0], "")
        time.sleep(0.5)
        beats = self.read("beats")
        self.assertTrue(beats)
        time.sleep(0.3)
        self.assertEqual(self.read("beats"), beats, "it ends when no call is open")
        self.assertEqual(self.call()[0], "", "the shell goes on")

    def test_a_link_in_place_of_the_output(self):
        self.start(f'rm "${{ARGOPERATOR_REQUEST%/*}}/output"; ln -s /etc/passwd "${{ARGOPERATOR_REQUEST%/*}}/output"; exit 2')
        self.assertEqual(self.call()[0], "logic: Error (exit code 2)")

    def test_garbage_in_the_pipes(self):
        garbage = "".join(f'echo "{line}" > "${{ARGOPERATOR_REQUEST%/*}}/../{pipe}"; ' for pipe in ("calls", "ends") for line in (
            "", "run", "run ../../x team.one", "kill * ?", "ended nothing", "ended", "x 5", "nothing runs", "a b c", "\\$(exit)", "' \\\""))
        self.start(garbage + f'printf "no line" > "${{ARGOPERATOR_REQUEST%/*}}/../calls"; printf "no end" > '
                   f'"${{ARGOPERATOR_REQUEST%/*}}/../ends"; {RESPOND}')
        for _ in range(3):
            self.assertEqual(self.call(), ("", '{"key": "team.one"}'))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_a_full_pipe(self):
        self.start(f'echo $$ > {self.path("main")}; kill -STOP $PPID $(sed -n "s/^PPid://p" /proc/$PPID/status); '
                   'for n in 1 2; do head -c 60000 /dev/zero > "${ARGOPERATOR_REQUEST%/*}/../calls" & done; wait', seconds=1)
        self.call()
        began = time.monotonic()
        self.assertIn("stopped", self.call()[0])
        self.assertLess(time.monotonic() - began, 8, "the worker does not wait for room in the pipe")
        self.shell.send_signal(signal.SIGCONT)

    @unittest.skipIf(os.geteuid() or not shutil.which("mount"), "no right to mount")
    def test_a_full_disk(self):
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.path("workspace")]
        if subprocess.run(mount, stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no right to mount")
        self.addCleanup(subprocess.run, ["umount", "-l", self.path("workspace")], check=False)
        self.start('cat /dev/zero; cat /dev/zero > "$ARGOPERATOR_RESPONSE" || exit 5')
        self.assertIn("exit code 5", self.call(look=lambda files: os.remove(files["ARGOPERATOR_RESPONSE"]))[0])
        self.put("main.sh", RESPOND)
        self.assertEqual(self.call()[0], "", "its files end with the call")

    def test_no_setsid(self):
        programs = self.path("bin")
        os.mkdir(programs)
        for name in ("cp", "sleep", "mkdir", "rm", "tail"):
            os.symlink(shutil.which(name), os.path.join(programs, name))
        self.start(f'test "$1" || {{ {RESPOND}; }}; test ! -e hang || exec sleep 100', seconds=1, PATH=programs)
        self.assertEqual(self.call(), ("", '{"key": "team.one"}'))
        self.put("hang")
        self.assertEqual(self.call()[0], "logic: stopped after 1 s")

    # Restarts

    def test_the_container_is_restarted(self):
        self.start(f'echo $$ > {self.path("main")}; sleep 100', seconds=60)
        running = self.later()
        self.until(lambda: self.read("main"))
        self.kill()
        waiting = self.later("team.two")
        time.sleep(0.2)
        self.put("main.sh", RESPOND)
        self.container()
        self.until(lambda: running and waiting)
        self.assertIn("logic: its container was restarted", running[0][0])
        self.assertEqual(waiting[0], ("", '{"key": "team.two"}'), "it was not begun")
        os.kill(int(self.read("main")), signal.SIGKILL)

    def test_a_new_worker(self):
        self.start(f'echo $$ > {self.path("main")}; sleep 100')
        self.later()
        self.until(lambda: self.read("main"))
        before, self.programs = self.programs, Programs(self.path("workspace"), 20)
        self.until(lambda: not self.is_alive("main"))
        with before.lock:
            for call in before.open.values():
                call.ended.set()

    def test_the_end(self):
        self.start(RESPOND)
        self.assertEqual(self.call()[0], "")
        self.shell.send_signal(signal.SIGTERM)
        self.assertEqual(self.call()[0], "", "the worker ends it")
        self.programs.close()
        self.assertEqual(self.shell.wait(5), 0)


if __name__ == "__main__":
    unittest.main()
