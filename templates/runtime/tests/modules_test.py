"""The files of the runtime."""
import ast
import functools
import pathlib
import sys
import unittest

from reconcile import COMMANDS

FILES = {file.stem: file for file in pathlib.Path(__file__).parent.parent.glob("*.py")}


@functools.cache
def imported(name):
    """The modules of the runtime that a module imports, and that those import."""
    found = {name}
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in FILES:
            found |= imported(node.module)  # imports in a circle never end
    return found


class ModulesTest(unittest.TestCase):
    def test_files_of_the_programs(self):
        only_worker = {"serve", "worker", "keys", "lease", "metrics", "calls", "referrers", "show"}
        commands = {name: imported("reconcile") | imported(module) for name, module in COMMANDS.items()}
        self.assertEqual(set().union(*commands.values()), set(FILES) - {"diagnose"} - only_worker)
        self.assertEqual(imported("serve"), set(FILES) - {"diagnose", "reconcile", "steps"})
        self.assertLessEqual(commands["read"] | commands["apply"], imported("serve") | {"reconcile"}, "a worker's Workflow")
        self.assertEqual(imported("diagnose"), {"diagnose", "api"})

    @unittest.skipIf(sys.version_info < (3, 10), "Python does not list its modules")
    def test_names(self):
        self.assertEqual(set(FILES) & sys.stdlib_module_names, set())
