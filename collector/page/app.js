// Shows groups of incidents, and the reports of the open group. The part of the address after "#" is
// the key of the open group. Text from reports reaches the page through textContent only.
'use strict';

const CAUSES = [
  ['running', 'running'], ['runnable', 'waiting for a CPU'], ['lock', 'lock'], ['disk', 'disk'],
  ['fault', 'page faults'], ['ipc', 'IPC'], ['gc', 'garbage collection'], ['sleeping', 'sleeping'],
  ['blocked', 'blocked'], ['unknown', 'unknown'],
];
const ADDRESSES = ['rel_pc', 'function_start'];
const REFRESH_MS = 5000;
const REPORTS_SHOWN = 50;

const at = (id) => document.getElementById(id);
let groups = [];
let sections = [];  // of a report: {name, fields}
let shownText = '';
let moved = {key: '', groups: []};  // where the reports of a group that is gone are now

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function duration(ms) {
  if (ms >= 10000) return (ms / 1000).toFixed(1) + ' s';
  if (ms >= 1000) return (ms / 1000).toFixed(2) + ' s';
  return ms.toFixed(ms < 10 ? 1 : 0) + ' ms';
}

function bytes(count) {
  return count >= 1048576 ? (count / 1048576).toFixed(1) + ' MiB' : Math.ceil(count / 1024) + ' KiB';
}

function localTime(text) {
  const time = element('time', 'place', new Date(text).toLocaleString());
  time.dateTime = text;
  return time;
}

function shares(verdict) {
  const parts = CAUSES.map(([key, label]) => ({key, label, ms: verdict[key + '_ms'] || 0}));
  const total = parts.reduce((sum, part) => sum + part.ms, 0);
  return parts.filter((part) => part.ms > 0)
      .map((part) => ({...part, text: `${part.label} ${duration(part.ms)}, ` +
                                      `${Math.round(100 * part.ms / total)} %`}));
}

function verdictBar(verdict, className) {
  const bar = element('div', className);
  const parts = shares(verdict);
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', parts.map((part) => part.text).join('; ') || 'no verdict');
  for (const part of parts) {
    const segment = element('span', part.key);
    segment.style.flexGrow = part.ms;
    segment.title = part.text;
    bar.append(segment);
  }
  return bar;
}

// Reports without a key are grouped by kind.
const keyOf = (group) => group.key || 'kind:' + group.kind;
const openKey = () => {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return '';
  }
};

