#!/usr/bin/env python3
"""Installs Jankbox, starts a systemd --user of this test's own, and turns the recording of its session on and off.

usage: session_test.py BUILD       needs root, systemd and Xvfb
The installation is at /usr/local and the state of systemd in /run, for this test only (a mount namespace). Prints one line for
each step. Exit status: 0, 1 if something went wrong, 77 if it cannot be tried here.
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

INSIDE = 'JANKBOX_SESSION_TEST_FOLDER'
CGROUPS = '/sys/fs/cgroup'
SYSTEMD = '/lib/systemd/systemd'
RUNTIME = '/run/session-test'
AGENT = '/libjankbox_agent.so'
RECORDER = '/libjankbox.so'
UNIT = 'jankbox-session'


class Failed(Exception):
    pass


def run(*command, status=0, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120, **options)
    if done.returncode != status:
        raise Failed(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout[-3000:]}')
    return done.stdout


def expect(true, what):
    if not true:
        raise Failed(what)


def wait_for(found, what):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found():
            return
        time.sleep(0.05)
    raise Failed(what + ' did not happen in a minute')


def read(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return file.read()
    except OSError:
        return ''


def threads(pid):
    return [read(f'/proc/{pid}/task/{tid}/comm').strip() for tid in os.listdir(f'/proc/{pid}/task')]


def environment():
    return sorted(run('systemctl', '--user', 'show-environment').splitlines())


def preload():
    return [line.split('=', 1)[1] for line in environment() if line.startswith('LD_PRELOAD=')]


def start(unit, *command):
    run('systemd-run', '--user', '--quiet', '--unit', unit, '--setenv=PLANTED_STALL=busy', *command)
    return int(run('systemctl', '--user', 'show', '-P', 'MainPID', unit))


def reports():
    listed = subprocess.run(['jankbox', 'list', '--json'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return json.loads(listed.stdout or '[]')


class Session:
    """The steps, in their order."""

    def __init__(self, programs):
        self.stalls = os.path.join(programs, 'gtk_stall')
        self.before = []
        self.kept = 0

    def is_off_after_the_installation(self):
        self.before = environment()
        run('systemd-analyze', '--user', '--man=no', 'verify', f'/usr/local/share/systemd/user/{UNIT}.service')
        expect('off' in run('jankbox', 'session', 'status', status=1), 'it is not off')

    def is_on_once_enabled(self):
        run('systemctl', '--user', 'enable', '--now', UNIT)
        expect('on' in run('jankbox', 'session', 'status'), 'it is not on')
        expect(len(preload()) == 1 and preload()[0].endswith(AGENT), f'LD_PRELOAD is {preload()}')

    def records_a_program_with_windows(self):
        self.kept = start('kept', self.stalls)
        wait_for(lambda: 'jankbox-watch' in threads(self.kept), 'the recording of gtk_stall')
        time.sleep(1)
        os.kill(self.kept, signal.SIGUSR1)
        wait_for(reports, 'a report of the stall')
        report = reports()[0]
        expect(report['process'] == 'gtk_stall' and report['kind'] == 'slow_message', f'the report is {report}')

    def leaves_a_program_without_windows_alone(self):
        pid = start('without', 'sleep', '60')
        time.sleep(1)
        maps = read(f'/proc/{pid}/maps')
        expect(AGENT in maps and RECORDER not in maps, maps)
        expect(len(threads(pid)) == 1, f'sleep has the threads {threads(pid)}')

    def never_records_a_compositor(self):
        sway = os.path.join(os.environ['HOME'], 'sway')
        shutil.copy(self.stalls, sway)
        pid = start('compositor', sway)
        time.sleep(1)
        maps = read(f'/proc/{pid}/maps')
        expect('libX11' in maps and RECORDER not in maps, maps)

    def is_undone_exactly(self):
        run('systemctl', '--user', 'disable', '--now', UNIT)
        expect('off' in run('jankbox', 'session', 'status', status=1), 'it is not off')
        expect(environment() == self.before, f'the environment was {self.before} and is {environment()}')

    def leaves_the_running_program_as_it_is(self):
        expect('jankbox-watch' in threads(self.kept), 'it is not recorded any more')
        expect(run('systemctl', '--user', 'is-active', 'kept') == 'active\n', 'it has ended')

    def environment_of_before_records_nothing_more(self):
        """A desktop that runs on passes on what it got at its start."""
        passed_on = dict(entry.split('=', 1) for entry in read(f'/proc/{self.kept}/environ').split('\0') if '=' in entry)
        expect(passed_on['LD_PRELOAD'].endswith(AGENT), 'the agent was not passed on')
        with subprocess.Popen([self.stalls], env=passed_on, stdout=subprocess.PIPE) as child:
            child.stdout.readline()  # "ready": its loop runs
            time.sleep(3)
            found, maps = threads(child.pid), read(f'/proc/{child.pid}/maps')
            child.kill()
        expect(RECORDER not in maps and 'jankbox-watch' not in found, f'it has the threads {found}')

    def keeps_the_users_own_preload(self):
        own = '/lib/own.so'  # not there: the loader says so and goes on
        run('systemctl', '--user', 'set-environment', 'LD_PRELOAD=' + own)
        run('systemctl', '--user', 'start', UNIT)
        expect(preload()[0].startswith(own + ':') and preload()[0].endswith(AGENT), f'LD_PRELOAD is {preload()}')
        run('systemctl', '--user', 'stop', UNIT)
        expect(preload() == [own], f'LD_PRELOAD is {preload()}')


def try_all(session):
    for step in (session.is_off_after_the_installation, session.is_on_once_enabled, session.records_a_program_with_windows,
                 session.leaves_a_program_without_windows_alone, session.never_records_a_compositor, session.is_undone_exactly,
                 session.leaves_the_running_program_as_it_is, session.environment_of_before_records_nothing_more,
                 session.keeps_the_users_own_preload):
        step()
        print(f'{step.__name__.replace("_", " "):50} ok', flush=True)


def inside(build, folder):
    """In the mount namespace."""
    run('mount', '-t', 'tmpfs', 'none', '/run')
    run('mount', '--bind', os.path.join(folder, 'installed'), '/usr/local')
    os.makedirs('/run/systemd/system')
    os.makedirs(RUNTIME, mode=0o700)
    home = os.path.join(folder, 'home')
    os.makedirs(home)
    os.environ.clear()
    os.environ.update({'HOME': home, 'XDG_RUNTIME_DIR': RUNTIME, 'PATH': '/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8',
                       'GDK_BACKEND': 'x11'})
    server = subprocess.Popen(['Xvfb', '-displayfd', '1', '-noreset', '-nolisten', 'tcp'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    os.environ['DISPLAY'] = ':' + server.stdout.readline().strip()
    manager = subprocess.Popen([SYSTEMD, '--user'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # Its own sockets add to the environment while it starts.
        wait_for(lambda: manager.poll() is not None or subprocess.run(
            ['systemctl', '--user', 'is-system-running'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            check=False).stdout.strip() in ('running', 'degraded'), 'the start of systemd --user')
        if manager.poll() is not None:
            print('skipped: systemd --user does not run here')
            return 77
        try_all(Session(os.path.join(build, 'bin')))
        return 0
    except Failed as why:
        print(f'failed: {why}')
        return 1
    finally:
        subprocess.run(['systemctl', '--user', 'exit'], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for process in (manager, server):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def enter_own_cgroup(name):
    """A manager makes its own group the root of its units, and moves every process of that group: it must not be the machine's."""
    hierarchies = [CGROUPS] if os.path.exists(f'{CGROUPS}/cgroup.controllers') else glob.glob(CGROUPS + '/*/')
    for hierarchy in hierarchies:
        if os.path.islink(hierarchy.rstrip('/')):
            continue  # cpu and cpuacct are often one
        group = os.path.join(hierarchy, name)
        os.mkdir(group)
        for file in ('cpuset.cpus', 'cpuset.mems'):  # empty in a new group of version 1: no process may enter
            if os.path.exists(f'{group}/{file}'):
                with open(f'{group}/{file}', 'w', encoding='ascii') as own:
                    own.write(read(f'{hierarchy}/{file}'))
        with open(f'{group}/cgroup.procs', 'w', encoding='ascii') as processes:
            processes.write(str(os.getpid()))


