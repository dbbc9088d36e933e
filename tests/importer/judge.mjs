// Loads traces in trace_processor and prints what it took of each, as one JSON array.
//
// usage: judge.mjs PACKAGES DESCRIPTORS TRACE...
//
// PACKAGES is what fetch_packages.py made, DESCRIPTORS protoc's file of trace_processor_rpc.proto.
// Of each TRACE: `refused`, why it was not loaded, or `losses`, by name the statistics of errors,
// lost data and skipped packets that are not 0, and `counts` of what is in its tables.
import fs from 'node:fs';
import {fileURLToPath} from 'node:url';

import {withFormerFlows} from './former_flows.mjs';
import {TraceProcessorLoader, openSchemas} from './trace_processor.mjs';

const PACKET_FIELD = 1;
const LENGTH_DELIMITED = 2;

// Statistics that are no loss. Each trace has a clock whose first use is not in a cache.
const HARMLESS = ['clock_sync_cache_miss', 'guess_trace_type_duration_ns', 'parse_trace_duration_ns'];

// Frames have tables of their own, which are parts of `slice`; each sample is a counter, too.
const COUNTS = `
  WITH frames AS (SELECT id FROM expected_frame_timeline_slice UNION SELECT id FROM actual_frame_timeline_slice)
  SELECT
    (SELECT COUNT(*) FROM slice WHERE id NOT IN frames) AS slices,
    (SELECT IFNULL(SUM(dur), 0) FROM slice WHERE id NOT IN frames) AS slice_ns,
    (SELECT COUNT(*) FROM flow) AS flows,
    (SELECT COUNT(*) FROM slice WHERE dur = -1) AS open_slices,
    (SELECT COUNT(*) FROM slice WHERE name IS NULL OR name = '') AS unnamed_slices,
    (SELECT COUNT(*) FROM expected_frame_timeline_slice) AS expected_frames,
    (SELECT COUNT(*) FROM actual_frame_timeline_slice) AS actual_frames,
    (SELECT IFNULL(SUM(dur), 0) FROM slice WHERE id IN frames) AS frame_ns,
    (SELECT COUNT(*) FROM counter JOIN track ON track.id = track_id
     WHERE track.type != 'perf_counter_track') AS counters,
    (SELECT COUNT(*) FROM perf_sample) AS samples,
    (SELECT COUNT(*) FROM perf_sample WHERE callsite_id IS NULL) AS samples_without_stack,
    (SELECT COUNT(*) FROM sched) AS sched,
    (SELECT COUNT(*) FROM instant WHERE name = 'sched_waking') AS wakings`;

// How many packets `trace` is. Throws if it is not made of whole ones: trace_processor takes what is
// before the cut and says nothing.
function countPackets(BinaryReader, trace) {
  const reader = new BinaryReader(trace);
  let packets = 0;
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    let whole = false;
    try {
      const [field, type] = reader.tag();
      whole = field === PACKET_FIELD && type === LENGTH_DELIMITED && reader.bytes() !== undefined;
    } catch (error) {
      throw new Error(`byte ${begin}: no whole packet: ${error.message}`);
    }
    if (!whole) throw new Error(`byte ${begin}: no packet`);
    packets += 1;
  }
  if (packets === 0) throw new Error('it is empty');
  return packets;
}

export class Judge {
  constructor(packages, descriptors) {
    this.schemas = openSchemas(packages, descriptors);
    this.loader = new TraceProcessorLoader(packages, this.schemas);
  }

  judge(trace) {
    let packets = 0;
    try {
      packets = countPackets(this.schemas.wire.BinaryReader, trace);
    } catch (error) {
      return {refused: error.message};
    }
    const loaded = this.loader.start();
    const refused = loaded.load(withFormerFlows(this.schemas.wire, trace));
    if (refused) return {refused};
    const losses = {};
    for (const {name, value} of loaded.query('SELECT name, SUM(value) AS value FROM stats WHERE value != 0 GROUP BY name')) {
      if (!HARMLESS.includes(name)) losses[name] = Number(value);
    }
    const counts = {packets};
    for (const [name, value] of Object.entries(loaded.query(COUNTS)[0])) counts[name] = Number(value);
    return {losses, counts};
  }
}

function main([packages, descriptors, ...traces]) {
  if (traces.length === 0) {
    process.stderr.write('usage: judge.mjs PACKAGES DESCRIPTORS TRACE...\n');
    return 2;
  }
  const judge = new Judge(packages, descriptors);
  process.stdout.write(JSON.stringify(traces.map((trace) => judge.judge(fs.readFileSync(trace)))) + '\n');
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main(process.argv.slice(2));
