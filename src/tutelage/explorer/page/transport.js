// Where the page's answers come from, and the one place that says so. A transport has these methods, all of which answer later:
//   catalogue()                      what there is to choose
//   describe(query, page, signal)    what is known of a setting before it runs
//   run(query, page, signal, line)   its events, one by one; leaving the loop or aborting stops the run
//   savedRuns(where, study), savedRun(name), save(identity)    the store
//   studies(paper), study(name)      what a paper's studies are about
// and `noSaving`, why runs cannot be saved ("" where they can). A refusal is a `Said`. Addresses of pages are in the catalogue.

import { Baked } from "./baked.js";
import { Server } from "./server.js";

const carried = document.getElementById("carried"); // the data of an exported page

export const transport = carried ? new Baked(JSON.parse(carried.textContent)) : new Server();