def remove_cgroups(name):
    for top in glob.glob(f'{CGROUPS}/{name}') + glob.glob(f'{CGROUPS}/*/{name}'):
        for group, _, _ in os.walk(top, topdown=False):
            for _ in range(50):  # its last process is gone a little after it was waited for
                try:
                    os.rmdir(group)
                    break
                except OSError:
                    time.sleep(0.1)


def main(build):
    if INSIDE in os.environ:
        return inside(build, os.environ[INSIDE])
    needed = [SYSTEMD, shutil.which('Xvfb') or 'Xvfb', os.path.join(build, 'bin/gtk_stall')]
    missing = [path for path in needed if not os.path.exists(path)]
    if missing or os.geteuid() != 0 or subprocess.run(['unshare', '-m', 'true'], check=False).returncode != 0:
        print(f'skipped: needs root, mount namespaces, {", ".join(needed)}')
        return 77
    folder = tempfile.mkdtemp(prefix='jankbox-session-')
    try:
        run('cmake', '--install', build, '--prefix', os.path.join(folder, 'installed'))
        return subprocess.run(['unshare', '-m', sys.executable, '-B', os.path.abspath(__file__), build],
                              env={**os.environ, INSIDE: folder}, check=False,
                              preexec_fn=lambda: enter_own_cgroup(os.path.basename(folder))).returncode
    except subprocess.SubprocessError:
        print('skipped: no cgroup of its own can be made here')
        return 77
    finally:
        remove_cgroups(os.path.basename(folder))
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1])))
