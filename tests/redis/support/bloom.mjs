// @redis/bloom, unchanged, in both protocols: node bloom.mjs PORT
import assert from "node:assert/strict";
import { createClient, RESP_TYPES } from "@redis/client";
import bloom from "@redis/bloom";

const modules = bloom.default;  // a CommonJS package

for (const RESP of [2, 3]) {
  const client = createClient({ RESP, modules, socket: { port: Number(process.argv[2]), host: "127.0.0.1" } });
  await client.connect();
  await client.flushAll();
  const { bf, cms } = client;

  assert.equal(await bf.reserve("k", 0.01, 1000), "OK");
  assert.equal(await bf.reserve("grows", 0.01, 10, { EXPANSION: 4 }), "OK");
  assert.equal(await bf.reserve("fixed", 0.01, 3, { NONSCALING: true }), "OK");
  await assert.rejects(bf.reserve("k", 0.01, 1000), /item exists/);
  assert.equal(await bf.add("k", "x"), true);
  assert.equal(await bf.add("k", "x"), false);
  assert.deepEqual(await bf.mAdd("k", ["x", "y"]), [false, true]);
  assert.equal(await bf.exists("k", "y"), true);
  assert.deepEqual(await bf.mExists("k", ["y", "z"]), [true, false]);
  assert.deepEqual(await bf.insert("made", ["a", "b", "a"], { CAPACITY: 50, ERROR: 0.001, EXPANSION: 2 }), [true, true, false]);
  await assert.rejects(bf.insert("none", ["a"], { NOCREATE: true }), /not found/);
  assert.equal(await bf.card("made"), 2);
  const items = Array.from({ length: 500 }, (_, i) => String(i));
  await bf.mAdd("grows", items);
  const info = await bf.info("grows");
  assert.equal(info["Expansion rate"], 4);
  assert.ok(info["Number of filters"] > 3 && info["Number of items inserted"] > 480 && info["Size"] > 500);
  assert.equal((await bf.info("fixed"))["Expansion rate"], null);

  const binary = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  for (let iterator = 0; ;) {
    const dumped = await binary.bf.scanDump("grows", iterator);
    iterator = dumped.iterator;
    if (iterator === 0) break;
    assert.equal(await client.bf.loadChunk("other", iterator, dumped.chunk), "OK");
  }
  assert.ok((await bf.mExists("other", items)).every(Boolean));

  for (const key of ["a", "b", "sum"]) assert.equal(await cms.initByDim(key, 1000, 5), "OK");
  assert.equal(await cms.initByProb("p", 0.001, 0.01), "OK");
  assert.deepEqual(await cms.incrBy("a", [{ item: "x", incrementBy: 5 }, { item: "y", incrementBy: 3 }]), [5, 3]);
  await cms.incrBy("b", { item: "x", incrementBy: 1 });
  assert.deepEqual(await cms.query("a", ["x", "z"]), [5, 0]);
  assert.equal(await cms.merge("sum", ["a", "b"]), "OK");
  assert.deepEqual(await cms.query("sum", ["x", "y"]), [6, 3]);
  assert.equal(await cms.merge("sum", [{ name: "a", weight: 3 }, { name: "b", weight: 2 }]), "OK");
  assert.deepEqual(await cms.query("sum", ["x", "y"]), [17, 9]);
  const counts = await cms.info("sum");
  assert.deepEqual([counts.width, counts.depth, counts.count], [1000, 5, 26]);
  await assert.rejects(cms.query("none", ["x"]), /key does not exist/);
  console.log(`RESP ${RESP} as expected`);
  await client.close();
}
