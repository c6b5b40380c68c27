// Draws the line charts of the page from the numbers that it carries.
"use strict";
// What the page carries of its runs.
const pageRuns = JSON.parse(document.getElementById("flashlane-data").textContent).runs;
(() => {
  const runs = pageRuns;
  const { COLOURS, css, flowColour, short, micros, percentile, visible, axis, powersOfTen, nearest } = chartTools;
  const DASHES = [[], [8, 5], [2, 4], [12, 4, 2, 4]];
  // Beyond the colours, and between runs, lines differ by their dashes.
  const dash = (run, flow) => DASHES[(run + Math.floor(flow / COLOURS)) % DASHES.length];

  // The star marks flows that the drive does not keep up with.
  const flowName = (run, flow) => {
    const is = (key) => {
      const over = run.seeds && run.seeds[`flows[${flow}].${key}`];
      return over ? over.mean > 0 : run.summary.flows[flow][key];
    };
    const saturated = is("saturated") || is("starved");
    return visible(run.summary.flows[flow].name) + (saturated ? " *" : "");
  };
  // What tenants were promised: goals by the figure that they are about.
  const SHARES = { p50: 0.5, p90: 0.1, p95: 0.05, p99: 0.01, p99_9: 0.001, p99_99: 0.0001 };
  const GOALS = { mean_us: "mean", p99_us: "p99", slowdown: "slowdown", iops: "min_iops", bytes_per_s: "min_bandwidth" };
  const goals = (run) => run.summary.flows.flatMap((flow, index) =>
    (flow.slo ? flow.slo.goals : []).map((goal) => ({ ...goal, flow: index })));

  const charts = [];
  const place = (host, options, data) => {
    const box = { width: Math.max(280, host.clientWidth), height: options.height };
    host.replaceChildren();
    const chart = new uPlot({ ...options, ...box }, data, host);
    host.dataset.drawn = String(chart.series.length - 1);
    charts.push({ host, chart });
    return chart;
  };

  // --- Latency distribution -------------------------------------------------------------------
  const latencyHost = document.querySelector("#chart-latency .plot");
  const drawLatency = () => {
    const op = document.getElementById("latency-op").value;
    const tail = document.getElementById("latency-shape").value === "tail";
    const tables = [];
    const series = [{ label: "response time", value: (u, v) => micros(v) }];
    runs.forEach((run, r) => {
      for (const curve of run.curves) {
        if (curve.op !== op || curve.us.length === 0) continue;
        const name = flowName(run, curve.flow);
        tables.push([curve.us, tail ? curve.slower : curve.slower.map((s) => 1 - s)]);
        series.push({
          label: runs.length > 1 ? `${name}, ${visible(run.label)}` : name,
          stroke: flowColour(curve.flow), width: 2, dash: dash(r, curve.flow), spanGaps: true, points: { show: false },
          value: (u, v) => (tail ? percentile(v) : v === null ? "–" : `${(100 * v).toFixed(2)} %`),
        });
      }
    });
    if (tables.length > 0 && op === "all") {
      for (const goal of goals(runs[0])) {
        const slower = SHARES[goal.goal];
        if (slower === undefined) continue;
        tables.push([[goal.limit], [tail ? slower : 1 - slower]]);
        series.push({
          label: `${flowName(runs[0], goal.flow)}: goal ${goal.goal.replace("_", ".")}`,
          stroke: flowColour(goal.flow), width: 0, points: { show: true, size: 11, width: 2, fill: css("--paper") },
          value: () => micros(goal.limit),
        });
      }
    }
    if (tables.length === 0) {
      latencyHost.replaceChildren(document.createTextNode("No such requests."));
      latencyHost.dataset.drawn = "0";
      return;
    }
    place(latencyHost, {
      height: 380,
      scales: { x: { time: false, distr: 3 }, y: tail ? { distr: 3, dir: -1 } : { range: [0, 1] } },
      axes: [
        axis("response time", (u, s) => powersOfTen(u, s).map((v) => (v === null ? null : micros(v))), 44),
        axis(tail ? "percentile" : "share at or below",
          (u, s) => (tail ? powersOfTen(u, s).map((v) => (v === null ? null : percentile(v))) : s.map((v) => `${Math.round(100 * v)} %`)), 74),
      ],
      series,
      cursor: { drag: { x: true, y: false }, dataIdx: nearest },
    }, uPlot.join(tables));
  };

  // --- Over time ------------------------------------------------------------------------------
  const SERIES = [
    ["mean_us", "Mean response time", micros], ["p99_us", "99th percentile", micros],
    ["slowdown", "Slowdown", (v) => (v === null || v === undefined ? "–" : `${short(v)}×`)],
    ["iops", "Requests per second", short], ["bytes_per_s", "Bytes per second", short],
    ["queue", "Requests in submission queue and device", short], ["chips", "Chips that the tenant may write to", short],
    ["write_amplification", "Write amplification", short], ["free_blocks", "Free blocks", short],
    ["gc_pages_per_s", "Pages moved by collection per second", short], ["busy", "Share of chips at work (operations count when they end)", short],
  ];
  const grid = document.getElementById("series-grid");
  // The lines of a figure in one run, and what was promised.
  const linesOf = (run, r, name, format) => {
    const columns = run.series.columns.filter((c) => c.name === name && c.values.some((v) => v !== null));
    const promised = columns.length > 0 ? goals(run).filter((goal) => goal.goal === GOALS[name]) : [];
    const label = (text) => (several() ? `${text}, ${visible(run.label)}` : text);
    const look = (flow) => ({
      stroke: flow === null ? css("--ink") : flowColour(flow), dash: dash(several() ? r : 0, flow ?? 0), width: 1.6,
      spanGaps: several(), points: { show: run.series.end_s.length < 3 }, value: (u, v) => format(v),
    });
    return [
      ...columns.map((c) => [{ label: label(c.flow === null ? "drive" : flowName(run, c.flow)), ...look(c.flow) }, c.values]),
      ...promised.map((goal) => [
        { label: label(`${flowName(run, goal.flow)}: goal`), ...look(goal.flow), dash: [3, 5], width: 1.2, points: { show: false } },
        run.series.end_s.map(() => goal.limit)]),
    ].map(([line, values]) => ({ line, table: [run.series.end_s, values] }));
  };
  const chosenRun = () => document.getElementById("series-run")?.value ?? "0";
  const several = () => chosenRun() === "all";
  const drawSeries = () => {
    const chosen = several() ? runs.map((run, r) => [run, r]) : [[runs[Number(chosenRun())], Number(chosenRun())]];
    const shown = chosen.filter(([run]) => run.series);
    grid.replaceChildren();
    if (shown.length === 0) {
      grid.append("This run has no time series.");
      return;
    }
    const sync = uPlot.sync("time");
    for (const [name, title, format] of SERIES) {
      const lines = shown.flatMap(([run, r]) => linesOf(run, r, name, format));
      if (lines.length === 0) continue;
      const figure = document.createElement("figure");
      figure.className = "chart";
      figure.dataset.chart = `series-${name}`;
      const head = document.createElement("h3");
      head.textContent = title;
      const plot = document.createElement("div");
      plot.className = "plot";
      plot.setAttribute("role", "img");
      plot.setAttribute("aria-label", `${title} over time`);
      figure.append(head, plot);
      grid.append(figure);
      place(plot, {
        height: 210,
        scales: { x: { time: false }, y: { range: (u, min, max) => [Math.min(0, min ?? 0), (max || 1) * 1.05] } },
        axes: [axis("", (u, s) => s.map((v) => `${+v.toPrecision(6)} s`), 32), axis("", (u, s) => s.map(format), 68)],
        series: [{ label: "time", value: (u, v) => (v === null ? "–" : `${+v.toPrecision(5)} s`) }, ...lines.map((l) => l.line)],
        cursor: { sync: { key: sync.key }, drag: { x: true, y: false }, dataIdx: nearest },
      }, uPlot.join(lines.map((l) => l.table)));
    }
  };

  // --- Chips over time --------------------------------------------------------------------------
  const drawChips = () => {
    const host = document.getElementById("chip-heat");
    host.replaceChildren();
    const chosen = several() ? runs : [runs[Number(chosenRun())]];
    for (const run of chosen) {
      const heat = run.series?.chips;
      if (!heat) continue;
      const figure = document.createElement("figure");
      figure.className = "chart heat";
      figure.dataset.chart = "chip-heat";
      const head = document.createElement("h3");
      head.textContent = `Chips at work${several() ? `, ${visible(run.label)}` : ""}`;
      const canvas = document.createElement("canvas");
      const said = document.createElement("figcaption");
      const mean = (row) => Math.round(row.reduce((sum, one) => sum + one, 0) / row.length);
      const means = heat.busy.map(mean);
      const most = means.indexOf(Math.max(...means));
      const text = `A row for each ${/chip/.test(heat.rows[0]) ? "chip" : "channel"}, time to the right; the darker, the busier. `
        + `Busiest: ${heat.rows[most]}, ${means[most]} % of the run.`;
      said.textContent = text;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", text);
      figure.append(head, canvas, said);
      host.append(figure);
      const rows = heat.rows.length, columns = heat.end_s.length;
      const tall = Math.max(4, Math.min(16, Math.floor(320 / rows)));
      [canvas.width, canvas.height] = [columns, rows];
      canvas.style.height = `${rows * tall}px`;
      // Windows may be of any length: each column is as wide as the others.
      const pen = canvas.getContext("2d");
      pen.fillStyle = css("--heat-colour");
      heat.busy.forEach((row, y) => row.forEach((busy, x) => {
        pen.globalAlpha = busy / 100;
        pen.fillRect(x, y, 1, 1);
      }));
      canvas.addEventListener("mousemove", (event) => {
        const box = canvas.getBoundingClientRect();
        const x = Math.min(columns - 1, Math.floor((event.clientX - box.left) / box.width * columns));
        const y = Math.min(rows - 1, Math.floor((event.clientY - box.top) / box.height * rows));
        said.textContent = `${heat.rows[y]}, up to ${+heat.end_s[x].toPrecision(4)} s: ${heat.busy[y][x]} % at work`;
      });
      canvas.addEventListener("mouseleave", () => { said.textContent = text; });
      canvas.dataset.drawn = String(rows);
    }
  };

  // --- The page -------------------------------------------------------------------------------
  const draw = () => {
    charts.splice(0).forEach(({ chart }) => chart.destroy());
    drawLatency();
    if (grid) {
      drawSeries();
      drawChips();
    }
    document.documentElement.dataset.charts = String(charts.length);
  };
  for (const id of ["latency-op", "latency-shape", "series-run"]) {
    document.getElementById(id)?.addEventListener("change", draw);
  }
  document.getElementById("breakdown-shares").addEventListener("change", (event) => {
    document.getElementById("breakdown").classList.toggle("shares", event.target.checked);
  });
  document.getElementById("latency-reset").addEventListener("click", draw);
  document.getElementById("series-reset")?.addEventListener("click", draw);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const { host, chart } of charts) chart.setSize({ width: Math.max(280, host.clientWidth), height: chart.height });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  // Paper is white.
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    document.querySelectorAll("details").forEach((d) => { d.open = true; });
    draw();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.theme;
    draw();
  });
  draw();
})();
