// Validation and defaulting of the built-in kinds, by mutation of valid objects; recordings/mutations/README.md describes the format.
import { randomBytes } from 'node:crypto'
import { namespaceReady, pool, sleep } from './client.mjs'
import { Normaliser } from './normaliser.mjs'

// ---------------------------------------------------------------- JSON patch and difference
const steps = (pointer) =>
  pointer
    .split('/')
    .slice(1)
    .map((s) => s.replaceAll('~1', '/').replaceAll('~0', '~'))
/** Applies add, replace and remove; forgiving: containers that are missing are made, removing what is missing does nothing. */
export function patched(object, patch) {
  let root = structuredClone(object)
  for (const { op, path, value } of patch) {
    const keys = steps(path)
    if (!keys.length) {
      root = structuredClone(value)
      continue
    }
    let at = root
    keys.slice(0, -1).forEach((k, i) => {
      if (Array.isArray(at) && k === '-') k = String(at.length)
      if (at[k] === null || typeof at[k] !== 'object') at[k] = /^(\d+|-)$/.test(keys[i + 1]) ? [] : {}
      at = at[k]
    })
    const key = keys.at(-1)
    if (op === 'remove') {
      if (Array.isArray(at)) at.splice(Number(key), 1)
      else delete at[key]
    } else if (Array.isArray(at) && op === 'add')
      at.splice(key === '-' ? at.length : Number(key), 0, structuredClone(value))
    else at[key] = structuredClone(value)
  }
  return root
}
const escape = (k) => k.replaceAll('~', '~0').replaceAll('/', '~1')
const isObject = (v) => v !== null && typeof v === 'object'
export const same = (a, b) => {
  if (a === b) return true
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const ka = Object.keys(a),
    kb = Object.keys(b)
  return ka.length === kb.length && ka.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]))
}
/** What makes `to` of `from`: [pointer, value], or [pointer] where it is gone. */
export function delta(from, to, pointer = '', out = []) {
  if (same(from, to)) return out
  if (
    isObject(from) &&
    isObject(to) &&
    Array.isArray(from) === Array.isArray(to) &&
    (!Array.isArray(from) || from.length === to.length)
  ) {
    for (const k of new Set([...Object.keys(from), ...Object.keys(to)])) {
      if (!Object.hasOwn(to, k)) out.push([`${pointer}/${escape(k)}`])
      else if (!Object.hasOwn(from, k)) out.push([`${pointer}/${escape(k)}`, to[k]])
      else delta(from[k], to[k], `${pointer}/${escape(k)}`, out)
    }
  } else out.push([pointer, to])
  return out
}

