"""Installs the SDK to a fresh prefix, moves that, and builds and runs a C and a C++ program against it, by find_package and
by pkg-config. Each program must leave a report that zstd accepts."""
import argparse
import glob
import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ['consumer_c', 'consumer_cc']


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise SystemExit(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}')
    return done.stdout


def install(cmake, build, top):
    first, prefix = os.path.join(top, 'first'), os.path.join(top, 'moved')
    run(cmake, '--install', build, '--component', 'jankbox_sdk', '--prefix', first)
    shutil.move(first, prefix)  # a package is unpacked anywhere: nothing may name the prefix of its installation
    return prefix


def check_names_no_build_folder(prefix, build):
    for path in glob.glob(os.path.join(prefix, '**/*.cmake'), recursive=True) + \
            glob.glob(os.path.join(prefix, '**/*.pc'), recursive=True):
        with open(path, encoding='utf-8') as file:
            text = file.read()
        for folder in (os.path.abspath(build), os.path.dirname(prefix)):
            if folder in text:
                raise SystemExit(f'{path} names {folder}')


def check_manual(args, top):
    """A build without help2man, or with a sanitizer, has none."""
    if not os.path.isdir(os.path.join(args.build, 'manual')):
        return
    prefix = os.path.join(top, 'programs')
    run(args.cmake, '--install', args.build, '--component', 'jankbox_programs', '--prefix', prefix)
    for name in ('man/man1/jankbox.1', 'man/man1/jankbox-run.1', 'man/man1/jankbox-collector.1', 'bash-completion/completions/jankbox'):
        path = os.path.join(prefix, 'share', name)
        with open(path, encoding='utf-8') as file:
            if 'jankbox' not in file.read():
                raise SystemExit(f'{path} says nothing')


def build_with_find_package(args, prefix, top):
    build = os.path.join(top, 'find_package')
    run(args.cmake, '-S', HERE, '-B', build, f'-DCMAKE_PREFIX_PATH={prefix}', f'-DCMAKE_C_COMPILER={args.cc}',
        f'-DCMAKE_CXX_COMPILER={args.cxx}')
    run(args.cmake, '--build', build)
    return build


def build_with_pkg_config(args, prefix, top):
    folder = os.path.join(top, 'pkg_config')
    os.makedirs(folder)
    pc = glob.glob(os.path.join(prefix, '**/jankbox.pc'), recursive=True)
    if len(pc) != 1:
        raise SystemExit(f'expected one jankbox.pc, found {pc}')
    flags = run('pkg-config', '--cflags', '--libs', 'jankbox',
                env={**os.environ, 'PKG_CONFIG_PATH': os.path.dirname(pc[0])}).split()
    library_folder = os.path.dirname(os.path.dirname(pc[0]))
    for compiler, name in ((args.cc, 'consumer.c'), (args.cxx, 'consumer.cc')):
        run(compiler, os.path.join(HERE, name), '-o', os.path.join(folder, name.replace('.', '_')), *flags,
            f'-Wl,-rpath,{library_folder}')
    return folder


def check_reports(folder, top):
    for program in PROGRAMS:
        spool = os.path.join(top, os.path.basename(folder) + '-' + program)
        os.makedirs(spool)
        run(os.path.join(folder, program), spool)
        reports = glob.glob(os.path.join(spool, '**/*.pftrace.zst'), recursive=True)
        if len(reports) != 1:
            raise SystemExit(f'{program} left {len(reports)} reports in {spool}, not one')
        run('zstd', '-tq', reports[0])


def main():
    parser = argparse.ArgumentParser()
    for option in ('--cmake', '--build', '--cc', '--cxx'):
        parser.add_argument(option, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        prefix = install(args.cmake, args.build, top)
        check_names_no_build_folder(prefix, args.build)
        check_manual(args, top)
        check_reports(build_with_find_package(args, prefix, top), top)
        check_reports(build_with_pkg_config(args, prefix, top), top)
    print('find_package and pkg-config: a C and a C++ program each built, ran and left a report')


if __name__ == '__main__':
    main()