function matches(group, words) {
  const text = [group.title, group.cause, group.kind, ...group.processes].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

function groupRow(group, open) {
  const row = element('tr', open ? 'group open' : 'group');
  const what = element('td');
  const title = element('button', 'title', group.title);
  title.type = 'button';
  title.dataset.key = keyOf(group);
  title.setAttribute('aria-expanded', String(open));
  what.append(title, element('div', 'cause', group.cause));
  if (group.provisional) {
    what.append(element('div', 'cause', 'Functions without names: one group for each module, cause and message. ' +
                                        'Their debug files give them names: jankbox upload-symbols.'));
  }
  const kind = element('td');
  kind.append(element('span', 'kind kind-' + group.kind, group.kind.replace('_', ' ')));
  const time = element('td');
  time.append(verdictBar(group.verdict, 'bar'));
  const seen = element('td');
  seen.append(localTime(group.last_seen));
  row.append(what, kind, element('td', '', group.processes.join(', ')), time,
             element('td', 'number', group.incidents), element('td', 'number', duration(group.worst_ms)),
             element('td', 'number', duration(group.p50_ms)),
             element('td', 'number', duration(group.total_ms)), seen);
  row.addEventListener('click', (event) => {
    if (event.target !== title && String(getSelection())) return;
    location.hash = open ? '' : encodeURIComponent(keyOf(group));
  });
  return row;
}

function stackList(frames) {
  const list = element('ol');
  for (const frame of frames) {
    const item = element('li');
    const place = (frame.module || '') + '+0x' + frame.rel_pc.toString(16);
    const source = frame.file ? `  ${frame.file.split('/').pop()}${frame.line ? ':' + frame.line : ''}` : '';
    item.append(element('span', '', frame.function || place),
                element('span', 'module', `${source}${frame.inlined ? '  inlined' : ''}${frame.function ? '  ' + frame.module : ''}`));
    item.title = place + (frame.build_id ? ', build id ' + frame.build_id : '');
    list.append(item);
  }
  return list;
}

function isSet(value) {
  if (Array.isArray(value)) return value.length > 0;
  if (value && typeof value === 'object') return Object.values(value).some(isSet);
  return Boolean(value);
}

function valueText(name, value) {
  if (value === true) return 'yes';
  return typeof value === 'number' && name.endsWith('_ms') ? duration(value) : String(value);
}

function label(name) {
  return name.replace(/_ms$/, '').replaceAll('_', ' ');
}

// The set fields of an object; a moment of the trace's clock is left out beside the same as wall-clock time.
function fieldsOf(object) {
  return Object.entries(object).filter(([name, value]) => isSet(value) && !(name.endsWith('_ns') && name.slice(0, -3) in object));
}

function entryNode(entry) {
  if (typeof entry !== 'object') return element('li', '', valueText('', entry));
  if ('key' in entry && 'value' in entry) {  // an attribute, a state
    const {key, value, ...rest} = entry;
    const item = element('li');
    item.append(fieldNode(key, value), ...fieldsOf(rest).map(([name, moment]) => fieldNode(name, moment)));
    return item;
  }
  const fields = fieldsOf(entry);
  const plain = fields.filter(([, value]) => typeof value !== 'object');
  const name = plain.find(([key]) => key === 'name' || key === 'function');
  const rest = plain.filter((field) => field !== name && field[0] !== 'depth' && !(field[0] === 'line' && entry.file))
      .map(([key, value]) => `${label(key)} ${ADDRESSES.includes(key) ? '0x' + value.toString(16) : valueText(key, value)}` +
                             `${key === 'file' && entry.line ? ':' + entry.line : ''}`);
  const item = element('li', '', [...(name ? [name[1]] : []), ...rest].join(', '));
  item.style.marginLeft = `${Math.min(entry.depth || 0, 64)}em`;
  for (const [key, value] of fields) if (typeof value === 'object') item.append(fieldNode(key, value));
  return item;
}

function fieldNode(name, value) {
  if (typeof value !== 'object') {
    const text = valueText(name, value);
    const node = element('div', '', label(name) + (text.includes('\n') ? '' : '  ' + text));
    if (text.includes('\n')) node.append(element('pre', '', text));
    return node;
  }
  const node = element('div', '', label(name));
  const list = element('ul');
  if (Array.isArray(value)) list.append(...value.map(entryNode));
  else for (const [key, inner] of fieldsOf(value)) list.append(fieldNode(key, inner));
  node.append(list);
  return node;
}

// All that the report knows, by sections; those without a field that is set are left out.
function wholeReport(report) {
  const node = element('div', 'whole');
  for (const section of sections) {
    const fields = section.fields.filter((name) => isSet(report[name]));
    if (fields.length === 0) continue;
    const details = element('details', 'section');
    details.append(element('summary', '', section.name), ...fields.map((name) => fieldNode(name, report[name])));
    node.append(details);
  }
  return node;
}

// Without evidence an end is no crash.
const endText = (report) => !report.end_reason ? '' :
    report.end_reason === 'unknown' ? 'ended without closing' : `ended by ${report.end_reason}`;

function reportNode(report) {
  const node = element('article', 'report');
  const extent = report.kind === 'exit' ? endText(report) : duration(report.duration_ms);
  node.append(element('h3', '', `${extent}${report.ongoing ? ' so far, still blocked' : ''}`));
  const trace = element('a', '', `trace (${bytes(report.trace_bytes)})`);
  trace.href = `/api/v1/reports/${encodeURIComponent(report.id)}/trace`;
  trace.download = '';
  node.append(trace);
  const app = [report.app_name, report.app_version].filter(Boolean).join(' ');
  const facts = [report.what, `${report.process} (${report.pid})`, `thread ${report.thread} (${report.tid})`,
                 report.loop && `loop ${report.loop}`, app, report.os,
                 endText(report) && `${endText(report)}${report.end_evidence ? ` (${report.end_evidence})` : ''}`,
                 report.held_ms >= 1 ? `stopped for ${duration(report.held_ms)} more` : '',
                 report.frame_dropped ? `${report.frame_dropped} frames dropped` : '',
                 `revision ${report.revision}`, report.id].filter(Boolean);
  const line = element('div', 'facts');
  line.append(localTime(report.window.to), element('span', '', ' · ' + facts.join(' · ')));
  node.append(line, element('div', '', report.verdict.summary), verdictBar(report.verdict, 'bar wide'),
              element('div', 'facts', shares(report.verdict).map((part) => part.text).join(' · ')));
  for (const part of report.verdict.shares || []) {
    if (part.ms * 100 < report.duration_ms) continue;
    node.append(element('div', 'facts', `${duration(part.ms)} ${part.detail} (${part.source}` +
                                        `${part.estimate ? ', an estimate' : ''})`));
  }
  if (report.top_frames.length) node.append(stackList(report.top_frames));
  const lost = Object.entries(report.losses).filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`);
  node.append(lost.length ? element('div', 'warn', 'Missing from this report: ' + lost.join(', '))
                          : element('div', 'facts', 'Nothing was lost.'));
  if (typeof report.covered_ms === 'number' && report.covered_ms < report.duration_ms * 0.99) {
    node.append(element('div', 'warn', `Recorded events cover ${duration(report.covered_ms)} of ${duration(report.duration_ms)}.`));
  }
  for (const scene of report.scenes || []) {
    node.append(element('div', 'facts', `frames${scene.scene ? ' of ' + scene.scene : ''}: ${scene.frames}, ${scene.fps.toFixed(1)} fps, ` +
                        `${scene.dropped} dropped, ${scene.janky} janky, p50 ${duration(scene.p50_ms)}, p99 ${duration(scene.p99_ms)}`));
  }
  for (const work of report.render_work || []) {
    node.append(element('div', 'facts', `render: ${work.name}${work.count > 1 ? ` × ${work.count}` : ''}, ${duration(work.duration_ms)}` +
                        `${work.tid === report.tid ? '' : ` (tid ${work.tid})`}`));
  }
  for (const method of report.extra || []) {
    node.append(element('div', 'facts', `extra: ${method.function}, ${duration(method.extra_ms)} more than ` +
                        `${method.usual_ms > 0 ? `its usual ${duration(method.usual_ms)}` : 'usual: healthy messages do not call it'}`));
  }
  const states = (report.states || []).map((state) => `${state.key} = ${state.value}`);
  if (states.length) node.append(element('div', 'facts', states.join(' · ')));
  for (const note of report.notes) node.append(element('div', 'facts', note));
  node.append(wholeReport(report));
  return node;
}

async function fetchJson(path) {
  const answer = await fetch(path, {cache: 'no-store'});
  if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status}`);
  return answer.text();
}

