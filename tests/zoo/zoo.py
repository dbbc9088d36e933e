#!/usr/bin/env python3
"""Runs real programs with and without `jankbox run`, and fails if one of them is harmed or accused.

First, while nothing else runs, each program of programs.toml starts a few times: recorded, it must show its first window or
output as soon. Then, one at a time, come the planted stalls: each must be reported, with its cause. Then each runs idle for long,
recorded, and leaves no report. Last, several programs at a time, each runs idle, by itself and recorded in turn. Recorded, it must
end in the same way, write no report, and cost little more; the last line must name what was watched. Then its user types, if it
has keys. Programs that are not installed are skipped by name.
"""
import argparse
import concurrent.futures
import contextlib
import datetime
import fcntl
import glob
import json
import os
import pty
import re
import shlex
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tomllib

import first_window
import plants

HERE = os.path.dirname(os.path.abspath(__file__))
MORE_CPU_S = 0.060  # in runs without an incident: this, or a tenth
MORE_START_S = 0.020  # until the first window or output: this, or a tenth
END_S = 10  # how long a program may take to end after SIGTERM
KEY_S = 0.15
CAUSES = {  # of a planted stall: what its report says, | between two of them
    'asleep': 'asleep',
    'busy': 'on the CPU|waiting for a CPU of an overloaded machine',  # if others are busy, too
    'child': 'waiting for its child',
    'disk': 'waiting for the disk|in read on a regular file',
    'quota': 'throttled by the CPU quota',
    'x_server': 'waiting for the X server',
}
MISSED_SHARE = 0.05  # of the planted stalls, at most
STALL_MS = 600  # the shortest is 700
STALLED_S = 9  # a program plants its stall 3 s after its start, and that takes 4 s if it has little CPU
MOST_ROUNDS = 7  # of idle runs, if they disagree
START_PAIRS = (5, 25)  # at least and at most
SURE = 2.2  # standard deviations of a fair coin's: five of five
REST_S = 0.2  # before a start: the screen still takes leave of the last program
START_TIMEOUT_S = 5  # without a first window or output
SETTLE_S = 5  # a program is not idle before (its own `settle_s`): it reads its files and lays out its windows


def tree_ticks(root):
    """{pid: CPU time} of a process and its descendants, with that of their children that ended."""
    processes = {}  # pid: (parent, ticks)
    for path in glob.glob('/proc/[0-9]*/stat'):
        try:
            with open(path, encoding='utf-8', errors='replace') as file:
                fields = file.read().rpartition(')')[2].split()
        except OSError:
            continue  # it has ended
        processes[int(path.split('/')[2])] = (int(fields[1]), sum(map(int, fields[11:15])))
    tree = {root}
    while more := {pid for pid, (parent, _) in processes.items() if parent in tree} - tree:
        tree |= more
    return {pid: processes[pid][1] for pid in tree if pid in processes}


def tree_cpu_s(root):
    """In seconds; of all descendants, since a terminal does not wait for its shell's end."""
    return sum(tree_ticks(root).values()) / os.sysconf('SC_CLK_TCK')


def end_all(_number, _frame):
    """Told to end, the zoo leaves no program behind."""
    for pid in tree_ticks(os.getpid()).keys() - {os.getpid()}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os._exit(128 + signal.SIGTERM)


def end_of(report, began):
    """When the incident ended, in seconds since `began`."""
    return datetime.datetime.fromisoformat(report['window']['to']).timestamp() - began


def is_real(report, known_wait):
    """A slow message, as far as it is known mostly of work, on the CPU or of the disk, or of `known_wait`."""
    verdict = report['verdict']
    work_ms = sum(verdict[share] for share in ('running_ms', 'runnable_ms', 'disk_ms', 'fault_ms'))
    is_known = known_wait and re.search(known_wait, verdict.get('summary', ''))
    known_ms = report['duration_ms'] - verdict['unknown_ms']  # at a start, what came before the recorder is not
    return report['kind'] != 'anr' and bool(known_ms >= report['duration_ms'] / 2 and work_ms >= known_ms / 2 or is_known)


