// The HTTPS server that stands in for webhooks; the scenarios say what it answers.
import https from 'node:https'
import { createAuthority, issue } from '../../src/cli/data-directory/certificate.ts'
import { sleep } from './client.mjs'

let hookHost
/** One HTTPS server on 127.0.0.1, started when a scenario first needs it; /NAMESPACE/HOOK answers as that scenario's `hooks` say. */
export function webhooks() {
  return (hookHost ??= start())
}

async function start() {
  const authority = await createAuthority({ commonName: 'webhooks' }, new Date(), 30)
  const tls = await issue(
    authority,
    { subject: { commonName: '127.0.0.1' }, usage: 'server', names: ['127.0.0.1'], days: 30 },
    new Date(),
  )
  return new Promise((resolve) => {
    const scripts = new Map(),
      server = https.createServer({ key: tls.key, cert: tls.certificate }, async (q, r) => {
        const chunks = []
        for await (const c of q) chunks.push(c)
        const text = Buffer.concat(chunks).toString(),
          [, ns, name] = q.url.split(/[/?]/),
          hook = scripts.get(ns)?.[name]
        let body
        try {
          body = JSON.parse(text)
        } catch {
          body = text
        }
        if (!hook) {
          r.writeHead(404)
          return r.end()
        }
        const a = hook.answers[Math.min(hook.seen++, hook.answers.length - 1)]
        hook.received.push({
          request: `${q.method} ${q.url}`,
          accept: q.headers.accept,
          'content-type': q.headers['content-type'],
          'user-agent': q.headers['user-agent'],
          body,
        })
        if (a.delay) await sleep(a.delay)
        if (a.close) return q.socket.destroy()
        const uid = body?.request?.uid ?? '',
          review = (response) => ({ apiVersion: body.apiVersion, kind: body.kind, response: { uid, ...response } })
        let out = a.body
        if (a.answer) out = review(a.answer)
        if (a.patch)
          out = review({
            allowed: true,
            patchType: 'JSONPatch',
            patch: Buffer.from(JSON.stringify(a.patch)).toString('base64'),
          })
        if (a.status) out = { ...body, status: a.status }
        if (a.convert)
          out = review({
            result: { status: 'Success' },
            convertedObjects: body.request.objects.map((o) => {
              o = { ...o, apiVersion: body.request.desiredAPIVersion }
              for (const [from, to] of Object.entries(a.convert[o.apiVersion.split('/')[1]] ?? {})) {
                const v = o[from]
                delete o[from]
                if (v !== undefined) o[to] = v
              }
              return o
            }),
          })
        r.writeHead(a.code ?? 200, { 'Content-Type': a.type ?? 'application/json' })
        r.end((typeof out === 'string' ? out : JSON.stringify(out ?? null)).replaceAll('${UID}', uid))
      })
    server.listen(0, '127.0.0.1', () => {
      const ca = Buffer.from(authority.certificate).toString('base64')
      server.unref()
      resolve({ host: '127.0.0.1:' + server.address().port, ca, scripts })
    })
  })
}
