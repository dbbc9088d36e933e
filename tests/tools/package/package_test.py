#!/usr/bin/env python3
"""Makes the Debian package, installs it into a fresh Debian in a folder, and runs the commands and examples of README.md there.
Then builds the C example with Jankbox as a part of its own build (FetchContent).

usage: package_test.py [BUILD]     needs root; about 5 minutes, most of it packages that are fetched
Prints one line for each step. Exit status: 0, 1 if something went wrong, 77 if it cannot be tried here.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SUITE = 'bookworm'
MIRROR = 'http://deb.debian.org/debian'
PACKAGES = ['gtk-3-examples', 'xvfb', 'procps', 'gcc', 'g++', 'libc6-dev', 'cmake', 'make', 'pkg-config']
# The README's user closes the program's window; here its process is told to end.
CLOSE_AFTER_S = 6


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise Failed(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout[-3000:]}')
    return done.stdout


def step(text, work):
    print(f'{text:50}', end='', flush=True)
    began = time.monotonic()
    said = work()
    print(f' ok {time.monotonic() - began:5.0f} s  {said or ""}', flush=True)


def blocks(readme, language, containing):
    found = [block for block in re.findall(rf'^```{language}\n(.*?)^```', readme, re.M | re.S) if containing in block]
    if len(found) != 1:
        raise Failed(f'README.md has {len(found)} {language} blocks with "{containing}", not one')
    return found[0]


class Chroot:
    """Debian in a folder, in which nothing is running that outlives a command."""

    def __init__(self, folder):
        self.folder = folder

    def bootstrap(self):
        run('debootstrap', '--variant=minbase', SUITE, self.folder, MIRROR)

    def sh(self, script):
        """The output of a shell script in there: its own mounts and processes, which end with it."""
        inside = ('mount -t proc proc {0}/proc && mount --rbind /dev {0}/dev && mount -t tmpfs tmpfs {0}/tmp && '
                  'exec chroot {0} env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 sh -ec "$1"').format(self.folder)
        return run('unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', inside, 'sh', script)

    def write(self, path, text):
        with open(self.folder + path, 'w', encoding='utf-8') as file:
            file.write(text)


def install(chroot, build):
    with tempfile.TemporaryDirectory() as out:
        run('cpack', '-B', out, cwd=build)
        packages = glob.glob(os.path.join(out, 'jankbox_*.deb'))
        if len(packages) != 1:
            raise Failed(f'cpack made {len(packages)} packages in {out}')
        shutil.copy(packages[0], os.path.join(chroot.folder, 'root'))
        name = os.path.basename(packages[0])
    chroot.sh(f'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends /root/{name} ' +
              ' '.join(PACKAGES))
    return name


def commands_of(readme):
    """The lines of the README's console block, without the prompt and the comments."""
    block = blocks(readme, 'console', 'jankbox show')
    return [line.removeprefix('$ ').split('  #')[0].rstrip() for line in block.splitlines() if line.startswith('$ ')]


def run_commands(chroot, readme):
    commands = commands_of(readme)
    run_line = commands[0]
    if not run_line.startswith('jankbox run '):
        raise Failed(f'the first command is not jankbox run: {run_line}')
    program = run_line.split('-- ')[1].split()[0]
    # An X server of this shell's own, which ends with it, and somebody who closes the program.
    lines = ['Xvfb -displayfd 3 -nolisten tcp 3>/tmp/display >/tmp/xvfb.log 2>&1 &',
             'for try in $(seq 300); do test -s /tmp/display && break; sleep 0.1; done',
             'test -s /tmp/display || { cat /tmp/xvfb.log; exit 1; }',
             'export DISPLAY=":$(cat /tmp/display)"',
             f'(sleep {CLOSE_AFTER_S}; pkill -x {program[:15]}) &',
             f'{run_line} || [ $? = 143 ]',
             'id=$(jankbox list --json | sed -nE \'s/^ *"id": "([0-9a-f-]+)".*/\\1/p\' | head -n 1)',
             'test -n "$id" || { echo "no report"; exit 1; }']
    for command in commands[1:]:
        # The id that stands in the README for whatever the reader has.
        lines.append(re.sub(r'\b0195a3c2-7f01\b', '$id', command))
    said = chroot.sh('cd /root\n' + '\n'.join(lines) + '\ntest -s out.pftrace\nman -w jankbox-run 2>/dev/null || true')
    if 'watched: main (glib)' not in said:
        raise Failed(f'the run does not say what it watched:\n{said}')
    return f'{len(commands)} commands'


