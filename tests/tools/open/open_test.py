"""`jankbox show --open` in a real Chromium: the trace arrives whole, at the incident's range, by the protocol of Perfetto's UI
v58, which a page of this test speaks; and in the viewer of npm, which is real.

open_test.py PROGRAMS [VIEWER]. PROGRAMS: the folder of jankbox and sdk_driver. Exit status 77: Chromium is not installed.
"""
import base64
import contextlib
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

WAIT_S = 60

# As v58's post_message_handler.ts: PING is answered, then one message has the trace.
FAKE_UI = b'''<!DOCTYPE html><title>fake</title><script>
addEventListener('message', async (event) => {
  if (event.data === 'PING') { event.source.postMessage('PONG', event.origin); return; }
  const trace = event.data.perfetto;
  if (trace === undefined) return;
  const digest = await crypto.subtle.digest('SHA-256', trace.buffer);
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  await fetch('/got', {method: 'POST', body: JSON.stringify({hex, title: trace.title, origin: event.origin, hash: location.hash})});
});
</script>'''


class Ui(http.server.BaseHTTPRequestHandler):
    """Perfetto's UI, as far as it takes a trace."""
    got = []

    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write(FAKE_UI)

    def do_POST(self):
        self.got.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Browser:
    """Chromium without a window, by the DevTools protocol over two pipes."""

    def __init__(self, profile):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def take_pipes():
            # 3 and 4 may be among the four themselves.
            high = [os.dup(to_browser), os.dup(from_browser)]
            high = [fd if fd > 4 else os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
             '--disable-background-networking', '--remote-debugging-pipe', f'--user-data-dir={profile}'],
            env={**os.environ, 'HOME': profile}, preexec_fn=take_pipes, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b''
        self.last = 0

    def call(self, method, session=None, **params):
        self.last += 1
        message = {'id': self.last, 'method': method, 'params': params}
        if session:
            message['sessionId'] = session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        while True:
            while b'\0' not in self.rest:
                piece = os.read(self.into, 1 << 16)
                if not piece:
                    raise RuntimeError('Chromium has ended')
                self.rest += piece
            line, _, self.rest = self.rest.partition(b'\0')
            answer = json.loads(line)
            if answer.get('id') == self.last:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']

    def open(self, url):
        target = self.call('Target.createTarget', url=url)['targetId']
        return self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']

    def evaluate(self, session, script):
        result = self.call('Runtime.evaluate', session, expression=script, userGesture=True, awaitPromise=True, returnByValue=True)
        return result['result'].get('value')

    def wait_for(self, session, script):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            value = self.evaluate(session, script)
            if value:
                return value
            time.sleep(0.1)
        raise RuntimeError(f'never true: {script}; the page says: {self.evaluate(session, "document.body.innerText")}')

    def close(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def browser():
    profile = tempfile.mkdtemp()
    chromium = Browser(profile)
    try:
        yield chromium
    finally:
        chromium.close()
        shutil.rmtree(profile, ignore_errors=True)


@contextlib.contextmanager
def served(jankbox, folder, report, *options):
    """`jankbox show --open` of the report, and its page's address."""
    command = [jankbox, 'show', '--open', '--no-browser', *options, '--dir', folder, report]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            yield program, program.stdout.readline().strip()
        finally:
            program.kill()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def range_of(jankbox, folder, report):
    """The incident on the trace's clock, in ns."""
    shown = subprocess.run([jankbox, 'show', '--json', '--dir', folder, report], check=True, capture_output=True)
    facts = json.loads(shown.stdout)
    return facts['begin_ns'], facts['begin_ns'] + int((facts['duration_ms'] + facts['held_ms']) * 1e6)


def check_online(jankbox, folder, report):
    exported = subprocess.run([jankbox, 'export', '--dir', folder, report, '-o', '-'], check=True, capture_output=True).stdout
    begin, end = range_of(jankbox, folder, report)
    ui = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Ui)
    threading.Thread(target=ui.serve_forever, daemon=True).start()
    origin = f'http://localhost:{ui.server_port}'
    with served(jankbox, folder, report, '--ui', origin) as (program, url), browser() as chromium:
        page = chromium.open(url)
        chromium.wait_for(page, 'document.getElementById("open")?.disabled === false')
        check(origin in chromium.evaluate(page, 'document.body.innerText'), 'the page says who reads the trace')
        chromium.evaluate(page, 'document.getElementById("open").click()')
        check(program.wait(WAIT_S) == 0, 'jankbox ends once the UI has the trace')
    ui.shutdown()
    check(len(Ui.got) == 1, Ui.got)
    got = Ui.got[0]
    check(got['hex'] == hashlib.sha256(exported).hexdigest(), 'the trace is the one that export writes')
    check(url.startswith(got['origin'] + '/'), got)
    shown = dict(part.split('=') for part in got['hash'].removeprefix('#!/?').split('&'))
    check(int(shown['visStart']) <= begin < end <= int(shown['visEnd']), (shown, begin, end))
    check(int(shown['visEnd']) - int(shown['visStart']) < 2 * (end - begin) + 4_000_000, (shown, begin, end))


