// Reads a recording as Foxglove does, for bag/tests/files/peers.rs: `recordings_peer.mjs MODULES FILE` prints a JSON
// object for each message. MODULES is the folder with the packages of npm.

import { createRequire } from "node:module";
import { open } from "node:fs/promises";

const [folder, path] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { McapIndexedReader } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");
const { parse } = require("@foxglove/rosmsg");
const { MessageReader } = require("@foxglove/rosmsg2-serialization");

const file = await open(path);
const readable = {
  size: async () => BigInt((await file.stat()).size),
  read: async (offset, length) => {
    const bytes = new Uint8Array(Number(length));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, Number(offset));
    if (bytesRead !== bytes.length) throw new Error(`only ${bytesRead} bytes at ${offset}`);
    return bytes;
  },
};
const plain = (_, value) => {
  if (typeof value === "bigint") return Number(value);
  return ArrayBuffer.isView(value) ? Array.from(value, Number) : value;
};
const decompressHandlers = await loadDecompressHandlers();
const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
const decoders = new Map();
for await (const message of reader.readMessages()) {
  const channel = reader.channelsById.get(message.channelId);
  const schema = reader.schemasById.get(channel.schemaId);
  if (!decoders.has(channel.id)) {
    const definition = parse(new TextDecoder().decode(schema.data), { ros2: true });
    // The library refuses types without fields.
    const fields = definition.find((type) => !type.name)?.definitions.filter((field) => !field.isConstant) ?? [];
    const empty = { readMessage: () => ({}) };
    const decoder = fields.length === 0 ? empty : new MessageReader(definition, { timeType: "sec,nanosec" });
    decoders.set(channel.id, decoder);
  }
  const values = decoders.get(channel.id).readMessage(message.data);
  const { topic } = channel;
  const line = { topic, log_time: String(message.logTime), type: schema.name, values };
  console.log(JSON.stringify(line, plain));
}
await file.close();
