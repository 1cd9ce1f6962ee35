// The thread of a run in an exported page: it gets a setting, and tells of the run by events until it ends or is ended from outside.

import { Training } from "./training.js";

const MILLISECONDS = 60; // between two reports

onmessage = ({ data: { setting, graphs } }) => {
  const begin = performance.now();
  try {
    const training = new Training(setting, graphs);
    for (;;) {
      for (const event of training.advance(MILLISECONDS)) {
        if (event.event === "end") event.seconds = (performance.now() - begin) / 1000;
        postMessage(event);
        if (event.event === "end") return;
      }
    }
  } catch (problem) {
    postMessage({ event: "error", sentence: problem.message });
  }
};