def check_viewer(jankbox, folder, report, viewer):
    begin, end = range_of(jankbox, folder, report)
    with served(jankbox, folder, report, '--viewer', viewer) as (program, url), browser() as chromium:
        page = chromium.open(url)
        chromium.wait_for(page, 'Object.keys(window.globals?.state?.tracks ?? {}).length > 0')
        chromium.wait_for(page, f'Math.abs(globals.state.frontendLocalState.visibleState.startSec - {begin / 1e9}) < {(end - begin) / 1e9}')
        visible = chromium.evaluate(page, 'JSON.stringify(globals.state.frontendLocalState.visibleState)')
        state = json.loads(visible)
        check(state['startSec'] * 1e9 <= begin + 1e6 and state['endSec'] * 1e9 >= end - 1e6, (visible, begin, end))
        if picture := os.environ.get('JANKBOX_TEST_PICTURE'):
            time.sleep(2)
            with open(picture, 'wb') as file:
                file.write(base64.b64decode(chromium.call('Page.captureScreenshot', page)['data']))
        program.send_signal(2)
        check(program.wait(WAIT_S) == -2, 'Ctrl-C ends it')


def check_refusals(jankbox, folder, report):
    """Nobody but the page of that address gets anything."""
    with served(jankbox, folder, report) as (_, url):
        check(urllib.request.urlopen(url + 'facts.json').status == 200, 'the page has facts')
        root = url[:url.index('/', 8)]
        other_host = urllib.request.Request(url + 'trace', headers={'Host': 'evil.example:80'})
        for refused in (root + '/', root + '/trace', other_host, url + '../trace', url + 'viewer/../../../../etc/passwd'):
            try:
                check(urllib.request.urlopen(refused).status >= 400, refused)
            except urllib.error.HTTPError as error:
                check(error.code in (404, 421), (refused, error.code))
    missing = subprocess.run([jankbox, 'show', '--open', '--viewer', folder, '--dir', folder, report], capture_output=True, text=True)
    check(missing.returncode == 1 and 'npm install' in missing.stderr, missing.stderr)


def main():
    if shutil.which('chromium') is None:
        print('chromium is not installed')
        return 77
    jankbox = os.path.join(sys.argv[1], 'jankbox')
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(sys.argv[1], 'sdk_driver'), folder, 'jank'], check=True, stdout=subprocess.DEVNULL)
        report = next(name for name in os.listdir(folder) if name.endswith('.zst')).split('.')[0]
        check_refusals(jankbox, folder, report)
        check_online(jankbox, folder, report)
        if len(sys.argv) > 2:
            check_viewer(jankbox, folder, report, sys.argv[2])
    return 0


if __name__ == '__main__':
    sys.exit(main())