function showError(error) {
  at('error').textContent = error ? `The collector does not respond (${error.message}).` : '';
  at('error').hidden = !error;
}

const number = (count, name) => `${count} ${name}${count === 1 ? '' : 's'}`;

// Most incidents are counted only.
function extentOf(group, shown) {
  if (group.reports === 0) return `${number(group.incidents, 'incident')}, counted without a report.`;
  const rest = shown < group.reports ? `; the newest ${shown} are shown` : '';
  return `${number(group.incidents, 'incident')}, of which ${number(group.reports, 'report')} ${group.reports === 1 ? 'is' : 'are'} here${rest}.`;
}

// Links to the groups of reports that were in this one before their functions had names.
function movedNote(keys) {
  const links = groups.filter((group) => keys.includes(group.key)).map((group) => {
    const link = element('a', '', group.title);
    link.href = '#' + encodeURIComponent(group.key);
    return link;
  });
  if (links.length === 0) return [];
  const note = element('p', 'hint', 'Reports of this group whose functions have names now are in: ');
  links.forEach((link, i) => note.append(i === 0 ? '' : ', ', link));
  return [note];
}

async function fillDetails(cell, group) {
  const query = new URLSearchParams({limit: REPORTS_SHOWN, group: group.key});
  if (!group.key) query.set('kind', group.kind);
  try {
    const {reports, moved_to: movedTo} = JSON.parse(await fetchJson('/api/v1/reports?' + query));
    cell.replaceChildren(element('p', 'hint', extentOf(group, reports.length)), ...movedNote(movedTo || []),
                         ...reports.map(reportNode));
  } catch (error) {
    showError(error);
  }
}