def is_of_the_start(report, began, known_wait, settle_s):
    """Of a program that has just started."""
    is_start_up = report['what'] == 'start-up' and report['kind'] != 'anr'
    return is_start_up or (end_of(report, began) < settle_s and is_real(report, known_wait))


def is_of_the_end(report, run, known_wait):
    """Of a program that was told to end before that message began. A window ends up to 0.1 s after its incident."""
    if run.told_to_end_s is None:
        return False
    begin_s = end_of(report, run.began) - report['duration_ms'] / 1000
    return begin_s > run.told_to_end_s - run.began_s and is_real(report, known_wait)


class Run:
    """One run of a command: it is told to end after `idle_s`, or once it is `done`, or typed into and then told to."""

    def __init__(self, command, screen, idle_s, keys='', environment=None, done=lambda run: False):
        self.output = b''
        self.error = b''
        master = slave = None
        if screen == 'tty':
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 80, 0, 0))
        files = {'stdin': slave, 'stdout': slave} if screen == 'tty' else {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL}
        self.began = time.time()
        self.began_s = time.monotonic()
        process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, env=environment,
                                   preexec_fn=(lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) if screen == 'tty' else None, **files)
        if slave is not None:
            os.close(slave)
        threads = [threading.Thread(target=self.read, args=(process.stderr.fileno(), 'error'), daemon=True)]
        if master is not None:
            threads.append(threading.Thread(target=self.read, args=(master, 'output'), daemon=True))
        for thread in threads:
            thread.start()
        self.early = self.wait(process.pid, idle_s, lambda: done(self))
        if not self.early:
            self.idle_cpu_s = tree_cpu_s(process.pid)
        for key in keys if not self.early else '':
            os.write(master, key.encode())
            time.sleep(KEY_S)
        if not self.early:
            time.sleep(0.5 if keys else 0)
            self.told_to_end_s = time.monotonic()
            os.kill(process.pid, signal.SIGTERM)
            if not self.wait(process.pid, 2):
                os.killpg(process.pid, signal.SIGHUP)  # shells and editors: the terminal is gone
        if not self.early and self.usage is None and not self.wait(process.pid, END_S):
            os.killpg(process.pid, signal.SIGKILL)
            self.status = 'did not end'
            self.wait(process.pid, END_S)
        process.returncode = 0  # it was waited for here
        threads[0].join(2)
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it left behind
        except ProcessLookupError:
            pass
        if master is not None:
            os.close(master)

    usage = None
    status = None
    told_to_end_s = None  # of time.monotonic(); None: it ended before
    first_output_s = None  # of time.monotonic()
    reported = False  # also its start-up
    all_reports = ()

    def wait(self, pid, seconds, is_done=lambda: False):
        """Whether the process ended in that time, or before `is_done()`."""
        if self.usage is not None:
            return True
        end = time.monotonic() + seconds
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                self.usage = usage
                if self.status is None:
                    self.status = f'signal {os.WTERMSIG(status)}' if os.WIFSIGNALED(status) else f'status {os.WEXITSTATUS(status)}'
                return True
            if time.monotonic() >= end or is_done():
                return False
            time.sleep(0.02)

    def read(self, fd, field):
        try:
            while data := os.read(fd, 65536):
                if field == 'output' and not self.output:
                    self.first_output_s = time.monotonic()
                setattr(self, field, getattr(self, field) + data)
        except OSError:
            pass

    @property
    def cpu_s(self):
        return self.usage.ru_utime + self.usage.ru_stime if self.early else self.idle_cpu_s

    def lines(self):
        """What jankbox wrote; a program of a terminal moves the cursor in between."""
        text = re.sub(r'\x1b\[[0-9;?]*[a-zA-Z]', '', self.error.decode('utf-8', 'replace'))
        return [line.strip() for line in text.splitlines() if line.strip().startswith('jankbox: ')]


class Screen:
    """What one run after another of a program has for itself: an X server, if it needs one."""

    def __init__(self, kind):
        self.server, self.display = start_display() if kind == 'x11' else (None, '')
        self.window = first_window.FirstWindow(self.display) if self.server else None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.send_signal(signal.SIGCONT)
            self.window.close()
            self.server.terminate()
            self.server.wait()

    def start_s(self, run):
        """Seconds until the first window or output of a run; None: unknown."""
        shown_s = self.window.shown_s if self.window else run.first_output_s
        return None if shown_s is None else shown_s - run.began_s


