// Runs one recorded kubectl session and returns what kubectl printed; README.md describes the steps.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { namespaceReady, sleep } from './client.mjs'
import { Normaliser } from './normaliser.mjs'
import { namespaceOf } from './scenario.mjs'

const near = (t) => Math.abs(Date.parse(t) - Date.now()) < 864e5

/** What kubectl printed, as lines without anything that differs from run to run. Widths of columns are not compared. */
export class Printed extends Normaliser {
  #dir
  #url
  #prefixes = new Set(['kube-api-access-'])
  constructor(ns, dir, url) {
    super(ns)
    this.#dir = dir
    this.#url = url
  }
  /** Prefixes of generated names, found in manifests and in answers. */
  prefix(text) {
    for (const m of text.matchAll(/generateName["']?: ?["']?([\w.-]+-)/g)) this.#prefixes.add(m[1])
  }
  lines(text) {
    if (!text) return []
    this.prefix(text)
    text = text
      .replaceAll(this.#dir, '<dir>')
      .replaceAll(this.#url.href.replace(/\/$/, ''), '<server>')
      .replaceAll(this.#url.host, '<host>')
    for (const p of this.#prefixes)
      text = text.replace(
        new RegExp(`(?<![\\w.-])${p.replaceAll('.', '\\.')}[a-z0-9]{5}(?![\\w.-])`, 'g'),
        (n) => p + this.number('generated', n),
      )
    text = text
      .replace(
        /(resourceVersion["']?: ?["']?|Resource ?Version: +|object meta: |resource version |resource version to be \d+, was )([1-9]\d*)/g,
        (m, p, v) => p + this.number('rv', v),
      )
      .replace(/(nodePort["']?: ?|NodePort: +\S+ +|\d:)(3[0-2]\d{3})\b/g, (m, p, v) => p + this.number('nodePort', v))
      .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, (t) => (near(t) ? '<time>' : t))
      .replace(/\t\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, '\t<time>')
      .replace(/("serverAddress": ?")[^"]+/g, '$1<host>')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, (t) =>
        near(t.slice(0, 19).replace(' ', 'T') + 'Z') ? '<time>' : t,
      )
      .replace(/\b(LIVE|MERGED|kubectl-edit)-\d+/g, '$1-<n>')
      .replace(/^([EWIF])\d{4} [\d:.]+ +\d+ ([\w.]+):\d+\]/gm, '$1 <log> $2]')
      .replace(/(certificate["']?: ["']?)LS0t[\w+/=]{200,}/g, '$1<certificate>')
      .replace(/\bv1\.36\.[\w.+-]+/g, '<version>')
    let table = false
    const lines = this.text(text)
      .split('\n')
      .map((l) => {
        table = l !== '' && (table || /(^| {2,})AGE( {2,}|$)/.test(l))
        if (table) l = l.replace(/(?<=^| {2,})\d+[smhdy]\w*(?= {2,}|$)/g, '<age>')
        return l
          .replace(/(?<=^| {2,}|\t)\d+[smhdy]\w* \((x\d+) over \d+[smhdy]\w*\)(?= {2,}|\t|$)/g, '<age> ($1 over <age>)')
          .replace(/(?<=^| {2,}|\t)(\d+[shdy](\d+[smhd])?|\d+m\d+s)( ago)?(?= {2,}|\t|$)/g, '<age>')
          .replace(/(?<=\S) {2,}/g, '  ')
          .trimEnd()
      })
    if (lines.at(-1) === '') lines.pop()
    return lines
  }
}

export async function runSession(client, kubectl, config, s) {
  const ns = namespaceOf(s.id),
    dir = mkdtempSync(join(tmpdir(), 'session-')),
    work = join(dir, 'work'),
    vars = { NS: ns },
    running = {},
    results = []
  const print = new Printed(ns, dir, client.url),
    fill = (x) => x.replace(/\$\{(\w+)\}/g, (m, k) => vars[k] ?? m)
  mkdirSync(work)
  mkdirSync(join(dir, 'tmp'))
  const own = structuredClone(config)
  own.contexts.find((c) => c.name === own['current-context']).context.namespace = ns
  writeFileSync(join(dir, 'config'), JSON.stringify(own), { mode: 0o600 })
  const start = (step) => {
    for (const [name, text] of Object.entries(step.files ?? {})) {
      const f = join(work, name),
        t = fill(text)
      print.prefix(t)
      mkdirSync(dirname(f), { recursive: true })
      writeFileSync(f, t)
    }
    if (step.stdin) print.prefix(fill(step.stdin))
    const env = {
      HOME: dir,
      TMPDIR: join(dir, 'tmp'),
      KUBECONFIG: join(dir, 'config'),
      KUBECACHEDIR: join(dir, 'cache'),
      PATH: `${dirname(kubectl)}:/usr/bin:/bin`,
      LANG: 'C',
      TZ: 'UTC',
      KUBE_EDITOR: 'true',
      ...Object.fromEntries(Object.entries(step.env ?? {}).map(([k, v]) => [k, fill(v)])),
    }
    const p = { stdout: '', stderr: '', code: null, step },
      child = (p.child = spawn(kubectl, step.run.map(fill), { cwd: work, env }))
    child.stdout.setEncoding('utf8').on('data', (d) => {
      p.stdout += d
    })
    child.stderr.setEncoding('utf8').on('data', (d) => {
      p.stderr += d
    })
    p.ended = new Promise((r) => {
      const over = (code, signal) => {
        p.code ??= signal ?? code
        r()
      }
      child.on('close', over)
      child.on('exit', (code, signal) => setTimeout(over, 1000, code, signal))
    })
    child.stdin.on('error', () => {})
    child.stdin.end(step.stdin === undefined ? '' : fill(step.stdin))
    return p
  }
  const end = async (p, seconds) => {
    const t = setTimeout(() => p.child.kill('SIGKILL'), seconds * 1000)
    await p.ended
    clearTimeout(t)
  }
  const record = (p, lines) => {
    const { step } = p
    if (step.save) vars[step.save] = p.stdout.trimEnd()
    if (step.quiet) return results.push(p.code ? { code: p.code, stderr: print.lines(p.stderr) } : {})
    const only = (t) => {
      const ls = print.lines(t).filter((l) => !lines || new RegExp(fill(lines)).test(l))
      return step.sort ? ls.sort() : ls
    }
    results.push({ code: p.code, stdout: only(p.stdout), stderr: only(p.stderr) })
  }
  for (let i = 0; i < 100; i++) {
    const r = await client.json('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: ns },
    })
    if (r.status === 201) break
    if (r.status !== 409) throw new Error(`namespace: ${r.status} ${r.body}`)
    await client.send('DELETE', '/api/v1/namespaces/' + ns)
    await sleep(200)
  }
  await namespaceReady(client, ns, 5)
  try {
    for (const step of s.steps) {
      if (step.sleep) {
        await sleep(step.sleep)
        continue
      }
      if (step.join) {
        // a command in the background: until it ends, or has printed so many lines and is interrupted
        const p = running[step.join],
          until = Date.now() + (step.seconds ?? 20) * 1000
        if (step.printed) {
          while (p.code === null && p.stdout.split('\n').length <= step.printed && Date.now() < until) await sleep(20)
          await sleep(200)
          p.child.kill('SIGTERM')
        }
        await end(p, step.seconds ?? 20)
        record(p, step.lines)
        delete running[step.join]
        continue
      }
      let p = start(step)
      if (step.background) {
        running[step.background] = p
        const until = Date.now() + 10000
        while (p.code === null && p.stdout.split('\n').length <= (step.printed ?? 0) && Date.now() < until)
          await sleep(20)
        await sleep(step.printed ? 200 : 1500)
        continue
      }
      await end(p, step.seconds ?? 60)
      for (
        const until = Date.now() + 20000;
        step.until && !new RegExp(fill(step.until)).test(p.stdout) && Date.now() < until;
      ) {
        await sleep(200)
        p = start(step)
        await end(p, 20)
      }
      record(p, step.lines)
    }
  } finally {
    for (const p of Object.values(running)) p.child.kill('SIGKILL')
    const claims = await client.json('GET', `/api/v1/namespaces/${ns}/persistentvolumeclaims`) // where nobody removes kubernetes.io/pvc-protection
    for (const c of claims.json?.items ?? [])
      await client.json(
        'PATCH',
        `/api/v1/namespaces/${ns}/persistentvolumeclaims/${c.metadata.name}`,
        { metadata: { finalizers: null } },
        { 'Content-Type': 'application/merge-patch+json' },
      )
    for (const run of s.cleanup ?? []) await end(start({ run }), 60)
    await client.send('DELETE', '/api/v1/namespaces/' + ns).catch(() => {})
    rmSync(dir, { recursive: true, force: true })
  }
  return results
}