// A link to a group whose reports got names leads to the group that they are in now, or shows these.
async function followMove(key) {
  moved = {key, groups: []};
  try {
    const answer = JSON.parse(await fetchJson('/api/v1/reports?' + new URLSearchParams({limit: 0, group: key})));
    const there = answer.groups.filter((successor) => groups.some((group) => group.key === successor));
    if (there.length === 1) return location.replace('#' + encodeURIComponent(there[0]));
    moved = {key, groups: there};
    if (there.length > 1) render();
  } catch (error) {
    showError(error);
  }
}

function render() {
  const words = at('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const key = openKey();
  const isGone = key !== '' && groups.length > 0 && !groups.some((group) => keyOf(group) === key);
  if (isGone && moved.key !== key) followMove(key);
  const parts = isGone && moved.key === key ? moved.groups : [];
  at('moved').hidden = parts.length === 0;
  at('moved').textContent = `The functions of this group have names now. Its reports are in ${parts.length} groups:`;
  const shown = groups.filter((group) => matches(group, words) && (parts.length === 0 || parts.includes(group.key)));
  const focused = document.activeElement?.dataset?.key;
  const rows = [];
  for (const group of shown) {
    const open = keyOf(group) === key;
    rows.push(groupRow(group, open));
    if (!open) continue;
    const details = element('tr', 'details');
    const cell = element('td');
    cell.colSpan = 9;
    details.append(cell);
    rows.push(details);
    fillDetails(cell, group);
  }
  at('rows').replaceChildren(...rows);
  at('empty').hidden = groups.length > 0;
  at('groups').hidden = groups.length === 0;
  at('no-match').hidden = shown.length > 0;
  const incidents = groups.reduce((sum, group) => sum + group.incidents, 0);
  const reports = groups.reduce((sum, group) => sum + group.reports, 0);
  const lost = groups.reduce((sum, group) => sum + group.total_ms, 0);
  at('totals').textContent = groups.length === 0 ? '' :
      `${number(groups.length, 'cause')}, ${number(incidents, 'incident')}, ${number(reports, 'report')}, ${duration(lost)} lost`;
  for (const button of document.querySelectorAll('.title')) {
    if (focused && button.dataset.key === focused) button.focus();
  }
}

async function refresh() {
  try {
    if (sections.length === 0) sections = JSON.parse(await fetchJson('/api/v1/sections')).sections;
    const text = await fetchJson('/api/v1/groups');
    showError(null);
    if (text === shownText) return;
    groups = JSON.parse(text).groups;
    shownText = text;
    moved = {key: '', groups: []};
    render();
  } catch (error) {
    showError(error);
  }
}

function start() {
  for (const [key, label] of CAUSES) {
    const item = element('li');
    item.append(element('span', 'swatch ' + key), element('span', '', label));
    at('legend').append(item);
  }
  at('upload-run').textContent = `jankbox run --upload ${location.origin} -- PROGRAM`;
  at('upload-curl').textContent =
      'curl -H "Content-Type: application/x-perfetto-trace" \\\n' +
      `     --data-binary @REPORT.pftrace.zst ${location.origin}/api/v1/reports`;
  at('filter').addEventListener('input', render);
  addEventListener('hashchange', render);
  setInterval(() => document.hidden || refresh(), REFRESH_MS);
  refresh();
}

start();
