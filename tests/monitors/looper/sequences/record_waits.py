#!/usr/bin/env python3
"""Records the waits of real programs for wait_sequences_test.

Each program of sequences.toml runs under the recorder: idle, used and with planted stalls, as far as it has them. What was
recorded goes to recorded/SCREEN/NAME.waits.zst (docs/formats/waits.md). Needs the targets wait_recorder and wait_programs, Xvfb,
xdotool, weston and dbus-daemon; as root, a resolver that does not answer is put into place for the programs that ask one.
"""
import argparse
import contextlib
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.abspath(os.path.join(HERE, '../../../..'))
sys.path.insert(0, os.path.join(TREE, 'tests/zoo'))
import zoo  # pylint: disable=wrong-import-position

MAGIC = b'jankbox waits 1\n'
RAW_HEADER = struct.Struct('<QQQ')
IDLE_S = 9
STALLED_S = 8
KEYS_AFTER_S = 3.5
SLOW_RESOLVER = '127.0.0.77'


def number(value):
    encoded = b''
    while value >= 0x80:
        encoded += bytes([value & 0x7f | 0x80])
        value >>= 7
    return encoded + bytes([value])


def records_of(path, ended_s):
    """The records of a raw file, with the end of the run; None if there are none."""
    with open(path, 'rb') as file:
        size, start_ns, last_us = RAW_HEADER.unpack(file.read(RAW_HEADER.size))
        records = file.read(size)
    if not records:
        return None
    since_last_us = max(0, int(ended_s * 1e6) - start_ns // 1000 - last_us) if ended_s else 0
    return records + b'z' + number(since_last_us)


class Servers:
    """What the programs talk to; started once."""

    def __init__(self, scratch, stack):
        self.scratch = scratch
        self.stack = stack
        self.running = {}

    def start(self, name):
        if name not in self.running:
            self.running[name] = getattr(self, 'start_' + name)()
        return self.running[name]

    def spawn(self, command, **options):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        self.stack.callback(process.wait)
        self.stack.callback(process.terminate)
        return process

    def start_x11(self):
        read_end, write_end = os.pipe()
        server = self.spawn(['Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x800x24', '-nolisten', 'tcp', '-noreset'],
                            pass_fds=[write_end])
        os.close(write_end)
        with os.fdopen(read_end) as file:
            return server.pid, {'DISPLAY': ':' + file.readline().strip(), 'GDK_BACKEND': 'x11', 'SDL_VIDEODRIVER': 'x11'}

    def start_wayland(self):
        folder = tempfile.mkdtemp(prefix='wayland-', dir=self.scratch)
        server = self.spawn(['weston', '--backend=headless-backend.so', '--socket=waits', '--idle-time=0'],
                            env=dict(os.environ, XDG_RUNTIME_DIR=folder))
        wait_for(os.path.join(folder, 'waits'))
        return server.pid, {'XDG_RUNTIME_DIR': folder, 'WAYLAND_DISPLAY': 'waits', 'GDK_BACKEND': 'wayland'}

    def start_bus(self):
        path = os.path.join(self.scratch, 'bus')
        server = self.spawn(['dbus-daemon', '--session', '--nofork', '--address=unix:path=' + path])
        wait_for(path)
        return server.pid, {'DBUS_SESSION_BUS_ADDRESS': 'unix:path=' + path}

    def start_resolver(self):
        """Takes questions and answers none: each getaddrinfo() waits for its timeout."""
        questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        questions.bind((SLOW_RESOLVER, 53))
        self.stack.callback(questions.close)
        path = os.path.join(self.scratch, 'resolv.conf')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'nameserver {SLOW_RESOLVER}\noptions timeout:1 attempts:1\n')
        return 0, {}


def wait_for(path):
    for _ in range(200):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    sys.exit(f'record_waits: {path} does not appear')


