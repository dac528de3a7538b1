// Fills a control plane with many Pods: creates one, takes a backup, and restores the backup with copies of the Pod.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { Readable } from 'node:stream'
import { startKedge } from '../cli/kedge-process.ts'
import { open, pause, send, succeed } from './load.ts'
import type { Target } from './load.ts'
import { readKubeconfig } from './side.ts'

const NAMESPACE = '/api/v1/namespaces/growth'
export const PODS = `${NAMESPACE}/pods`
export const podName = (n: number): string => `g${String(n).padStart(7, '0')}`

/** A Pod that takes 2 KB in storage. */
export const pod = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'growth', one: 'other' } },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'web',
          image: 'nginx',
          ports: [{ containerPort: 80 }],
          env: [{ name: 'TEXT', value: 'x'.repeat(150) }],
          resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        },
      ],
    },
  })

/** The lines of a backup with one Pod. */
export async function backupWithPod(): Promise<string[]> {
  const kedge = await startKedge()
  const target = readKubeconfig(kedge.kubeconfig)
  const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'growth' } })
  await succeed(target, { method: 'POST', path: '/api/v1/namespaces', body: namespace })
  const account = { method: 'GET', path: `${NAMESPACE}/serviceaccounts/default` }
  while ((await send(target, account)).status !== 200) await pause(50) // Pods need the ServiceAccount
  await succeed(target, { method: 'POST', path: PODS, body: pod(podName(0)) })
  let text = ''
  for await (const chunk of (await open(target, { method: 'GET', path: '/backup' })).setEncoding('utf8'))
    text += chunk as string
  await kedge.stop()
  return text.trimEnd().split('\n')
}

/** @param target a fresh control plane @param backup the result of backupWithPod */
export async function restoreWithPods(target: Target, backup: readonly string[], count: number): Promise<void> {
  const outgoing = request(`${target.url}/restore`, {
    method: 'POST',
    agent: target.agent,
    headers: { Authorization: `Bearer ${target.token}`, 'Content-Type': 'application/jsonl' },
  })
  Readable.from(multiplied(backup, count)).pipe(outgoing)
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    outgoing.on('response', resolve).on('error', reject),
  )
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  if (response.statusCode !== 200) throw new Error(`restore: ${response.statusCode} ${text}`)
}

/** One copy in a hundred has another label. */
function* multiplied(backup: readonly string[], count: number): Generator<string> {
  for (let at = 0; at < backup.length; at++) {
    const line = JSON.parse(backup[at]!) as { end?: boolean; objects?: number; resource?: string; group?: string }
    if (line.end === true) yield `${JSON.stringify({ ...line, objects: line.objects! + count - 1 })}\n`
    else if (line.resource !== 'pods' || line.group !== '') yield `${backup[at]!}\n`
    else {
      yield `${JSON.stringify({ ...line, count })}\n`
      const text = backup[++at]!
      const { metadata } = JSON.parse(text) as { metadata: { uid: string; resourceVersion: string } }
      const first = Number(metadata.resourceVersion) - count
      for (let n = 0; n < count; n++)
        yield `${text
          .replaceAll(`"${podName(0)}"`, `"${podName(n)}"`)
          .replaceAll(metadata.uid, randomUUID())
          .replaceAll(`"${metadata.resourceVersion}"`, `"${first + n}"`)
          .replaceAll('"one":"other"', n % 100 === 0 ? '"one":"percent"' : '"one":"other"')}\n`
    }
  }
}
