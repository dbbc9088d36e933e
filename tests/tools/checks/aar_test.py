#!/usr/bin/env python3
"""What tools/build_aar packs: aar_test.py FOLDER-WITH-THE-LIBRARIES. Libraries of
this machine without a function stand for Android's x86_64 ones."""
import glob
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from xml.etree import ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
LIBRARIES = ''
JAVA_8 = 52


def build(folder, preset=None):
    """The run, and the archive's bytes."""
    if preset is not None:
        os.makedirs(f'{folder}/{preset}/lib')
        for name in ('libjankbox.so', 'libjankbox_jni.so'):
            subprocess.run(['gcc', '-shared', '-nostdlib', '-Wl,-z,max-page-size=16384', '-x', 'c', '/dev/null',
                            '-o', f'{folder}/{preset}/lib/{name}'], check=True)
    out = f'{folder}/out.aar'
    run = subprocess.run([f'{ROOT}/tools/build_aar', '--build', folder, '--strip', 'strip', '--out', out], capture_output=True,
                         text=True, check=False)
    if not os.path.exists(out):
        return run, b''
    with open(out, 'rb') as file:
        return run, file.read()


class AarTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.run_of_it, cls.data = build(cls.folder, 'android-x86_64')

    def test_classes_are_ours_and_for_java_8(self):
        with zipfile.ZipFile(io.BytesIO(self.data)) as aar, zipfile.ZipFile(aar.open('classes.jar')) as jar:
            names = jar.namelist()
            self.assertIn('dev/jankbox/Jankbox.class', names)
            for name in names:
                self.assertTrue(name.startswith('dev/jankbox/'), name)
                self.assertEqual(struct.unpack('>IHH', jar.read(name)[:8])[2], JAVA_8, name)

    def test_manifest_names_classes_that_are_there(self):
        with zipfile.ZipFile(io.BytesIO(self.data)) as aar:
            manifest = ElementTree.fromstring(aar.read('AndroidManifest.xml'))
            names = [element.get('{http://schemas.android.com/apk/res/android}name') for element in manifest.iter('provider')]
            with zipfile.ZipFile(aar.open('classes.jar')) as jar:
                for name in names:
                    self.assertIn(name.replace('.', '/') + '.class', jar.namelist())
        self.assertEqual(len(names), 1)

    def test_native_methods_of_java_are_those_that_are_registered(self):
        with open(f'{ROOT}/sdk/android/java/dev/jankbox/Native.java', encoding='utf-8') as file:
            declared = set(re.findall(r'static native \w+(?:\[\])? (\w+)\(', file.read()))
        registered = set()
        for path in glob.glob(f'{ROOT}/sdk/android/jni/*_natives.cc'):
            with open(path, encoding='utf-8') as file:
                registered |= set(re.findall(r'(?:add\(|Critical<\w+>\(|HotMethod\{)\s*"(\w+)"', file.read()))
                file.seek(0)
                registered |= set(re.findall(r'const_cast<char\*>\("(\w+)"\),\s*const_cast', file.read()))
        self.assertEqual(declared, registered)

    def test_vm_finds_nothing_but_the_loader_in_the_library(self):
        run = subprocess.run(['nm', '-D', '--defined-only', f'{LIBRARIES}/libjankbox_jni.so'], capture_output=True, text=True, check=True)
        names = [line.split() for line in run.stdout.splitlines()]
        self.assertEqual([name.split('@')[0] for _, kind, name in names if kind != 'A'], ['JNI_OnLoad'])

    def test_libraries_and_headers_go_in_with_prefab(self):
        self.assertEqual(self.run_of_it.returncode, 0, self.run_of_it.stderr)
        with zipfile.ZipFile(io.BytesIO(self.data)) as aar:
            names = aar.namelist()
            self.assertIn('jni/x86_64/libjankbox_jni.so', names)
            module = 'prefab/modules/jankbox'
            self.assertEqual(aar.read('jni/x86_64/libjankbox.so'), aar.read(f'{module}/libs/android.x86_64/libjankbox.so'))
            self.assertEqual(json.loads(aar.read(f'{module}/libs/android.x86_64/abi.json'))['abi'], 'x86_64')
            self.assertEqual(json.loads(aar.read('prefab/prefab.json'))['schema_version'], 2)
            self.assertIn(f'{module}/module.json', names)
            for header in os.listdir(f'{ROOT}/sdk/include/jankbox'):
                self.assertIn(f'{module}/include/jankbox/{header}', names)

    def test_library_of_another_machine_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            run, data = build(folder, 'android-arm64')
        self.assertNotEqual(run.returncode, 0)
        self.assertIn('is no library of machine 183', run.stderr)
        self.assertEqual(data, b'')

    def test_same_input_gives_the_same_bytes(self):
        self.assertEqual(build(self.folder)[1], self.data)


if __name__ == '__main__':
    LIBRARIES = sys.argv.pop()
    unittest.main()
