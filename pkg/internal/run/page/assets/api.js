// Talks to the server of `argoperator dev`.

const token = new URL(location.href).searchParams.get('token') ?? sessionStorage.getItem('token') ?? '';
if (token) sessionStorage.setItem('token', token);
const headers = {Authorization: 'Bearer ' + token};

/** An answer with an error status. */
export class Failure extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/**
 * Sends a request and returns the JSON of the answer.
 * @param {string} method
 * @param {string} path below /api
 * @param {object} [body]
 */
export async function call(method, path, body) {
  const init = {method, headers: {...headers}};
  if (body !== undefined) {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch('/api/' + path, init);
  } catch {
    throw new Failure('argoperator dev does not answer. Is it still running?', 0);
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Failure(answer?.error ?? `The server answered with status ${response.status}`, response.status);
  return answer;
}

export const get = (path, query) => call('GET', query ? `${path}?${new URLSearchParams(query)}` : path);
export const post = (path, body) => call('POST', path, body);

/** The server sends a ping every 15 seconds; without two of them the connection is dead. */
const silence = 35_000;

/**
 * Reads the stream of events for ever and connects again after each loss.
 * @param {(name: string, data: any) => void} receive
 * @param {(state: 'connecting'|'connected'|'lost'|'refused', reason: string) => void} report
 */
export async function stream(receive, report) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      await readOnce(receive, () => { wait = 500; report('connected', ''); });
      report('lost', '');
    } catch (error) {
      if (error.status === 401 || error.status === 403) return report('refused', error.message);
      report('lost', error.message);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function readOnce(receive, opened) {
  const abort = new AbortController();
  let timer;
  const alive = () => { clearTimeout(timer); timer = setTimeout(() => abort.abort(), silence); };
  alive();
  try {
    const response = await fetch('/api/stream', {headers, signal: abort.signal, cache: 'no-store'});
    if (!response.ok) throw new Failure((await response.json().catch(() => null))?.error ?? 'refused', response.status);
    opened();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parse = parser(receive);
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      alive();
      parse(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that takes pieces of text/event-stream. */
function parser(receive) {
  let rest = '';
  return (chunk) => {
    const messages = (rest + chunk).split('\n\n');
    rest = messages.pop();
    for (const message of messages) {
      let name = 'message';
      let data = '';
      for (const line of message.split('\n')) {
        if (line.startsWith('event:')) name = line.slice(6).trim();
        else if (line.startsWith('data:')) data += line.slice(5);
      }
      if (data) receive(name, JSON.parse(data));
    }
  };
}
