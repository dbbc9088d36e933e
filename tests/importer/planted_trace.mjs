// A small trace with something of each kind, as lists of packets that a test may break.
const FIRST = 1;  // TracePacket.SequenceFlags
const NEEDS_STATE = 2;
const [BEGIN, END, INSTANT, COUNTER] = [1, 2, 3, 4];  // TrackEvent.Type
const [PROCESS, THREAD, QUEUE] = [1n, 2n, 3n];  // uuids of tracks
const BOOTTIME = 6;
const PID = 100;

const text = (value) => new TextEncoder().encode(value);
const at = (ms) => 1_000_000_000n + BigInt(ms) * 1_000_000n;
const event = (ms, fields) => ({timestamp: at(ms), trackEvent: {trackUuid: THREAD, ...fields}});

export const begin = (ms, name) => event(ms, {type: BEGIN, name});
export const end = (ms) => event(ms, {type: END});
export const sample = (ms, callstackIid) => ({timestamp: at(ms), perfSample: {pid: PID, tid: PID, callstackIid}});
export const frameEvent = (ms, fields) => ({timestamp: at(ms), frameTimelineEvent: fields});

export function switchTo(ms, prevPid, nextPid) {
  const names = {prevComm: `t${prevPid}`, nextComm: `t${nextPid}`};
  const schedSwitch = {...names, prevPid, nextPid, prevPrio: 120, nextPrio: 120, prevState: 1n};
  return {timestamp: at(ms), pid: prevPid, event: {case: 'schedSwitch', value: schedSwitch}};
}

function waking(ms, pid) {
  const schedWaking = {comm: `t${pid}`, pid, prio: 120, success: 1, targetCpu: 0};
  return {timestamp: at(ms), pid: 0, event: {case: 'schedWaking', value: schedWaking}};
}

export const parts = {
  start: [
    {
      firstPacketOnSequence: true, sequenceFlags: FIRST,
      clockSnapshot: {primaryTraceClock: BOOTTIME, clocks: [1, 3, BOOTTIME].map((clockId) => ({clockId, timestamp: at(0)}))},
      tracePacketDefaults: {timestampClockId: BOOTTIME},
    },
    {systemInfo: {utsname: {sysname: 'Linux', release: '6.1.0', version: '#1', machine: 'x86_64'}}},
    {trackDescriptor: {uuid: PROCESS, process: {pid: PID, processName: 'planted'}}},
    {trackDescriptor: {uuid: THREAD, parentUuid: PROCESS, thread: {pid: PID, tid: BigInt(PID), threadName: 'main'}}},
    {trackDescriptor: {uuid: QUEUE, parentUuid: PROCESS, name: 'queue', counter: {}}},
    {
      internedData: {
        eventNames: [{iid: 1n, name: 'interned'}], functionNames: [{iid: 1n, str: text('work')}],
        buildIds: [{iid: 1n, str: text('0123')}], mappingPaths: [{iid: 1n, str: text('planted')}],
        mappings: [{iid: 1n, buildId: 1n, pathStringIds: [1n]}], frames: [{iid: 1n, functionNameId: 1n, mappingId: 1n, relPc: 16n}],
        callstacks: [{iid: 1n, frameIds: [1n]}],
      },
    },
  ],
  slices: [
    begin(10, 'outer'), event(20, {type: BEGIN, nameIid: 1n}), end(30), event(35, {type: INSTANT, name: 'tap', flowIds: [9n]}),
    event(36, {type: INSTANT, name: 'tapped', terminatingFlowIds: [9n]}), end(40),
    event(45, {type: COUNTER, trackUuid: QUEUE, counterValue: 5n}),
  ],
  samples: [sample(15, 1n), sample(25, 1n)],
  frames: [
    frameEvent(10, {expectedSurfaceFrameStart: {cookie: 1n, token: 7n, displayFrameToken: 7n, pid: PID, layerName: 'window'}}),
    frameEvent(26, {frameEnd: {cookie: 1n}}),
    frameEvent(12, {
      actualSurfaceFrameStart: {cookie: 2n, token: 7n, displayFrameToken: 7n, pid: PID, layerName: 'window', presentType: 1,
                                onTimeFinish: true, jankType: 1, predictionType: 1},
    }),
    frameEvent(22, {frameEnd: {cookie: 2n}}),
  ],
  kernel: [{ftraceEvents: {cpu: 0, event: [switchTo(10, 0, PID), switchTo(20, PID, 0), waking(25, PID), switchTo(26, 0, PID)]}}],
  trigger: [{timestamp: at(41), trigger: {triggerName: 'planted', producerName: 'test'}}],
};

// What a judge takes of `parts`. Packets are counted by the test.
export const COUNTS = {
  slices: 5,  // two, two instants and the trigger
  flows: 1,
  slice_ns: 40_000_000, open_slices: 0, unnamed_slices: 0, expected_frames: 1, actual_frames: 1, frame_ns: 26_000_000,
  counters: 1, samples: 2, samples_without_stack: 0, sched: 3, wakings: 1,
};

// The packets of one sequence.
export function packetsOf(changed = {}) {
  return Object.values({...parts, ...changed}).flat().map((packet) => ({sequenceFlags: NEEDS_STATE, ...packet, trustedPacketSequenceId: 1}));
}
