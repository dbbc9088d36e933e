// Hands the trace over to Perfetto's UI in a window of its own, by the UI's protocol: PING until it
// answers PONG, then one message with the trace.
'use strict';

const PING_MS = 100;
const WAIT_MS = 60000;

const say = (text) => { document.getElementById('state').textContent = text; };

async function load(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

// Resolves once `ui` is ready to take a trace.
function whenReady(ui, origin) {
  return new Promise((resolve, reject) => {
    const ping = setInterval(() => {
      if (ui.closed) end(() => reject(new Error('its window was closed')));
      else ui.postMessage('PING', origin);
    }, PING_MS);
    const timeout = setTimeout(() => end(() => reject(new Error(`${origin} did not answer`))), WAIT_MS);
    const hear = (event) => {
      if (event.source === ui && event.origin === origin && event.data === 'PONG') end(resolve);
    };
    function end(then) {
      clearInterval(ping);
      clearTimeout(timeout);
      removeEventListener('message', hear);
      then();
    }
    addEventListener('message', hear);
  });
}

async function handOver(ui, facts, trace) {
  say(`Waiting for ${facts.origin}…`);
  await whenReady(ui, facts.origin);
  const buffer = trace.slice(0);
  ui.postMessage({perfetto: {buffer, title: facts.title, fileName: 'jankbox.pftrace'}}, facts.origin, [buffer]);
  say('Perfetto has the trace. This page may be closed.');
  await fetch('done', {method: 'POST'});
}

async function main() {
  const facts = await (await load('facts.json')).json();
  document.getElementById('title').textContent = facts.title;
  document.getElementById('ui').textContent = facts.ui;
  const trace = await (await load('trace')).arrayBuffer();
  const button = document.getElementById('open');
  button.addEventListener('click', () => {
    const ui = window.open(`${facts.ui}/#!/?visStart=${facts.from_ns}&visEnd=${facts.to_ns}`);
    if (ui === null) return say('The browser allowed no new window. Allow it for this page, and click again.');
    handOver(ui, facts, trace).catch((error) => say(`That did not work: ${error.message}.`));
  });
  button.disabled = false;
  button.focus();
  say('Ready.');
}

main().catch((error) => say(`jankbox does not answer (${error.message}). Is it still running?`));
