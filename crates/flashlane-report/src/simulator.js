// The simulator, as a WebAssembly module in a worker beside the page: questions in, answers out.
"use strict";
const simulator = (base64) => {
  const source = `onmessage = async ({ data }) => {
    if (data.module) { self.module = await WebAssembly.compile(data.module); postMessage({ ready: true }); return; }
    const begun = performance.now();
    const { exports: e } = await WebAssembly.instantiate(self.module, {});
    const bytes = new TextEncoder().encode(data.question);
    const place = e.flashlane_input(bytes.length);
    new Uint8Array(e.memory.buffer, place, bytes.length).set(bytes);
    try { e.flashlane_run(); } catch (fault) { if (!e.flashlane_output_bytes()) { postMessage({ id: data.id, answer: JSON.stringify({ error: String(fault) }), ms: 0 }); return; } }
    const answer = new TextDecoder().decode(new Uint8Array(e.memory.buffer).subarray(e.flashlane_output(), e.flashlane_output() + e.flashlane_output_bytes()));
    postMessage({ id: data.id, answer, ms: performance.now() - begun });
  };`;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const waiting = new Map();
  let asked = 0, isReady;
  const ready = new Promise((resolve) => { isReady = resolve; });
  worker.onmessage = ({ data }) => {
    if (data.ready) { isReady(); return; }
    waiting.get(data.id)(data);
    waiting.delete(data.id);
  };
  (async () => {
    const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    worker.postMessage({ module: await new Response(stream).arrayBuffer() });
  })();
  return async (question) => {
    await ready;
    return new Promise((resolve) => {
      waiting.set(++asked, resolve);
      worker.postMessage({ id: asked, question: JSON.stringify(question) });
    });
  };
};
