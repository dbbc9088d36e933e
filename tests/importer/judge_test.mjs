// The judge's own tests: a whole trace passes, and each broken one is refused, or differs from it.
//
// usage: judge_test.mjs PACKAGES DESCRIPTORS
//
// DESCRIPTORS is protoc's file of trace_processor_rpc.proto and of tests/perfetto/trace.proto.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';

import {Judge} from './judge.mjs';
import {COUNTS, begin, packetsOf, parts, sample, switchTo} from './planted_trace.mjs';

const [packages, descriptors] = process.argv.slice(2);
if (!fs.existsSync(path.join(packages, 'node_modules'))) {
  console.log('skipped: the packages of npm are not there');
  process.exit(77);
}
const judge = new Judge(packages, descriptors);
const encode = (packets) => judge.schemas.encode('jankbox.testproto.Trace', {packet: packets});
const judged = (changed) => judge.judge(encode(packetsOf(changed)));

// `changed` replaces parts of the trace; of the result, losses and counts differ from a whole trace's by these only.
function expect(changed, losses, counts) {
  const packets = packetsOf(changed);
  assert.deepEqual(judge.judge(encode(packets)), {losses, counts: {...COUNTS, packets: packets.length, ...counts}});
}

test('a whole trace has what was planted and no loss', () => expect({}, {}, {}));

test('a trace that ends at any byte is refused, or has less in it', () => {
  const whole = encode(packetsOf());
  const full = judge.judge(whole);
  let taken = 0;
  for (let size = 1; size < whole.length; ++size) {
    const cut = judge.judge(whole.subarray(0, size));
    if (cut.refused) {
      assert.match(cut.refused, /no whole packet/);
      continue;
    }
    taken += 1;
    assert.notDeepEqual(cut.counts, full.counts);
    assert.equal(cut.counts.packets, taken);
  }
  assert.equal(taken, full.counts.packets - 1);
});

test('an empty file and other files are refused', () => {
  const whole = encode(packetsOf());
  const zstd = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0);
  assert.deepEqual(judge.judge(new Uint8Array()), {refused: 'it is empty'});
  assert.match(judge.judge(new TextEncoder().encode('a text')).refused, /^byte 0: no packet/);
  assert.match(judge.judge(zstd).refused, /^byte 0: no packet/);
  assert.match(judge.judge(Buffer.concat([whole, zstd])).refused, new RegExp(`^byte ${whole.length}: no packet`));
});

test('a start without its end is an open slice', () => {
  expect({slices: [...parts.slices, begin(50, 'left open')]}, {}, {slices: 6, slice_ns: 40_000_000 - 1, open_slices: 1});
});

test('a slice without a name is counted', () => {
  const slices = parts.slices.map((packet) => packet.trackEvent.nameIid ? begin(20, undefined) : packet);
  expect({slices}, {}, {unnamed_slices: 1});
});

test('a name and a stack that were not interned are losses', () => {
  const start = parts.start.filter((packet) => !packet.internedData);
  const {losses, counts} = judged({start});
  assert.equal(losses.stackprofile_invalid_callstack_id, 2);
  assert.equal(losses.interned_data_tokenizer_errors, 3);
  assert.equal(counts.samples_without_stack, 2);
  assert.equal(counts.unnamed_slices, 1);
});

test('a sample without a stack is counted in its statistic', () => {
  const samples = [...parts.samples, sample(26), sample(27), sample(28)];
  expect({samples}, {stackprofile_invalid_callstack_id: 3, interned_data_tokenizer_errors: 3}, {samples: 5, samples_without_stack: 3});
});

test('packets before the start of their sequence are skipped', () => {
  const start = parts.start.map((packet) => ({...packet, sequenceFlags: 2, firstPacketOnSequence: undefined}));
  assert.ok(judged({start}).losses.tokenizer_skipped_packets > 0);
});

test('a flow that nothing ends is none', () => {
  const slices = parts.slices.filter((packet) => !packet.trackEvent.terminatingFlowIds);
  expect({slices}, {}, {slices: 4, flows: 0});
});

test('a frame without its end is open', () => {
  const frames = parts.frames.slice(0, -1);
  expect({frames}, {}, {open_slices: 1, frame_ns: 16_000_000 - 1});
});

test('a switch from a thread that was not on the CPU is an error', () => {
  const event = [...parts.kernel[0].ftraceEvents.event, switchTo(30, 55, 0)];
  const {losses, counts} = judged({kernel: [{ftraceEvents: {cpu: 0, event}}]});
  assert.equal(losses.mismatched_sched_switch_tids, 1);
  assert.equal(counts.sched, COUNTS.sched + 1);
});
