// Runs the page's scenario again in the browser with other settings, and shows both side by side.
"use strict";
(() => {
  const host = document.getElementById("what-if");
  if (!host) return;
  const $ = (name) => host.querySelector(`[data-what="${name}"]`);
  const { micros, short, visible } = chartTools;
  const REQUESTS_MAX = 20000;
  let ask = null, asked = 0;

  const run = () => pageRuns[Number($("run")?.value ?? 0)];
  const parts = () => {
    const [device, workload] = run().configuration.split(/^# workload$/m);
    return { device, workload };
  };
  // A factor by steps of the slider, from a quarter to four times.
  const factor = (step) => 2 ** (step / 4);
  const sliders = () => {
    $("loads").replaceChildren(...run().summary.flows.map((flow) => {
      const label = document.createElement("label");
      const input = document.createElement("input");
      const shown = document.createElement("output");
      Object.assign(input, { type: "range", min: -8, max: 8, step: 1, value: 0 });
      const show = () => { shown.textContent = `${+factor(+input.value).toPrecision(2)}×`; };
      input.addEventListener("input", show);
      show();
      label.append(`Load of ${visible(flow.name)}`, input, shown);
      return label;
    }));
  };
  // Ways to give each tenant of the run a placement handle.
  const handles = () => {
    const select = $("placement");
    if (!select) return;
    const changes = JSON.parse(select.dataset.changes)[pageRuns.indexOf(run())];
    const options = changes.map(({ label, set }) => new Option(label, JSON.stringify(set)));
    select.replaceChildren(new Option("as it was", ""), ...options);
    $("placement-label").hidden = !changes.length;
  };
  const question = () => {
    const { summary } = run();
    return { ...parts(), seed: summary.seed, alone: summary.flows.length > 1, blame: true, requests_max: REQUESTS_MAX };
  };
  // Slowdowns of the changed run are against the tenants alone in the run as it was.
  const changed = (was) => {
    const loads = [...$("loads").querySelectorAll("input")].map((input) => factor(+input.value));
    const alone_us = was.summary.flows.map((flow) => flow.alone_end_to_end_us).filter((time) => time !== null);
    const set = JSON.parse($("placement")?.value || "[]");
    return { ...question(), set, scheduler: $("scheduler").value || null, isolation: $("isolation").value || null, loads, alone_us };
  };
  // Each run as it was is simulated once.
  const asItWas = new Map();
  const before = () => {
    if (!asItWas.has(run())) asItWas.set(run(), ask(question()));
    return asItWas.get(run());
  };
  const KEYS = [["mean", (f) => f.response_time_us.mean, micros], ["p99", (f) => f.response_time_us.p99, micros],
    ["slowdown", (f) => f.slowdown, (v) => `${+v.toPrecision(3)}×`], ["IOPS", (f) => f.iops, short]];
  const element = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const table = (before, after) => {
    const keys = KEYS.filter(([, key]) => before.summary.flows.some((flow) => key(flow) !== null));
    const head = document.createElement("tr");
    head.append(...["tenant", ...keys.map(([name]) => name)].map((name) => Object.assign(element("th", name), { scope: "col" })));
    const rows = before.summary.flows.map((flow, index) => {
      const row = document.createElement("tr");
      row.append(Object.assign(element("th", visible(flow.name)), { scope: "row" }));
      for (const [, key, format] of keys) {
        const [one, two] = [key(flow), key(after.summary.flows[index])];
        const change = one ? ` (${two >= one ? "+" : ""}${Math.round(100 * (two / one - 1))} %)` : "";
        row.append(element("td", one === null || two === null ? "–" : `${format(one)} → ${format(two)}${change}`));
      }
      return row;
    });
    const thead = document.createElement("thead"), tbody = document.createElement("tbody");
    thead.append(head);
    tbody.append(...rows);
    $("table").replaceChildren(thead, tbody);
  };
  // Write amplification and the p99 of the tenant that suffers, or of the slowest one, before and after.
  const amplification = (was, now, handles) => {
    const flows = was.summary.flows;
    const p99 = (flow) => flow.response_time_us.p99;
    const slowest = flows.reduce((most, flow) => (p99(flow) > p99(most) ? flow : most));
    const victim = flows.find((flow) => flow.name === was.verdict.sufferer) ?? slowest;
    const [one, two] = [was, now].map(({ summary }) => summary.flash.write_amplification.toFixed(2));
    const times = [victim, now.summary.flows[flows.indexOf(victim)]].map((flow) => micros(p99(flow)));
    const change = `mplification ${one} → ${two}, p99 of ${visible(victim.name)} ${times.join(" → ")}.`;
    return handles ? `With a handle each: a${change}` : `Write a${change}`;
  };
  const go = async () => {
    const mine = ++asked;
    ask ??= simulator(document.getElementById("flashlane-module").textContent.trim());
    $("said").textContent = "Simulating …";
    $("amplification").textContent = "";
    const was = JSON.parse((await before()).answer);
    const next = was.error ? null : changed(was);
    const now = next ? JSON.parse((await ask(next)).answer) : was;
    // A later question has gone out.
    if (mine !== asked) return;
    const failed = was.error ?? now.error;
    $("results").hidden = Boolean(failed);
    $("said").textContent = visible(failed ? `These settings do not work together: ${failed}` : `${now.verdict.headline} ${now.verdict.cause}`);
    if (!failed) {
      $("amplification").textContent = amplification(was, now, next.set.length > 0);
      table(was, now);
    }
    host.dataset.runs = String(+(host.dataset.runs ?? 0) + 1);
  };
  $("go").addEventListener("click", go);
  $("run")?.addEventListener("change", () => {
    sliders();
    handles();
    $("results").hidden = true;
    for (const name of ["said", "amplification"]) $(name).textContent = "";
  });
  sliders();
  handles();
})();
