// One run as the server sends it: an object a line, as it comes. Leaving the loop or aborting closes the connection, which stops the run.

const VISITOR = crypto.getRandomValues(new Uint32Array(2)).join("");

// A visitor's new run takes the place of the old one of the same line; runs that are laid over have a line of their own.
export async function* events(query, signal, line) {
  const response = await fetch(`/api/run?${query}&visitor=${VISITOR}.${line}`, { signal });
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
    reader.cancel().catch(() => {});
  }
}

export async function ask(path, options) {
  const response = await fetch(path, options);
  if (!response.ok) throw new Said(await sentenceOf(response));
  const answer = await response.json();
  if (answer.ok === false) throw new Said(answer.sentence);
  return answer;
}

export class Said extends Error {} // a sentence of the server, to be shown as it is

async function sentenceOf(response) {
  try {
    return (await response.json()).sentence ?? `the server answered ${response.status}`;
  } catch {
    return `the server answered ${response.status}`;
  }
}