class Recorder:
    def __init__(self, options, servers):
        self.options = options
        self.servers = servers

    def environment(self, program, kind, home):
        """What the program gets, and the process that a stall stops."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith(('DBUS', 'DISPLAY', 'WAYLAND', 'XDG'))}
        environment |= {'HOME': home, 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'NO_AT_BRIDGE': '1', 'GSETTINGS_BACKEND': 'memory'}
        needed = ([program['screen']] if program['screen'] in ('x11', 'wayland') else []) + program.get('servers', [])
        for server in needed:
            pid, more = self.servers.start(server)
            environment |= more
            environment['STALL_PEER'] = str(pid)
        if kind:
            environment['STALL'] = kind
            environment['GTK_MODULES'] = os.path.join(os.path.dirname(self.options.recorder), 'libwait_gtk_module.so')
        return environment

    def command(self, text, program, raw, home):
        words = shlex.split(text.format(scratch=home, scratch_name=os.path.basename(home),
                                        programs=self.options.programs, sources=os.path.join(HERE, 'programs')))
        recorded = ['env', 'LD_PRELOAD=' + self.options.recorder, 'RECORD_WAITS_FILE=' + raw,
                    'RECORD_WAITS_PROGRAM=' + program['program'], *words]
        if 'resolver' not in program.get('servers', []):
            return recorded
        resolver = os.path.join(self.servers.scratch, 'resolv.conf')
        return ['unshare', '-m', 'sh', '-c', f'mount --bind {resolver} /etc/resolv.conf; exec "$0" "$@"', *recorded]

    def run(self, program, text, seconds, keys='', kind=''):
        """The records of one run, None if the recorder saw nothing."""
        home = tempfile.mkdtemp(prefix='home-', dir=self.servers.scratch)
        raw = os.path.join(home, 'waits.raw')
        environment = self.environment(program, kind, home)
        command = self.command(text, program, raw, home)
        on_screen = program['screen'] in ('x11', 'wayland')
        if keys and on_screen:
            threading.Timer(KEYS_AFTER_S, type_keys, [keys, environment]).start()
            seconds += KEYS_AFTER_S
        done = zoo.Run(command, program['screen'], seconds, '' if on_screen else keys, environment)
        records = records_of(raw, done.told_to_end_s) if os.path.exists(raw) else None
        if records is None:
            print(f'          | nothing recorded: {done.status} {done.error[-300:]!r}', flush=True)
        shutil.rmtree(home, ignore_errors=True)
        return records

    def record(self, program):
        """All runs of a program, into its file."""
        runs = []
        if program.get('idle', True):
            runs.append(('idle', self.run(program, program['command'], IDLE_S)))
        if program.get('keys'):
            runs.append(('used', self.run(program, program['command'], 3, program['keys'])))
        if program.get('stalled_keys'):
            runs.append(('typed', self.run(program, program['command'], 3, program['stalled_keys'])))
        for kind in program.get('gtk_stalls', []):
            runs.append((kind, self.run(program, program['command'], STALLED_S, kind=kind)))
        for name, text in program.get('more', {}).items():
            runs.append((name, self.run(program, text, STALLED_S)))
        runs = [(name, records) for name, records in runs if records is not None]
        if not runs:
            return 'no waits'
        content = MAGIC
        for name, records in runs:
            content += b'R' + number(len(name)) + name.encode() + number(len(records)) + records
        folder = os.path.join(self.options.out, program['screen'])
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, program['name'] + '.waits.zst')
        packed = subprocess.run(['zstd', '-19', '-q', '-c', f'--stream-size={len(content)}'], input=content, stdout=subprocess.PIPE, check=True).stdout
        with open(path, 'wb') as file:
            file.write(packed)
        return f'{len(packed):7} bytes   ' + ', '.join(f'{name} {len(records)}' for name, records in runs)


def type_keys(keys, environment):
    """Types into the window on top, words of xdotool's: a text, or the name of a key in <>."""
    for key in re.findall(r'<[^>]+>|[^<]+', keys):
        words = ['key', key[1:-1]] if key.startswith('<') else ['type', '--delay', '60', key]
        subprocess.run(['xdotool', 'search', '--onlyvisible', '--name', '.', 'windowfocus'], env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=10, check=False)
        subprocess.run(['xdotool', *words], env=environment, stderr=subprocess.DEVNULL, timeout=30, check=False)
        time.sleep(zoo.KEY_S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = os.path.join(TREE, 'build/release')
    parser.add_argument('--recorder', default=os.path.join(build, 'lib/libwait_recorder.so'), help='[%(default)s]')
    parser.add_argument('--programs', default=os.path.join(build, 'bin'), help="this folder's own programs [%(default)s]")
    parser.add_argument('--out', default=os.path.join(HERE, 'recorded'), help='[%(default)s]')
    parser.add_argument('program', nargs='*', help='only these, by name')
    options = parser.parse_args()
    with open(os.path.join(HERE, 'sequences.toml'), 'rb') as file:
        programs = tomllib.load(file)['program']
    unknown = set(options.program) - {program['name'] for program in programs}
    if unknown:
        parser.error(f'there is no program {", ".join(sorted(unknown))} in sequences.toml')
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix='waits-', dir='/tmp'))
        recorder = Recorder(options, Servers(scratch, stack))
        for program in programs:
            if not options.program or program['name'] in options.program:
                print(f'{program["name"]:20} {recorder.record(program)}', flush=True)


if __name__ == '__main__':
    main()
