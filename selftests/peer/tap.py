# SPDX-License-Identifier: GPL-2.0
"""Cases as functions, results as TAP; a case fails by raising."""
import sys
import traceback

cases = []
cleanups = []        # run after every case


class Skip(Exception):
    pass


def case(func):
    cases.append((func.__name__, func))
    return func


def table(name, rows):
    """One case for each row of a table: func(*row[1:]) under name_row[0]"""
    def add(func):
        for row in rows:
            cases.append((f'{name}_{row[0]}', lambda row=row: func(*row[1:])))
        return func
    return add


def eq(got, want, about=''):
    if got != want:
        raise AssertionError(f'{about}: got {got}, want {want}')


def true(got, about=''):
    if not got:
        raise AssertionError(f'{about}')


def run(only=None):
    failed = 0
    print(f'1..{len(cases)}' if not only else '', flush=True)
    for n, (name, func) in enumerate(cases, 1):
        if only and only not in name:
            continue
        try:
            func()
            print(f'ok {n} - {name}', flush=True)
        except Skip as e:
            print(f'ok {n} - {name} # SKIP {e}', flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f'not ok {n} - {name}', flush=True)
            for line in traceback.format_exc().splitlines()[-8:]:
                print(f'# {line}', flush=True)
        for cleanup in cleanups:
            cleanup()
    sys.exit(1 if failed else 0)
