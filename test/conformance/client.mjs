// A client of the API server under test, and what all runners need.
import { readFileSync } from 'node:fs'
import https from 'node:https'
import http from 'node:http'
import { gunzipSync } from 'node:zlib'
import { load } from 'js-yaml'

export class Client {
  constructor(kubeconfig) {
    const text = readFileSync(kubeconfig, 'utf8')
    const c = load(text)
    const context = c.contexts.find((x) => x.name === c['current-context']).context
    const cluster = c.clusters.find((x) => x.name === context.cluster).cluster
    const user = c.users.find((x) => x.name === context.user).user
    const pem = (o, k) =>
      o[k + '-data'] ? Buffer.from(o[k + '-data'], 'base64') : o[k] ? readFileSync(o[k]) : undefined
    this.url = new URL(cluster.server)
    this.base = this.url.pathname.replace(/\/$/, '')
    this.lib = this.url.protocol === 'http:' ? http : https
    /** How the server is known. */
    this.trust = {
      ca: pem(cluster, 'certificate-authority'),
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    }
    this.agent = new this.lib.Agent({
      keepAlive: true,
      maxSockets: 64,
      ...this.trust,
      cert: pem(user, 'client-certificate'),
      key: pem(user, 'client-key'),
    })
    this.token = user.token
  }
  /** Opens a request; resolves with the response stream. `auth: false` sends no credentials, a string sends it as bearer token; `client` {cert, key} presents a certificate instead. */
  open(method, path, { headers = {}, body, auth, client } = {}) {
    const h = { 'User-Agent': 'corpus/1.0', Accept: 'application/json', ...headers }
    if (auth !== undefined) {
      if (auth) h.Authorization = 'Bearer ' + auth
    } else if (this.token) h.Authorization = 'Bearer ' + this.token
    if (body !== undefined) h['Content-Length'] ??= Buffer.byteLength(body) // Node sends none with DELETE
    for (const k of Object.keys(h)) if (h[k] === null) delete h[k]
    return new Promise((resolve, reject) => {
      const options = {
        host: this.url.hostname,
        port: this.url.port,
        method,
        path: this.base + path,
        headers: h,
        agent: this.agent,
        timeout: 60000,
      }
      if (auth === false || typeof auth === 'string')
        options.agent = this.anonymous ??= new this.lib.Agent({ keepAlive: true, ...this.trust })
      if (client) Object.assign(options, { agent: false, ...this.trust, cert: pemOf(client.cert), key: client.key })
      const r = this.lib.request(options, (response) => resolve({ response, request: r }))
      r.on('timeout', () => r.destroy(new Error('timeout')))
      r.on('error', reject)
      r.end(body)
    })
  }
  async send(method, path, options) {
    const { response } = await this.open(method, path, options)
    const chunks = []
    for await (const c of response) chunks.push(c)
    const warnings = []
    for (let i = 0; i < response.rawHeaders.length; i += 2)
      if (response.rawHeaders[i].toLowerCase() === 'warning') warnings.push(response.rawHeaders[i + 1])
    const bytes = Buffer.concat(chunks),
      zipped = response.headers['content-encoding'] === 'gzip' && bytes.length
    return {
      status: response.statusCode,
      headers: response.headers,
      warnings,
      body: zipped ? gunzipSync(bytes) : bytes,
    }
  }
  async json(method, path, body, headers = {}) {
    const r = await this.send(method, path, {
      headers: body ? { 'Content-Type': 'application/json', ...headers } : headers,
      body: body && JSON.stringify(body),
    })
    try {
      r.json = JSON.parse(r.body)
    } catch {
      r.json = undefined
    }
    return r
  }
}

export const pemOf = (text) => (text.startsWith('-----') ? text : Buffer.from(text, 'base64').toString())

export const sleep = (ms) => new Promise((r) => setTimeout(r, ms))
/** Pauses between looks, each longer than the one before: who looks often keeps the server from what is looked for. */
export function pauses(first = 25, longest = 800) {
  let next = first / 1.6
  return () => sleep((next = Math.min(longest, next * 1.6)))
}
export async function pool(items, jobs, f) {
  let next = 0
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      while (next < items.length) {
        const i = next++
        await f(items[i], i)
      }
    }),
  )
}

/** The lines of a recording, which is gzipped JSON Lines. */
export const readRecording = (file) =>
  gunzipSync(readFileSync(file))
    .toString('utf8')
    .split('\n')
    .filter((l) => l.trim() && !l.startsWith('//'))
    .map((l) => JSON.parse(l))

/** What controllers put into a namespace that was just made. */
const NAMESPACE_CONTENTS = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']
let missed = 0
/** Waits for it, `seconds` at most; where it never comes, later namespaces are not waited for so long. */
export async function namespaceReady(client, ns, seconds = 20) {
  for (const content of NAMESPACE_CONTENTS) {
    const until = Date.now() + (missed > 4 ? 0.1 : seconds) * 1000
    const pause = pauses()
    for (;;) {
      if ((await client.send('GET', `/api/v1/namespaces/${ns}/${content}`)).status === 200) {
        missed = 0
        break
      }
      if (Date.now() > until) {
        missed++
        break
      }
      await pause()
    }
  }
}

/** Scenarios on one server between two looks whether it keeps up. */
const EACH = 128
const MOST_SECONDS = 240
let probes = 0
/** A server without a namespace controller keeps its namespaces: one look is enough. */
let keepsThem = false

/** Deletes a namespace and waits until it is gone: those deleted before it go before it. */
async function caughtUp(client) {
  if (keepsThem) return
  const name = `caught-up-${process.pid}-${probes++}`
  const path = `/api/v1/namespaces/${name}`
  const { status } = await client.json('POST', '/api/v1/namespaces', { metadata: { name } })
  if (status !== 201) return
  await client.send('DELETE', path)
  const until = Date.now() + MOST_SECONDS * 1000
  while ((await client.send('GET', path)).status === 200) {
    keepsThem = Date.now() >= until
    if (keepsThem) return
    await sleep(250)
  }
}

/**
 * Keeps scenarios from running ahead of a server's namespace controller. Each leaves a namespace behind, and some wait
 * until theirs is gone.
 */
export class Pace {
  #client
  #started = 0
  #open = Promise.resolve()
  #last = Promise.resolve()
  constructor(client) {
    this.#client = client
  }
  /** Resolves when the next scenario may start. */
  next() {
    if (this.#started++ % EACH === 0) {
      this.#open = this.#last
      this.#last = this.#last.then(() => caughtUp(this.#client))
    }
    return this.#open
  }
  /** Resolves when the namespaces that were left so far are gone. */
  async end() {
    await this.#last
    await caughtUp(this.#client)
  }
}