def share_over(bare_s, recorded_s, more_s):
    """Of the pairs of runs, those of which the recorded one takes longer than allowed: by more than `more_s`, or a tenth."""
    limit_s = max(more_s, 0.1 * statistics.median(bare_s))
    # To the tick in which the kernel counts: 0.07 − 0.01 is a little more than 0.06.
    return statistics.mean(round(later - sooner, 3) > limit_s for sooner, later in zip(bare_s, recorded_s))


def is_decided(share, pairs):
    """Is it clear from so many pairs, `share` of them over, whether the middle one is? Most programs need few, and those near the
    limit many."""
    return abs(2 * share - 1) * pairs ** 0.5 >= SURE


def quiet_pairs(bare, recorded):
    """CPU seconds of the pairs of idle runs whose recorded one wrote no report, which is paid for."""
    pairs = [(alone.cpu_s, run.cpu_s) for alone, (run, _) in zip(bare, recorded) if not run.reported]
    return [alone for alone, _ in pairs], [run for _, run in pairs]


class Zoo:
    def __init__(self, options):
        self.options = options
        self.jankbox = os.path.abspath(options.jankbox)
        self.wayland = ''  # the folder of the compositor's socket
        self.starts = {}  # by program: seconds until its first window or output, by itself and recorded
        self.planted = {}  # by program: how many stalls, and those that were missed
        self.long_errors = {}  # by program: of the long idle run

    def command(self, text, scratch):
        return shlex.split(text.format(scratch=scratch, scratch_name=os.path.basename(scratch)))

    def stall(self, program, cause):
        """What is wrong with the report of a planted stall; None: nothing."""
        scratch = tempfile.mkdtemp(prefix='zoo-', dir='/tmp')
        text = program['stalled'].replace('{stall}', program['stalls'][cause])
        with Screen(program['screen']) as screen:
            planted = plants.Plants(scratch, screen.server.pid if screen.server else '')
            try:
                reports = self.run(program, screen, text, True, STALLED_S, scratch=scratch, enter=planted.enter)[0].all_reports
            finally:
                planted.close()
                shutil.rmtree(scratch, ignore_errors=True)
        if any(re.search(CAUSES[cause], report['verdict'].get('summary', '')) and report['duration_ms'] > STALL_MS for report in reports):
            return None
        return f'the planted stall "{cause}" was not reported: ' + '; '.join(
            f'{report["kind"]} {report["duration_ms"]:.0f} ms {report["verdict"].get("summary", "")}' for report in reports)

    def start_pairs(self, program):
        """Seconds until its first window or output, by itself and recorded; nothing else may run meanwhile."""
        times = ([], [])
        if program['screen'] not in ('x11', 'tty'):
            return times
        with Screen(program['screen']) as screen:
            has_started = lambda run: screen.start_s(run) is not None
            for pair in range(START_PAIRS[1] + 1):
                if pair > START_PAIRS[0] and is_decided(share_over(*times, MORE_START_S), len(times[0])):
                    break
                for recorded in (False, True) if pair % 2 else (True, False):  # neither is always after the other
                    time.sleep(REST_S)
                    run = self.run(program, screen, program['command'], recorded, START_TIMEOUT_S, done=has_started)[0]
                    if run.start_s is None:
                        return times  # it shows nothing
                    if pair > 0:  # the first one reads its files from the disk
                        times[recorded].append(run.start_s)
        return times

    def run(self, program, screen, text, recorded, idle_s, keys='', scratch='', enter=lambda command: command, done=lambda run: False,
            slowed=1):
        """One run in the folder `scratch`, or one of its own; returns it and the reports that it left.

        `slowed`: how many times slower it starts than alone."""
        settle_s = program.get('settle_s', SETTLE_S) * slowed
        own = '' if scratch else tempfile.mkdtemp(prefix='zoo-', dir='/tmp')
        scratch = scratch or own
        for path in glob.glob(program.get('leftovers', '')):
            shutil.rmtree(path, ignore_errors=True)
        try:
            command = self.command(text, scratch)
            reports = os.path.join(scratch, 'reports')
            if recorded:
                more = program.get('options', '').split()
                command = [self.jankbox, 'run', '--slow-ms', str(self.options.slow_ms), '--dir', reports, *more, '--', *command]
            environment = dict(os.environ, HOME=scratch, TERM='xterm', LC_ALL='C.UTF-8', NO_COLOR='1',
                               XDG_RUNTIME_DIR=self.wayland if program['screen'] == 'wayland' else '')
            if screen.window:
                environment['DISPLAY'] = screen.display
                screen.window.forget()
            run = Run(enter(command), program['screen'], idle_s, keys, environment, done)
            run.start_s = screen.start_s(run)
            run.all_reports = []
            found = []  # but for the work of the start, which is real
            for path in sorted(glob.glob(os.path.join(reports, '*.pftrace.zst'))):
                shown = subprocess.run([self.jankbox, 'show', '--json', path], capture_output=True, text=True, check=False)
                report = json.loads(shown.stdout)
                run.reported = True
                run.all_reports.append(report)
                of_the_start = is_of_the_start(report, run.began, program.get('starts_with'), settle_s)
                if not of_the_start and not is_of_the_end(report, run, program.get('ends_with')):
                    found.append(report)
            return run, found
        finally:
            if own:
                shutil.rmtree(own, ignore_errors=True)

    def error_of_start(self, program):
        """What is wrong with its start, as a list of at most one."""
        bare_s, recorded_s = self.starts.get(program['name'], ([], []))
        if not bare_s or not recorded_s or share_over(bare_s, recorded_s, MORE_START_S) <= 0.5:
            return []
        more_s = statistics.median(later - sooner for sooner, later in zip(bare_s, recorded_s))
        return [f'starts {more_s * 1000:.0f} ms later than in {statistics.median(bare_s) * 1000:.0f} ms ({len(bare_s)} pairs)']

    def errors_of_idle(self, program, bare, recorded, last):
        errors = []
        if any(run.early for run in bare):
            return [f'ends by itself: {bare[0].status}']
        states = {run.status for run in bare}
        for run, reports in recorded:
            if run.status not in states:
                errors.append(f'ended with {run.status}, alone with {", ".join(sorted(states))}')
            for report in reports:
                errors.append(f'{report["kind"]} {report["duration_ms"]:.0f} ms: {report["verdict"].get("summary", "")}')
        quiet = quiet_pairs(bare, recorded)[1]
        # To the tick in which the kernel counts: 0.07 − 0.01 is a little more than 0.06.
        more = round(statistics.median(quiet) - statistics.median(run.cpu_s for run in bare), 3) if quiet else 0
        if self.options.costs and not quiet:
            print(f'{program["name"]}: every run wrote a report: CPU time not compared', file=sys.stderr)
        if self.options.costs and more > max(MORE_CPU_S, 0.1 * statistics.median(run.cpu_s for run in bare)):
            errors.append(f'{more * 1000:.0f} ms more CPU time')
        watched = program['watched']
        told = re.sub(r', unsure\)', ')', last)  # an idle one may have waited a few times only
        if not any((f'({loop})' if loop else 'nothing was watched') in told for loop in watched.split('|')):
            errors.append(f'watched: not {watched or "nothing"}')
        return errors

    def try_program(self, program):
        """The row of the table."""
        row = {'program': program['name'], 'errors': self.error_of_start(program), 'last': '', 'cpu_ms': 0, 'recorded_cpu_ms': 0, 'stalls': 0,
               'missed': [], **self.planted.get(program['name'], {})}
        if self.options.starts:
            times = [f'{1000 * statistics.median(times_s):.0f} ms' for times_s in self.starts[program['name']] if times_s]
            return {**row, 'last': 'started in ' + ', recorded '.join(times) if times else 'shows nothing'}
        if not self.options.stalls:
            with Screen(program['screen']) as screen:
                unplanted = self.try_unplanted(program, screen)
            row = {**row, **unplanted, 'errors': row['errors'] + unplanted['errors']}
        return row

    def plant_stalls(self, program):
        """Nothing else may run meanwhile: it would be a cause, too."""
        # On a busy machine the CPU is short with and without a quota.
        stalls = [cause for cause in program.get('stalls', {}) if self.options.costs or cause != 'quota']
        missed = [error for error in (self.stall(program, cause) for cause in stalls) if error]
        return {'stalls': len(stalls), 'missed': missed}

    def long_jobs(self):
        """How many programs at a time have their long idle run."""
        return 3 * self.options.jobs

    def idle_long(self, program):
        """What is wrong with one long idle run."""
        with Screen(program['screen']) as screen:
            slowed = max(1, self.long_jobs() / os.cpu_count())
            run, reports = self.run(program, screen, program['command'], True, self.options.long, slowed=slowed)
        return [f'{end_of(report, run.began):.0f} s into {self.options.long} s: {report["kind"]} {report["duration_ms"]:.0f} ms: '
                f'{report["verdict"].get("summary", "")}' for report in reports]

    def needs_round(self, bare, recorded):
        """Whether another pair of idle runs is needed: if some took too much CPU time, until it is clear."""
        if len(bare) < self.options.rounds or not self.options.costs:
            return len(bare) < self.options.rounds
        pairs = quiet_pairs(bare, recorded)
        share = share_over(*pairs, MORE_CPU_S) if pairs[0] else 0
        return share > 0 and not is_decided(share, len(pairs[0])) and len(bare) < MOST_ROUNDS

    def try_unplanted(self, program, screen):
        bare, recorded = [], []
        idle_s = self.options.idle + program.get('settle_s', SETTLE_S) - SETTLE_S
        while self.needs_round(bare, recorded):
            bare.append(self.run(program, screen, program['command'], False, idle_s)[0])
            recorded.append(self.run(program, screen, program['command'], True, idle_s))
        last = (recorded[-1][0].lines() or ['jankbox: nothing'])[-1]
        errors = self.errors_of_idle(program, bare, recorded, last)
        idle_cpu_s = [statistics.median(run.cpu_s for run in runs) for runs in (bare, [run for run, _ in recorded])]
        errors += self.long_errors.get(program['name'], [])
        if program.get('keys'):
            alone = self.run(program, screen, program['command'], False, 2, program['keys'])[0]
            used, reports = self.run(program, screen, program['command'], True, 2, program['keys'])
            if used.status != alone.status:
                errors.append(f'used: ended with {used.status}, alone with {alone.status}')
            errors += [f'used: {report["kind"]} {report["duration_ms"]:.0f} ms' for report in reports]
        return {'errors': errors, 'last': last, 'cpu_ms': round(1000 * idle_cpu_s[0]), 'recorded_cpu_ms': round(1000 * idle_cpu_s[1])}


