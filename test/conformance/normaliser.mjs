// Replaces in answers what differs from run to run.
import { X509Certificate } from 'node:crypto'
import { pemOf } from './client.mjs'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const AGE = /^(?!\d+y( ago)?$)(\d+[smhdy])+( ago)?$/ // but whole years (8 and more), which come from times in the requests
/** managedFields are sorted by time: entries of one operation written within two seconds of each other stand by manager, whatever the clock's luck. */
const settled = (list) => {
  const out = [...list],
    key = (e) => [e?.manager, e?.apiVersion, e?.subresource].join('\0')
  for (let i = 0, j; i < out.length; i = j) {
    for (
      j = i + 1;
      j < out.length &&
      out[j]?.operation === out[i]?.operation &&
      Math.abs(Date.parse(out[j]?.time) - Date.parse(out[j - 1]?.time)) <= 2000;
    )
      j++
    const run = out.slice(i, j)
    if (run.some((e) => e.time !== run[0].time))
      out.splice(i, run.length, ...run.sort((a, b) => (key(a) < key(b) ? -1 : 1)))
  }
  return out
}
/** Replaces what differs from run to run by numbered placeholders; equal values get equal numbers within one scenario. */
export class Normaliser {
  constructor(ns, serviceRange = /\b10\.96\.\d+\.\d+\b/g) {
    this.ns = ns
    this.seen = new Map()
    this.counts = {}
    this.versions = new Set()
    this.names = new Map()
    this.range = serviceRange
  }
  /** A generateName that was sent: names made from it may be found in messages alone. */
  generated(prefix) {
    if (typeof prefix === 'string' && prefix)
      (this.prefixes ??= new Map()).set(
        prefix.slice(0, 58),
        new RegExp(prefix.slice(0, 58).replace(/[^\w-]/g, '\\$&') + '[bcdfghjklmnpqrstvwxz2456789]{5}(?![\\w-])', 'g'),
      )
  }
  number(kind, value) {
    const k = kind + '\0' + value
    if (!this.seen.has(k)) this.seen.set(k, `<${kind} ${(this.counts[kind] = (this.counts[kind] ?? 0) + 1)}>`)
    return this.seen.get(k)
  }
  /** First pass: learn versions and generated names, so that they are found inside messages too. */
  learn(v) {
    if (Array.isArray(v)) return v.forEach((x) => this.learn(x))
    if (!v || typeof v !== 'object') return
    if (typeof v.resourceVersion === 'string' && /^\d+$/.test(v.resourceVersion) && v.resourceVersion.length > 1)
      this.versions.add(v.resourceVersion)
    if (/^\d\d+$/.test(v['metadata.resourceVersion'] ?? '')) this.versions.add(v['metadata.resourceVersion'])
    const m = v.metadata ?? v
    if (
      typeof m.generateName === 'string' &&
      typeof m.name === 'string' &&
      m.name.startsWith(m.generateName) &&
      m.name !== m.generateName
    )
      this.names.set(m.name, m.generateName)
    Object.values(v).forEach((x) => this.learn(x))
  }
  text(s) {
    if (this.host) s = s.replaceAll(this.host, '${WEBHOOK}')
    for (const [prefix, shape] of this.prefixes ?? [])
      for (const name of s.match(shape) ?? []) this.names.set(name, prefix)
    for (const [name, prefix] of this.names)
      if (s.includes(name)) s = s.replaceAll(name, prefix + this.number('generated', name))
    for (const m of s.matchAll(/(?:resourceVersion\\*":\\*"|ResourceVersion in object meta: )(\d\d+)/g))
      this.versions.add(m[1]) // an object quoted in a message
    for (const m of s.matchAll(/in record \((\d\d+)\)/g)) this.versions.add(m[1]) // of a failed precondition
    s = s
      .replaceAll(this.ns, '${NS}')
      .replace(UUID, (u) => this.number('uid', u))
      .replace(/\b[0-9A-F]{128}\b/g, (h) => this.number('hash', h))
      .replace(/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (GMT|UTC)/g, '<date>')
      .replace(this.range, (ip) => this.number('clusterIP', ip))
    s = s.replace(/(Too large resource version: \d+, current: )\d+/g, '$1<current>')
    for (const rv of this.versions)
      if (s.includes(rv)) s = s.replace(new RegExp(`(?<![\\w.])${rv}(?![\\w.])`, 'g'), () => this.number('rv', rv))
    s = s.replace(/(too old resource version: (?:<rv \d+>|\S+) )\(\d+\)/g, '$1(<oldest>)')
    return s
      .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<jwt>')
      .replace(/-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----\n?/g, '<pem>')
      .replace(/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<hash>')
      .replace(/\bselfType\d+/g, 'selfType<n>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (t) =>
        Math.abs(Date.parse(t) - Date.now()) < 864e5 ? '<time>' : t,
      )
  }
  value(v, key) {
    if (typeof v === 'string') {
      if (/(^|[./])resourceVersion$/.test(key) && this.versions.has(v)) return this.number('rv', v)
      if (/(^|[./])continue$/.test(key) && v) return this.number('continue', v)
      if (TIME.test(v) && Math.abs(Date.parse(v) - Date.now()) < 864e5)
        return v.includes('.') ? '<microtime>' : '<time>'
      if (key === 'token' && v.startsWith('ZXlK')) return '<base64 jwt>'
      if (key === 'ca.crt' && v.startsWith('LS0t')) return '<base64 pem>'
      if ((key === 'certificate' || key === 'caBundle') && v.length > 200) return '<certificate>'
      return this.text(v)
    }
    if (typeof v === 'number' && (key === 'nodePort' || key === 'healthCheckNodePort') && v >= 30000)
      return this.number('nodePort', v)
    if (Array.isArray(v) && /managedFields$/.test(key)) v = settled(v)
    if (Array.isArray(v))
      return key === 'cells' || key?.endsWith('.cells')
        ? v.map((c, i) => (typeof c === 'string' && AGE.test(c) && !this.kept?.has(i) ? '<age>' : this.value(c)))
        : v.map((x) => this.value(x, key))
    this.columns(v)
    if (v && typeof v === 'object')
      return Object.fromEntries(Object.entries(v).map(([k, x]) => [this.text(k), this.value(x, k)]))
    return v
  }
  /** Columns of durations, which don't depend on when a test runs, are compared as they are. */
  columns(t) {
    if (t?.kind === 'Table' && t.columnDefinitions?.length)
      this.kept = new Set(t.columnDefinitions.flatMap((c, i) => (/Duration$/.test(c.name) ? [i] : [])))
  }
  normalise(v) {
    this.learn(v)
    return this.value(v)
  }
}

/** A token's header and claims; times are relative to iat. */
export function claimsOf(jwt) {
  const [header, payload] = jwt
    .split('.')
    .slice(0, 2)
    .map((x) => JSON.parse(Buffer.from(x, 'base64url')))
  if (header.kid) header.kid = '<kid>'
  for (const o of [payload, payload['kubernetes.io']])
    for (const k of ['exp', 'nbf', 'warnafter'])
      if (o?.[k]) o[k] = 'iat' + (o[k] < payload.iat ? '' : '+') + (o[k] - payload.iat)
  return { header, payload: { ...payload, iat: '<iat>' } }
}
/** What a certificate says; its lifetime in seconds. */
export function certificateOf(text) {
  const c = new X509Certificate(pemOf(text))
  return {
    subject: c.subject,
    issuer: c.issuer,
    san: c.subjectAltName ?? null,
    extendedKeyUsage: c.keyUsage ?? null,
    ca: c.ca,
    seconds: (Date.parse(c.validTo) - Date.parse(c.validFrom)) / 1000,
  }
}