// ---------------------------------------------------------------- normalising
/** As in scenarios, but what the request itself said stays as it is. */
class Answers extends Normaliser {
  constructor(ns, sent) {
    const text = JSON.stringify(sent),
      ips = [...new Set(text.match(/\b10\.96\.\d+\.\d+\b/g) ?? [])].map((s) => s.replaceAll('.', '\\.'))
    super(ns, new RegExp(`${ips.length ? `(?!(${ips.join('|')})\\b)` : ''}\\b10\\.96\\.\\d+\\.\\d+\\b`, 'g'))
    this.ports = new Set(
      (text.match(/(nodePort|healthCheckNodePort)"(,"value")?:\d+/g) ?? []).map((s) => Number(s.split(':')[1])),
    )
  }
  text(s) {
    return super.text(s).replace(/\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'kube-api-access-<generated>')
  }
  value(v, key) {
    return typeof v === 'number' && this.ports.has(v) ? v : super.value(v, key)
  }
}
/** Without what every run has of its own; managedFields are recorded elsewhere. */
const bare = (v) => {
  if (!v?.metadata || v.kind === 'Status') return v
  const { managedFields, uid, resourceVersion, creationTimestamp, selfLink, ...metadata } = v.metadata
  return { ...v, metadata }
}
const fill = (x, vars) =>
  typeof x === 'string'
    ? x.replace(/\$\{(.)\*(\d+)\}/g, (m, c, n) => c.repeat(Number(n))).replace(/\$\{(\w+)\}/g, (m, k) => vars[k] ?? m)
    : Array.isArray(x)
      ? x.map((y) => fill(y, vars))
      : isObject(x)
        ? Object.fromEntries(Object.entries(x).map(([k, v]) => [fill(k, vars), fill(v, vars)]))
        : x
/** Texts that show the difference of two Go values end there: its layout is not a contract. */
const cut = (v) =>
  typeof v === 'string'
    ? v.replace(/(fields other than [^\n]*)\n[\s\S]*$/, '$1\n<difference>').replace(/\n@@ [\s\S]*$/, '\n<difference>')
    : Array.isArray(v)
      ? v.map(cut)
      : v
/** Long runs of one character, as the requests write them. */
const shorten = (v) =>
  typeof v === 'string'
    ? v.replace(/([a-z0-9])\1{299,}/g, (m, c) => `\${${c}*${m.length}}`)
    : Array.isArray(v)
      ? v.map(shorten)
      : isObject(v)
        ? Object.fromEntries(Object.entries(v).map(([k, x]) => [shorten(k), shorten(x)]))
        : v

// ---------------------------------------------------------------- what is expected, in short and in full
const groupKind = (object) => {
  const v = object?.apiVersion,
    g = typeof v === 'string' && v.includes('/') ? v.split('/')[0] : ''
  return { kind: String(object?.kind), group: g }
}
/** The Status that a rejection by validation has, from its causes. */
function invalid(object, causes) {
  const { kind, group } = groupKind(object),
    name = typeof object?.metadata?.name === 'string' ? object.metadata.name : ''
  const texts = [...new Set(causes.map(([field, , message]) => `${field}: ${message}`))]
  return {
    message: `${kind}${group && '.' + group} ${JSON.stringify(name)} is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    details: {
      ...(name && { name }),
      ...(group && { group }),
      kind,
      causes: causes.map(([field, reason, message]) => ({ reason, message, field })),
    },
  }
}
/** The answer in the form of `expect`. */
function brief(r, sent, base, ns, explicit = sent) {
  const norm = new Answers(ns, explicit),
    out = { status: r.status }
  if (!sent?.metadata?.name) norm.generated(sent?.metadata?.generateName)
  if (r.warnings.length) out.warnings = shorten(r.warnings.map((w) => norm.text(w)))
  if (r.json === undefined) {
    out.text = norm.text(String(r.body))
    return out
  }
  if (r.json.kind === 'Status' && r.json.status === 'Failure') {
    const { reason, message, details } = norm.normalise(r.json)
    if (reason !== undefined) out.reason = reason
    const causes = details?.causes?.map((c) => [c.field ?? '', c.reason, c.message])
    if (causes) out.causes = cut(causes)
    const derived = reason === 'Invalid' && causes ? invalid(norm.normalise(sent), causes) : {}
    if (message !== derived.message) out.message = cut(message)
    if (details && !same(details, derived.details)) {
      const { causes: _, ...rest } = details
      out.details = rest
    }
    return shorten(out)
  }
  const body = bare(norm.normalise(r.json))
  if (base === undefined) out.body = shorten(body)
  else {
    const d = delta(base, body)
    if (d.length) out.delta = shorten(d)
  }
  return out
}
/** What a program would notice. */
export const lenient = (e) =>
  e?.causes
    ? { status: e.status, causes: [...new Set(e.causes.map((c) => `${c[0]} ${c[1]}`))].sort() }
    : { status: e?.status, reason: e?.reason, delta: e?.delta, body: e?.body }

// ---------------------------------------------------------------- running a file
const QUERY = 'dryRun=All&fieldValidation=Warn'

/** Sends all cases of one kind; `done(id, answer)` gets each answer in the form of `expect`, bases under the id `base/NAME`. */
export async function runKind(client, head, cases, { jobs = 16, done }) {
  const ns = 'm-' + randomBytes(5).toString('hex'),
    vars = { NS: ns },
    resource = fill(head.resource, vars),
    stored = {},
    made = []
  const bases = fill(head.bases, vars),
    statuses = fill(head.statuses ?? {}, vars),
    answers = {}
  const post = async (path, body) => {
    const r = await client.json('POST', path, body)
    if (r.status < 300) made.push(path + '/' + r.json.metadata.name)
    return r
  }
  const n = await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } })
  if (n.status !== 201) throw new Error(`namespace: ${n.status} ${n.body}`)
  await namespaceReady(client, ns, 5)
  try {
    for (const s of head.setup ?? []) {
      const { path, body } = fill(s, vars),
        r = await post(path, body)
      if (r.status > 299) throw new Error(`setup ${path}: ${r.status} ${r.body}`)
    }
    for (const [name, body] of Object.entries(bases)) {
      const r = await client.json('POST', `${resource}?${QUERY}`, body),
        norm = new Answers(ns, body)
      if (r.status < 300) answers[name] = bare(norm.normalise(r.json))
      done('base/' + name, brief(r, body, undefined, ns))
    }
    const safely = (f) => async (c, i) => {
      for (let n = 0; ; n++)
        try {
          return await f(c, i)
        } catch (e) {
          if (n === 2) return done(c.id, { error: e.message })
        }
    } // a connection that breaks is not the end of the file
    const create = async (c) => {
      const body = patched(bases[c.base], fill(c.patch, vars)),
        r = await client.json('POST', `${resource}?${QUERY}`, body)
      done(c.id, brief(r, body, answers[c.base] ?? {}, ns))
    }
    const convert = async (c, i) => {
      const body = patched(bases[c.base], fill(c.patch, vars))
      body.metadata.name = `convert-${i}`
      const r = await client.json('POST', resource, body)
      let got = r
      if (r.status < 300) {
        got = await client.json('GET', fill(c.path, { ...vars, NAME: body.metadata.name }))
        await client.send('DELETE', `${resource}/${body.metadata.name}`)
      }
      const answer = brief(got, body, undefined, ns)
      if (answer.body) delete answer.body.metadata.name
      done(c.id, answer)
    }
    await pool(
      cases.filter((c) => c.verb === 'create'),
      jobs,
      safely(create),
    )
    await pool(
      cases.filter((c) => c.verb === 'convert'),
      jobs,
      safely(convert),
    )
    const writes = cases.filter((c) => c.verb !== 'create' && c.verb !== 'convert')
    for (const name of new Set(writes.map((c) => c.base))) {
      const r = await post(resource, bases[name])
      if (r.status > 299) {
        stored[name] = { error: `base not stored: ${r.status} ${String(r.body).slice(0, 300)}` }
        continue
      }
      const path = `${resource}/${r.json.metadata.name}`
      for (let i = 0; head.until && i < 100; i++) {
        if (JSON.stringify((await client.json('GET', path)).json).includes(head.until)) break
        await sleep(50)
      }
      if (statuses[name]) {
        let s
        for (let i = 0; i < 5; i++) {
          s = await client.json('PUT', path + '/status', {
            ...(await client.json('GET', path)).json,
            status: statuses[name],
          })
          if (s.status !== 409) break
        }
        if (s.status > 299)
          stored[name] = { error: `status of base not stored: ${s.status} ${String(s.body).slice(0, 300)}` }
      }
      stored[name] ??= { path, sent: bases[name] }
    }
    if (writes.length) await sleep(300) // controllers may still touch the objects
    const read = async (s, sub) => {
      const r = await client.json('GET', s.path + sub)
      s[sub] = r
      if (r.json) {
        s[sub + '#'] = bare(new Answers(ns, s.sent).normalise(r.json))
        if (r.json.metadata) delete r.json.metadata.managedFields
      }
      return r
    }
    await pool(
      writes,
      jobs,
      safely(async (c) => {
        const s = stored[c.base],
          sub = c.verb === 'update' ? '' : '/' + c.verb
        if (s.error) return done(c.id, { error: s.error })
        for (let i = 0; ; i++) {
          const r0 = i ? await read(s, sub) : await (s['@' + sub] ??= read(s, sub))
          if (r0.status !== 200) return done(c.id, { error: `GET ${r0.status}` })
          const body = patched(r0.json, fill(c.patch, vars)),
            r = await client.json('PUT', `${s.path}${sub}?${QUERY}`, body)
          if (
            r.status === 409 &&
            i < 3 &&
            String(r.body).includes('the object has been modified') &&
            !JSON.stringify(c.patch).includes('/metadata/resourceVersion')
          ) {
            await sleep(50)
            continue
          }
          return done(c.id, brief(r, body, s[sub + '#'], ns, [s.sent, c.patch]))
        }
      }),
    )
  } finally {
    for (const p of made.reverse())
      await client
        .json('DELETE', p + (p.includes('/pods/') ? '?gracePeriodSeconds=0' : ''), {
          kind: 'DeleteOptions',
          apiVersion: 'v1',
          propagationPolicy: 'Background',
        })
        .catch(() => {})
  }
}