def start_display():
    """An X server; its process and the name of its display."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x800x24', '-nolisten', 'tcp', '-noreset'],
                              pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as file:
        number = file.readline().strip()
    if not number:
        sys.exit('zoo: Xvfb does not start (package xvfb)')
    return server, ':' + number


def start_compositor(folder):
    """A Wayland compositor whose socket is in that folder; its process."""
    server = subprocess.Popen(['weston', '--backend=x11-backend.so', '--socket=wayland-0', '--idle-time=0'],
                              env={**os.environ, 'XDG_RUNTIME_DIR': folder}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        if os.path.exists(os.path.join(folder, 'wayland-0')):
            return server
        time.sleep(0.1)
    sys.exit('zoo: weston does not start')


def is_installed(program):
    words = shlex.split(program['command'])
    inner = re.search(r'\bexec (\S+)|\b(go) build', program['command']) if words[0] == 'sh' else None
    name = (inner.group(1) or inner.group(2)) if inner else words[0]
    return shutil.which(name) is not None or name.startswith('./')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--jankbox', default='build/release/bin/jankbox', help='the command to test [%(default)s]')
    parser.add_argument('--rounds', type=int, default=3, metavar='N', help='idle runs with and without [%(default)s]')
    parser.add_argument('--idle', type=float, default=8, metavar='S', help='seconds of an idle run [%(default)s]')
    parser.add_argument('--long', type=float, default=60, metavar='S', help='seconds of one more idle run, 0 for none [%(default)s]')
    parser.add_argument('--slow-ms', type=int, default=100, metavar='MS', help='what counts as slow; more on a busy machine [%(default)s]')
    parser.add_argument('--jobs', type=int, default=2, metavar='N', help='programs at a time; three times as many in the long idle run [%(default)s]')
    parser.add_argument('--no-costs', dest='costs', action='store_false', help='the machine is busy: compare no times, and plant no quota')
    only = parser.add_mutually_exclusive_group()
    only.add_argument('--starts', action='store_true', help='compare the starts only')
    only.add_argument('--stalls', action='store_true', help='plant the stalls only')
    parser.add_argument('--json', action='store_true', help='print one JSON object a program')
    parser.add_argument('program', nargs='*', help='only these, by name')
    options = parser.parse_args()
    with open(os.path.join(HERE, 'programs.toml'), 'rb') as file:
        programs = tomllib.load(file)['program']
    unknown = set(options.program) - {program['name'] for program in programs}
    if unknown:
        parser.error(f'there is no program {", ".join(sorted(unknown))} in programs.toml')
    wanted = [program for program in programs if not options.program or program['name'] in options.program]
    missing = [program for program in wanted if not is_installed(program)]
    if not shutil.which('weston'):
        missing += [program for program in wanted if program['screen'] == 'wayland' and program not in missing]
    present = [program for program in wanted if program not in missing and ('stalls' in program or not options.stalls)]
    for program in missing:
        print(f'skipped   {program["name"]}: package {program["package"]} is not installed', file=sys.stderr)
    zoo = Zoo(options)
    servers = []
    with tempfile.TemporaryDirectory(prefix='zoo-wayland-') as folder:
        try:
            if any(program['screen'] == 'wayland' for program in present):
                server, os.environ['DISPLAY'] = start_display()
                servers.append(server)
                zoo.wayland = folder
                servers.append(start_compositor(folder))
            failed, planted, missed = run_all(zoo, present)
        finally:
            for server in servers:
                server.terminate()
                server.wait()
    print(f'{len(present) - failed} of {len(present)} programs unharmed and right, {len(missing)} not installed', file=sys.stderr)
    print(f'{planted - missed} of {planted} planted stalls found with their cause', file=sys.stderr)
    return 1 if failed or missed > planted * MISSED_SHARE else 0


def each(programs, function, jobs):
    """Each program with what `function` returns for it: `jobs` at a time, then those that are run alone."""
    for alone, workers in ((False, jobs), (True, 1)):
        some = [program for program in programs if program.get('alone', False) == alone]
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            yield from zip(some, pool.map(function, some))


def run_all(zoo, programs):
    """Prints a row for each; returns how many failed, how many stalls were planted, and how many of them were missed."""
    options = zoo.options
    failed = planted = missed = 0
    if (options.costs and not options.stalls) or options.starts:
        for number, program in enumerate(programs, 1):
            zoo.starts[program['name']] = zoo.start_pairs(program)
            print(f'started   {program["name"]:20} {number} of {len(programs)}, {len(zoo.starts[program["name"]][0])} pairs', file=sys.stderr)
    if not options.starts:
        for number, program in enumerate(programs, 1):
            zoo.planted[program['name']] = zoo.plant_stalls(program)
            print(f'stalled   {program["name"]:20} {number} of {len(programs)}', file=sys.stderr)
    if options.long and not options.starts and not options.stalls:
        for number, (program, errors) in enumerate(each(programs, zoo.idle_long, zoo.long_jobs()), 1):
            zoo.long_errors[program['name']] = errors
            print(f'idle long {program["name"]:20} {number} of {len(programs)}', file=sys.stderr)
    for _, row in each(programs, zoo.try_program, options.jobs):
        failed += bool(row['errors'])
        planted += row['stalls']
        missed += len(row['missed'])
        if options.json:
            print(json.dumps(row), flush=True)
            continue
        print(f'{"failed" if row["errors"] else "ok":9} {row["program"]:20} CPU {row["cpu_ms"]:5} ms, {row["recorded_cpu_ms"]:5} recorded   '
              f'{row["last"].removeprefix("jankbox: ")[:90]}', flush=True)
        for error in row['errors'] + row['missed']:
            print(f'          | {error[:700]}', flush=True)
    return failed, planted, missed


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, end_all)
    sys.exit(main())
