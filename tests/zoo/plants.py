"""Stalls that come from outside of a program: its X server stops, its cgroup may use little CPU, its disk is slow.

The program itself plants one at the moment that it wants: it runs {scratch}/stop_x, {scratch}/quota or {scratch}/slow_disk. Each
script returns at once, and what it changed is undone 2 s later (0.9 s for the X server).
"""
import os
import subprocess
import time

SCRIPTS = {
    'stop_x': 'kill -STOP {x_server}; (sleep 0.9; kill -CONT {x_server})',
    'quota': 'echo "{quota}" > {cpu}; (sleep 2; echo "{no_quota}" > {cpu})',
    'slow_disk': 'echo "{throttle}" > {disk}; (sleep 2; echo "{no_throttle}" > {disk})',
}
DISK_BYTES_A_SECOND = 1 << 20
COLD_BYTES = 1 << 20


def disk_of(path):
    """The numbers of the disk that holds the file: a throttle is the disk's and not its partition's."""
    device = os.stat(path).st_dev
    node = os.path.realpath(f'/sys/dev/block/{os.major(device)}:{os.minor(device)}')
    if os.path.exists(os.path.join(node, 'partition')):
        node = os.path.dirname(node)
    try:
        with open(os.path.join(node, 'dev'), encoding='ascii') as file:
            return file.read().strip()
    except OSError:
        return ''  # a file system without a disk


class Plants:
    """Cgroups, a file that is not in the page cache, and the scripts, for one run in the folder `scratch`."""

    def __init__(self, scratch, x_server):
        self.scratch = scratch
        self.name = os.path.basename(scratch)
        self.groups = []
        facts = {'x_server': x_server}
        disk = disk_of(scratch)
        if os.path.exists('/sys/fs/cgroup/cgroup.controllers'):
            facts['cpu'] = facts['disk'] = self.group('/sys/fs/cgroup')
            facts['cpu'] += '/cpu.max'
            facts['disk'] += '/io.max'
            facts.update(quota='10000 100000', no_quota='max', throttle=f'{disk} rbps={DISK_BYTES_A_SECOND}', no_throttle=f'{disk} rbps=max')
        else:
            facts['cpu'] = self.group('/sys/fs/cgroup/cpu') + '/cpu.cfs_quota_us'
            facts['disk'] = self.group('/sys/fs/cgroup/blkio') + '/blkio.throttle.read_bps_device'
            facts.update(quota=10000, no_quota=-1, throttle=f'{disk} {DISK_BYTES_A_SECOND}', no_throttle=f'{disk} 0')
        for name, text in SCRIPTS.items():
            path = os.path.join(scratch, name)
            with open(path, 'w', encoding='ascii') as file:
                first, _, later = text.format(**facts).partition('; ')
                file.write(f'#!/bin/sh\n{first}\n{later} > /dev/null 2>&1 &\n')
            os.chmod(path, 0o755)
        with open(os.path.join(scratch, 'cold'), 'wb') as file:
            file.write(os.urandom(COLD_BYTES))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def group(self, hierarchy):
        path = os.path.join(hierarchy, self.name)
        os.mkdir(path)
        self.groups.append(path)
        return path

    def enter(self, command):
        """The command that runs `command` in the cgroups."""
        moves = ' && '.join(f'echo $$ > {path}/cgroup.procs' for path in self.groups)
        return ['sh', '-c', f'{moves} && exec "$@"', 'sh', *command]

    def close(self):
        for path in self.groups:
            for _ in range(50):  # its last process is gone a little after it was waited for
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    subprocess.run(['sh', '-c', f'kill -KILL $(cat {path}/cgroup.procs)'], stderr=subprocess.DEVNULL, check=False)
                    time.sleep(0.1)
