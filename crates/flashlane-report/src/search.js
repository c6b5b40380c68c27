// Draws the configurations of a search from the numbers that the page carries.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("flashlane-search").textContent);
  const { css, flowColour, short, visible, axis } = chartTools;
  const host = document.querySelector(".plot");
  if (host === null) return;
  const said = document.querySelector('[data-choice="said"]');
  const column = (best) => data.points.map((one) => (one.best === best ? one.y : null));
  const dots = (label, stroke, joined) => ({
    label, stroke, width: 1.6, spanGaps: true, paths: joined ? undefined : () => null,
    points: { show: true, size: 7, fill: stroke }, value: (u, v) => short(v),
  });
  const tell = (u) => {
    const point = data.points[u.cursor.idx];
    if (point) said.textContent = `${visible(point.what)}. ${visible(data.y)}: ${short(point.y)}; ${visible(data.x)}: ${short(point.x)}.`;
  };
  let chart = null;
  const draw = () => {
    chart?.destroy();
    chart = new uPlot({
      width: Math.max(280, host.clientWidth), height: 380,
      series: [{ label: data.x, value: (u, v) => short(v) }, dots("others", css("--soft"), false), dots("the best", flowColour(0), data.joined)],
      scales: { x: { time: false } },
      axes: [axis(visible(data.x), (u, s) => s.map(short), 44), axis(visible(data.y), (u, s) => s.map(short), 62)],
      hooks: { setCursor: [tell] },
    }, [data.points.map((one) => one.x), column(false), column(true)], host);
    host.dataset.drawn = String(data.points.length);
  };
  new ResizeObserver(draw).observe(document.getElementById("picture"));
})();
