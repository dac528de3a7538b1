// Runs one recorded scenario and returns its answers in the form of the recorded ones; README.md describes the steps.
import { createHash } from 'node:crypto'
import { namespaceReady, pauses, sleep } from './client.mjs'
import { Normaliser, certificateOf, claimsOf } from './normaliser.mjs'
import { webhooks } from './webhook-server.mjs'

/** `a.b.0.c`, or a JSON pointer `/a/b.c/0` where keys have dots in them; `[a.b=text]` in a pointer is the element of a list whose a.b is the text. */
const at = (o, path) =>
  (path[0] === '/'
    ? path
        .slice(1)
        .split('/')
        .map((k) => k.replaceAll('~1', '/').replaceAll('~0', '~'))
    : path.split('.')
  ).reduce((x, k) => {
    const m = Array.isArray(x) && /^\[([^=]+)=(.*)\]$/.exec(k)
    return m ? x.find((e) => at(e, m[1]) === m[2]) : x?.[k]
  }, o)
let salt = ''
/** Other names for the namespaces, so that those of an earlier run are not in the way. */
export const useSalt = (text) => {
  salt = text
}
export const namespaceOf = (id) =>
  's-' +
  createHash('sha256')
    .update(id + salt)
    .digest('hex')
    .slice(0, 10)

/** "apiVersion kind" of a protobuf body: magic, then Unknown{1: TypeMeta{1 apiVersion, 2 kind}, …}. */
function envelope(b) {
  if (b.subarray(0, 4).toString('latin1') !== 'k8s\0') return null
  const field = (at, tag) => (b[at] === tag ? b.subarray(at + 2, at + 2 + b[at + 1]) : Buffer.alloc(0))
  const version = field(6, 0x0a).toString()
  return b[4] === 0x0a ? version + ' ' + field(8 + version.length, 0x12).toString() : null
}

class Watch {
  static async open(client, path, headers) {
    const w = new Watch()
    const { response, request } = await client.open('GET', path, { headers })
    w.status = response.statusCode
    w.headers = response.headers
    w.type = response.headers['content-type']
    w.events = []
    w.text = ''
    w.request = request
    w.ended = false
    response.on('data', (d) => {
      w.text += d
      for (let i; (i = w.text.indexOf('\n')) >= 0;) {
        const line = w.text.slice(0, i).trim()
        w.text = w.text.slice(i + 1)
        if (line)
          try {
            w.events.push(JSON.parse(line))
          } catch {
            w.events.push(line)
          }
      }
    })
    response.on('end', () => {
      if (w.text.trim())
        try {
          w.events.push(JSON.parse(w.text))
        } catch {
          w.events.push(w.text)
        }
      w.ended = true
    })
    response.on('error', () => {
      w.ended = true
    })
    return w
  }
  async collect(n, seconds, { show = [], ended, apart } = {}, norm) {
    const end = Date.now() + seconds * 1000
    while (!this.ended && (n === undefined || this.events.length < n) && Date.now() < end) await sleep(10)
    if (n !== undefined && !this.ended) await sleep(150) // one event too many is a difference
    if (apart) this.events = this.events.filter((e) => e.type !== 'BOOKMARK' || e.object.metadata.annotations)
    if (apart)
      for (const e of this.events)
        if (e.type === 'BOOKMARK')
          e.object.metadata.resourceVersion = norm.number('apart', e.object.metadata.resourceVersion)
    const out = { status: this.status, type: this.type, events: norm.normalise(this.events) }
    if (ended) out.ended = this.ended
    for (const h of show) out[h] = this.headers[h] ?? null
    this.request.destroy()
    return out
  }
}

