// A run as the page holds it: what the events have brought so far.

const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  if (LITTLE) return new Float32Array(bytes.buffer);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

export class Run {
  constructor(query, horizon) {
    Object.assign(this, { query, horizon, steps: [], curves: {}, frames: [], lines: [], about: null, phases: [], verdicts: null, why: "", saved: null });
    Object.assign(this, { state: "waiting", sentence: "", identity: null, seconds: null, asked: performance.now(), first: null });
  }

  // Takes one event; answers whether a chart has something new to draw.
  take(event) {
    switch (event.event) {
      case "queued":
        this.state = "queued";
        this.ahead = event.ahead;
        return false;
      case "preparing":
        this.state = "preparing";
        this.known = event.known;
        return false;
      case "at":
        this.at = event.step;
        return false;
      case "points":
        this.at = event.at;
        this.first ??= performance.now() - this.asked;
        this.state = "running";
        this.steps.length = event.from;
        this.steps.push(...event.steps);
        for (const [name, values] of Object.entries(event.curves)) {
          const curve = (this.curves[name] ??= []);
          curve.length = event.from;
          curve.push(...values);
        }
        return true;
      case "about":
        this.about = event;
        return true;
      case "frame":
        this.frames.push({ step: event.step, matrices: Object.fromEntries(Object.entries(event.matrices).map(([name, { shape, data }]) => [name, { shape, data: typeof data === "string" ? floats(data) : data }])) });
        return false;
      case "lines":
        this.lines = event.lines;
        return true;
      case "phases":
        this.phases = event.phases ?? [];
        return true;
      case "verdicts":
        this.verdicts = event.verdicts;
        this.why = event.sentence ?? "";
        return false;
      case "end":
        Object.assign(this, { state: "ended", outcome: event.outcome, sentence: event.sentence, seconds: event.seconds, identity: event.identity });
        return true;
      case "error":
        Object.assign(this, { state: "error", sentence: event.sentence });
        return false;
    }
    return false;
  }

  // Whether it is still to come to an end.
  get going() {
    return ["waiting", "queued", "preparing", "running"].includes(this.state);
  }

  get last() {
    return this.steps.at(-1) ?? 0;
  }

  // The step it has come to, which may lie between two that are measured.
  get now() {
    return Math.max(this.at ?? 0, this.last);
  }
}

// A run of the store, sent in one piece.
export function storedRun(data) {
  const run = new Run(data.query ?? "", data.steps.at(-1));
  run.take({ event: "points", from: 0, steps: data.steps, curves: data.curves });
  if (data.about) run.take(data.about);
  for (const frame of data.frames ?? []) run.take({ event: "frame", ...frame });
  run.take({ event: "lines", lines: data.lines ?? [] });
  run.take({ event: "phases", phases: data.phases ?? [] });
  run.take({ event: "verdicts", verdicts: data.verdicts ?? [], sentence: data.why });
  run.take({ event: "end", outcome: data.outcome, sentence: data.sentence, identity: data.identity });
  run.saved = data.identity;
  run.first = null;
  return run;
}
