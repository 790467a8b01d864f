"""Commands for gdb: the files between `Publisher::publish` and the callback; see `scripts/test-path`."""

import gdb, os, re

PROGRAM = "modes/examples/hop.rs"
SCHEDULER = "modes/src/scheduler/live.rs"
ONE_STATEMENT = 3  # lines: signature, statement, closing brace
ROOT = os.getcwd() + "/"


def line_with(file, text):
    return next(n for n, line in enumerate(open(file), 1) if text in line)


def position():
    """The file, below the root, and the line of the next instruction; None outside of the project."""
    frame = gdb.selected_frame()
    found = gdb.find_pc_line(frame.pc())
    if found.symtab is None:
        return None
    file = found.symtab.fullname().removeprefix(ROOT)
    return None if file.startswith("/") else (file, found.line, frame.name())


def step_until(is_end, note):
    while True:
        gdb.execute("stepi", to_string=True)
        at = position()
        if at:
            if is_end(at):
                return
            note(at)


def path():
    """Lines of each function that publishing and dispatching execute, in the order of their first line."""
    lines = {}
    note = lambda at: lines.setdefault((at[0], at[2]), set()).add(at[1])
    publish = line_with(PROGRAM, "hop.publish(")
    gdb.execute(f"break {PROGRAM}:{publish}", to_string=True)
    gdb.execute("run", to_string=True)
    gdb.execute("continue", to_string=True)  # the second message
    step_until(lambda at: at[0] != PROGRAM, note)
    step_until(lambda at: at[0] == PROGRAM and at[1] == publish, note)
    gdb.execute("delete", to_string=True)
    gdb.execute(f"break {SCHEDULER}:{line_with(SCHEDULER, 'worker.dispatch_next().is_some()')}", to_string=True)
    # A search that finds nothing may come first.
    gdb.execute("continue", to_string=True)
    lines[SCHEDULER, "run_worker"] = set(range(ONE_STATEMENT + 1))
    receive = line_with(PROGRAM, "*received +=")
    step_until(lambda at: at[0] == PROGRAM and at[1] == receive, note)
    gdb.execute("kill")
    return lines


def table():
    """The files in the second column of the table."""
    text = open("ARCHITECTURE.md").read()
    section = re.search(r"## From publish to callback\n(.*?)\n\n", text, re.S)[1]
    rows = [row.split("|")[2] for row in section.split("\n") if re.match(r"\| \d", row)]
    return [file for row in rows for file in re.findall(r"`([^`]+\.rs)`", row)]


gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
report = open(3, "w")  # gdb writes each step to its own output
try:
    functions = path()
except gdb.error as error:
    print(f"failed to step through {PROGRAM}: {error}", file=report, flush=True)
    os._exit(77 if "ptrace" in str(error) or "trace the inferior" in str(error) else 1)
if os.environ["LINES_TOO"]:
    for (file, name), of in functions.items():
        print(f"{file} {name}: {sorted(of)}", file=report)
is_step = lambda file, of: len(of) > ONE_STATEMENT and file != PROGRAM
on_path = list(dict.fromkeys(file for (file, _), of in functions.items() if is_step(file, of)))
print(f"{len(on_path)} files from publish to callback: {' '.join(on_path)}", file=report)
documented = table()
if on_path != documented:
    print(f"ARCHITECTURE.md names:  {' '.join(documented)}", file=report)
    print("failed: the table of ARCHITECTURE.md differs from the path; correct it, or merge files", file=report)
report.flush()
os._exit(on_path != documented)