def run_c_example(chroot, readme):
    chroot.write('/root/example.c', blocks(readme, 'c', 'jankbox_start'))
    chroot.sh('cd /root && gcc -Wall -Werror -o example example.c $(pkg-config --cflags --libs jankbox) && JANKBOX_DIR=/root/example-reports ./example')
    return check_example(chroot, 'example')


def run_cmake_example(chroot, readme):
    chroot.write('/root/CMakeLists.txt', 'cmake_minimum_required(VERSION 3.25)\nproject(example C)\nadd_executable(app example.c)\n' +
                 blocks(readme, 'cmake', 'find_package'))
    chroot.sh('cd /root && cmake -S . -B b >/dev/null && cmake --build b >/dev/null && JANKBOX_DIR=/root/app-reports b/app')
    return check_example(chroot, 'app')


def build_as_subproject(readme):
    with tempfile.TemporaryDirectory() as top:
        with open(os.path.join(top, 'example.c'), 'w', encoding='utf-8') as file:
            file.write(blocks(readme, 'c', 'jankbox_start'))
        with open(os.path.join(top, 'CMakeLists.txt'), 'w', encoding='utf-8') as file:
            file.write(f"""cmake_minimum_required(VERSION 3.25)
project(example C CXX)
include(FetchContent)
FetchContent_Declare(jankbox SOURCE_DIR {ROOT})
FetchContent_MakeAvailable(jankbox)
add_executable(app example.c)
target_link_libraries(app PRIVATE jankbox::jankbox)
""")
        # Not optimised: this is about the build, not about what it makes.
        run('cmake', '-S', top, '-B', os.path.join(top, 'b'), '-G', 'Ninja', '-DCMAKE_CXX_FLAGS=-O0', '-DJANKBOX_LTO=OFF', '-DJANKBOX_UNITY=ON')
        run('cmake', '--build', os.path.join(top, 'b'), '--target', 'app')
        run(os.path.join(top, 'b/app'), env={**os.environ, 'JANKBOX_DIR': os.path.join(top, 'reports')})
        return f'{len(glob.glob(os.path.join(top, "reports/*.pftrace.zst")))} report'


def check_example(chroot, process):
    """One report of its slow message, which lost nothing."""
    listed = json.loads(chroot.sh(f'jankbox list --json /root/{process}-reports'))
    reports = [report for report in listed if report['process'] == process]
    if len(reports) != 1:
        raise Failed(f'{process} left {len(reports)} reports')
    report = json.loads(chroot.sh(f'jankbox show --json --dir /root/{process}-reports {reports[0]["id"]}'))
    lost = {name: count for name, count in report['losses'].items() if count}
    if lost:
        raise Failed(f'{process} lost {lost}')
    return f'{report["kind"]} of "{report["what"]}", {report["duration_ms"]:.0f} ms'


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1].startswith('-')):
        print(__doc__, file=sys.stderr)
        return 2
    build = os.path.abspath(sys.argv[1] if len(sys.argv) == 2 else os.path.join(ROOT, 'build/release'))
    if os.geteuid() != 0 or not shutil.which('debootstrap'):
        print('skipped: needs root and debootstrap')
        return 77
    with open(os.path.join(ROOT, 'README.md'), encoding='utf-8') as file:
        readme = file.read()
    folder = tempfile.mkdtemp(prefix='jankbox-chroot-')
    try:
        chroot = Chroot(folder)
        try:
            step(f'debootstrap {SUITE}', chroot.bootstrap)
            chroot.sh('true')
        except Failed as error:  # no network, or no right to make mounts
            print(f' skipped\n{error}')
            return 77
        step('install the package', lambda: install(chroot, build))
        step('the commands of README.md', lambda: run_commands(chroot, readme))
        step('the C example, by pkg-config', lambda: run_c_example(chroot, readme))
        step('the C example, by find_package', lambda: run_cmake_example(chroot, readme))
        step('the C example, by FetchContent', lambda: build_as_subproject(readme))
    except Failed as error:
        print(f' failed\n{error}')
        return 1
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
