# SPDX-License-Identifier: GPL-2.0
"""Cases as functions, results as TAP; a case fails by raising."""
import sys
import traceback

cases = []
cleanups = []     # run after every case
witnesses = []    # what they say is told of a case that fails


class Skip(Exception):
    pass


def add(name, func, *args):
    cases.append((name, func, args))


def case(func):
    add(func.__name__, func)
    return func


def eq(got, want, about=''):
    if got != want:
        raise AssertionError(f'{about}: got {got}, want {want}')


def true(got, about=''):
    if not got:
        raise AssertionError(f'{about}')


def note(text):
    for line in str(text).splitlines():
        print(f'# {line}', flush=True)


def attempt(func, args):
    """Runs one case: None, a Skip, or what it failed with"""
    problem = None
    try:
        func(*args)
    except Skip as e:
        problem = e
    except Exception as e:  # pylint: disable=broad-except
        note('\n'.join(traceback.format_exc().splitlines()[-8:]))
        for witness in witnesses:
            note(witness())
        problem = e
    for cleanup in cleanups:
        cleanup()
    return problem


def run(only=None):
    """All cases, or those with @only in their names"""
    failed = 0
    chosen = [c for c in cases if not only or only in c[0]]
    print(f'1..{len(chosen)}', flush=True)
    for n, (name, func, args) in enumerate(chosen, 1):
        problem = attempt(func, args)
        if isinstance(problem, Skip):
            print(f'ok {n} - {name} # SKIP {problem}', flush=True)
        elif problem:
            failed += 1
            print(f'not ok {n} - {name}', flush=True)
        else:
            print(f'ok {n} - {name}', flush=True)
    sys.exit(1 if failed else 0)
