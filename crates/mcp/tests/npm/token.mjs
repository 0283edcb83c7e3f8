// Preloaded into the conformance suite (`node --import`), which has no option for it: every request carries the token of
// the file that `SORTIE_TEST_TOKEN_FILE` names. The suite sends by `fetch` and `undici`, which share a dispatcher, and by
// `http.request`.

import http from "node:http";
import { readFileSync } from "node:fs";
import { Agent, setGlobalDispatcher } from "undici";

const authorization = `Bearer ${readFileSync(process.env.SORTIE_TEST_TOKEN_FILE, "utf8").trim()}`;
const withToken = (options) => ({ ...options, headers: { ...options.headers, authorization } });

setGlobalDispatcher(new Agent().compose((dispatch) => (options, handler) => dispatch(withToken(options), handler)));

const { request } = http;
http.request = (options, answered) => request(withToken(options), answered);
