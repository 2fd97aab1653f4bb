"""Installs what is needed and runs the demo, all tests, or one step, on a machine with Python and npm.

    python3 tests/run.py demo                  routes messages to actions with the model that ships
    python3 tests/run.py all                   every test
    python3 tests/run.py quick                 lint, types, test tidy, test zig
    python3 tests/run.py setup                 only installs
    python3 tests/run.py STEP [ARGUMENT...]    one step with its output; arguments go to what runs its tests

Everything goes into folders of this repository that git ignores, such as .venv and node_modules; only
valgrind, a JDK, emulators and the like come from the system, and are installed if they are missing and this
runs as root. The output of each step of several is in build/logs; the end of it is shown when the step fails.
"""

import functools
import os
import subprocess
import sys

if sys.version_info < (3, 10):  # noqa: UP036 - it must say so to an older one
    sys.exit(f"Python 3.10 or later is needed; this is {sys.version.split()[0]}")

from collections.abc import Callable

from runner import setup
from runner.running import Runner, is_done, show
from runner.setup import native_library, setup_steps
from runner.step import PYTHON, ROOT, TESTS, VENV_BIN
from runner.tasks import QUICK, TASKS, Task, stages_of_all

sys.path.insert(0, str(TESTS / "llama"))
from locate import libllama_path


def main() -> None:
    os.environ["PATH"] = f"{VENV_BIN}{os.pathsep}{os.environ['PATH']}"
    command, arguments = task_name(sys.argv[1:])
    if command in TASKS:
        run_one(TASKS[command], arguments)
    elif command in ("-h", "--help"):
        print(usage())
    elif command not in COMMANDS:
        sys.exit(f"{command!r} is no command or step\n\n{usage()}" if command else usage())
    elif arguments:
        sys.exit(f"{command} takes no arguments, got {' '.join(arguments)}")
    else:
        COMMANDS[command]()


def task_name(words: list[str]) -> tuple[str, list[str]]:
    """The command, of two words if it begins with `test`, and what follows it."""
    length = 2 if words[:1] == ["test"] else 1
    return " ".join(words[:length]), words[length:]


def usage() -> str:
    width = max(map(len, TASKS)) + 2
    steps = "\n".join(f"    {task.name:<{width}}{task.about}" for task in TASKS.values())
    return f"{__doc__}\nSteps:\n\n{steps}"


def run_demo() -> None:
    run_setup(setup.DEMO)
    use_package()
    print(flush=True)
    sys.exit(subprocess.run([VENV_BIN / "eliza-inference", "demo"], cwd=ROOT).returncode)


def run_all() -> None:
    runner = run_setup(setup.ALL)
    use_package()
    run_stages(runner, stages_of_all())


def run_quick() -> None:
    chosen = [TASKS[name] for name in QUICK]
    runner = Runner()
    for step in setup_steps({part for task in chosen for part in task.needs}):
        runner.run(step)
    run_stages(runner, [[task] for task in chosen])


def run_setup(parts: tuple[str, ...]) -> Runner:
    """The Python packages first: others are installed and built with them."""
    runner = Runner()
    first, *rest = setup_steps(parts, native_too=True)
    runner.run(first)
    runner.run_side_by_side([[step] for step in rest])
    return runner


def run_stages(runner: Runner, stages: list[list[Task]]) -> None:
    for tasks in stages:
        if len(tasks) > 1:
            runner.run_side_by_side([task.steps for task in tasks])
        else:
            for step in tasks[0].steps:
                runner.run(step)
    runner.report()


def run_one(task: Task, arguments: list[str]) -> None:
    runner = Runner()
    for step in setup_steps(task.needs):
        if not is_done(step):
            runner.run(step)
    if task.library is not None:
        build, library = native_library(task.library)
        runner.run(build)
        use(str(library))
    show(task.steps, arguments)


def use_package() -> None:
    """Lets everything run with the library in the Python package, which is built as it is shipped."""
    ask = [PYTHON, "-c", "import eliza_inference; print(eliza_inference.library_path())"]
    use(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())


def use(library: str) -> None:
    os.environ["ELIZA_INFERENCE_LLAMA"] = str(libllama_path())
    os.environ["ELIZA_INFERENCE_LIBRARY"] = library


COMMANDS: dict[str, Callable[[], object]] = {
    "demo": run_demo,
    "all": run_all,
    "quick": run_quick,
    "setup": functools.partial(run_setup, setup.ALL),
}

if __name__ == "__main__":
    main()
