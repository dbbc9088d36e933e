"""Source packages of Debian, for tests that compile what Android really runs.

apt fetches them from the mirrors that this machine gets its packages from, with its signatures checked, into folders of its own;
only the wanted files stay. Where that cannot be, the caller ends with status 77 and a line that says why.
"""
import contextlib
import fcntl
import glob
import os
import shutil
import subprocess
import sys
import tarfile

UNAVAILABLE = 77


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


@contextlib.contextmanager
def locked(cache):
    """One process at a time works in `cache`, which all presets share."""
    os.makedirs(cache, exist_ok=True)
    with open(f'{cache}/lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def download(folder, package):
    """The package's upstream archive. REQUIRES locked(); leaves its lists and archives in `folder`."""
    entries = list(source_entries())
    if not shutil.which('apt-get') or not entries:
        unavailable('no Debian mirror in the sources of apt')
    for name in ('sources', 'lists/partial', 'cache/archives/partial', 'download'):
        os.makedirs(f'{folder}/{name}', exist_ok=True)
    with open(f'{folder}/sources/debian.sources', 'w', encoding='utf-8') as file:
        file.write('\n'.join(entries))
    for step in (['update'], ['source', '--download-only', '--tar-only', package]):
        run = apt(folder, *step)
        if run.returncode != 0:
            last = (run.stderr.strip() or run.stdout.strip() or 'no message').splitlines()[-1]
            unavailable(f'apt-get {" ".join(step)}: {last}')
    return glob.glob(f'{folder}/download/{package}_*.orig.tar.*')[0]


def fetch(cache, package, name, wanted):
    """The folder CACHE/NAME with files of `package`: wanted(path in the archive) is the path in the folder, or None."""
    sources = f'{cache}/{name}'
    if os.path.isdir(sources):
        return sources
    folder = f'{cache}/apt'
    partial = f'{cache}/{name}.partial'
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(download(folder, package)) as archive:
        for member in archive:
            path = wanted(member.name) if member.isfile() else None
            if path is not None:
                path = os.path.normpath(f'{partial}/{path}')
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, 'wb') as file:
                    shutil.copyfileobj(archive.extractfile(member), file)
    os.rename(partial, sources)
    shutil.rmtree(folder)  # archives and lists: 95 MB of android-platform-tools, 56 MB of android-platform-frameworks-base
    return sources
