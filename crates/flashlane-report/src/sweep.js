// Draws the small multiples of a sweep from the numbers that the page carries.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("flashlane-sweep").textContent);
  const { css, flowColour, short, visible, axis } = chartTools;
  const LINES_MAX = 24;
  const DASHES = [[], [8, 5], [2, 4], [12, 4, 2, 4]];
  const choice = (name) => document.querySelector(`[data-choice="${name}"]`);
  const host = document.getElementById("multiples");
  let charts = [];

  // The values of an axis from left to right: numbers by size, others in their order.
  const places = (axisAt) => {
    const { values, numbers } = data.axes[axisAt];
    const order = values.map((_, index) => index);
    return numbers ? order.sort((a, b) => numbers[a] - numbers[b]) : order;
  };
  const xOf = (axisAt, value) => (data.axes[axisAt].numbers ? data.axes[axisAt].numbers[value] : value);

  // Lines of a chart: one for each tenant and for each combination of the other axes.
  const linesOf = (settings, figure, flow, x, facet) => {
    const lines = new Map();
    for (const setting of settings) {
      const others = data.axes.flatMap((one, at) =>
        (at === x || at === facet || setting.at[at] === null ? [] : [`${one.key} = ${one.values[setting.at[at]]}`]));
      setting.flows.forEach((figures, index) => {
        const found = figures[figure];
        if ((flow !== null && flow !== index) || found === null || setting.at[x] === null) return;
        if (data.figures[figure].of_drive && index > 0) return;
        const who = data.figures[figure].of_drive ? "drive" : data.flows[index];
        const name = [who, ...others].map(visible).join(", ");
        if (!lines.has(name)) lines.set(name, { name, flow: index, points: new Map() });
        lines.get(name).points.set(setting.at[x], found);
      });
    }
    return [...lines.values()];
  };

  const draw = (title, lines, figure, x, range, width) => {
    const box = document.createElement("figure");
    box.className = "chart";
    const head = document.createElement("h3");
    head.textContent = title;
    const plot = document.createElement("div");
    plot.className = "plot";
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `${data.figures[figure].label} over ${data.axes[x].key}: ${title}`);
    box.append(head, plot);
    host.append(box);
    const at = places(x);
    const table = [at.map((value) => xOf(x, value))];
    const series = [{ label: data.axes[x].key }];
    const bands = [];
    lines.forEach((line, index) => {
      const column = (part) => at.map((value) => line.points.get(value)?.[part] ?? null);
      const stroke = flowColour(lines.length > 1 && data.flows.length === 1 ? index : line.flow);
      const dash = DASHES[index % DASHES.length];
      table.push(column("mean"), column("high"), column("low"));
      series.push({ label: line.name, stroke, dash, width: 1.6, spanGaps: true, points: { show: true, size: 6 }, value: (u, v) => short(v) });
      // The ends of the interval bound a shade. They have no line, and no row in the legend.
      for (const end of ["high", "low"]) series.push({ label: `${line.name}: ${end}`, stroke: "transparent", points: { show: false }, class: "end" });
      bands.push({ series: [series.length - 2, series.length - 1], fill: `${stroke}33` });
    });
    const numbers = data.axes[x].numbers !== null;
    const wide = numbers && table[0][0] > 0 && table[0][table[0].length - 1] / table[0][0] >= 32;
    const labels = axis(data.axes[x].key, (u, s) => s.map((v) => (numbers ? short(v) : data.axes[x].values[v] ?? "")), 44);
    charts.push(new uPlot({
      width, height: 260, bands, series,
      scales: { x: { time: false, distr: wide ? 3 : 1 }, y: { range: () => range } },
      axes: [table[0].length <= 16 ? { ...labels, splits: () => table[0], filter: (u, s) => s } : labels, axis("", (u, s) => s.map(short), 62)],
      legend: { show: lines.length <= 8 },
    }, table, plot));
    plot.dataset.drawn = String(lines.length);
  };

  const drawAll = () => {
    const number = (name) => (choice(name).value === "" ? null : Number(choice(name).value));
    const [figure, flow, x, facet] = ["figure", "flow", "x", "facet"].map(number);
    charts.forEach((chart) => chart.destroy());
    charts = [];
    host.replaceChildren();
    const groups = facet === null || facet === x
      ? [["all points", data.settings]]
      : places(facet).map((value) => [`${data.axes[facet].key} = ${data.axes[facet].values[value]}`, data.settings.filter((one) => one.at[facet] === value)]);
    const all = groups.map(([title, settings]) => [title, linesOf(settings, figure, flow, x, facet === x ? null : facet)]);
    const ends = all.flatMap(([, lines]) => lines.flatMap((line) => [...line.points.values()].flatMap((p) => [p.mean, p.low ?? p.mean, p.high ?? p.mean])));
    const most = Math.max(...ends, 0);
    const range = [Math.min(0, ...ends), most > 0 ? most * 1.05 : 1];
    const hidden = all.reduce((sum, [, lines]) => sum + Math.max(0, lines.length - LINES_MAX), 0);
    choice("said").textContent = hidden > 0 ? `${hidden} lines are left out: a chart has ${LINES_MAX} at most. Choose a tenant, or a chart for each value of another axis.` : "";
    const width = Math.max(280, all.length > 1 ? Math.floor(host.clientWidth / 2) - 12 : host.clientWidth);
    host.style.gridTemplateColumns = `repeat(auto-fill, minmax(${Math.floor(width)}px, 1fr))`;
    for (const [title, lines] of all) if (lines.length > 0) draw(visible(title), lines.slice(0, LINES_MAX), figure, x, range, width);
    if (host.childElementCount === 0) host.append("No point has this figure.");
  };
  // At first the axis with most values goes across, and the next one has a chart for each value.
  const sizes = data.axes.map((one, at) => [one.values.length, at]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  if (sizes.length > 0) choice("x").value = String(sizes[0][1]);
  if (sizes.length > 1) choice("facet").value = String(sizes[1][1]);
  if (sizes.length > 0) {
    for (const name of ["figure", "flow", "x", "facet"]) choice(name).addEventListener("change", drawAll);
    new ResizeObserver(drawAll).observe(document.getElementById("charts"));
    drawAll();
  }
})();
