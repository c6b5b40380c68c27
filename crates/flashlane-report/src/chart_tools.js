// What the charts of all pages share: colours, numbers as text, axes.
"use strict";
const chartTools = (() => {
  const COLOURS = 8;
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const flowColour = (flow) => css(`--flow-${flow % COLOURS}`);
  const short = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    if (size >= 1e9) return `${+(value / 1e9).toPrecision(3)}G`;
    if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
    if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
    return `${+value.toPrecision(3)}`;
  };
  const micros = (us) => {
    if (us === null || us === undefined) return "–";
    if (us >= 1e6) return `${+(us / 1e6).toPrecision(3)} s`;
    if (us >= 1e3) return `${+(us / 1e3).toPrecision(3)} ms`;
    return `${+us.toPrecision(3)} µs`;
  };
  const percentile = (slower) => {
    if (slower === null || slower === undefined) return "–";
    const share = 100 * (1 - slower);
    const digits = slower >= 0.01 ? 2 : Math.min(7, Math.ceil(-Math.log10(slower)));
    return `p${+share.toFixed(digits)}`;
  };
  // Names may hold characters that turn the direction of a text around, or control characters.
  const visible = (name) =>
    name.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  const axis = (label, values, size) => ({
    label, values, size, labelSize: 22, labelFont: "13px sans-serif", font: "12px sans-serif",
    stroke: css("--soft"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 },
  });
  const powersOfTen = (u, splits) => splits.map((v) => (Math.abs(Math.log10(v) % 1) < 1e-9 ? v : null));

  // Curves have points of their own: the one of each that is nearest to the pointer.
  const nearest = (u, curve, index) => {
    const values = u.data[curve];
    for (let step = 0; step < values.length; step += 1) {
      if (values[index - step] !== null && values[index - step] !== undefined) return index - step;
      if (values[index + step] !== null && values[index + step] !== undefined) return index + step;
    }
    return index;
  };

  return { COLOURS, css, flowColour, short, micros, percentile, visible, axis, powersOfTen, nearest };
})();
