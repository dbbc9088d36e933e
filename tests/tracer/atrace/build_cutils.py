#!/usr/bin/env python3
"""Builds AOSP's own atrace library, the one that runs on devices, from Debian's source package.

Debian's libcutils.so.0 has the host's empty marker functions. Its source package has the device's too (trace-dev.cpp):
this fetches the package with apt, into folders of its own, takes libcutils out of it and compiles that against
cutils_shim/. Made once: OUT/write/libcutils.so imports write, OUT/write_chk/libcutils.so imports __write_chk, as the
libraries of Android do. Exit status 77, and a line that says why, where the source is not to be had.
"""
import argparse
import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tarfile

PACKAGE = 'android-platform-tools'
WANTED = '/system/core/libcutils/'
UNAVAILABLE = 77
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..'))


def unavailable(why):
    print(why)
    sys.exit(UNAVAILABLE)


def codename():
    with open('/etc/os-release', encoding='utf-8') as file:
        entries = dict(line.strip().split('=', 1) for line in file if '=' in line)
    return entries.get('VERSION_CODENAME', '').strip('"')


def stanzas(text):
    """The fields of each paragraph of a deb822 file."""
    for paragraph in text.split('\n\n'):
        fields = {}
        for line in paragraph.splitlines():
            if line.startswith('#') or not line.strip():
                continue
            if not line[0].isspace() and ':' in line:
                name, value = line.split(':', 1)
                fields[name.lower()] = value.strip()
            elif fields:
                fields[name.lower()] += '\n' + line
        yield fields


def one_line_entry(line):
    """A line of sources.list as fields."""
    words = line.split('#')[0].split()
    if not words or words[0] not in ('deb', 'deb-src'):
        return {}
    fields = {}
    if len(words) > 1 and words[1].startswith('['):
        end = next(i for i, word in enumerate(words) if word.endswith(']'))
        for option in ' '.join(words[1:end + 1]).strip('[]').split():
            name, _, value = option.partition('=')
            fields[name.lower()] = value
        words[1:end + 1] = []
    if len(words) > 3:
        fields.update(uris=words[1], suites=words[2], components=' '.join(words[3:]))
    return fields


def source_entries():
    """deb-src entries for what this machine gets its Debian packages from."""
    found = []
    for path in ['/etc/apt/sources.list', *sorted(glob.glob('/etc/apt/sources.list.d/*'))]:
        if not os.path.isfile(path):
            continue
        with open(path, encoding='utf-8') as file:
            text = file.read()
        found += stanzas(text) if path.endswith('.sources') else map(one_line_entry, text.splitlines())
    release = codename()
    for fields in found:
        fits = release in fields.get('suites', '').split() and 'main' in fields.get('components', '').split()
        if fits and fields.get('enabled', 'yes') != 'no':
            signed = f'Signed-By: {fields["signed-by"]}\n' if 'signed-by' in fields else ''
            yield f'Types: deb-src\nURIs: {fields["uris"]}\nSuites: {release}\nComponents: main\n{signed}'


def apt(folder, *arguments):
    """apt with lists, cache and sources of its own; the machine's are not touched."""
    options = {'Dir::Etc::SourceList': '/dev/null', 'Dir::Etc::SourceParts': f'{folder}/sources',
               'Dir::State::Lists': f'{folder}/lists', 'Dir::Cache': f'{folder}/cache',
               'Acquire::Languages': 'none', 'Acquire::Retries': '1', 'Acquire::http::Timeout': '10',
               'Acquire::https::Timeout': '10', 'APT::Update::Error-Mode': 'any', 'APT::Sandbox::User': ''}
    command = ['apt-get', '-q', *(f'-o{name}={value}' for name, value in options.items()), *arguments]
    return subprocess.run(command, cwd=f'{folder}/download', capture_output=True, text=True, check=False)


def fetch(cache):
    """The folder of libcutils' sources."""
    sources = f'{cache}/libcutils'
    if os.path.isdir(sources):
        return sources
    entries = list(source_entries())
    if not shutil.which('apt-get') or not entries:
        unavailable('no Debian mirror in the sources of apt')
    folder = f'{cache}/apt'
    for name in ('sources', 'lists/partial', 'cache/archives/partial', 'download'):
        os.makedirs(f'{folder}/{name}', exist_ok=True)
    with open(f'{folder}/sources/debian.sources', 'w', encoding='utf-8') as file:
        file.write('\n'.join(entries))
    for step in (['update'], ['source', '--download-only', PACKAGE]):
        run = apt(folder, *step)
        if run.returncode != 0:
            last = (run.stderr.strip() or run.stdout.strip() or 'no message').splitlines()[-1]
            unavailable(f'apt-get {" ".join(step)}: {last}')
    archives = glob.glob(f'{folder}/download/{PACKAGE}_*.orig.tar.*')
    partial = f'{cache}/libcutils.partial'
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archives[0]) as archive:
        for member in archive:
            if WANTED in member.name and member.isfile() and member.name.endswith(('.h', '.cpp', '.inc')):
                path = os.path.normpath(f'{partial}/{member.name.split(WANTED, 1)[1]}')
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'wb') as file:
                    shutil.copyfileobj(archive.extractfile(member), file)
    os.rename(partial, sources)
    shutil.rmtree(folder)  # 95 MB of archive and lists
    return sources


def build(sources, library, flags, options):
    """Compiles one library."""
    folder = os.path.dirname(library)
    os.makedirs(folder, exist_ok=True)
    include = [f'-I{options.shim}', f'-I{ROOT}', f'-I{sources}/include', '-isystem/usr/include/android', '-fPIC', '-g1', '-O2', '-w']
    cxx = [options.cxx, '-std=gnu++23', *include]
    android = '/usr/lib/' + subprocess.run([options.cc, '-print-multiarch'], capture_output=True, text=True,
                                           check=True).stdout.strip() + '/android'
    objects = [f'{folder}/{name}.o' for name in ('trace', 'properties', 'shim')]
    for command in (
            [*cxx, '-D__BIONIC__', '-DATRACE_SHMEM=1', *flags, '-c', f'{sources}/trace-dev.cpp', '-o', objects[0]],
            [*cxx, '-c', f'{sources}/properties.cpp', '-o', objects[1]],
            [options.cc, *include, '-c', f'{options.shim}/system_properties.c', '-o', objects[2]],
            [options.cxx, '-shared', *objects, '-o', f'{library}.new', f'-L{android}', '-llog', f'-Wl,-rpath,{android}',
             *([options.write_chk, f'-Wl,-rpath,{os.path.dirname(options.write_chk)}'] if flags else [])]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f'{" ".join(command)}\n{run.stderr}')
    os.rename(f'{library}.new', library)


def is_built(library, shim):
    """Whether it is there, and younger than what of it is ours."""
    ours = [__file__, *glob.glob(f'{shim}/**/*.[hc]', recursive=True)]
    return os.path.exists(library) and os.path.getmtime(library) > max(map(os.path.getmtime, ours))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ('cache', 'shim', 'write-chk', 'out', 'cc', 'cxx'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    os.makedirs(options.cache, exist_ok=True)
    with open(f'{options.cache}/lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources = fetch(options.cache)
        for name, flags in (('write', []), ('write_chk', ['-include', f'{options.shim}/write_chk.h'])):
            library = f'{options.out}/{name}/libcutils.so'
            if not is_built(library, options.shim):
                build(sources, library, flags, options)


if __name__ == '__main__':
    main()