export async function runScenario(client, s, { keep = false } = {}) {
  const ns = namespaceOf(s.id),
    vars = { NS: ns },
    norm = new Normaliser(ns),
    results = [],
    watches = {}
  const fill = (x) =>
    typeof x === 'string'
      ? x.replace(/\$\{(\w+)\}/g, (m, k) => vars[k] ?? m)
      : Array.isArray(x)
        ? x.map(fill)
        : x && typeof x === 'object'
          ? Object.fromEntries(Object.entries(x).map(([k, v]) => [fill(k), fill(v)]))
          : x
  const usesNamespace = s.namespace !== false,
    host = s.hooks && (await webhooks())
  if (host) {
    Object.assign(vars, { WEBHOOK_URL: `https://${host.host}/${ns}`, WEBHOOK_CA: host.ca })
    norm.host = host.host
    host.scripts.set(
      ns,
      Object.fromEntries(Object.entries(s.hooks).map(([k, a]) => [k, { answers: [a].flat(), seen: 0, received: [] }])),
    )
  }
  if (usesNamespace) {
    for (let i = 0; i < 100; i++) {
      // a namespace of an earlier run may still be terminating
      const r = await client.json('POST', '/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: ns, labels: s.namespaceLabels },
      })
      if (r.status === 201) break
      if (r.status !== 409 || i === 99) throw new Error(`namespace: ${r.status} ${r.body}`)
      await client.send('DELETE', '/api/v1/namespaces/' + ns)
      await sleep(200)
    }
    await namespaceReady(client, ns)
  }
  const request = async (step) => {
    const [method, ...rest] = fill(step.req).split(' '),
      path = rest.join(' ')
    const headers = { ...fill(step.headers ?? {}) }
    if (step.accept) headers.Accept = step.accept
    let body
    if (step.body !== undefined) {
      headers['Content-Type'] =
        step.type === false ? null : (headers['Content-Type'] ?? step.type ?? 'application/json')
      body = typeof step.body === 'string' ? fill(step.body) : JSON.stringify(fill(step.body))
      norm.generated(fill(step.body?.metadata?.generateName))
    }
    if (step.base64 !== undefined) {
      headers['Content-Type'] ??= step.type
      body = Buffer.from(step.base64, 'base64')
    }
    if (step.as) {
      headers['Impersonate-User'] = fill(step.as.user)
      if (step.as.groups) headers['Impersonate-Group'] = fill(step.as.groups)
    }
    return client.send(method, path, {
      headers,
      body,
      auth: step.client ? false : step.auth === undefined ? undefined : fill(step.auth),
      client: step.client && fill(step.client),
    })
  }
  const holds = (until, r) => {
    if (typeof until === 'number') return r.status === until
    if (until.warning) return r.warnings.length > 0
    let j
    try {
      j = JSON.parse(r.body)
    } catch {
      return false
    }
    if (until.absent) return at(j, until.path) === undefined
    return 'equals' in until
      ? JSON.stringify(at(j, until.path)) === JSON.stringify(fill(until.equals))
      : at(j, until.path) !== undefined
  }
  try {
    for (const step of s.steps) {
      for (const [k, [text, n]] of Object.entries(step.repeat ?? {})) vars[k] = text.repeat(n)
      if (step.sleep) {
        await sleep(step.sleep)
        continue
      }
      if (step.wait) {
        // until the answer has a status, or a path a value
        const end = Date.now() + (step.seconds ?? 15) * 1000
        const pause = pauses()
        let ok = false
        while (!ok && Date.now() < end) {
          const r = await client.json('GET', fill(step.wait))
          const v = step.path && at(r.json, step.path)
          ok = step.status
            ? r.status === step.status
            : step.equals !== undefined
              ? JSON.stringify(v) === JSON.stringify(fill(step.equals))
              : v !== undefined
          if (ok && step.save) for (const [k, p] of Object.entries(step.save)) vars[k] = at(r.json, p)
          if (!ok) await pause()
        }
        results.push({ waited: ok })
        continue
      }
      if (step.watch) {
        const w = await Watch.open(client, fill(step.watch), fill(step.headers ?? {}))
        if (step.background) {
          watches[step.background] = w
          await sleep(50)
          continue
        }
        results.push(await w.collect(step.events, step.seconds ?? 3, step, norm))
        continue
      }
      if (step.join) {
        results.push(await watches[step.join].collect(step.events, step.seconds ?? 3, step, norm))
        continue
      }
      if (step.hook) {
        // what the webhook server received since the last such step
        const h = host.scripts.get(ns)[step.hook]
        if (step.clear) {
          h.received = []
          h.seen = 0
          continue
        }
        for (let end = Date.now() + (step.seconds ?? 5) * 1000; h.received.length < step.requests && Date.now() < end;)
          await sleep(20)
        results.push({
          received: norm.normalise(
            step.pick ? h.received.map((x) => Object.fromEntries(step.pick.map((p) => [p, at(x, p)]))) : h.received,
          ),
        })
        h.received = []
        continue
      }
      if (step.parallel) {
        // requests sent at once: only how often each status came
        const all = await Promise.all(step.parallel.map(request))
        results.push({ parallel: all.map((r) => r.status).sort() })
        continue
      }
      let r = await request(step)
      if (step.until !== undefined)
        for (
          const end = Date.now() + (step.seconds ?? 10) * 1000, pause = pauses();
          !holds(step.until, r) && Date.now() < end;
          r = await request(step)
        )
          await pause()
      const out = { status: r.status }
      if (step.quiet) {
        if (r.status >= 300) out.quiet = String(r.body).slice(0, 300)
        if (step.save)
          try {
            const json = JSON.parse(r.body)
            for (const [k, p] of Object.entries(step.save))
              vars[k] = p.startsWith('header:') ? r.headers[p.slice(7)] : at(json, p)
          } catch {}
      } else {
        if (r.warnings.length) out.warnings = r.warnings.map((w) => norm.text(w))
        const type = r.headers['content-type']
        if (type !== 'application/json') out.type = type ?? null
        for (const h of step.show ?? []) out[h] = r.headers[h] === undefined ? null : norm.text(String(r.headers[h]))
        const text = r.body.toString('utf8')
        if (/yaml/.test(type ?? ''))
          for (const [, v] of text.matchAll(/resourceVersion: "(\d+)"/g)) norm.versions.add(v)
        let json
        try {
          json = JSON.parse(text)
        } catch {
          json = undefined
        }
        const answer = json
        for (const p of step.sort ?? []) {
          const list = at(json, p)
          if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
        }
        if ((step.apart || step.any) && json) {
          json = structuredClone(json)
          for (const p of step.apart ?? step.any) {
            const i = p.lastIndexOf('.'),
              o = i < 0 ? json : at(json, p.slice(0, i)),
              k = p.slice(i + 1)
            if (o?.[k] !== undefined) o[k] = step.any ? '<any>' : norm.number('apart', o[k])
          }
        }
        if (step.unordered && json?.details?.causes?.length > 1) {
          json.details.causes.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
          json.message = json.message.replace(/ is invalid: \[[^]*/, ' is invalid: …')
        }
        if (step.pick) {
          norm.columns(json)
          norm.learn(json)
        }
        if (step.envelope) out.envelope = envelope(r.body)
        if (step.raw) {
          norm.learn(json)
          out.text = norm.text(text)
        } else if (json !== undefined && typeof json === 'object')
          out.body = norm.normalise(step.pick ? Object.fromEntries(step.pick.map((p) => [p, at(json, fill(p))])) : json)
        else if (text && !/protobuf|cbor/.test(type ?? ''))
          out.text = norm.text(
            step.lines
              ? text
                  .split('\n')
                  .filter((l) => step.lines.some((x) => new RegExp(x).test(l)))
                  .join('\n')
              : text,
          )
        if (step.save)
          for (const [k, p] of Object.entries(step.save))
            vars[k] = p.startsWith('header:') ? r.headers[p.slice(7)] : at(answer, p)
      }
      if (step.claims) {
        let j
        try {
          j = JSON.parse(r.body)
        } catch {}
        const t = at(j, step.claims)
        out.claims = t ? norm.normalise(claimsOf(t)) : null
      }
      if (step.x509) {
        let j
        try {
          j = JSON.parse(r.body)
        } catch {}
        const t = at(j, step.x509)
        out.x509 = t ? norm.normalise(certificateOf(t)) : null
      }
      results.push(out)
    }
  } finally {
    for (const w of Object.values(watches)) w.request.destroy()
    if (!keep) {
      for (const p of s.cleanup ?? []) {
        const r = await (typeof p === 'string' ? client.json('DELETE', fill(p)) : request(p)).catch(() => ({}))
        if (r.status === 200 && /\/customresourcedefinitions\//.test(p))
          for (const end = Date.now() + 3000; Date.now() < end && (await client.send('GET', fill(p))).status !== 404;)
            await sleep(50) // its instances go first; the next run creates it anew
      }
      if (usesNamespace) await client.send('DELETE', '/api/v1/namespaces/' + ns).catch(() => {})
    }
  }
  return results
}
