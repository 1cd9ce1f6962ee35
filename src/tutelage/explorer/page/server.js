// The server as a transport: answers of /api, and a run as the lines that come while it goes on. `transport.js` says what a transport is.

import { Said } from "./said.js";

const VISITOR = crypto.getRandomValues(new Uint32Array(2)).join("");

export class Server {
  noSaving = "";

  catalogue() {
    return ask("/api/catalogue");
  }

  describe(query, page, signal) {
    return ask(`/api/describe?${query}&page=${page}`, { signal });
  }

  // A visitor's new run takes the place of the old one of the same line; runs that are laid over have a line of their own.
  async *run(query, page, signal, line) {
    const response = await fetch(`/api/run?${query}&page=${page}&visitor=${VISITOR}.${line}`, { signal });
    if (!response.ok) {
      yield { event: "error", sentence: await sentenceOf(response) };
      return;
    }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line) yield JSON.parse(line);
      }
      if (rest.trim()) yield JSON.parse(rest);
    } finally {
      reader.cancel().catch(() => {}); // closes the connection, which stops the run
    }
  }

  savedRuns(where, study) {
    return ask(`/api/saved?${new URLSearchParams({ ...(where && { where }), ...(study && { study }) })}`);
  }

  savedRun(name) {
    return ask(`/api/saved/${name}`);
  }

  save(identity) {
    return ask("/api/save", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ identity }) });
  }

  studies(paper) {
    return ask(`/api/study/${encodeURIComponent(paper)}`);
  }

  study(name) {
    return ask(`/api/study/${name}`);
  }
}

async function ask(path, options) {
  const response = await fetch(path, options);
  if (!response.ok) throw new Said(await sentenceOf(response));
  const answer = await response.json();
  if (answer.ok === false) throw new Said(answer.sentence);
  return answer;
}

async function sentenceOf(response) {
  try {
    return (await response.json()).sentence ?? `the server answered ${response.status}`;
  } catch {
    return `the server answered ${response.status}`;
  }
}
