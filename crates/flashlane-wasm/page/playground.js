// The playground: settings in, a question to the simulator in a worker, its answer drawn.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const { COLOURS, css, flowColour: colour, short, micros, percentile, axis, powersOfTen, nearest } = chartTools;
  const TENANTS_MAX = 8;
  const make = (tag, options = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), options);
    element.append(...children);
    return element;
  };

  const DEVICES = [
    ["fast18", "MQSim's drive, smaller", 'base = "fast18"\nflash.blocks_per_plane = 128\nftl.over_provisioning = "20%"\n'],
    ["tiny", "tiny: 64 MiB, 2 channels", 'base = "tiny"\n'],
    ["980-pro", "Samsung 980 PRO, smaller", 'base = "980-pro"\nflash.blocks_per_plane = 128\nftl.over_provisioning = "20%"\n'],
    ["p4800x", "Intel Optane P4800X, smaller", 'base = "p4800x"\nflash.blocks_per_plane = 256\n'],
  ];
  const SCHEDULERS = ["fcfs", "out-of-order", "sprinkler", "flin"];
  const ISOLATIONS = ["unified", "partitioned"];
  const SIZES = ["4KiB", "8KiB", "16KiB", "64KiB", "128KiB"];
  const state = {
    device: "fast18", scheduler: "out-of-order", isolation: "unified", full: false, duration: 50, seed: 1,
    tenants: [
      { name: "shop", load: "depth", depth: 1, iops: 5000, reads: 100, size: "4KiB", order: "uniform" },
      { name: "backup", load: "depth", depth: 16, iops: 2000, reads: 0, size: "64KiB", order: "streaming" },
    ],
  };

  // --- The question ---------------------------------------------------------------------------
  const text = (name) => JSON.stringify(name);
  const workload = () => state.tenants.map((t) => [
    "[[flow]]", `name = ${text(t.name)}`, "[flow.synthetic]",
    t.load === "depth" ? `queue_depth = ${t.depth}` : `iops = ${t.iops}.0`,
    `read_ratio = ${t.reads / 100}`.replace(/= (\d)$/, "= $1.0"), `size = ${text(t.size)}`,
    `address = ${text(t.order)}`, `duration = "${state.duration}ms"`, "",
  ].join("\n")).join("\n");
  const device = () => DEVICES.find(([id]) => id === state.device)[2] + (state.full ? "ftl.precondition.enabled = true\n" : "");
  const question = () => ({
    device: device(), workload: workload(), scheduler: state.scheduler, isolation: state.isolation,
    seed: state.seed, alone: state.tenants.length > 1, blame: true, slices: 4000,
    // Slowdowns are against the tenants alone in the run that is kept.
    alone_us: (kept?.summary.flows ?? []).map((flow) => flow.alone_end_to_end_us).filter((time) => time !== null),
  });
  const command = () =>
    `# device.toml\n${device()}\n# tenants.toml\n${workload()}\nflashlane run --device device.toml --workload tenants.toml --scheduler ${state.scheduler} `
    + `--isolation ${state.isolation} --seed ${state.seed}${state.tenants.length > 1 ? " --alone" : ""} --blame`;

  // --- The simulator, beside the page ------------------------------------------------------------
  const ask = simulator(FLASHLANE_MODULE);
  // Any page may ask: the tests do.
  window.flashlane = { ask, question };

  // --- Settings ---------------------------------------------------------------------------------
  let timer = 0;
  const changed = () => {
    $("command").textContent = command();
    clearTimeout(timer);
    timer = setTimeout(run, 120);
  };
  const options = (select, values, current) => {
    select.replaceChildren(...values.map(([value, label]) => make("option", { value, textContent: label, selected: value === current })));
  };
  const slider = (label, shown, min, max, value, set) => {
    const output = make("output", { textContent: shown(value) });
    const input = make("input", { type: "range", min, max, value, step: "any" });
    input.addEventListener("input", () => { output.textContent = shown(+input.value); set(+input.value); changed(); });
    return make("label", {}, label, output, input);
  };
  const choice = (label, values, current, set) => {
    const select = make("select");
    options(select, values, current);
    select.addEventListener("change", () => { set(select.value); changed(); });
    return make("label", {}, label, select);
  };
  const power = (v) => Math.round(2 ** v);
  const tenant = (t, index) => {
    const box = make("fieldset");
    box.style.setProperty("--c", `var(--flow-${index % COLOURS})`);
    const name = make("input", { type: "text", value: t.name, maxLength: 40 });
    name.addEventListener("input", () => { t.name = name.value || `tenant ${index + 1}`; legend.textContent = t.name; changed(); });
    const legend = make("legend", { textContent: t.name });
    const load = t.load === "depth"
      ? slider("Requests at a time", (v) => power(v), 0, 8, Math.log2(t.depth), (v) => { t.depth = power(v); })
      : slider("Requests a second", (v) => short(power(v)), 6, 18, Math.log2(t.iops), (v) => { t.iops = power(v); });
    box.append(legend, make("label", {}, "Name", name),
      choice("Load", [["depth", "as fast as it is served"], ["rate", "by the clock"]], t.load, (v) => { t.load = v; tenants(); }),
      load,
      slider("Reads", (v) => `${Math.round(v)} %`, 0, 100, t.reads, (v) => { t.reads = Math.round(v); }),
      choice("Size", SIZES.map((s) => [s, s.replace("KiB", " KiB")]), t.size, (v) => { t.size = v; }),
      choice("Addresses", [["uniform", "random"], ["streaming", "sequential"]], t.order, (v) => { t.order = v; }));
    if (state.tenants.length > 1) {
      const gone = make("button", { type: "button", textContent: "Remove" });
      gone.setAttribute("aria-label", `Remove ${t.name}`);
      gone.addEventListener("click", () => { state.tenants.splice(index, 1); kept = null; tenants(); changed(); });
      box.append(gone);
    }
    return box;
  };
  const tenants = () => {
    $("tenants").replaceChildren(...state.tenants.map(tenant));
    $("add").disabled = state.tenants.length >= TENANTS_MAX;
  };
  options($("device"), DEVICES.map(([id, label]) => [id, label]), state.device);
  options($("scheduler"), SCHEDULERS.map((s) => [s, s]), state.scheduler);
  options($("isolation"), ISOLATIONS.map((s) => [s, s]), state.isolation);
  for (const id of ["device", "scheduler", "isolation"]) $(id).addEventListener("change", () => { state[id] = $(id).value; changed(); });
  $("full").addEventListener("change", () => { state.full = $("full").checked; changed(); });
  $("seed").addEventListener("input", () => { state.seed = Math.max(0, Math.floor(+$("seed").value || 0)); changed(); });
  const duration = () => { state.duration = +$("duration").value; $("duration-shown").textContent = `${state.duration} ms`; };
  $("duration").addEventListener("input", () => { duration(); changed(); });
  $("add").addEventListener("click", () => {
    state.tenants.push({ name: `tenant ${state.tenants.length + 1}`, load: "rate", depth: 4, iops: 2048, reads: 70, size: "8KiB", order: "uniform" });
    kept = null;
    tenants();
    changed();
  });

  // --- Results ------------------------------------------------------------------------------------
  let last = null, kept = null, running = false, again = false, chart = null;
  async function run() {
    if (running) { again = true; return; }
    running = true;
    $("results").classList.add("busy");
    const { answer, ms } = await ask(question());
    running = false;
    $("results").classList.remove("busy");
    show(JSON.parse(answer), ms);
    document.documentElement.dataset.runs = String(+(document.documentElement.dataset.runs ?? 0) + 1);
    if (again) { again = false; run(); }
  }
  function show(answer, ms) {
    if (answer.error) {
      $("headline").textContent = "These settings do not work together.";
      $("cause").textContent = answer.error;
      return;
    }
    last = answer;
    const { summary } = answer;
    [$("headline").textContent, $("cause").textContent] = [answer.verdict.headline, answer.verdict.cause];
    $("verdict").classList.toggle("suffers", answer.verdict.sufferer !== null);
    $("facts").textContent = `${summary.requests_completed.toLocaleString("en")} requests, ${+(1e3 * summary.simulated_s).toPrecision(3)} ms of the drive's time, `
      + `simulated in ${Math.round(ms)} ms${summary.flows.length > 1 ? " (each tenant alone included)" : ""}. Write amplification ${summary.flash.write_amplification.toFixed(2)}.`
      + (summary.starved ? " A tenant starves: the drive serves others and gets nothing done for it." : "")
      + (summary.saturated ? " The drive does not keep up: latencies depend on the simulated time." : "");
    const change = (key, flow, now) => {
      const before = kept && key(kept.summary.flows[flow]);
      return before ? make("span", { className: "change", textContent: ` (${now / before >= 1 ? "+" : ""}${Math.round(100 * (now / before - 1))} %)` }) : "";
    };
    const KEYS = [["slowdown", (f) => f.slowdown, (v) => `${+v.toPrecision(3)}×`], ["mean", (f) => f.response_time_us.mean, micros],
      ["p99", (f) => f.response_time_us.p99, micros], ["rate", (f) => f.iops, (v) => `${short(v)} IOPS`]];
    $("cards").replaceChildren(...summary.flows.map((flow, index) => {
      const rows = KEYS.filter(([, key]) => key(flow) !== null).map(([name, key, format]) =>
        make("div", {}, make("dt", { textContent: name }), make("dd", {}, format(key(flow)), change(key, index, key(flow)))));
      const swatch = make("span", { className: "swatch" });
      swatch.style.setProperty("--c", `var(--flow-${index % COLOURS})`);
      return make("div", { className: "card" }, make("h3", {}, swatch, flow.name), make("dl", {}, ...rows));
    }));
    drawLatency();
    drawBlame();
    lanes.take(answer.timeline);
  }
  function drawLatency() {
    const host = document.querySelector("#chart-latency .plot");
    const tables = [], series = [{ label: "response time", value: (u, v) => micros(v) }];
    for (const [answer, dash] of [[last, []], [kept, [7, 5]]]) {
      answer?.distributions.forEach((points, flow) => {
        const least = 1 / Math.max(2, answer.summary.flows[flow].response_time_us.count);
        const curve = points.map(([us, share]) => [us, Math.max(least, 1 - share)]).filter(([us]) => us > 0);
        if (!curve.length) return;
        tables.push([curve.map(([us]) => us), curve.map(([, slower]) => slower)]);
        series.push({ label: answer.summary.flows[flow].name + (dash.length ? ", kept" : ""), stroke: colour(flow), width: 2, dash, spanGaps: true,
          points: { show: false }, value: (u, v) => percentile(v) });
      });
    }
    chart?.destroy();
    chart = null;
    if (!tables.length) return;
    chart = new uPlot({
      width: Math.max(280, host.clientWidth), height: 330, series,
      scales: { x: { time: false, distr: 3 }, y: { distr: 3, dir: -1 } },
      axes: [
        axis("response time", (u, s) => powersOfTen(u, s).map((v) => (v === null ? null : micros(v))), 44),
        axis("percentile", (u, s) => powersOfTen(u, s).map((v) => (v === null ? null : percentile(v))), 74),
      ],
      cursor: { drag: { x: true, y: false }, dataIdx: nearest },
    }, uPlot.join(tables), host);
    host.dataset.drawn = String(tables.length);
  }
  function drawBlame() {
    const { victims, flows } = last.blame;
    const names = [...flows, "device"];
    const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: "waits" }), ...names.map((n) => make("th", { scope: "col", textContent: n === "device" ? "the drive" : n }))));
    const rows = victims.map((victim) => {
      const cells = names.map((name) => {
        const own = victim.cells.filter((cell) => cell.culprit === name).sort((a, b) => b.waiting_s - a.waiting_s);
        const waits = own.reduce((sum, cell) => sum + cell.waiting_s, 0);
        const cell = make("td", {}, make("b", { textContent: waits ? micros(1e6 * waits / victim.requests) : "–" }), own.length ? make("small", { textContent: own[0].cause }) : "");
        const share = Math.round(100 * waits / (victim.waiting_s || 1));
        cell.style.setProperty("--heat", share);
        return cell;
      });
      return make("tr", {}, make("th", { scope: "row", textContent: victim.flow }), ...cells);
    });
    $("blame").replaceChildren(head, make("tbody", {}, ...rows));
  }

  // --- Lanes ----------------------------------------------------------------------------------------
  const lanes = (() => {
    const canvas = $("lanes");
    let data = null, shown = [], playing = 0;
    const total = () => Math.max(1, ...data.slices.map((s) => s[2]));
    const span = () => total() * 2 ** (-(100 - +$("span").value) / 12);
    const from = () => (total() - span()) * +$("from").value / 1000;
    const draw = () => {
      if (!data) return;
      const ROW = 15, LABEL = 150, ratio = devicePixelRatio || 1;
      const width = canvas.clientWidth, height = shown.length * ROW + 6;
      canvas.style.height = `${height}px`;
      [canvas.width, canvas.height] = [width * ratio, height * ratio];
      const pen = canvas.getContext("2d");
      pen.scale(ratio, ratio);
      pen.font = "11px sans-serif";
      const [start, length] = [from(), span()];
      const label = Math.min(LABEL, width / 3);
      shown.forEach((track, row) => {
        pen.fillStyle = css("--soft");
        pen.fillText(data.tracks[track].split(" / ").slice(-2).filter((part) => part !== "channels").join(" "), 4, row * ROW + 14, label - 8);
        pen.fillStyle = css("--panel");
        pen.fillRect(label, row * ROW + 4, width - label, ROW - 3);
      });
      const rowOf = new Map(shown.map((track, row) => [track, row]));
      for (const [track, begin, end, name, flow] of data.slices) {
        const row = rowOf.get(track);
        if (row === undefined || end < start || begin > start + length) continue;
        const x = label + Math.max(0, begin - start) / length * (width - label);
        const until = label + Math.min(length, end - start) / length * (width - label);
        pen.fillStyle = colour(flow);
        pen.globalAlpha = /read|data|command/.test(name) ? 0.6 : 1;
        pen.fillRect(x, row * ROW + 4, Math.max(1, until - x), ROW - 3);
        pen.globalAlpha = 1;
      }
      $("from-shown").textContent = micros(start / 1e6);
      $("width-shown").textContent = micros(length / 1e6);
      canvas.dataset.drawn = String(shown.length);
    };
    const stop = () => { cancelAnimationFrame(playing); playing = 0; $("play").textContent = "Play"; };
    const step = () => {
      $("from").value = +$("from").value + 2;
      draw();
      if (+$("from").value >= 1000) stop(); else playing = requestAnimationFrame(step);
    };
    $("play").addEventListener("click", () => {
      if (playing) { stop(); return; }
      if (+$("from").value >= 1000) $("from").value = 0;
      $("play").textContent = "Stop";
      playing = requestAnimationFrame(step);
    });
    for (const id of ["from", "span"]) $(id).addEventListener("input", draw);
    return {
      draw,
      take: (timeline) => {
        data = timeline;
        if (!data) return;
        const used = new Set(data.slices.map((s) => s[0]));
        shown = data.tracks.map((_, i) => i).filter((i) => used.has(i) && /channel/.test(data.tracks[i]) && !/plane/.test(data.tracks[i])).slice(0, 40);
        $("lane-legend").replaceChildren(...last.summary.flows.map((flow, i) => {
          const mark = make("i");
          mark.style.background = `var(--flow-${i % COLOURS})`;
          return make("span", {}, mark, flow.name);
        }), make("span", { textContent: "pale: reads and data on channels; full: programs and erases" }));
        draw();
      },
    };
  })();

  $("keep").addEventListener("click", () => { kept = last; $("drop").hidden = false; show(last, 0); });
  $("drop").addEventListener("click", () => { kept = null; $("drop").hidden = true; drawLatency(); });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    if (last) { drawLatency(); lanes.draw(); }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (last) { drawLatency(); lanes.draw(); } });
  duration();
  tenants();
  $("command").textContent = command();
  run();
})();
