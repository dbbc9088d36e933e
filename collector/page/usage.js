// Shows how much each version of each app was used, and how often it had incidents. Runs after app.js, whose functions
// it uses. Text from devices reaches the page through textContent only.
'use strict';

const USAGE_REFRESH_MS = 60000;  // devices send it every few hours
let shownUsage = '';

function useText(ms) {
  const hours = ms / 3600000;
  if (hours >= 1) return `${hours.toFixed(hours < 10 ? 1 : 0)} h`;
  return ms >= 60000 ? `${Math.round(ms / 60000)} min` : `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
}

// Two digits that count; a rate without a denominator is not known.
const rateText = (rate) => rate === null ? '–' : Number(rate.toPrecision(2)).toLocaleString(undefined, {maximumFractionDigits: 6});

const kindsText = (kinds) => Object.entries(kinds).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`).join(', ');

function versionRow(version) {
  const row = element('tr');
  const name = element('td', '', version.app || 'without a name');
  const days = version.first_day === version.last_day ? version.last_day : `${version.first_day} to ${version.last_day}`;
  name.append(element('div', 'cause', days));
  const incidents = element('td', 'number', version.incidents);
  incidents.title = kindsText(version.kinds);
  row.append(name, element('td', '', version.version || '–'),
             element('td', 'number', version.installations.toLocaleString()),
             element('td', 'number', useText(version.foreground_ms)),
             element('td', 'number', version.sessions.toLocaleString()),
             element('td', 'number', version.messages.toLocaleString()),
             element('td', 'number', version.frames.toLocaleString()), incidents,
             element('td', 'number', rateText(version.incidents_per_hour)),
             element('td', 'number', rateText(version.incidents_per_10000_messages)),
             element('td', 'number', rateText(version.incidents_per_1000_sessions)));
  return row;
}

async function refreshUsage() {
  try {
    const text = await fetchJson('/api/v1/usage');
    if (text === shownUsage) return;
    const usage = JSON.parse(text);
    shownUsage = text;
    at('usage').hidden = usage.versions.length === 0;
    at('usage-rows').replaceChildren(...usage.versions.map(versionRow));
    const without = usage.incidents_without_usage;
    at('usage-rest').hidden = without === 0;
    at('usage-rest').textContent = `${number(without, 'incident')} of devices that send no usage ${without === 1 ? 'is' : 'are'} in no rate.`;
  } catch (error) {
    showError(error);
  }
}

setInterval(() => document.hidden || refreshUsage(), USAGE_REFRESH_MS);
refreshUsage();
