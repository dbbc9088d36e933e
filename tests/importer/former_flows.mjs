// Flows as trace_processor v20.1 reads them: it knows their ids by earlier field numbers only, as
// varints. Later versions read both. The rest of a trace stays as it is, byte for byte.
const PACKET = 1;        // of Trace
const TRACK_EVENT = 11;  // of TracePacket
const FORMER = {47: 36, 48: 42};  // of TrackEvent: flow_ids and terminating_flow_ids
const [VARINT, FIXED64, LENGTH_DELIMITED] = [0, 1, 2];

// `message` with each field as `change(reader, writer, field, type)` writes it; it returns false for
// fields that are to be copied, which it has not read.
function rewrite({BinaryReader, BinaryWriter}, message, change) {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (!change(reader, writer, field, type)) writer.tag(field, type).raw(reader.skip(type, field));
  }
  return writer.finish();
}

// A field `number` that is a message, as `inner` rewrites it.
const within = (number, inner) => (reader, writer, field, type) => {
  if (field !== number || type !== LENGTH_DELIMITED) return false;
  writer.tag(field, type).bytes(inner(reader.bytes()));
  return true;
};

function useFormerNumber(reader, writer, field, type) {
  const former = FORMER[field];
  if (former === undefined || type !== FIXED64) return false;
  writer.tag(former, VARINT).uint64(reader.fixed64());
  return true;
}

export function withFormerFlows(wire, trace) {
  const event = (message) => rewrite(wire, message, useFormerNumber);
  const packet = (message) => rewrite(wire, message, within(TRACK_EVENT, event));
  return rewrite(wire, trace, within(PACKET, packet));
}
